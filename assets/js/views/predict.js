// Predict, then see: a card with a question about the next step. It never blocks: who steps on
// without an answer just sees, and "Show me" tells at once. Keys 1, 2, 3 answer while the player has the focus; a number
// is answered by a slider.

import { around, button, card, el, on, set, setText } from "../lib/dom.js";
import { emit } from "../lib/events.js";
import { number } from "../lib/format.js";
import { isRight } from "../model/questions.js";
import { t } from "../model/texts.js";

/** @import { Question, Slider } from "../model/questions.js" */

/** Make the card of the questions. */
export function makePredict() {
  const verdict = el("p.fa-verdict", { "aria-live": "polite" });
  const text = el("p.fa-question");
  const choices = el("div.fa-choices");
  const show = button(t("predict.show"), () => reveal(true), {
    class: "fa-link fa-show-me",
  });
  const hint = el("span.fa-predict-hint");
  const close = button("×", () => emit("fa:predict"), {
    class: "fa-predict-close",
    "aria-label": t("predict.close"),
    title: t("predict.close.key"),
  });
  const { root, note } = card("predict", t("predict"), "", [
    verdict,
    text,
    el("div.fa-answers", [choices, show, hint]),
    close,
  ]);
  root.hidden = true;
  let rightCount = 0;
  let count = 0;
  /** @type {Question} */
  let question = null;
  /** @type {number | null} */
  let choice = null;
  let isRevealed = false;
  lead();

  /** A new question (or none); what was answered before is now seen to be right or wrong. @param {Question} next */
  function ask(next) {
    reveal(false);
    question = next;
    choice = null;
    isRevealed = false;
    setText(text, question?.text ?? t("predict.none"));
    setText(
      note,
      question?.slider ? t("predict.within", { tolerance: number(question.slider.tolerance) }) : "",
    );
    if (question?.slider) choices.replaceChildren(slider(question.slider));
    else choices.replaceChildren(...(question?.options ?? []).map(option));
    lead();
  }

  /** @param {string} text @param {number} k */
  function option(text, k) {
    return button(
      [el("kbd", { text: k + 1, "aria-hidden": "true" }), el("span", text)],
      () => choose(k),
      { class: "fa-link", "aria-pressed": "false", "aria-keyshortcuts": k + 1 },
    );
  }

  /** A number between its bounds; untouched it is no answer. */
  function slider(/** @type {Slider} */ { min, max, step }) {
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
      choice = Number(input.value);
      set(output, { text: number(choice), class: "is-chosen" });
      lead();
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
  function choose(k) {
    if (isRevealed || !question || k >= question.options.length) return;
    choice = k;
    [...choices.children].forEach((option, at) =>
      set(option, { "aria-pressed": at === k, class: `fa-link${at === k ? " is-main" : ""}` }),
    );
    lead();
  }

  /** How it goes on from here. */
  function lead() {
    setText(
      hint,
      !question
        ? ""
        : t(isRevealed ? "predict.revealed" : choice === null ? "predict.open" : "predict.chosen"),
    );
    show.hidden = !question || isRevealed;
    for (const field of choices.querySelectorAll("button, input"))
      field.toggleAttribute("disabled", isRevealed);
    root.classList.toggle("is-revealed", isRevealed);
  }

  /** Right or wrong, and why; `asked` by the visitor it is told even of no answer. @param {boolean} isRequested */
  function reveal(isRequested) {
    const score = count ? t("predict.score", { right: rightCount, count }) : "";
    if (!question || isRevealed || (choice === null && !isRequested))
      return set(verdict, { text: score, class: "fa-verdict" });
    const right = choice !== null && isRight(question, choice);
    const { because } = question;
    isRevealed = true;
    if (isRequested) lead();
    if (choice === null)
      return set(verdict, {
        text: question.slider
          ? t("predict.because", { because })
          : t("predict.answer", { answer: question.options[question.answer], because }),
        class: "fa-verdict",
      });
    count += 1;
    rightCount += right ? 1 : 0;
    const result = { because, right: rightCount, count };
    const exact = () =>
      t(right ? "predict.right.number" : "predict.wrong.number", {
        ...result,
        choice: number(Number(choice)),
      });
    set(verdict, {
      text: question.slider ? exact() : t(right ? "predict.right" : "predict.wrong", result),
      class: `fa-verdict ${right ? "is-right" : "is-wrong"}`,
    });
  }

  /** Keys 1 to 4; true when it was an answer. @param {KeyboardEvent} event */
  function key(event) {
    const k = "1234".indexOf(event.key);
    if (k < 0 || root.hidden || !question?.options.length) return false;
    choose(k);
    return true;
  }

  /** Escape ends the questions where they are seen; true when it did. */
  function leaves(/** @type {KeyboardEvent} */ event) {
    if (event.key !== "Escape" || !root.checkVisibility() || around(event, "[open]")) return false;
    emit("fa:predict");
    return true;
  }

  return {
    root,
    ask,
    key,
    leaves,
    get question() {
      return question;
    },
    set question(next) {
      question = next;
    },
    get count() {
      return count;
    },
  };
}
