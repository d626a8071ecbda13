// One query against keys in parts: each part its own softmax, joined by lse; beside it the recorded times, in which the
// number of parts moves a line.

import { cellPath } from "../lib/chart.js";
import { clamp } from "../lib/format.js";
import { ink, line, path, rect, stroke, text, tipped, wrapped } from "../lib/svg_canvas.js";
import { textsOf } from "../lib/texts.js";
import { chart } from "./decode_chart.js";
import texts from "../../texts/parallel_scripts.json" with { type: "json" };

/** @import { Paper, Pen, Drawn } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @import { Box, Chart } from "./decode_chart.js" */
/** @typedef {{first: number, last: number, lse: string, weight: number, O: number[], tip: string}} Part */
/** @typedef {{parts: Part[], O: number[], lse: string, same: string}} Small */
/** `small`: the example by its number of parts, of a query `q` and so many `keys`. @typedef {{keys: number, q: number[], small: Record<string, Small>, chart: Chart}} Picture */

const t = textsOf(texts);
const GAP = 12; // px between two parts

/** A row of numbers as cells from x on: of its hue above 0, grey below. @param {number[]} values @param {number} x @param {number} y
 * @param {number} wide of a cell @param {number} high @param {string} hue */
function strip(values, x, y, wide, high, hue) {
  const most = Math.max(...values.map(Math.abs));
  const cells = values.map((v, k) => {
    const strength = Math.round(12 + (88 * Math.abs(v)) / most);
    const fill = `color-mix(in srgb, ${ink(v < 0 ? "minus" : hue)} ${strength}%, ${ink("zero")})`;
    return rect(x + k * wide, y, wide - 1.5, high, "", { fill }, 2);
  });
  return tipped(
    cells,
    values
      .map((v) => v.toFixed(2))
      .join(", ")
      .replaceAll("-", "−"),
  );
}

/** @param {number} x @param {number} y @param {number} high */
const arrow = (x, y, high) =>
  path(`M${x} ${y}V${y + high}M${x - 4} ${y + high - 5}l4 5 4 -5`, stroke("quiet", 1.2));

/** @param {number} x @param {number} y @param {string} figure @param {number} type @param {string} look */
const lse = (x, y, figure, type, look = "") =>
  line(
    x,
    y,
    [
      [t("decode.lse"), "l semi"],
      [figure, "semi"],
    ],
    type,
    look,
  );

/** The small example, as far as its beat: the parts, their softmax, how they join.
 * @param {Picture} picture @param {Small} joined @param {number} at @param {Box} box @param {Paper} paper @returns {Drawn} */
function example({ q, keys }, joined, at, { x, y, width, height: room }, { big, narrow, type }) {
  const { parts } = joined;
  const isShort = big || narrow;
  const unit = clamp(room / (big ? 400 : 388), 0.8, big ? 3 : 1.5);
  const left = x + type * 1.4; // K and V before it
  const span = x + width - left;
  const wide = (span + GAP) / parts.length - GAP;
  const each = keys / parts.length;
  const cell = wide / each;
  const lane = 21 * unit;
  const starts = parts.map((_, k) => left + k * (wide + GAP));
  const middles = starts.map((start) => start + wide / 2);
  const words = t(isShort ? "decode.meets.short" : "decode.meets", { keys, parts: parts.length });
  const queryAt = x + type * 6.6;
  const of = (/** @type {number} */ size) => Math.min(wide / q.length, size * unit);
  const from = queryAt + (13 * unit * q.length) / 2;
  // Heights from above: the query, its lines, K and V, the parts' O, their weights, O
  const query = y + type;
  const fan = query + 6 * unit;
  const bands = fan + 22 * unit + 4;
  const ranges = bands + 2 * lane + type;
  const own = ranges + 28 * unit;
  const weights = own + 17 * unit + type * 3.25 + 13 * unit;
  const whole = weights + 38 * unit + 5;
  const sum = whole + 20 * unit;
  const middle = left + span / 2;
  const start = middle - (15 * unit * q.length) / 2;
  const places = parts.some(({ weight }) => span * weight < type * 4.4) ? 0 : 1;
  let begin = left;
  return [
    text(x, query, t("decode.query"), type + 1, "bold"),
    strip(q, queryAt, query - type, 13 * unit, 18 * unit, "q"),
    text(queryAt + 13 * unit * q.length + 12, query, words, type, "quiet"),
    middles.map((to) =>
      path(
        `M${from} ${fan}C${from} ${bands - 4} ${to} ${fan} ${to} ${bands - 4}`,
        stroke("q", 1.4, { opacity: 0.5 }),
      ),
    ),
    ["k", "v"].map((hue, row) => [
      text(x, bands + lane * (row + 0.75), hue.toUpperCase(), type, `bold ink-${hue}`),
      starts.map((px) =>
        path(cellPath([[row, 0, each]], { x: px, y: bands, wide: cell, high: lane, gap: 1.5 }), {
          fill: ink(hue),
          opacity: 0.8,
        }),
      ),
    ]),
    parts.map(({ first, last, O, lse: figure, tip }, k) => [
      text(
        starts[k],
        ranges,
        big && k ? `${first}–${last}` : t("decode.keys", { first, last }),
        big ? type : type - 2,
        "quiet",
      ),
      at > 0 && [
        arrow(middles[k], own - 20 * unit, 15 * unit),
        strip(O, middles[k] - (of(13) * q.length) / 2, own, of(13), 17 * unit, "o"),
        tipped(
          lse(middles[k], own + 17 * unit + type * 1.25, figure, big ? type : type - 0.5, "middle"),
          tip,
        ),
      ],
    ]),
    at > 1 && [
      text(x, weights - 9 * unit, t(isShort ? "decode.join.short" : "decode.join"), type, "semi"),
      parts.map(({ weight, tip }) => {
        const length = span * weight;
        const share = (100 * weight).toFixed(places);
        begin += length;
        return tipped(
          [
            rect(begin - length, weights, length - 2, 38 * unit, "o", { "fill-opacity": 0.82 }, 3),
            text(
              begin - length / 2,
              weights + 19 * unit + type * 0.36,
              t("decode.weight", { share }),
              type,
              "bold middle on-o",
            ),
          ],
          tip,
        );
      }),
      arrow(middle, whole, 15 * unit),
      text(start - 12, sum + 16 * unit, "O", type + 1, "bold end ink-o"),
      strip(joined.O, start, sum, 15 * unit, 20 * unit, "o"),
      lse(start + 15 * unit * q.length + 12, sum + 15 * unit, joined.lse, type),
      !big && wrapped(x, sum + 26 * unit + type * 1.6, joined.same, width, type - 1, "quiet"),
    ],
  ];
}

/** @param {Scene<Picture>} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function decoding(scene, paper, pen) {
  const { width, height: room, narrow, big } = paper;
  const { small, chart: of } = scene.picture;
  const counts = Object.keys(small).map(Number);
  const shown = small[Math.max(...counts.filter((k) => k <= of.lines[of.chosen].splits))];
  if (narrow) paper.used = 702;
  const [left, right] = narrow
    ? [
        { x: 0, y: 4, width, height: 332 },
        { x: 0, y: 372, width, height: 330 },
      ]
    : [
        { x: 0, y: 8, width: width * 0.485, height: room },
        { x: width * 0.555, y: 8, width: width * 0.445, height: room - (big ? 12 : 24) },
      ];
  return [example(scene.picture, shown, scene.at, left, paper), chart(scene, right, paper, pen)];
}
