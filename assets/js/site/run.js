// From Step to Run: its Problem is run there.

import { emit } from "../lib/events.js";
import { address, readPrefixed } from "./address.js";
import { toPage } from "./pages.js";

const PREFIX = "run-";

/** What the Run page is to do once it is there. */
export const wish = { step: false };

/** Run the Problem of the Step page: the Run page's own request leaves the address. */
export async function runStep() {
  address.write(Object.fromEntries(readPrefixed(PREFIX).map(([key]) => [PREFIX + key, null])));
  address.flush();
  wish.step = true;
  await toPage("run");
  emit("fa:run-step");
}
