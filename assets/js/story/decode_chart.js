// The recorded times of one decoding call over the number of keys: not split, in parts, and of other kernels; the number
// of parts is dragged along our line.

import { ticks } from "../lib/axis.js";
import { ends, plot, slider } from "../lib/chart.js";
import { integer } from "../lib/format.js";
import { circle, ink, path, rect, stroke, text } from "../lib/svg_canvas.js";
import { t } from "./parallel_texts.js";

/** @import { Paper, Pen, Drawn } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{value: string, splits: number, us: number[], tips: string[], ratios: string[], rows: string[]}} Times */
/** @typedef {Pick<Times, "us" | "tips" | "rows">} Other */
/** `at`: which of the lengths `n` is shown, `chosen`: which of the lines. @typedef {{n: number[], at: number, lines: Times[], chosen: number, beside: Other[]}} Chart */
/** @typedef {{x: number, y: number, width: number, height: number}} Box */

const DASHES = ["7 4", "2 4"]; // of the lines beside ours

/** @param {Scene<{chart: Chart}>} scene @param {Box} box @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function chart(scene, { x, y, width, height: room }, { narrow, big, type }, pen) {
  const of = scene.picture.chart;
  const { n, at, lines, chosen, beside } = of;
  const [whole, ours] = [lines[0], lines[chosen]];
  const isSplit = ours.splits > 1;
  const all = [...lines, ...beside].flatMap(({ us }) => us);
  /** @type {[number, number]} */
  const range = [Math.min(...all) / 1.1, Math.max(...all) * 1.1];
  const [low, high] = range.map(Math.log10);
  const [left, right] = [x + type * 3.3, x + width - type * (narrow ? 7.2 : 8)];
  const [top, bottom] = [y + type * 2.1, y + room - type * 2];
  const axes = plot(
    { left, right, top, bottom, size: big ? type : type - 2 },
    {
      values: n.map((_, k) => k),
      labels: n.map((keys, k) => (k ? integer(keys) : t("decode.axis", { n: keys }))),
      pad: 16,
    },
    {
      range,
      log: true,
      ticks: ticks(low, high, 6, true).map((power) => [10 ** power, integer(10 ** power)]),
    },
  );
  const { places } = axes;
  /** How many times as long the undivided call takes; above its point where there is no room between both. @param {number} k */
  const bracket = (k) => {
    const [px, from, to] = [places[k], axes.y(whole.us[k]), axes.y(ours.us[k])];
    const times = t("decode.times", { ratio: ours.ratios[k] });
    if (to - from < 3.4 * type) return text(px, from - 0.7 * type, times, type, "bold middle halo");
    const [dx, look] = k === n.length - 1 ? [-10, "end"] : [10, ""];
    return [
      path(`M${px} ${from + 8}V${to - 8}`, stroke("quiet", 1.4, { "stroke-dasharray": "2 4" })),
      text(px + dx, (from + to) / 2 + type * 0.35, times, type, `bold halo ${look}`),
    ];
  };
  const choosePart = (/** @type {number} */ next) => {
    const picture = { ...scene.picture, chart: { ...of, chosen: next } };
    pen.redraw({ ...scene, picture });
    scene.choose({ parts: lines[next].value });
  };
  const drawn = [
    ...beside.map((line, k) => ({ ...line, hue: "quiet", r: 4, wide: 1.6, dash: DASHES[k] })),
    { ...whole, hue: "minus", r: 5, wide: 2.6 },
    ...(isSplit ? [{ ...ours, hue: "accent", r: 5, wide: 2.6 }] : []),
  ];
  const value = (/** @type {number} */ us) =>
    t("decode.microseconds", { us: us < 100 ? us.toFixed(1) : us.toFixed(0) });
  const [hx, hy] = [places[at], axes.y(ours.us[at])];
  return [
    text(x, y + type, t("decode.chart"), type, "semi"),
    axes.grid(),
    axes.labels(at),
    isSplit && n.map((_, k) => bracket(k)),
    drawn.map(({ us, ...line }) => axes.line({ ...line, ys: us })),
    slider(
      pen,
      {
        key: "parts",
        label: t("decode.slider"),
        text: ours.tips[at],
        at: chosen,
        places: lines.map(({ us }) => axes.y(us[at])),
        go: choosePart,
        isUp: true,
      },
      [
        circle(hx, hy, 8, { fill: ink("accent"), ...stroke("paper", 2) }),
        circle(hx, hy, 22, { fill: ink("accent"), opacity: 0.14 }),
        path(`M${hx - 4} ${hy - 13}l4 -5 4 5M${hx - 4} ${hy + 13}l4 5 4 -5`, stroke("accent", 1.8)),
      ],
    ),
    ends(
      drawn.map(({ us, rows, hue }) => {
        const last = us[us.length - 1];
        /** @type {[string, string][]} */
        const named = rows.map((row) => [row, "quiet"]);
        named.unshift([value(last), `bold ${hue === "accent" ? "accent-ink" : "quiet"}`]);
        return { y: axes.y(last), rows: named };
      }),
      right + 16,
      big ? type : type - 1.5,
      [top - type * 2, bottom + type * 2],
    ),
  ];
}
