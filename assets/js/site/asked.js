// What the address asked for as the page was opened, which the server reads: for all parts of the page in one answer.

import { asked } from "../lib/fetched.js";

const { search } = window.location; // of that moment: the player writes into the address
let answers;

/** As JSON what it asks a part of the page to show, and what that shows without an address (`plain`).
 * @param {unknown} _ @param {{part: string, plain: any}} data */
export async function ofAddress(_, { part, plain }) {
  if (!search) return { answer: JSON.stringify({ asked: plain, plain }) }; // most visitors: nothing to ask
  answers ??= asked(new URL(`fa/opened${search}`, document.baseURI)).then((response) =>
    response.json(),
  );
  const found = await answers.catch(() => ({ [part]: plain }));
  return { answer: JSON.stringify({ asked: found[part], plain }) };
}

/** Why the address is not used as it is, if so. */
export function told({ answer, said }) {
  return { said: JSON.parse(answer).asked.said || said };
}
