// The Run page: what it runs goes to the address and to the server.

import { get } from "../lib/dom.js";
import { address, readPrefixed } from "./address.js";
import { loadAddressState } from "./query_state.js";
import { presentMode } from "./presentation.js";
import { requestOk, serverUrl } from "../lib/server.js";
import { during } from "../lib/pending.js";
import { RUN_DEFAULTS, agree, isStepProblem } from "../model/controls.js";
import { problemAndPassOf } from "../model/query.js";
import { onceOpened, onPage } from "./pages.js";

/** @import { Values } from "../model/controls.js" */

const part = "run";
const RECORDED = { "run-sweep": "recorded" }; // in an address: its sweep is shown as it is on record, and nothing is measured
const MEASURED = { "run-sweep": null };
let handed = null; // what the controls were last given of the Step page's Problem: {query, values}

/** The tab was chosen: without a request of its own in the address the page shows the Step page's Problem, unless a
 * control was changed by hand. @param {Record<string, any>} values
 * @param {{prefix: string, plain: Values}} data */
export const followStep = (values, data) => during("run", stepped(values, data));

/** @param {Values} values @param {{prefix: string, plain: Values}} it */
async function stepped(values, { prefix, plain }) {
  handed ??= {
    query: "",
    values: JSON.parse((await loadAddressState(null, { part, plain })).answer).requested,
  };
  address.flush();
  const { search } = window.location;
  const query = problemAndPassOf(search);
  const isOwn = readPrefixed(prefix).length > 0;
  if (isOwn || query === handed.query || !agree(values, handed.values)) return values;
  const answer = await requestOk(serverUrl("opened", query)).then(
    (response) => response.json(),
    () => null,
  );
  if (!answer) return values;
  handed = { query, values: answer[part] };
  return handed.values;
}

/** These values are run: they go to the address unless they are the Step page's Problem. @param {Values} values @param {{prefix: string}} it */
export function writeRun({ mode: _, ...values }, { prefix }) {
  /** @type {Record<string, string | null>} */
  const query = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, String(value)]),
  );
  for (const [key, plain] of Object.entries(RUN_DEFAULTS))
    if (query[key] === plain) query[key] = null;
  address.flush();
  const isSame = isStepProblem(query, window.location.search);
  if (isSame) handed = { query: problemAndPassOf(window.location.search), values };
  address.write({
    ...MEASURED,
    ...Object.fromEntries(
      Object.entries(query).map(([key, value]) => [prefix + key, isSame ? null : value]),
    ),
  });
  return { ...values, mode: presentMode() };
}

/** The curves stand below everything else: whoever asks for them is led there, once the server has begun. @param {Values} values */
export function showSweep(values) {
  if (!values.linked) address.write(MEASURED);
  const place = get(document, "#sweep-note");
  const isThere = () => {
    const note = place.querySelector(".fa-run");
    note?.scrollIntoView();
    return Boolean(note);
  };
  const begun = new MutationObserver(() => isThere() && begun.disconnect());
  if (!isThere()) begun.observe(place, { childList: true, subtree: true });
  return { ...values, mode: presentMode() };
}

/** An invisible component: once the page is on screen, what a link to the recorded sweep asks for becomes its value. @param {{props: {value: string}, trigger: (event: string) => void}} it */
export async function mountLinked({ props, trigger }) {
  const { search } = window.location;
  const params = new URLSearchParams(search);
  if (Object.entries(RECORDED).some(([key, value]) => params.get(key) !== value)) return;
  await onceOpened(part);
  await onPage(part);
  await onceOpened("tab");
  props.value = search.slice(1);
  trigger("linked");
}
