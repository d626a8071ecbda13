// From Step to Run, where its Problem is run, and from a run to a place on Step.

import { emit } from "../lib/events.js";
import { address, readPrefixed } from "./address.js";
import { toPage } from "./pages.js";

const PREFIX = "run-";

/** What a page is to do once its script is there: Run runs Step's Problem, Step shows a place of a query. */
export const wish = { step: false, show: "" };

/** Run the Problem of the Step page: the Run page's own request leaves the address. */
export async function runStep() {
  address.write(Object.fromEntries(readPrefixed(PREFIX).map(([key]) => [PREFIX + key, null])));
  address.flush();
  wish.step = true;
  await toPage("run");
  emit("fa:run-step");
}

/** Show a place on the Step page. @param {string} query */
export async function showStep(query) {
  wish.show = query;
  await toPage("step");
  emit("fa:show", query);
}
