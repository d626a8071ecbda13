// The menu of predicates: a line of explanation and the formula of each; arrows choose, Escape leaves.

import { clamp } from "../lib/format.js";
import { button, el } from "../lib/dom.js";
import { t } from "./texts.js";

/** @import { Predicate } from "./types.js" */

/** @type {Record<string, number>} */
const STEPS = { ArrowDown: 1, ArrowUp: -1 };

export class Menu {
  /** The button that opened it. @type {HTMLElement | undefined} */
  from;
  /** @type {(one: Predicate) => void} */
  chosen;
  /** @type {{one: Predicate, node: HTMLElement}[]} */
  items = [];

  constructor() {
    this.root = el("div.fa-mask-menu", {
      role: "menu",
      "aria-label": t("predicates"),
      hidden: true,
    });
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.root.addEventListener("focusout", ({ relatedTarget }) => {
      const to = /** @type {Node | null} */ (relatedTarget);
      if (!this.root.hidden && !this.root.contains(to) && to !== this.from) this.close(false);
    });
  }

  /** @param {Predicate[]} predicates */
  fill(predicates) {
    this.items = predicates.map((one) => {
      const node = button(
        "",
        () => {
          const { chosen } = this;
          this.close(false);
          chosen(one);
        },
        { role: "menuitem", tabindex: -1, "data-name": one.name, "data-about": one.name },
        [el("b", one.name), el("span", one.words), el("code", one.formula)],
      );
      return { one, node };
    });
    this.root.replaceChildren(...this.items.map(({ node }) => node));
  }

  /** Below the button; those that `fits` refuses are not offered. @param {HTMLElement} from
   * @param {(one: Predicate) => boolean} fits @param {(one: Predicate) => void} chosen */
  open(from, fits, chosen) {
    if (this.from === from && !this.root.hidden) return this.close();
    this.from = from;
    this.chosen = chosen;
    for (const { one, node } of this.items) node.hidden = !fits(one);
    this.root.hidden = false;
    from.setAttribute("aria-expanded", "true");
    const dialog = /** @type {HTMLElement} */ (from.closest("dialog"));
    const view = dialog.getBoundingClientRect();
    const { left, bottom } = from.getBoundingClientRect();
    const high = this.root.offsetHeight;
    this.root.style.left = `${clamp(view.width - this.root.offsetWidth - 8, 8, left - view.left)}px`;
    this.root.style.top = `${clamp(bottom - view.top + 4, 8, view.height - high - 8)}px`;
    this.visibleItems()[0]?.focus();
  }

  visibleItems() {
    return this.items.map(({ node }) => node).filter((node) => !node.hidden);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const nodes = this.visibleItems();
    const at = nodes.findIndex((node) => node === document.activeElement);
    /** @type {Record<string, number>} */
    const ends = { Home: 0, End: nodes.length - 1 };
    const to =
      ends[event.key] ??
      (STEPS[event.key] ? (at + STEPS[event.key] + nodes.length) % nodes.length : null);
    if (to === null && event.key !== "Escape" && event.key !== "Tab") return;
    event.stopPropagation();
    if (event.key !== "Tab") event.preventDefault();
    if (to === null) this.close(event.key === "Escape");
    else nodes[to].focus();
  }

  close(back = true) {
    this.root.hidden = true;
    this.from?.setAttribute("aria-expanded", "false");
    if (back) this.from?.focus();
  }
}
