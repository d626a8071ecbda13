// The row view: a bar per key on one exp(S − m) scale over the outline of the exact softmax, and two other loops to
// try on it. What they make of the answer is said beside it, a wrong one as wrong.

import { button, card, el, get, set, svg } from "../lib/dom.js";
import { number, sub } from "../lib/format.js";
import { times } from "../lib/lists.js";
import { ALGORITHMS } from "../model/algorithms.js";
import { changes, slotsOf, verdict } from "../model/row_view.js";
import { keysOfBlock } from "../model/spans.js";
import { t } from "../model/texts.js";

/** @import { Frame, Known, Row, Trace } from "../model/types.js" */
/** @import { Slot, Way } from "../model/row_view.js" */

/** @type {[Way, string, string][]} */
const CHOICES = [
  ["forget", t("row_view.forget"), t("row_view.forget.what")],
  ["lazy", t("row_view.lazily"), t("row_view.lazily.what")],
];
export const WAYS = CHOICES.map(([way]) => way);
const BASE = 92; // of 100: below it stand the names of the key blocks
const NAME_FROM = 26; // px of key block below which its name is left out

export class RowView {
  /** @type {{before: SVGElement, bar: SVGElement, exact: SVGElement}[]} */
  slots;
  /** @type {HTMLElement[]} */
  blocks;
  /** @type {string | undefined} */
  explained;
  /** @param {() => void} onWay another way was chosen, or α again */
  constructor(onWay) {
    this.onWay = onWay;
    /** @type {Way} */
    this.way = "alpha";
    this.svg = svg("svg", { role: "img", preserveAspectRatio: "none" });
    this.names = el("div.fa-row-view-names", { "aria-hidden": "true" });
    this.lines = el("dl.fa-row-view-lines");
    this.verdict = el("p.fa-row-view-verdict", { "aria-live": "polite" });
    this.switches = CHOICES.map(([way, text, title]) =>
      button(text, () => this.choose(way), {
        class: "fa-link",
        title,
        "data-way": way,
        "aria-pressed": "false",
      }),
    );
    this.ways = el(
      "div.fa-row-view-ways",
      { role: "group", "aria-label": t("row_view.ways") },
      this.switches,
    );
    const plot = el("div.fa-row-view-plot", [this.svg]);
    this.picture = el("div.fa-row-view-picture", { "data-spot": "row_view" }, [plot, this.names]);
    const side = el("div.fa-row-view-side", [this.lines, this.verdict]);
    this.card = card("row-view", t("row_view"), "", [
      el("div.fa-row-view-body", [this.picture, side]),
    ]);
    this.root = this.card.root;
    this.root.dataset.spot = "rows";
  }

  /** One way at a time; the same one again leads back to α. @param {Way} way */
  choose(way) {
    this.way = this.way === way ? "alpha" : way;
    this.onWay();
  }

  /** @param {Trace} trace */
  layout(trace) {
    const { problem: p, header } = trace;
    const { running, lanes } = ALGORITHMS[p.order];
    this.ways.hidden = !header.numbers || !running || lanes > 1;
    if (this.ways.hidden) this.way = "alpha";
    this.picture.hidden = !header.numbers;
    const wide = (this.svg.clientWidth || 300) / p.n;
    const gap = wide > 8 ? 0.12 : wide > 4 ? 0.06 : 0;
    const bar = (/** @type {string} */ name, /** @type {number} */ c) =>
      svg(`rect.fa-row-view-${name}`, { x: c + gap / 2, y: 0, width: 1 - gap, height: BASE });
    const keys = times(header.numbers ? p.n : 0, (c) => c);
    this.slots = keys.map((c) => ({
      before: bar("before", c),
      bar: bar("bar", c),
      exact: bar("exact", c),
    }));
    set(this.svg, { viewBox: `0 0 ${p.n} ${BASE}` });
    this.svg.replaceChildren(...this.slots.flatMap((slot) => [slot.before, slot.bar, slot.exact]));
    const named = wide * p.block_k >= NAME_FROM;
    this.names.style.gridTemplateColumns = `repeat(${p.n}, 1fr)`;
    this.blocks = times(header.numbers ? p.Tc : 0, (j) => {
      const { start, stop } = keysOfBlock(p, j);
      return el("span", {
        style: `grid-column:${start + 1}/${stop + 1}`,
        text: named ? `K${sub(j)}` : "",
        "data-part": `K.${j}`,
      });
    });
    this.names.replaceChildren(...this.blocks);
  }

