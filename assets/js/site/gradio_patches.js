// Repairs of Gradio's fields, for the whole page.

import { all, on } from "../lib/dom.js";
import { listen } from "../lib/events.js";

let taking = null; // the menu in which Enter was pressed last, until another key or place is

// Enter takes what was typed into a menu of numbers; Gradio would take the first of its list that holds the digits.
const typed = new WeakSet();
document.addEventListener(
  "input",
  ({ target }) => target.closest?.(".fa-sizes") && typed.add(target),
);
document.addEventListener(
  "keydown",
  (event) => {
    if (!typed.has(event.target)) return;
    if (event.key.startsWith("Arrow")) typed.delete(event.target);
    if (event.key !== "Enter") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    typed.delete(event.target);
    taking = event.target;
    event.target.blur();
  },
  { capture: true },
);

// A menu drops the keyboard when a choice is taken, and unfolds whenever it has it: it keeps the one without the other.
const kept = new WeakSet();
let unheard = null; // the menu that has the keyboard, and does not know
document.addEventListener(
  "focus",
  (event) => kept.has(event.target) && event.stopImmediatePropagation(),
  { capture: true },
);
function keep(menu) {
  kept.add(menu);
  menu.focus({ preventScroll: true });
  kept.delete(menu);
  unheard = menu;
}
// What is typed or looked for in it is the next choice: now it hears of the keyboard.
on(
  document,
  ["keydown", "input", "pointerdown"],
  ({ target, key }) => {
    if (target !== unheard || ["Tab", "Shift"].includes(key)) return;
    unheard = null;
    target.dispatchEvent(new FocusEvent("focus"));
  },
  { capture: true },
);
document.addEventListener("focusout", () => {
  unheard = null;
});
document.addEventListener(
  "pointerdown",
  () => {
    taking = null;
  },
  { capture: true },
);
document.addEventListener(
  "keydown",
  ({ key, target }) => {
    taking = key === "Enter" && target.matches?.("[role=combobox]") ? target : null;
  },
  { capture: true },
);
document.addEventListener(
  "focusout",
  ({ target, relatedTarget }) =>
    target === taking &&
    !relatedTarget &&
    queueMicrotask(() => document.activeElement === document.body && keep(target)),
);

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
  ({ target }) => target.matches?.("#pages input[type=radio]") && group(),
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
document.addEventListener("input", ({ target }) => {
  if (!counted && target.matches?.(".fa-own textarea"))
    target.dispatchEvent(new KeyboardEvent("keypress", { bubbles: true, key: " " }));
  counted = false;
});
