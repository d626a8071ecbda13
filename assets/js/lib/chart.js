// A kit of charts: plain data in, SVG out. `plot` is a pair of axes with what is drawn along them, `slider` what is dragged along an
// axis, `ends` the names at the ends of lines, `bars` rows of bars. None of them knows what it shows.
//
//   const axes = plot({ left, right, top, bottom, size }, { values: [256, 512], labels: ["256", "512"], log: true },
//     { range: [1, 100], log: true, ticks: [[1, "1 ms"], [10, "10 ms"]] });
//   return [axes.grid(), axes.labels(at), lines.map(axes.line),
//     ends(lines.map(({ ys }) => ({ y: axes.y(ys.at(-1)), rows: [["name", "bold"]] })), right + 12, size, [top, bottom]),
//     slider(pen, { key: "n", label: "N", text: "8,192", at, places: axes.places, go }, playhead(axes.places[at], top, bottom, top))];

import { clamp } from "./format.js";
import { times } from "./lists.js";
import { circle, hit, ink, path, stroke, text, tipped } from "./svg_canvas.js";

/** @import { Drawn, Knob, Pen } from "./svg_canvas.js" */
/** @typedef {[number, number]} Pair */
/** @typedef {[words: string, look?: string]} Words */
/** px of the axes, and of the type. @typedef {{left: number, right: number, top: number, bottom: number, size: number}} Box */
/** The places along x; without `log` they are as far apart as their values. @typedef {{values: number[], labels: string[], log?: boolean, pad?: number}} Across */
/** @typedef {{range: Pair, log?: boolean, ticks: [value: number, label: string][]}} Up */
/** `ys` at each place, null where there is none; `wide` 0 draws no line; `r` of its dots, 0 for none.
 * @typedef {{ys: (number | null)[], hue: string, wide?: number, dash?: string, tip?: string, tips?: string[], r?: number, hollow?: boolean}} Line */
/** `rows` of text one below the other, `value` at the right edge of the first, `from` a point that a leader starts at.
 * @typedef {{y: number, rows: Words[], value?: string, from?: Pair}} End */

/** px of a text of this size, a little more than it needs. @param {string} words @param {number} size */
export const widthOf = (words, size) => words.length * size * 0.57;

/** Where a value lies between two px. @param {Pair} range @param {Pair} px */
export function scale([low, high], [from, to], log = false) {
  const of = (/** @type {number} */ v) => (log ? Math.log(v) : v);
  return (/** @type {number} */ v) =>
    from + ((to - from) * (of(v) - of(low))) / (of(high) - of(low) || 1);
}

/** Which of these places is nearest. @param {number[]} places @param {number} px */
export const nearest = (places, px) =>
  places.reduce((best, x, k) => (Math.abs(x - px) < Math.abs(places[best] - px) ? k : best), 0);

/** Tops of boxes that want to be at these and do not overlap, in the same order.
 * @param {number[]} tops @param {number[]} heights @param {Pair} between */
export function apart(tops, heights, [low, high]) {
  const order = tops.map((_, k) => k).sort((a, b) => tops[a] - tops[b]);
  const found = [...tops];
  let edge = low;
  for (const k of order) {
    found[k] = Math.max(found[k], edge);
    edge = found[k] + heights[k];
  }
  edge = high;
  for (const k of order.reverse()) {
    found[k] = Math.min(found[k], edge - heights[k]);
    edge = found[k];
  }
  return found;
}

