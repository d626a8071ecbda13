// What the address asked for as the page was opened, which the server reads: for all parts of the page in one answer.

import { asked } from "../lib/fetched.js";

const { search } = window.location; // of that moment: the player writes into the address
let answer;

/** What it says for this part, or what the part shows without an address.
 * @param {string} part @param {any} plain */
export async function ofAddress(part, plain) {
  if (!search) return plain; // most visitors: nothing to ask
  answer ??= asked(new URL(`fa/opened${search}`, document.baseURI)).then((response) => response.json());
  return answer.then((found) => found[part], () => plain);
}

/** The same for controls: what they show without an address, and what it asks them to show.
 * @param {{part: string, plain: any}} data */
export const said = async ({ part, plain }) => ({ plain, asked: await ofAddress(part, plain) });
