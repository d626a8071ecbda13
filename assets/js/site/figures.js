// The pages of figures, Memory and Parallel: what their controls show goes to the address and to the server.

import { address, readPrefixed } from "./address.js";
import { emit } from "../lib/events.js";
import { presentMode } from "./presentation.js";
import { count } from "../lib/pending.js";
import { agree, merged } from "../model/controls.js";
import { problemAndPassOf } from "../model/query.js";
import { chooseTab } from "./pages.js";
import { announceFirst } from "./live_region.js";

/** @import { Values } from "../model/controls.js" */

const taken = new Set(); // prefixes whose page has taken what the address says
let behind = false; // the controls show something else than the picture

/** The server is asked (1), or has answered (−1). @param {1 | -1} by */
const asks = (by) => count("figures", by);

/** Values that are not the page's defaults go to the address, and on to the server if it `asks`. @param {Values} values @param {{prefix: string, plain: Record<string, string>, asks: boolean}} it */
export function remember({ mode: _, ...values }, { prefix, plain, asks: isRequest }) {
  if (taken.has(prefix)) address.writePrefixed(prefix, values, plain); // before that what the address asks for is still to come
  if (isRequest) asks(1);
  return { ...values, mode: presentMode() };
}

/** The tab was chosen: what the address says under this prefix goes to the server, and what the controls show. What was
 * chosen before the address was read for the first time counts as a choice: the answer is then merged with `plain`.
 * @param {Values} values @param {{page: string, prefix: string, plain: Values}} it */
export function openFigures(values, { page, prefix, plain }) {
  const now = taken.has(prefix) ? values : { ...values, ...plain };
  asks(1);
  chooseTab(page);
  taken.add(prefix);
  address.flush();
  const entries = [...readPrefixed(prefix), ["mode", presentMode()]];
  return { ...now, picked: new URLSearchParams(entries).toString() };
}

/** The Problem on the Step page and its pass, as the address has them. */
export function stepProblem() {
  address.flush();
  return { player: problemAndPassOf(window.location.search) };
}

/** The Step page's Problem goes to the server. @param {Values} values */
export function takeProblem(values) {
  asks(1);
  return { ...values, picked: stepProblem().player, mode: presentMode() };
}

/** The server has answered: who was quicker keeps what was chosen meanwhile. @param {Values & {answer: string}} given */
export function settle(given) {
  const values = merged(given);
  behind ||= !agree(values, JSON.parse(given.answer).requested);
  return values;
}

/** The controls show it; the picture follows them. */
export function settled() {
  if (behind) emit("fa:pick", "");
  behind = false;
  asks(-1);
  announceFirst(".fa-figure-page .fa-main");
}
