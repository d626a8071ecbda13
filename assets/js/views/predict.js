// Predict, then see: a card with a question about the next step. It never blocks: who steps on
// without an answer just sees, and "Show me" tells at once. Keys 1, 2, 3 answer while the player has the focus; a number
// is answered by a slider.

import { around, button, card, el, on, set } from "../lib/dom.js";
import { emit } from "../lib/events.js";
import { number } from "../lib/format.js";
import { isRight } from "../model/questions.js";
import { t } from "../model/texts.js";

/** @import { Question, Slider } from "../model/questions.js" */

export class Predict {
  constructor() {
    this.verdict = el("p.fa-verdict", { "aria-live": "polite" });
    this.text = el("p.fa-question");
    this.choices = el("div.fa-choices");
    this.show = button(t("predict.show"), () => this.reveal(true), {
      class: "fa-link fa-show-me",
    });
    this.hint = el("span.fa-predict-hint");
    const close = button("×", () => emit("fa:predict"), {
      class: "fa-predict-close",
      "aria-label": t("predict.close"),
      title: t("predict.close.key"),
    });
    this.card = card("predict", t("predict"), "", [
      this.verdict,
      this.text,
      el("div.fa-answers", [this.choices, this.show, this.hint]),
      close,
    ]);
    this.root = this.card.root;
    this.root.hidden = true;
    this.right = 0;
    this.count = 0;
    this.question = null;
    this.choice = null;
    this.isRevealed = false;
    this.lead();
  }

  /** A new question (or none); what was answered before is now seen to be right or wrong. @param {Question} question */
  ask(question) {
    this.reveal(false);
    this.question = question;
    this.choice = null;
    this.isRevealed = false;
    set(this.text, { text: question?.text ?? t("predict.none") });
    set(this.card.note, {
      text: question?.slider
        ? t("predict.within", { tolerance: number(question.slider.tolerance) })
        : "",
    });
    if (question?.slider) this.choices.replaceChildren(this.slider(question.slider));
    else
      this.choices.replaceChildren(
        ...(question?.options ?? []).map((text, k) => this.option(text, k)),
      );
    this.lead();
  }

  /** @param {string} text @param {number} k */
  option(text, k) {
    return button(
      "",
      () => this.choose(k),
      { class: "fa-link", "aria-pressed": "false", "aria-keyshortcuts": k + 1 },
      [el("kbd", { text: k + 1, "aria-hidden": "true" }), el("span", text)],
    );
  }

  /** A number between its bounds; untouched it is no answer. */
  slider(/** @type {Slider} */ { min, max, step }) {
    const input = el("input", {
      type: "range",
      min,
      max,
      step,
      value: (min + max) / 2,
      "aria-label": t("predict.number"),
    });
    const output = el("output", number(Number(input.value)));
    const answer = () => {
      this.choice = Number(input.value);
      set(output, { text: number(this.choice), class: "is-chosen" });
      this.lead();
    };
    on(input, ["input", "pointerup"], answer);
    return el("label.fa-predict-slider", [
      el("span", String(min)),
      input,
      el("span", String(max)),
      output,
    ]);
  }

  /** @param {number} k */
  choose(k) {
    if (this.isRevealed || !this.question || k >= this.question.options.length) return;
    this.choice = k;
    [...this.choices.children].forEach((option, at) =>
      set(option, { "aria-pressed": at === k, class: `fa-link${at === k ? " is-main" : ""}` }),
    );
    this.lead();
  }

  /** How it goes on from here. */
  lead() {
    const { question, choice, isRevealed } = this;
    set(this.hint, {
      text: !question
        ? ""
        : t(isRevealed ? "predict.revealed" : choice === null ? "predict.open" : "predict.chosen"),
    });
    this.show.hidden = !question || this.isRevealed;
    for (const field of this.choices.querySelectorAll("button, input"))
      field.toggleAttribute("disabled", this.isRevealed);
    this.root.classList.toggle("is-revealed", this.isRevealed);
  }

  /** Right or wrong, and why; `asked` by the visitor it is told even of no answer. @param {boolean} isRequested */
  reveal(isRequested) {
    const { question, choice } = this;
    const score = this.count ? t("predict.score", { right: this.right, count: this.count }) : "";
    if (!question || this.isRevealed || (choice === null && !isRequested))
      return set(this.verdict, { text: score, class: "fa-verdict" });
    const right = choice !== null && isRight(question, choice);
    const { because } = question;
    this.isRevealed = true;
    if (isRequested) this.lead();
    if (choice === null)
      return set(this.verdict, {
        text: question.slider
          ? t("predict.because", { because })
          : t("predict.answer", { answer: question.options[question.answer], because }),
        class: "fa-verdict",
      });
    this.count += 1;
    this.right += right ? 1 : 0;
    const result = { because, right: this.right, count: this.count };
    const exact = () =>
      t(right ? "predict.right.number" : "predict.wrong.number", {
        ...result,
        choice: number(choice),
      });
    set(this.verdict, {
      text: question.slider ? exact() : t(right ? "predict.right" : "predict.wrong", result),
      class: `fa-verdict ${right ? "is-right" : "is-wrong"}`,
    });
  }

  /** Keys 1 to 4; true when it was an answer. @param {KeyboardEvent} event */
  key(event) {
    const k = "1234".indexOf(event.key);
    if (k < 0 || this.root.hidden || !this.question?.options.length) return false;
    this.choose(k);
    return true;
  }

  /** Escape ends the questions where they are seen; true when it did. */
  leaves(/** @type {KeyboardEvent} */ event) {
    if (event.key !== "Escape" || !this.root.checkVisibility() || around(event, "[open]"))
      return false;
    emit("fa:predict");
    return true;
  }
}
