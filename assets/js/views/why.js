// Why m: the scores of the followed row, times a factor that a slider sets, on the range of fp32, as exp(S) and as exp(S − m).

import { el, set, svg } from "../lib/dom.js";
import { integer, number } from "../lib/format.js";
import { t } from "../model/texts.js";
import { RANGE, axesOf, failure } from "../model/why.js";

/** @import { Frame } from "../model/types.js" */
/** @import { Mark } from "../model/why.js" */

const [WIDE, LINES] = [760, [30, 66]]; // units of the picture on a desk, and where its two axes lie
const [LEFT, MARGIN] = [96, 22];
const text = (/** @type {string} */ words, /** @type {Record<string, string | number>} */ at) =>
  svg("text", { ...at, text: words });

export class WhyM {
  /** @type {Frame} */
  frame;
  /** @type {number} */
  row;
  /** @type {string | undefined} */
  shown;
  right = WIDE - MARGIN;
  constructor() {
    this.words = el("p", { "aria-live": "polite" });
    this.factor = el("b");
    this.slider = el("input", { type: "range", min: 1, step: 1, "aria-label": t("row_view.why") });
    this.slider.addEventListener("input", () => this.paint());
    this.svg = svg("svg", { "aria-hidden": "true" });
    this.root = el("section.fa-why", { "data-spot": "rows", hidden: true }, [
      el("div", [this.words, el("label", [this.factor, this.slider])]),
      this.svg,
    ]);
  }

  /** Shown in the phase that finds m, where exp can fail; at first with the smallest factor at which it does.
   * @param {Frame} f @param {number | undefined} row */
  draw(f, row) {
    const m = f.stats.find((s) => s.row === row)?.m_new;
    const found = f.phase === "max" && !f.stage ? failure(m) : null;
    this.root.hidden = !found;
    if (!found || row === undefined) {
      this.clear();
      return;
    }
    Object.assign(this, { frame: f, row });
    const shown = `${f.problem.n} ${f.step} ${row} ${m}`;
    if (this.shown !== shown) {
      set(this.slider, { max: Math.max(8, Math.ceil(found.factor * 1.15)) });
      this.slider.value = String(found.factor);
    }
    this.shown = shown;
    this.paint();
  }

  /** Holds nothing while it is hidden, so that a page is the same whichever way led to it. */
  clear() {
    this.shown = undefined;
    for (const node of [this.words, this.factor]) set(node, { text: "" });
    set(this.slider, { max: null });
    set(this.root, { "data-fails": null });
    this.svg.replaceChildren();
  }

  /** Place a power of ten on the axes. @param {number} power */
  xOf(power) {
    return LEFT + ((power - RANGE[0] + 3) / (RANGE[1] - RANGE[0] + 6)) * (this.right - LEFT);
  }

  paint() {
    const wide = Math.min(WIDE, this.svg.clientWidth || WIDE);
    set(this.svg, { viewBox: `0 0 ${wide} 92` });
    this.right = wide - MARGIN;
    const { frame: f, row } = this;
    const factor = Number(this.slider.value);
    const m = Number(f.stats.find((s) => s.row === row)?.m_new);
    const { power, factor: first, overflows } = failure(m) ?? { power: 0, factor: 0 };
    const fails = factor >= first;
    const values = { factor: integer(factor) };
    set(this.factor, { text: t("why.factor", values) });
    set(this.words, {
      text: !fails
        ? t("why.holds", values)
        : overflows
          ? t("why.fails.over", { ...values, power: number((power / first) * factor) })
          : t("why.fails.under", values),
    });
    set(this.root, { "data-fails": fails || null });
    const axes = axesOf(f, row, factor);
    const one = this.xOf(0);
    this.svg.replaceChildren(
      svg("rect", {
        x: this.xOf(RANGE[0]),
        y: 12,
        width: this.xOf(RANGE[1]) - this.xOf(RANGE[0]),
        height: 70,
        rx: 6,
      }),
      text(t("why.low"), { x: this.xOf(RANGE[0]), y: 8 }),
      text("1", { x: one + 5, y: 53 }),
      text(t("why.high"), { x: this.xOf(RANGE[1]), y: 8, class: "is-end" }),
      svg("path.is-one", { d: `M${one} 12V82` }),
      ...this.axis("exp(S)", LINES[0], axes.without),
      ...this.axis("exp(S − m)", LINES[1], axes.with),
    );
  }

  /** @param {string} name @param {number} y @param {Mark[]} marks */
  axis(name, y, marks) {
    return [
      svg("path", { d: `M${LEFT} ${y}H${this.right}` }),
      text(name, { x: LEFT - 10, y: y + 4, class: "is-end is-name" }),
      ...marks.map(({ at, state }) =>
        svg("circle", {
          cx: this.xOf(at).toFixed(1),
          cy: y,
          r: 6,
          class: ["is-zero", "", "is-over"][state + 1],
        }),
      ),
      ...(marks.some(({ state }) => state === 1)
        ? [text("∞", { x: this.right, y: y + 5, class: "is-over" })]
        : []),
    ];
  }
}