/** A pair of axes. @param {Box} box @param {Across} across @param {Up} up */
export function plot({ left, right, top, bottom, size }, { values, labels, log, pad = 8 }, up) {
  const ends = /** @type {Pair} */ ([values[0], values[values.length - 1]]);
  const along = scale(ends, [left + pad, right], log);
  const x = (/** @type {number} */ v) => (values.length > 1 ? along(v) : (left + right) / 2);
  const y = scale(up.range, [bottom, top], up.log);
  const places = values.map(x);
  /** @param {(number | null)[]} ys @returns {(Pair | null)[]} */
  const points = (ys) => ys.map((v, k) => (v === null ? null : [places[k], y(v)]));
  return {
    x,
    y,
    places,
    points,

    /** Lines at the ticks, and their labels. */
    grid: (hasLabels = true) => [
      up.ticks.map(([value, label]) => [
        path(`M${left} ${y(value)}H${right}`, stroke("line")),
        hasLabels && text(left - 10, y(value) + size * 0.35, label, size, "quiet end"),
      ]),
      path(`M${left} ${bottom}H${right}`, stroke("hatch")),
    ],

    /** Labels below the places, first that at `at`, the last and the first; then those that have room; `room`: px of the first, where something
     * else than its label is drawn there. @param {number} at */
    labels(at, room = 0) {
      /** @type {Pair[]} */
      const taken = [];
      const last = values.length - 1;
      return [...new Set([at, last, 0, ...values.keys()])].map((k) => {
        const half = (k === at && room ? room : widthOf(labels[k], size) + size * 0.5) / 2;
        if (taken.some(([from, to]) => places[k] + half > from && places[k] - half < to))
          return null;
        taken.push([places[k] - half, places[k] + half]);
        if (k === at && room) return null;
        const look = k === at ? "bold middle" : "quiet middle";
        return text(places[k], bottom + size * 1.6, labels[k], size, look);
      });
    },

    /** @param {Line} line */
    line({ ys, hue, wide = 2, dash, tip = "", tips = [], r = 0, hollow = false }) {
      const found = points(ys);
      const d = `M${found.filter(Boolean).join("L")}`;
      const look = { "stroke-linejoin": "round", ...(dash ? { "stroke-dasharray": dash } : {}) };
      const wider = tip && path(d, { ...stroke(hue, 12), opacity: 0 });
      if (wider) wider.setAttribute("class", "fa-chart-line");
      const fill = hollow ? { fill: ink("paper"), ...stroke(hue, 1.8) } : { fill: ink(hue) };
      return [
        wide > 0 && path(d, stroke(hue, wide, look)),
        wider && tipped(wider, tip),
        r > 0 && found.map((at, k) => at && tipped(circle(at[0], at[1], r, fill), tips[k] ?? "")),
      ];
    },
  };
}

/** What stands at the ends of lines, moved apart: from `x` on, values up to `edge`.
 * @param {End[]} all @param {number} x @param {number} size @param {Pair} between @param {number} [edge] */
export function ends(all, x, size, between, edge = 0) {
  const row = size * 1.35;
  const tops = apart(
    all.map(({ y }) => y - row / 2),
    all.map(({ rows }) => rows.length * row),
    between,
  );
  return all.map(({ rows, value, from }, k) => [
    from && path(`M${from}L${x - 4} ${tops[k] + row / 2}`, stroke("line")),
    rows.map(([words, look], at) =>
      text(x, tops[k] + row * (at + 0.76), words, size, `${look} halo`),
    ),
    value && text(edge, tops[k] + row * 0.76, value, size, `${rows[0][1]} end`),
  ]);
}

/** What is dragged, or moved by keys, from place to place. `isUp`: along y.
 * @param {Pen<any>} pen
 * @param {Pick<Knob, "key" | "label" | "text" | "group" | "reach"> & {at: number, places: number[], go: (at: number) => void, isUp?: boolean}} it
 * @param {Drawn} drawn */
export function slider(pen, { at, places, go, isUp, ...knob }, drawn) {
  const last = places.length - 1;
  const move = (/** @type {number} */ to) => to !== at && go(to);
  return pen.knob(
    {
      ...knob,
      slides: [at, 0, last],
      keys: (dx, dy) => move(clamp(at + dx + dy, 0, last)),
      drag: (x, y) => move(nearest(places, isUp ? y : x)),
    },
    drawn,
  );
}

/** A line at x with a ring at y, as wide as a finger; drawn in `spans`, between which words stay readable.
 * @param {number} x @param {number} top @param {number} bottom @param {number} y @param {string} hue @param {string} dash @param {Pair[]} spans */
export const playhead = (x, top, bottom, y, hue = "ink", dash = "", spans = [[top, bottom]]) => [
  hit(x - 14, Math.min(top, y) - 8, 28, Math.abs(bottom - top) + 24, "ew-resize"),
  path(
    spans.map(([from, to]) => `M${x} ${from}V${to}`).join(""),
    dash ? stroke("hatch", 1, { "stroke-dasharray": dash }) : stroke(hue, 1.8),
  ),
  circle(x, y, 7.5, { fill: ink("paper"), ...stroke(hue, 2.5) }),
];

/** Cells of a grid as one path: [row, column, columns on] each. @param {[row: number, first: number, past: number][]} runs
 * @param {{x: number, y: number, wide: number, high: number, gap?: number}} cell from (x, y) on */
export const cellPath = (runs, { x, y, wide, high, gap = 0 }) =>
  runs
    .flatMap(([row, first, past]) =>
      times(
        past - first,
        (k) =>
          `M${x + (first + k) * wide} ${y + row * high}h${wide - gap}v${high - gap}h${gap - wide}z`,
      ),
    )
    .join("");
