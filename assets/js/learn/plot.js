// A small chart, drawn at the width that it has; arrow keys and the pointer read its values.

import { axisOf, figureOf, ticks } from "../lib/axis.js";
import { el, on, onResize, set, svg } from "../lib/dom.js";
import { clamp } from "../lib/format.js";
import { t } from "./texts.js";

/** @import { Cell, PlotBlock, Series } from "./types.js" */

/** @param {string | null} [name] */
export const hue = (name) => `fa-hue-${name ?? "plain"}`;

/** @type {((x: number, y: number) => SVGElement)[]} */
const MARKS = [
  (x, y) => svg("circle", { cx: x, cy: y, r: 3.5 }),
  (x, y) => svg("rect", { x: x - 3, y: y - 3, width: 6, height: 6 }),
  (x, y) => svg("path", { d: `M${x} ${y - 4.5}l4.5 8h-9z` }),
  (x, y) => svg("path", { d: `M${x} ${y - 5}l5 5-5 5-5-5z` }),
];
/** NaN is a gap. @param {Cell} y */
const numeric = (y) => (typeof y === "number" ? y : NaN);
/** @param {number} k @param {number} x @param {number} y */
const mark = (k, x, y) => MARKS[k % MARKS.length](x, y);

/** A legend's line or mark. @param {Series} series @param {number} k */
function sample(series, k) {
  const line = series.points ? mark(k, 12, 6) : svg("line", { x1: 0, x2: 24, y1: 6, y2: 6 });
  const look = `fa-series fa-dash-${k % 5} ${hue(series.colour)}`;
  const box = { viewBox: "0 0 24 12", width: 24, height: 12, "aria-hidden": "true" };
  return el("li", {}, [
    svg("svg", { ...box, class: look }, [line]),
    el("span", { text: series.name }),
  ]);
}

class Plot {
  /** @param {PlotBlock} block */
  constructor(block) {
    this.block = block;
    const { series, label, log_x, log_y } = block;
    this.xs = [...new Set(series.flatMap((s) => s.x))]
      .filter((x) => Number.isFinite(x) && (!log_x || x > 0))
      .sort((a, b) => a - b);
    this.x = axisOf(this.xs, log_x);
    this.y = axisOf(series.flatMap((s) => s.y).map(numeric), log_y, true);
    this.axis = block.x_label || "x";
    this.at = -1; // the index of the x that is read
    this.svg = svg("svg", { "aria-hidden": "true" });
    this.line = svg("line", { class: "fa-now-line" });
    this.box = el(
      "div",
      {
        class: "fa-plot-box",
        role: "slider",
        tabindex: "0",
        "aria-label": t("plot", { label, axis: this.axis }),
        "aria-valuemin": 0,
        "aria-valuemax": Math.max(0, this.xs.length - 1),
        "aria-valuenow": 0,
      },
      [this.svg],
    );
    const hint = window.matchMedia("(hover: none)").matches ? t("plot.touch") : t("plot.point");
    this.readout = el("p", { class: "fa-fine fa-readout", text: hint });
    const isNamed = series.length > 1 || Boolean(series[0]?.name);
    this.root = el("figure", { class: "fa-block-of fa-plot-block" }, [
      el("figcaption", {}, [el("b", { text: label })]),
      isNamed && el("ul", { class: "fa-plot-legend" }, series.map(sample)),
      this.box,
      this.readout,
    ]);
    this.place = { left: 0, top: 0, base: 0, inner: 1 };
    this.listen();
    onResize(this.box, this.root, () => this.draw());
  }

  listen() {
    // A tap does not move
    on(this.box, ["pointerdown", "pointermove"], ({ clientX }) => {
      const { left, inner } = this.place;
      const part = (clientX - this.box.getBoundingClientRect().left - left) / inner;
      const off = (/** @type {number} */ x) => Math.abs(this.x.at(x) - part);
      this.read(this.xs.reduce((best, x, k) => (off(x) < off(this.xs[best]) ? k : best), 0));
    });
    this.box.addEventListener("keydown", (event) => {
      const last = this.xs.length - 1;
      const [next, back] = this.at < 0 ? [0, 0] : [this.at + 1, this.at - 1];
      /** @type {Record<string, number>} */
      const places = {
        ArrowRight: next,
        ArrowUp: next,
        ArrowLeft: back,
        ArrowDown: back,
        Home: 0,
        End: last,
      };
      if (!(event.key in places)) return;
      event.preventDefault();
      this.read(clamp(places[event.key], 0, last));
    });
    this.box.addEventListener("focus", () => this.at < 0 && this.read(0));
  }

