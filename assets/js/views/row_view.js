// The row view: a bar per key on one exp(S − m) scale over the outline of the exact softmax, and two other loops to
// try on it. What they make of the answer is said beside it, a wrong one as wrong.

import { button, card, el, get, set, setText, svg } from "../lib/dom.js";
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

/** Make the card of the row view. @param {() => void} onWay another way was chosen, or α again */
export function makeRowView(onWay) {
  /** @type {{before: SVGElement, bar: SVGElement, exact: SVGElement}[]} */
  let marks;
  /** @type {HTMLElement[]} */
  let blocks;
  /** @type {string | undefined} */
  let explained;

  /** @type {Way} */
  let way = "alpha";
  const chart = svg("svg", { role: "img", preserveAspectRatio: "none" });
  const names = el("div.fa-row-view-names", { "aria-hidden": "true" });
  const lines = el("dl.fa-row-view-lines");
  const judgement = el("p.fa-row-view-verdict", { "aria-live": "polite" });
  const switches = CHOICES.map(([other, text, title]) =>
    button(text, () => choose(other), {
      class: "fa-link",
      title,
      "data-way": other,
      "aria-pressed": "false",
    }),
  );
  const ways = el(
    "div.fa-row-view-ways",
    { role: "group", "aria-label": t("row_view.ways") },
    switches,
  );
  const plot = el("div.fa-row-view-plot", [chart]);
  const picture = el("div.fa-row-view-picture", { "data-spot": "row_view" }, [plot, names]);
  const side = el("div.fa-row-view-side", [lines, judgement]);
  const { root, head, note } = card("row-view", t("row_view"), "", [
    el("div.fa-row-view-body", [picture, side]),
  ]);
  root.dataset.spot = "rows";

  /** One way at a time; the same one again leads back to α. @param {Way} other */
  function choose(other) {
    way = way === other ? "alpha" : other;
    onWay();
  }

  /** @param {Trace} trace */
  function layout(trace) {
    const { problem: p, header } = trace;
    const { running, lanes } = ALGORITHMS[p.order];
    ways.hidden = !header.numbers || !running || lanes > 1;
    if (ways.hidden) way = "alpha";
    picture.hidden = !header.numbers;
    const wide = (chart.clientWidth || 300) / p.n;
    const gap = wide > 8 ? 0.12 : wide > 4 ? 0.06 : 0;
    const bar = (/** @type {string} */ name, /** @type {number} */ c) =>
      svg(`rect.fa-row-view-${name}`, { x: c + gap / 2, y: 0, width: 1 - gap, height: BASE });
    const keys = times(header.numbers ? p.n : 0, (c) => c);
    marks = keys.map((c) => ({
      before: bar("before", c),
      bar: bar("bar", c),
      exact: bar("exact", c),
    }));
    set(chart, { viewBox: `0 0 ${p.n} ${BASE}` });
    chart.replaceChildren(...marks.flatMap((slot) => [slot.before, slot.bar, slot.exact]));
    const named = wide * p.block_k >= NAME_FROM;
    names.style.gridTemplateColumns = `repeat(${p.n}, 1fr)`;
    blocks = times(header.numbers ? p.Tc : 0, (j) => {
      const { start, stop } = keysOfBlock(p, j);
      return el("span", {
        style: `grid-column:${start + 1}/${stop + 1}`,
        text: named ? `K${sub(j)}` : "",
        "data-part": `K.${j}`,
      });
    });
    names.replaceChildren(...blocks);
  }

  /** @param {Trace} trace @param {Frame} f @param {number | undefined} row */
  function draw(trace, f, row) {
    const slots = row === undefined ? null : slotsOf(trace, f, row, way);
    const stats = f.stats.find((s) => s.row === row);
    note.replaceChildren(
      ...(slots
        ? [el("span.fa-where-wide", `${t("row_view.bars")}; `), t("row_view.outline")]
        : [t("row_view.small")]),
    );
    setText(get(head, "h2"), slots && row !== undefined ? t("row", { row }) : t("row_view"));
    for (const node of switches)
      set(node, {
        "aria-pressed": node.dataset.way === way,
        class: `fa-link${node.dataset.way === way ? " is-main" : ""}`,
      });
    set(root, { "data-way": way });
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
      const { bar, before, exact } = marks[c];
      const fresh = c >= f.cols.start && c < f.cols.stop;
      high(bar, slot.weight);
      high(before, slot.before);
      high(exact, slot.exact);
      set(bar, { class: `fa-row-view-bar${fresh ? " is-now" : ""}` });
      set(exact, { "data-part": `S.${row}.${c}` });
    });
    const { block_k } = f.problem;
    blocks.forEach((name, j) => {
      const gone = slots
        .slice(j * block_k, (j + 1) * block_k)
        .every(({ state }) => state === "hidden");
      set(name, { class: gone ? "is-hidden" : j === f.j ? "is-now" : "" });
    });
    const seen = slots.filter(({ state }) => state === "seen").length;
    set(chart, {
      "aria-label": t("row_view.seen", {
        row,
        seen,
        of: slots.filter(({ state }) => state !== "hidden").length,
      }),
    });
    explain(trace, f, row, stats);
  }

  /** @param {Trace} trace @param {Frame} f @param {number} row @param {Row | undefined} stats */
  function explain(trace, f, row, stats) {
    const plain = way === "alpha";
    const texts = plain && stats ? changes(f, stats) : [];
    const text = texts.flat().join("|");
    if (explained !== text) {
      explained = text;
      lines.replaceChildren(
        ...texts.flatMap(([symbol, change, why]) => [
          el("dt", { class: `fa-ink-${{ ℓ: "l", O: "o", m: "m" }[symbol]}`, text: symbol }),
          el("dd", [el("b", change), el("span", why)]),
        ]),
      );
    }
    lines.hidden = !plain;
    judgement.hidden = plain;
    const { wrong, text: words } = plain ? { wrong: false, text: "" } : verdict(trace, row, way);
    set(judgement, {
      text: `${wrong ? "✗ " : ""}${words}`,
      class: `fa-row-view-verdict${wrong ? " is-wrong" : ""}`,
    });
    set(root, { "data-wrong": wrong || null });
  }

  return {
    root,
    ways,
    layout,
    draw,
    get way() {
      return way;
    },
    set way(other) {
      way = other;
    },
  };
}
