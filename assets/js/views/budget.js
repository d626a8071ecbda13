// What the tile lacks on chip, where it does not fit a thread block of the card.

import { el, setText } from "../lib/dom.js";
import { lacking } from "../model/on_chip.js";

/** @import { Trace } from "../model/types.js" */

const FIRST = "h200";
let wanted = FIRST; // one card for the page, whichever pass it shows

/** The card of a link; an unknown one is the default. @param {string | null} key */
export function choose(key) {
  wanted = key ?? FIRST;
}

/** Make the line that says what the tile lacks. */
export function makeBudget() {
  const root = el("p.fa-budget-warning", { role: "status", hidden: true });

  /** @param {Trace} trace */
  function layout({ header: { sram }, problem: { n } }) {
    const text = lacking(sram, sram.cards[wanted] ? wanted : FIRST, n);
    root.hidden = !text;
    setText(root, text);
  }

  return { root, layout };
}
