// A lesson's question in presentation mode: letters to raise a hand for, and the answer with its reason when it is asked for.

import { all, get, set } from "../lib/dom.js";
import { t } from "./texts.js";
import { unbroken } from "./unbroken.js";

const KEYS = [".", "a", "b"]; // a clicker's blank button sends the point or b

/** Of `root`, which explainer/views/templates/learn/slide_question.html writes. */
export class PresentedQuestion {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.why = get(root, ".fa-present-why");
    this.button = get(root, ".fa-present-answer");
    this.button.onclick = () => this.toggle();
    for (const words of all(root, "h3, .fa-present-words"))
      set(words, { text: unbroken(words.textContent ?? "") });
    this.show(false);
  }

  /** @param {boolean} on */
  show(on) {
    this.isAnswered = on;
    this.root.classList.toggle("is-answered", on);
    set(this.why, { text: on ? unbroken(this.root.dataset.answer ?? "") : "" });
    set(this.button, { text: on ? t("present.hide") : t("present.show") });
  }

  toggle() {
    this.show(!this.isAnswered);
  }

  /** True if the key was for this. @param {KeyboardEvent} event */
  key({ key }) {
    if (!KEYS.includes(key.toLowerCase())) return false;
    this.toggle();
    return true;
  }
}
