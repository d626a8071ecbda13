// What the pages share in the browser: the address, and what the kernel said of which Problem.

import { Address, PROBLEM_KEYS, problemOf } from "./player/address.js";

const RUN = "run-"; // the Run page's own Problem in the address
const RUN_ORDER = ["data", "seed", "n", "d", "br", "bc", "mask", "order", "dtype", "text", "gain"]; // of its controls

export const address = new Address();
const findings = new Map(); // query of a Problem → { device, agrees }
let shown = ""; // query of the Problem that the Step page shows

function chip() {
  const node = document.querySelector(".fa-kernel-chip");
  if (!node) return;
  const found = findings.get(shown);
  node.hidden = !found;
  if (!found) return;
  node.classList.toggle("is-bad", !found.agrees);
  node.textContent = `${found.device} · kernel ${found.agrees ? "agrees with" : "differs from"} this picture ${found.agrees ? "✓" : "✗"}`;
}

/** The player shows this Problem at this place. */
export function placed({ query, step, phase }) {
  address.write({ text: null, gain: null, ...query, step, phase });
  const now = new URLSearchParams(query).toString();
  if (now === shown) return;
  shown = now;
  chip();
}

// Called by name from Gradio's events, which know no modules.
window.faSite = {
  /** A tab was chosen. */
  page(name) {
    address.write({ page: name === "step" ? null : name });
  },
  /** The Run page runs these control values: its Problem goes to the address unless it is the Step page's. */
  ran(values) {
    const query = Object.fromEntries(RUN_ORDER.map((key, k) => [key, String(values[k])]));
    for (const [key, plain] of [["text", ""], ["gain", "1"]]) if (query[key] === plain) query[key] = null;
    address.flush();
    const own = new URLSearchParams(problemOf(window.location.search));
    const same = PROBLEM_KEYS.every((key) => own.get(key) === query[key]);
    address.write(Object.fromEntries(PROBLEM_KEYS.map((key) => [RUN + key, same ? null : query[key]])));
  },
  /** The Problem on the Step page, as the address has it. */
  query() {
    address.flush();
    return problemOf(window.location.search);
  },
  /** A run has ended: what it found is kept for the Problem it is about. */
  found() {
    const data = document.querySelector('[data-testid="run-result"]')?.dataset;
    if (!data) return;
    findings.set(data.query, { device: data.device, agrees: data.agrees === "true" && data.right === "true" });
    chip();
  },
};
