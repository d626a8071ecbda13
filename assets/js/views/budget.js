// What the tile needs on chip against what a thread block of the chosen card may use.

import { el, set } from "../lib/dom.js";
import { onChip } from "../model/on_chip.js";
import { t } from "../model/texts.js";

/** @import { Trace } from "../model/types.js" */

const FIRST = "h200";
let wanted = FIRST; // one card for the page, whichever pass it shows

/** The card of a link; an unknown one is the default. @param {string | null} key */
export function choose(key) {
  wanted = key ?? FIRST;
}

export class Budget {
  /** @type {Trace} */
  trace;
  /** @param {((card: string) => void) | undefined} onCard */
  constructor(onCard) {
    this.bar = el("span", { class: "fa-budget-bar", "aria-hidden": "true" });
    this.text = el("span", { class: "fa-budget-text" });
    this.cards = el("select", { "aria-label": t("budget.card") });
    this.cards.addEventListener("change", () => {
      wanted = this.cards.value;
      this.layout(this.trace);
      onCard?.(this.cards.value);
    });
    this.root = el("div", { class: "fa-budget" }, [this.bar, this.text, this.cards]);
    this.warning = el("p", { class: "fa-budget-warning", role: "status", hidden: true });
  }

  /** @param {Trace} trace */
  layout(trace) {
    this.trace = trace;
    const { cards } = trace.header.sram;
    if (!this.cards.children.length) {
      this.cards.replaceChildren(
        ...Object.entries(cards).map(([key, { name }]) => el("option", { value: key, text: name })),
      );
    }
    this.cards.value = cards[wanted] ? wanted : FIRST;
    const { fits, shares, text, title, warning } = onChip(
      trace.header.sram,
      this.cards.value,
      trace.problem.n,
    );
    this.bar.replaceChildren(
      ...shares.map(([tensor, share]) =>
        el("i", { class: `fa-of-${tensor.toLowerCase()}`, style: `width:${share.toFixed(3)}%` }),
      ),
    );
    set(this.text, { text, title });
    this.root.classList.toggle("is-over", !fits);
    this.warning.hidden = fits;
    set(this.warning, { text: warning });
  }
}