  /** @param {Trace} trace @param {Frame} f @param {number | undefined} row */
  draw(trace, f, row) {
    const slots = row === undefined ? null : slotsOf(trace, f, row, this.way);
    const stats = f.stats.find((s) => s.row === row);
    this.card.note.replaceChildren(
      ...(slots
        ? [el("span.fa-where-wide", `${t("row_view.bars")}; `), t("row_view.outline")]
        : [t("row_view.small")]),
    );
    set(get(this.card.head, "h2"), {
      text: slots && row !== undefined ? t("row", { row }) : t("row_view"),
    });
    for (const node of this.switches)
      set(node, {
        "aria-pressed": node.dataset.way === this.way,
        class: `fa-link${node.dataset.way === this.way ? " is-main" : ""}`,
      });
    set(this.root, { "data-way": this.way });
    if (!slots || row === undefined) return;
    const top = Math.max(
      1,
      ...slots.map((slot) => slot.weight ?? 0).filter(Number.isFinite),
      ...slots.map((slot) => slot.exact).filter(Number.isFinite),
    );
    const high = (/** @type {SVGElement} */ node, /** @type {Known} */ value) =>
      set(node, {
        style: `transform:scaleY(${Number.isFinite(value) ? (Number(value) / top).toFixed(4) : 0})`,
      });
    slots.forEach((slot, c) => {
      const { bar, before, exact } = this.slots[c];
      const fresh = c >= f.cols.start && c < f.cols.stop;
      high(bar, slot.weight);
      high(before, slot.before);
      high(exact, slot.exact);
      set(bar, { class: `fa-row-view-bar${fresh ? " is-now" : ""}` });
      set(exact, { "data-part": `S.${row}.${c}` });
    });
    const { block_k } = f.problem;
    this.blocks.forEach((name, j) => {
      const gone = slots
        .slice(j * block_k, (j + 1) * block_k)
        .every(({ state }) => state === "hidden");
      set(name, { class: gone ? "is-hidden" : j === f.j ? "is-now" : "" });
    });
    const seen = slots.filter(({ state }) => state === "seen").length;
    set(this.svg, {
      "aria-label": t("row_view.seen", {
        row,
        seen,
        of: slots.filter(({ state }) => state !== "hidden").length,
      }),
    });
    this.explain(trace, f, row, stats);
  }

  /** @param {Trace} trace @param {Frame} f @param {number} row @param {Row | undefined} stats */
  explain(trace, f, row, stats) {
    const plain = this.way === "alpha";
    const lines = plain && stats ? changes(f, stats) : [];
    const text = lines.flat().join("|");
    if (this.explained !== text) {
      this.explained = text;
      this.lines.replaceChildren(
        ...lines.flatMap(([symbol, change, why]) => [
          el("dt", { class: `fa-ink-${{ ℓ: "l", O: "o", m: "m" }[symbol]}`, text: symbol }),
          el("dd", [el("b", change), el("span", why)]),
        ]),
      );
    }
    this.lines.hidden = !plain;
    this.verdict.hidden = plain;
    const { wrong, text: words } = plain
      ? { wrong: false, text: "" }
      : verdict(trace, row, this.way);
    set(this.verdict, {
      text: `${wrong ? "✗ " : ""}${words}`,
      class: `fa-row-view-verdict${wrong ? " is-wrong" : ""}`,
    });
    set(this.root, { "data-wrong": wrong || null });
  }
}
