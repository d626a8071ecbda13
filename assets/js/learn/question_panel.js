// On a phone a lesson's question is a panel from below: closed a bar, opened and put away by a tap, and put away by Escape.

import { button, el, find, set } from "../lib/dom.js";
import { recall, remember } from "./progress.js";
import { t } from "./texts.js";

/** Makes a question a panel, or takes that away. @param {HTMLElement} question @param {boolean} isPhone */
export function layQuestionPanel(question, isPhone) {
  const before = find(question, ":scope > .fa-panel-handle");
  question.classList.toggle("is-panel", isPhone);
  if (!isPhone) before?.remove();
  if (!isPhone || before) return;
  /** @type {HTMLElement | null} */
  const lesson = question.closest(".fa-lesson");
  const name = `panel ${lesson?.dataset.key}`;
  let isOpen = false;
  const fold = (/** @type {boolean} */ open) => {
    isOpen = open;
    set(handle, { "aria-expanded": open });
    question.classList.toggle("is-folded", !open);
  };
  const toggle = () => {
    fold(!isOpen);
    remember(name, isOpen);
  };
  const children = [el("span", t("sheet")), el("i")];
  const handle = button(children, toggle, { class: "fa-panel-handle" });
  // A choice that is not yet checked stays in sight when a window becomes a phone's
  const isBegun = find(question, ".is-ready, .fa-verdict:is(.is-right, .is-wrong)");
  fold(recall(name) ?? Boolean(isBegun));
  question.prepend(handle);
  question.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !isOpen || !handle.isConnected) return;
    toggle();
    handle.focus();
  });
}
