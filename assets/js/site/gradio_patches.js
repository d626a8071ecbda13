// Repairs of Gradio's fields, for the whole page.

import { all, around, giveFocus, on, targetOf } from "../lib/dom.js";
import { listen } from "../lib/events.js";

/** The menu in which Enter was pressed last, until another key or place is. @type {HTMLElement | null} */
let taking = null;

// Enter takes what was typed into a menu of numbers; Gradio would take the first of its list that holds the digits.
const typed = new WeakSet();
document.addEventListener(
  "input",
  (event) => around(event, ".fa-sizes") && typed.add(targetOf(event)),
);
document.addEventListener(
  "keydown",
  (event) => {
    const target = targetOf(event);
    if (!typed.has(target)) return;
    if (event.key.startsWith("Arrow")) typed.delete(target);
    if (event.key !== "Enter") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    typed.delete(target);
    taking = target;
    target.blur();
  },
  { capture: true },
);

// A menu drops the keyboard when a choice is taken, and unfolds whenever it has it: it keeps the one without the other.
const refocused = new WeakSet();
/** The menu that has the keyboard, and does not know. @type {HTMLElement | null} */
let unaware = null;
document.addEventListener(
  "focus",
  (event) => refocused.has(targetOf(event)) && event.stopImmediatePropagation(),
  { capture: true },
);
/** @param {HTMLElement} menu */
function refocus(menu) {
  refocused.add(menu);
  giveFocus(menu);
  refocused.delete(menu);
  unaware = menu;
}
// What is typed or looked for in it is the next choice: now it hears of the keyboard.
on(
  document,
  ["keydown", "input", "pointerdown"],
  ({ target, key }) => {
    if (target !== unaware || ["Tab", "Shift"].includes(key)) return;
    unaware = null;
    target.dispatchEvent(new FocusEvent("focus"));
  },
  { capture: true },
);
document.addEventListener("focusout", () => {
  unaware = null;
});
on(
  document,
  ["pointerdown", "keydown"],
  ({ target, key }) => {
    taking = key === "Enter" && target.matches?.("[role=combobox]") ? target : null;
  },
  { capture: true },
);
document.addEventListener("focusout", (event) => {
  const target = targetOf(event);
  if (target === taking && !event.relatedTarget)
    queueMicrotask(() => document.activeElement === document.body && refocus(target));
});

// Gradio gives each of a group's radio buttons a name of its own, and again after a choice: with one name they are one
// stop of the Tab key, and arrows choose.
function group() {
  for (const group of all(document, "#pages fieldset")) {
    const [first, ...others] = /** @type {NodeListOf<HTMLInputElement>} */ (
      group.querySelectorAll("input[type=radio]")
    );
    for (const other of others) if (other.name !== first.name) other.name = first.name;
  }
}
for (const event of ["fa:opened", "fa:page"]) listen(event, group);
document.addEventListener(
  "keydown",
  (event) => targetOf(event).matches?.("#pages input[type=radio]") && group(),
  { capture: true },
);

// Gradio counts a key as input to a text, but not what is pasted, dropped, deleted or composed.
let counted = false;
document.addEventListener(
  "keypress",
  ({ key }) => {
    counted = key !== "Enter";
  },
  { capture: true },
);
document.addEventListener("input", (event) => {
  const target = targetOf(event);
  if (!counted && target.matches?.(".fa-own textarea"))
    target.dispatchEvent(new KeyboardEvent("keypress", { bubbles: true, key: " " }));
  counted = false;
});
