// What the address asked for as the page was opened, which the server reads: for all parts of the page in one answer.

import { requestJson, serverUrl } from "../lib/server.js";

const { search } = window.location; // of that moment: the player writes into the address
let answers;

/** As JSON what it asks a part of the page to show, and what that shows without an address (`plain`).
 * @param {unknown} _ @param {{part: string, plain: any}} data */
export async function loadAddressState(_, { part, plain }) {
  if (!search) return { answer: JSON.stringify({ requested: plain, plain }) }; // most visitors: nothing to ask
  answers ??= requestJson(serverUrl("opened", search));
  const found = await answers.catch(() => ({ [part]: plain }));
  return { answer: JSON.stringify({ requested: found[part], plain }) };
}
