// On a phone a rung's question is a sheet from below, which its handle folds.

import { el, set } from "../lib/dom.js";

export const Sheet = {
  /** @param {HTMLElement} question @param {boolean} on whether this is a phone */
  lay(question, on) {
    const before = question.querySelector(":scope > .fa-sheet-handle");
    question.classList.toggle("is-sheet", on);
    if (!on) before?.remove();
    if (!on || before) return;
    const handle = el("button", { type: "button", class: "fa-sheet-handle", "aria-expanded": "true", "aria-label": "Question" }, [el("i")]);
    handle.addEventListener("click", () => {
      const open = handle.getAttribute("aria-expanded") !== "true";
      set(handle, { "aria-expanded": open });
      question.classList.toggle("is-folded", !open);
    });
    question.prepend(handle);
  },
};
