// What the tile needs on chip against what a thread block of the chosen card may use.

import { el, set } from "./dom.js";

const FIRST = "h200";
const kib = (count) => (count < 1024 ? `${count} B` : `${(count / 1024).toFixed(count < 10240 ? 1 : 0)} KiB`);

export class Budget {
  constructor(onCard) {
    this.bar = el("span", { class: "fa-budget-bar", "aria-hidden": "true" });
    this.text = el("span", { class: "fa-budget-text" });
    this.cards = el("select", { "aria-label": "Card whose shared memory counts" });
    this.cards.addEventListener("change", () => {
      this.layout(this.trace);
      onCard?.(this.cards.value);
    });
    this.root = el("div", { class: "fa-budget" }, [this.bar, this.text, this.cards]);
    this.warning = el("p", { class: "fa-budget-warning", role: "status", hidden: true });
    this.wanted = FIRST;
  }

  /** The card of a link; an unknown one is the default. */
  choose(key) {
    this.wanted = key ?? FIRST;
  }

  layout(trace) {
    this.trace = trace;
    const { parts, total, cards } = trace.header.sram;
    if (!this.cards.children.length) {
      this.cards.replaceChildren(...Object.entries(cards).map(([key, { name }]) => el("option", { value: key, text: name })));
      this.cards.value = cards[this.wanted] ? this.wanted : FIRST;
    }
    const card = cards[this.cards.value];
    const fits = total <= card.bytes;
    const full = Math.max(total, card.bytes);
    this.bar.replaceChildren(
      ...parts.map(([tensor, , bytes]) =>
        el("i", { class: `fa-of-${tensor.toLowerCase()}`, style: `width:${((100 * bytes) / full).toFixed(3)}%` })),
    );
    const list = parts.map(([tensor, shape, bytes]) => `${tensor === "l" ? "ℓ" : tensor} ${shape.join("×")} ${kib(bytes)}`).join(", ");
    set(this.text, { text: `${(total / 1024).toFixed(total < 10240 ? 1 : 0)} of ${card.bytes / 1024} KiB`, title: `On chip: ${list}; a thread block of the ${card.name} may use ${kib(card.bytes)}.` });
    this.root.classList.toggle("is-over", !fits);
    this.warning.hidden = fits;
    const most = Math.min(card.largest, trace.problem.n);
    const advice = most ? `Br = Bc = ${most} would be the largest.` : "no tile would, at this d.";
    set(this.warning, { text: fits ? "" : `Does not fit: this tile needs ${kib(total)}, a thread block of the ${card.name} has ${kib(card.bytes)}; ${advice}` });
  }
}
