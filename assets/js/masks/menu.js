// The menu of predicates: a line of explanation and the formula of each; arrows choose, Escape leaves.

import { clamp } from "../lib/format.js";
import { button, el } from "../lib/dom.js";
import { t } from "./texts.js";

const STEPS = { ArrowDown: 1, ArrowUp: -1 };

export class Menu {
  constructor() {
    this.root = el("div", {
      class: "fa-mask-menu",
      role: "menu",
      "aria-label": t("predicates"),
      hidden: true,
    });
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.root.addEventListener("focusout", ({ relatedTarget }) => {
      if (!this.root.hidden && !this.root.contains(relatedTarget) && relatedTarget !== this.from)
        this.close(false);
    });
  }

  /** @param predicates as the server has them: name, words, formula */
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
        [
          el("b", { text: one.name }),
          el("span", { text: one.words }),
          el("code", { text: one.formula }),
        ],
      );
      return { one, node };
    });
    this.root.replaceChildren(...this.items.map(({ node }) => node));
  }

  /** Below the button; those that `fits` refuses are not offered. */
  open(from, fits, chosen) {
    if (this.from === from && !this.root.hidden) return this.close();
    Object.assign(this, { from, chosen });
    for (const { one, node } of this.items) node.hidden = !fits(one);
    this.root.hidden = false;
    from.setAttribute("aria-expanded", "true");
    const view = from.closest("dialog").getBoundingClientRect();
    const { left, bottom } = from.getBoundingClientRect();
    const high = this.root.offsetHeight;
    this.root.style.left = `${clamp(view.width - this.root.offsetWidth - 8, 8, left - view.left)}px`;
    this.root.style.top = `${clamp(bottom - view.top + 4, 8, view.height - high - 8)}px`;
    this.visibleItems()[0]?.focus();
  }

  visibleItems() {
    return this.items.map(({ node }) => node).filter((node) => !node.hidden);
  }

  key(event) {
    const nodes = this.visibleItems();
    const at = nodes.indexOf(document.activeElement);
    const to =
      { Home: 0, End: nodes.length - 1 }[event.key] ??
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
