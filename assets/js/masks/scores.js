// What is done to the scores, and the softmax's sink: a folded row of its own.

import { el, set } from "../lib/dom.js";
import { scoreOf } from "../model/mask.js";
import { t } from "./texts.js";

/** @import { Fields } from "./types.js" */

const KINDS = {
  none: t("score.none"),
  softcap: t("score.softcap"),
  alibi: t("score.alibi"),
  scale: t("score.scale"),
};
/** @type {Record<string, string>} */
const STARTS = { softcap: "50", scale: "2" };

export class Scores {
  /** @type {string} */
  score;

  /** @param {{edit: (score: string, sink: string, field: HTMLElement) => void}} act */
  constructor(act) {
    this.act = act;
    this.summary = el("summary");
    this.kinds = Object.entries(KINDS).map(([kind, text]) => {
      const input = el("input", { type: "radio", name: "fa-mask-score", value: kind });
      input.addEventListener("change", () => this.choose(kind));
      const about = { "data-about": `score ${kind}` };
      return { input, label: el("label", about, [input, el("span", { text })]) };
    });
    const field = (/** @type {string} */ label) => {
      const input = el("input", {
        type: "text",
        inputmode: "decimal",
        autocomplete: "off",
        "aria-label": label,
        class: "fa-mask-number",
      });
      input.addEventListener("input", () => this.edit(input));
      return input;
    };
    this.number = field(t("score.number"));
    this.sink = field(t("sink"));
    this.other = el("code");
    this.root = el("details", { class: "fa-mask-scores" }, [
      this.summary,
      el("div", {}, [
        el("fieldset", {}, [
          el("legend", { text: t("score") }),
          ...this.kinds.map(({ label }) => label),
          this.number,
          this.other,
        ]),
        el("label", { class: "fa-mask-sink", "data-about": "sink" }, [
          el("span", { text: t("sink") }),
          this.sink,
        ]),
      ]),
    ]);
  }

  /** @param {Fields} fields */
  draw({ score, sink }) {
    const { kind, number } = scoreOf(score);
    this.score = score;
    for (const { input } of this.kinds) input.checked = input.value === kind;
    this.number.hidden = !(kind in STARTS);
    const label = this.kinds.find(({ input }) => input.checked)?.label;
    if (label && label.nextSibling !== this.number) label.after(this.number);
    set(this.number, { "data-about": `score ${kind}` });
    if (document.activeElement !== this.number) this.number.value = number;
    if (document.activeElement !== this.sink) this.sink.value = sink;
    set(this.other, { text: kind === "other" ? score : "" });
    const bold = (/** @type {string} */ text) => el("b", { text });
    this.summary.replaceChildren(
      `${t("score")} `,
      bold(score),
      `, ${t("sink")} `,
      bold(sink === "" ? t("sink.none") : sink),
    );
  }

  /** @param {string} kind */
  choose(kind) {
    this.ask(kind in STARTS ? `${kind}:${STARTS[kind]}` : kind, this.number);
  }

  /** @param {HTMLInputElement} field */
  edit(field) {
    const { kind } = scoreOf(this.score);
    const score = field === this.number ? `${kind}:${field.value.trim()}` : this.score;
    this.ask(score, field);
  }

  /** What is asked counts at once: the next edit may come before the answer. @param {string} score @param {HTMLElement} field */
  ask(score, field) {
    if (scoreOf(score).kind !== "other") this.score = score;
    this.act.edit(score, this.sink.value.trim(), field);
  }
}
