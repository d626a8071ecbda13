// A lesson's question in presentation mode: letters to raise a hand for, and the answer with its reason when it is asked for.

import { all, get, setText } from "../lib/dom.js";
import { t } from "./texts.js";
import { unbroken } from "./unbroken.js";

export const KEYS = [".", "a", "b"]; // a clicker's blank button sends the point or b

/** Make the slide of a question live, which explainer/views/templates/learn/slide_question.html writes. @param {HTMLElement} root */
export function makePresentedQuestion(root) {
  const why = get(root, ".fa-present-why");
  const button = get(root, ".fa-present-answer");
  button.onclick = toggle;
  for (const words of all(root, "h3, .fa-present-words"))
    words.textContent = unbroken(words.textContent);
  show(false);

  /** @param {boolean} on */
  function show(on) {
    root.classList.toggle("is-answered", on);
    setText(why, on ? unbroken(root.dataset.answer ?? "") : "");
    setText(button, t(on ? "present.hide" : "present.show"));
  }

  function toggle() {
    show(!root.classList.contains("is-answered"));
  }

  /** True if the key was for this. @param {KeyboardEvent} event */
  function key({ key }) {
    if (!KEYS.includes(key.toLowerCase())) return false;
    toggle();
    return true;
  }

  return { show, key };
}
