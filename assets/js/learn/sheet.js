// On a phone a rung's question is a sheet from below: closed a bar, opened and put away by a tap.

import { el, set } from "../lib/dom.js";
import { sayer } from "../lib/texts.js";
import told from "../../texts/learn_scripts.json" with { type: "json" };

const say = sayer(told);

const OPEN = "true";

export const Sheet = {
  /** @param {HTMLElement} question @param {boolean} on whether this is a phone */
  lay(question, on) {
    const before = question.querySelector(":scope > .fa-sheet-handle");
    question.classList.toggle("is-sheet", on);
    if (!on) before?.remove();
    if (!on || before) return;
    const name = el("span", { text: say("sheet") });
    const handle = el("button", { type: "button", class: "fa-sheet-handle" }, [name, el("i")]);
    const fold = (/** @type {boolean} */ open) => {
      set(handle, { "aria-expanded": open });
      question.classList.toggle("is-folded", !open);
    };
    handle.addEventListener("click", () => fold(handle.getAttribute("aria-expanded") !== OPEN));
    // What the answer gives is read from its top on, however long it is
    const read = () => handle.isConnected && question.querySelector(".fa-verdict").scrollIntoView({ block: "start", behavior: "instant" });
    for (const name of ["fa:answered", "fa:given"]) question.addEventListener(name, read);
    // A choice that is not yet checked stays in sight when the phone is turned
    fold(Boolean(question.querySelector(".is-ready, .fa-verdict:is(.is-right, .is-wrong)")));
    question.prepend(handle);
  },
};
