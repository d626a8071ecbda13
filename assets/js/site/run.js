// The Run page: what it runs goes to the address and to the server.

import { address } from "./address.js";
import { mode } from "./hall.js";
import { RUN_UNSAID, isStepProblem } from "../model/controls.js";

/** These values are run: they go to the address unless they are the Step page's Problem. */
export function ran({ mode: _, ...values }, { prefix }) {
  const query = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]));
  for (const [key, plain] of Object.entries(RUN_UNSAID)) if (query[key] === plain) query[key] = null;
  address.flush();
  const isSame = isStepProblem(query, window.location.search);
  address.write(Object.fromEntries(Object.entries(query).map(([key, value]) => [prefix + key, isSame ? null : value])));
  return { ...values, mode: mode() };
}

/** The curves stand below everything else: whoever asks for them is led there, once the server has begun. */
export function lead(values) {
  const place = document.querySelector("#sweep-note");
  const isThere = () => {
    const note = place.querySelector(".fa-run");
    note?.scrollIntoView();
    return Boolean(note);
  };
  const begun = new MutationObserver(() => isThere() && begun.disconnect());
  if (!isThere()) begun.observe(place, { childList: true, subtree: true });
  return { ...values, mode: mode() };
}
