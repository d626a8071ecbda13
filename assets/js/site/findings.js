// What the kernel said of which Problem, in the bar beside the picture that it is about.

import { address } from "./address.js";
import { el, find } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { OPTIONAL } from "../model/query.js";
import { isOnScreen } from "./pages.js";
import { announce } from "./live_region.js";
import { t } from "./texts.js";

const findings = new Map(); // query of a Problem and its pass → { device, agrees }
const UNWRITTEN = Object.fromEntries(["pass", ...Object.keys(OPTIONAL)].map((key) => [key, null]));
let problem = ""; // of the Step page

function chip() {
  const node = find(document, ".fa-kernel-chip");
  if (!node) return;
  const found = findings.get(problem);
  node.hidden = !found || !isOnScreen("step"); // it is said of the picture there
  if (!found) return;
  const { agrees, device } = found;
  const full = t(agrees ? "agrees" : "differs", { device });
  node.classList.toggle("is-bad", !agrees);
  node.title = full;
  node.replaceChildren(
    el("span.fa-chip-full", full),
    el("span.fa-chip-short", t("kernel", { sign: agrees ? "✓" : "✗" })),
    el("span.fa-chip-word", ` ${t(agrees ? "agrees.word" : "differs.word")}`),
  );
}

listen("fa:page", chip);

/** The player shows this Problem at this place, with this selected. @param {{query: Record<string, string>, pass?: string | null, [key: string]: any}} it */
export function showFinding({ query, ...place }) {
  address.write({
    ...UNWRITTEN,
    ...query,
    ...place,
  });
  const now = new URLSearchParams(place.pass ? { ...query, pass: place.pass } : query).toString();
  if (now === problem) return;
  problem = now;
  chip();
}

/** A run has ended: what it found is kept for the Problem it is about.
 * @param {{headline: string, query?: string, agrees?: boolean | null, right?: boolean, device?: string}} state as explainer/views/run_result.py makes it */
export function recordFinding({ headline, query, agrees, right, device }) {
  announce(headline);
  if (agrees === null || agrees === undefined) return; // nothing was compared with the picture
  findings.set(query, { device, agrees: agrees && right });
  chip();
}
