// One of several as a row of buttons: a radio group, one stop for the keyboard, whose arrows choose.

import { all, button, el, set } from "./dom.js";
import { ARROWS } from "./keys.js";

/** @typedef {{value: string, text: string, disabled?: string}} Option `disabled`: why it cannot be chosen */

/** @param {string} label @param {Option[]} options @param {string} value the chosen one @param {(value: string) => void} choose @param {string} [look] its class */
export function radios(label, options, value, choose, look = "fa-switch") {
  const isChosen = options.some((one) => one.value === value);
  const nodes = options.map((one, k) =>
    button(one.text, () => !one.disabled && choose(one.value), {
      role: "radio",
      "aria-checked": String(one.value === value),
      "aria-disabled": one.disabled ? "true" : null,
      title: one.disabled ?? null,
      "data-value": one.value,
      tabindex: one.value === value || (!isChosen && k === 0) ? "0" : "-1",
    }),
  );
  const group = el("div", { class: look, role: "radiogroup", "aria-label": label }, nodes);
  group.addEventListener("keydown", (event) => {
    const arrow = ARROWS[event.key];
    if (!arrow) return;
    const free = nodes.filter((node) => node.ariaDisabled !== "true");
    const at = free.findIndex((node) => node === document.activeElement);
    if (at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    const next = free[(at + arrow[0] + arrow[1] + free.length) % free.length];
    next.focus();
    choose(/** @type {string} */ (next.dataset.value));
  });
  return group;
}

/** Put these groups in place of those that are there; the focus stays on its value. @param {HTMLElement} place @param {HTMLElement[]} groups */
export function replaceRadios(place, groups) {
  const old = all(place, "[role=radiogroup]");
  const at = old.findIndex((group) => group.contains(document.activeElement));
  const value = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.value;
  place.replaceChildren(...groups);
  if (at < 0) return;
  const node = all(groups[at] ?? place, "[role=radio]").find((one) => one.dataset.value === value);
  if (!node) return;
  set(node, { tabindex: "0" });
  node.focus();
}
