// What is done to the scores, and the softmax's sink: a folded row of its own.

import { el, set } from "../lib/dom.js";
import { scoreOf } from "../model/mask.js";
import { t } from "./texts.js";

/** @import { Fields, Palette } from "./types.js" */

export class Scores {
  /** @type {string} */
  score;
  /** @type {{start: string | null, input: HTMLInputElement, label: HTMLElement}[]} */
  kinds;

  /** @param {{edit: (score: string, sink: string, field: HTMLElement) => void}} act */
  constructor(act) {
    this.act = act;
    this.summary = el("summary");
    this.legend = el("legend", t("score"));
    const field = (/** @type {string} */ label) => {
      const input = el("input.fa-mask-number", {
        type: "text",
        inputmode: "decimal",
        autocomplete: "off",
        "aria-label": label,
      });
      input.addEventListener("input", () => this.edit(input));
      return input;
    };
    this.number = field(t("score.number"));
    this.sink = field(t("sink"));
    this.other = el("code");
    this.root = el("details.fa-mask-scores", [
      this.summary,
      el("div", [
        el("fieldset", [this.legend, this.number, this.other]),
        el("label.fa-mask-sink", { "data-about": "sink" }, [el("span", t("sink")), this.sink]),
      ]),
    ]);
  }

  /** A radio button for each change that the server knows, and for none. @param {Palette} palette */
  learn({ scores }) {
    const none = { name: "none", label: t("score.none"), start: "" };
    this.kinds = [none, ...scores.filter(({ start }) => start !== null)].map(
      ({ name, label, start }) => {
        const input = el("input", { type: "radio", name: "fa-mask-score", value: name });
        const value = start ? `${name}:${start}` : name;
        input.addEventListener("change", () => this.ask(value, this.number));
        const parts = [input, el("span", label)];
        return { start, input, label: el("label", { "data-about": `score ${name}` }, parts) };
      },
    );
    this.legend.after(...this.kinds.map(({ label }) => label));
  }

  /** What a score's text says. @param {string} score */
  partsOf(score) {
    return scoreOf(
      score,
      this.kinds.map(({ input }) => input.value),
    );
  }

  /** @param {Fields} fields */
  draw({ score, sink }) {
    const { kind, number } = this.partsOf(score);
    this.score = score;
    const chosen = this.kinds.find(({ input }) => input.value === kind);
    for (const { input } of this.kinds) input.checked = input === chosen?.input;
    this.number.hidden = !chosen?.start;
    if (chosen && chosen.label.nextSibling !== this.number) chosen.label.after(this.number);
    set(this.number, { "data-about": `score ${kind}` });
    if (document.activeElement !== this.number) this.number.value = number;
    if (document.activeElement !== this.sink) this.sink.value = sink;
    set(this.other, { text: kind === "other" ? score : "" });
    const bold = (/** @type {string} */ text) => el("b", text);
    this.summary.replaceChildren(
      `${t("score")} `,
      bold(score),
      `, ${t("sink")} `,
      bold(sink === "" ? t("sink.none") : sink),
    );
  }

  /** @param {HTMLInputElement} field */
  edit(field) {
    const { kind } = this.partsOf(this.score);
    const score = field === this.number ? `${kind}:${field.value.trim()}` : this.score;
    this.ask(score, field);
  }

  /** What is asked counts at once: the next edit may come before the answer. @param {string} score @param {HTMLElement} field */
  ask(score, field) {
    if (this.partsOf(score).kind !== "other") this.score = score;
    this.act.edit(score, this.sink.value.trim(), field);
  }
}