  /** Shows the values of all series at the k-th x. @param {number} k */
  read(k) {
    if (!this.xs.length || k === this.at) return;
    this.at = k;
    const x = this.xs[k];
    const valueOf = (/** @type {Cell} */ y) =>
      y === null ? t("plot.none") : typeof y === "number" ? figureOf(y) : y;
    const values = this.block.series
      .filter((s) => s.x.includes(x))
      .map((s) => `${s.name ? `${s.name} ` : ""}${valueOf(s.y[s.x.indexOf(x)])}`);
    const text = t("plot.at", { axis: this.axis, x: figureOf(x), values: values.join(" · ") });
    set(this.readout, { text });
    set(this.box, { "aria-valuenow": k, "aria-valuetext": text });
    this.drawCursor();
  }

  drawCursor() {
    if (this.at < 0) return;
    const { left, top, base, inner } = this.place;
    const x = (left + this.x.at(this.xs[this.at]) * inner).toFixed(1);
    set(this.line, { x1: x, x2: x, y1: top, y2: base });
    this.svg.append(this.line);
  }

  draw() {
    const { x_label, y_label, series } = this.block;
    const { clientWidth: width, clientHeight: height } = this.box;
    // Type is larger in presentation mode
    const size = parseFloat(getComputedStyle(this.box).fontSize) / 12;
    if (!width) return;
    const yTicks = ticks(this.y.low, this.y.high, Math.max(2, height / (44 * size)), this.y.log);
    const widest = Math.max(...yTicks.map((tick) => this.y.label(tick).length), 2);
    const left = (widest * 7 + 10) * size;
    const base = height - (x_label ? 40 : 22) * size;
    const [top, inner] = [(y_label ? 22 : 8) * size, width - left - 14 * size];
    this.place = { left, top, base, inner };
    const right = left + inner;
    const px = (/** @type {number} */ part) => left + part * inner;
    const py = (/** @type {number} */ part) => base - part * (base - top);
    const label = (
      /** @type {string} */ text,
      /** @type {number} */ x,
      /** @type {number} */ y,
      kind = "",
    ) => svg("text", { class: `fa-tick ${kind}`.trim(), x, y, text });
    const count = Math.max(2, inner / (64 * size));
    this.svg.replaceChildren(
      ...yTicks.flatMap((tick) => {
        const y = py(this.y.of(tick));
        return [
          svg("line", { class: "fa-axis", x1: left, x2: right, y1: y, y2: y }),
          label(this.y.label(tick), left - 6 * size, y + 4 * size, "is-end"),
        ];
      }),
      ...ticks(this.x.low, this.x.high, count, this.x.log, this.x.least).map((tick) =>
        label(this.x.label(tick), px(this.x.of(tick)), base + 16 * size),
      ),
      y_label && label(y_label, 0, 11 * size, "is-start"),
      x_label && label(x_label, right, height - 5 * size, "is-end"),
      ...series.map((s, k) => this.curve(s, k, px, py)),
    );
    // On paper the same drawing, smaller
    set(this.svg, { viewBox: `0 0 ${width} ${height}` });
    this.drawCursor();
  }

  /** One series: its line, broken where a value is missing; marks at its points, thinly joined if in order.
   * @param {Series} series @param {number} k @param {(part: number) => number} px @param {(part: number) => number} py */
  curve(series, k, px, py) {
    const points = series.x.map((x, n) => [px(this.x.at(x)), py(this.y.at(numeric(series.y[n])))]);
    const isThere = points.map((point) => point.every(Number.isFinite));
    const isAlone = (/** @type {number} */ n) => !isThere[n - 1] && !isThere[n + 1];
    const dots = points.filter((_, n) => isThere[n] && (series.points || isAlone(n)));
    const isLoose = series.points && series.x.some((x, n) => x <= series.x[n - 1]);
    const d = points
      .map((point, n) =>
        isThere[n] ? `${isThere[n - 1] ? "L" : "M"}${point.map((u) => u.toFixed(1))}` : "",
      )
      .join("");
    const look = `fa-series fa-dash-${k % 5} ${hue(series.colour)}${series.points ? " has-points" : ""}`;
    return svg("g", { class: look }, [
      !isLoose && d && svg("path", { d }),
      ...dots.map(([x, y]) => mark(k, x, y)),
    ]);
  }
}

/** @param {PlotBlock} block */
export const drawPlot = (block) => new Plot(block).root;
