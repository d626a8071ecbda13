// The menu of predicates: a line of explanation and the formula of each; arrows choose, Escape leaves.

import { clamp } from "../lib/format.js";
import { button, el } from "../lib/dom.js";
import { t } from "./texts.js";

/** @import { Predicate } from "./types.js" */

/** @type {Record<string, number>} */
const STEPS = { ArrowDown: 1, ArrowUp: -1 };

/** Make the menu. */
export function makeMenu() {
  /** The button that opened it. @type {HTMLElement | undefined} */
  let opener;
  /** @type {(one: Predicate) => void} */
  let act;
  /** @type {{one: Predicate, node: HTMLElement}[]} */
  let items = [];

  const root = el("div.fa-mask-menu", {
    role: "menu",
    "aria-label": t("predicates"),
    hidden: true,
  });
  root.addEventListener("keydown", key);
  root.addEventListener("focusout", ({ relatedTarget }) => {
    const to = /** @type {Node | null} */ (relatedTarget);
    if (!root.hidden && !root.contains(to) && to !== opener) close(false);
  });

  /** @param {Predicate[]} predicates */
  function fill(predicates) {
    items = predicates.map((one) => {
      const node = button(
        [el("b", one.name), el("span", one.words), el("code", one.formula)],
        () => {
          close(false);
          act(one);
        },
        { role: "menuitem", tabindex: -1, "data-name": one.name, "data-about": one.name },
      );
      return { one, node };
    });
    root.replaceChildren(...items.map(({ node }) => node));
  }

  /** Below the button; those that `fits` refuses are not offered. @param {HTMLElement} from
   * @param {(one: Predicate) => boolean} fits @param {(one: Predicate) => void} chosen */
  function open(from, fits, chosen) {
    if (opener === from && !root.hidden) return close();
    opener = from;
    act = chosen;
    for (const { one, node } of items) node.hidden = !fits(one);
    root.hidden = false;
    from.setAttribute("aria-expanded", "true");
    const dialog = /** @type {HTMLElement} */ (from.closest("dialog"));
    const view = dialog.getBoundingClientRect();
    const { left, bottom } = from.getBoundingClientRect();
    const high = root.offsetHeight;
    root.style.left = `${clamp(view.width - root.offsetWidth - 8, 8, left - view.left)}px`;
    root.style.top = `${clamp(bottom - view.top + 4, 8, view.height - high - 8)}px`;
    visibleItems()[0]?.focus();
  }

  function visibleItems() {
    return items.map(({ node }) => node).filter((node) => !node.hidden);
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    const nodes = visibleItems();
    const at = nodes.findIndex((node) => node === document.activeElement);
    /** @type {Record<string, number>} */
    const ends = { Home: 0, End: nodes.length - 1 };
    const to =
      ends[event.key] ??
      (STEPS[event.key] ? (at + STEPS[event.key] + nodes.length) % nodes.length : null);
    if (to === null && event.key !== "Escape" && event.key !== "Tab") return;
    event.stopPropagation();
    if (event.key !== "Tab") event.preventDefault();
    if (to === null) close(event.key === "Escape");
    else nodes[to].focus();
  }

  function close(back = true) {
    root.hidden = true;
    opener?.setAttribute("aria-expanded", "false");
    if (back) opener?.focus();
  }

  return { root, fill, open };
}
