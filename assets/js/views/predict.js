// Predict, then see: a card with a question about the next step. It never blocks: who steps on
// without an answer just sees. Keys 1, 2, 3 answer while the player has the focus; a number is answered by a slider.

import { card, el, set } from "../lib/dom.js";
import { number } from "../lib/format.js";
import { isRight } from "../model/questions.js";

export class Predict {
  constructor() {
    this.verdict = el("p", { class: "fa-verdict", "aria-live": "polite" });
    this.text = el("p", { class: "fa-question" });
    this.choices = el("div", { class: "fa-choices" });
    this.card = card("predict", "Predict", "", [this.verdict, this.text, this.choices]);
    this.root = this.card.root;
    this.right = 0;
    this.asked = 0;
    this.question = null;
    this.choice = null;
  }

  /** A new question (or none); what was answered before is now seen to be right or wrong. */
  ask(question) {
    this.reveal();
    this.question = question;
    this.choice = null;
    set(this.text, { text: question?.text ?? "Nothing to guess here: step on." });
    set(this.card.note, { text: question?.slider ? `right within ${number(question.slider.tolerance)}` : "" });
    if (question?.slider) return this.choices.replaceChildren(this.slider(question.slider));
    this.choices.replaceChildren(
      ...(question?.options ?? []).map((text, k) => {
        const button = el("button", { type: "button", class: "fa-link", text: `${k + 1}  ${text}`, "aria-pressed": "false" });
        button.addEventListener("click", () => this.choose(k));
        return button;
      }),
    );
  }

  /** A number between its bounds; untouched it is no answer. */
  slider({ min, max, step }) {
    const input = el("input", { type: "range", min, max, step, value: (min + max) / 2, "aria-label": "Your number" });
    const output = el("output", { text: `${min} to ${max}` });
    input.addEventListener("input", () => {
      this.choice = Number(input.value);
      set(output, { text: number(this.choice) });
    });
    return el("label", { class: "fa-guess" }, [input, output]);
  }

  choose(k) {
    if (!this.question || k >= this.question.options.length) return;
    this.choice = k;
    [...this.choices.children].forEach((button, at) => set(button, { "aria-pressed": at === k, class: `fa-link${at === k ? " is-main" : ""}` }));
  }

  reveal() {
    if (!this.question || this.choice === null) {
      if (this.asked) set(this.verdict, { text: `${this.right} of ${this.asked} right` });
      return;
    }
    const right = isRight(this.question, this.choice);
    this.asked += 1;
    this.right += right ? 1 : 0;
    const said = this.question.slider ? `, you said ${number(this.choice)}` : "";
    set(this.verdict, {
      text: `${right ? "✓ Right" : "✗ Not so"}: ${this.question.because}${said}. ${this.right} of ${this.asked} right`,
      class: `fa-verdict ${right ? "is-right" : "is-wrong"}`,
    });
  }

  /** Keys 1 to 4; true when it was an answer. */
  key(event) {
    const k = "1234".indexOf(event.key);
    if (k < 0 || !this.question?.options.length) return false;
    this.choose(k);
    return true;
  }
}
