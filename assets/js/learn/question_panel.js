// On a phone a lesson's question is a sheet from below: closed a bar, opened and put away by a tap.

import { el, set } from "../lib/dom.js";
import { recall, remember } from "./progress.js";
import { t } from "./texts.js";

const OPEN = "true";

export const QuestionPanel = {
  /** @param {HTMLElement} question @param {boolean} on whether this is a phone */
  lay(question, on) {
    const before = question.querySelector(":scope > .fa-sheet-handle");
    question.classList.toggle("is-sheet", on);
    if (!on) before?.remove();
    if (!on || before) return;
    const handle = el("button", { type: "button", class: "fa-sheet-handle" }, [
      el("span", { text: t("sheet") }),
      el("i"),
    ]);
    const fold = (/** @type {boolean} */ open) => {
      set(handle, { "aria-expanded": open });
      question.classList.toggle("is-folded", !open);
    };
    const name = `sheet ${question.closest(".fa-lesson").dataset.key}`;
    handle.addEventListener("click", () => {
      const open = handle.getAttribute("aria-expanded") !== OPEN;
      remember(name, open);
      fold(open);
    });
    // A choice that is not yet checked stays in sight when a window becomes a phone's
    fold(
      recall(name) ??
        Boolean(question.querySelector(".is-ready, .fa-verdict:is(.is-right, .is-wrong)")),
    );
    question.prepend(handle);
  },
};
