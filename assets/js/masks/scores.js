// What is done to the scores, and the softmax's sink: a folded row of its own.

import { el, set, setText } from "../lib/dom.js";
import { scoreOf } from "../model/mask.js";
import { t } from "./texts.js";

/** @import { Fields, Palette } from "./types.js" */

/** Make the row of what is done to the scores.
 * @param {(score: string, sink: string, field: HTMLElement) => void} onEdit */
export function makeScores(onEdit) {
  /** @type {string} */
  let current;
  /** @type {{start: string | null, input: HTMLInputElement, label: HTMLElement}[]} */
  let kinds;
  const summary = el("summary");
  const legend = el("legend", t("score"));
  const field = (/** @type {string} */ label) => {
    const input = el("input.fa-mask-number", {
      type: "text",
      inputmode: "decimal",
      autocomplete: "off",
      "aria-label": label,
    });
    input.addEventListener("input", () => edit(input));
    return input;
  };
  const numberField = field(t("score.number"));
  const sinkField = field(t("sink"));
  const other = el("code");
  const root = el("details.fa-mask-scores", [
    summary,
    el("div", [
      el("fieldset", [legend, numberField, other]),
      el("label.fa-mask-sink", { "data-about": "sink" }, [el("span", t("sink")), sinkField]),
    ]),
  ]);

  /** A radio button for each change that the server knows, and for none. @param {Palette} palette */
  function learn({ scores }) {
    const none = { name: "none", label: t("score.none"), start: "" };
    kinds = [none, ...scores.filter(({ start }) => start !== null)].map(
      ({ name, label, start }) => {
        const input = el("input", { type: "radio", name: "fa-mask-score", value: name });
        const value = start ? `${name}:${start}` : name;
        input.addEventListener("change", () => ask(value, numberField));
        const parts = [input, el("span", label)];
        return { start, input, label: el("label", { "data-about": `score ${name}` }, parts) };
      },
    );
    legend.after(...kinds.map(({ label }) => label));
  }

  /** What a score's text says. @param {string} score */
  function partsOf(score) {
    return scoreOf(
      score,
      kinds.map(({ input }) => input.value),
    );
  }

  /** @param {Fields} fields */
  function draw({ score, sink }) {
    const { kind, number } = partsOf(score);
    current = score;
    const chosen = kinds.find(({ input }) => input.value === kind);
    for (const { input } of kinds) input.checked = input === chosen?.input;
    numberField.hidden = !chosen?.start;
    if (chosen && chosen.label.nextSibling !== numberField) chosen.label.after(numberField);
    set(numberField, { "data-about": `score ${kind}` });
    if (document.activeElement !== numberField) numberField.value = number;
    if (document.activeElement !== sinkField) sinkField.value = sink;
    setText(other, kind === "other" ? score : "");
    const bold = (/** @type {string} */ text) => el("b", text);
    summary.replaceChildren(
      `${t("score")} `,
      bold(score),
      `, ${t("sink")} `,
      bold(sink === "" ? t("sink.none") : sink),
    );
  }

  /** @param {HTMLInputElement} field */
  function edit(field) {
    const { kind } = partsOf(current);
    ask(field === numberField ? `${kind}:${field.value.trim()}` : current, field);
  }

  /** What is asked counts at once: the next edit may come before the answer. @param {string} score @param {HTMLElement} field */
  function ask(score, field) {
    if (partsOf(score).kind !== "other") current = score;
    onEdit(score, sinkField.value.trim(), field);
  }

  return { root, learn, draw };
}
