// One query against keys in parts: each part its own softmax, joined by lse; beside it the recorded times, in which the
// number of parts moves a line.

import { cellPath } from "../lib/chart.js";
import { clamp } from "../lib/format.js";
import { group, ink, line, path, rect, stroke, text, tipped, wrapped } from "../lib/svg_canvas.js";
import { chart } from "./decode_chart.js";
import { t } from "./parallel_texts.js";

/** @import { Paper, Pen, Drawn } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @import { Chart } from "./decode_chart.js" */
/** @typedef {{first: number, last: number, lse: string, weight: number, O: number[], tip: string}} Part */
/** @typedef {{parts: Part[], O: number[], lse: string, same: string}} Small */
/** `small`: the example by its number of parts, of a query `q` and so many `keys`. @typedef {{keys: number, q: number[], small: Record<string, Small>, chart: Chart}} Picture */

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
 * @param {Picture} picture @param {Small} joined @param {number} at @param {number} width @param {number} room @param {Paper} paper @returns {Drawn} */
function example({ q, keys }, joined, at, width, room, { big, narrow, type }) {
  const { parts } = joined;
  const isShort = big || narrow;
  const unit = clamp(room / (big ? 400 : 388), 0.8, big ? 3 : 1.5);
  const left = type * 1.4; // K and V before it
  const span = width - left;
  const wide = (span + GAP) / parts.length - GAP;
  const each = keys / parts.length;
  const lane = 21 * unit;
  const words = t(isShort ? "decode.meets.short" : "decode.meets", { keys, parts: parts.length });
  const queryAt = type * 6.6;
  const queryWide = 13 * unit * q.length;
  const own = Math.min(wide / q.length, 13 * unit); // a cell of a part's O
  const sumWide = 15 * unit * q.length;
  const from = queryAt + queryWide / 2;
  // Heights from above: the query's lines, K and V, the parts' O, their weights, O
  const fan = type + 6 * unit;
  const bands = fan + 22 * unit + 4;
  const outputs = bands + 2 * lane + type + 28 * unit;
  const weights = outputs + 30 * unit + type * 3.25;
  const whole = weights + 38 * unit + 5;
  const sum = whole + 20 * unit;
  const middle = left + span / 2;
  const start = middle - sumWide / 2;
  const places = parts.some(({ weight }) => span * weight < type * 4.4) ? 0 : 1;
  const ends = parts.map((_, k) =>
    parts.slice(0, k + 1).reduce((all, { weight }) => all + weight, 0),
  );
  return [
    text(0, type, t("decode.query"), type + 1, "bold"),
    strip(q, queryAt, 0, 13 * unit, 18 * unit, "q"),
    text(queryAt + queryWide + 12, type, words, type, "quiet"),
    ["k", "v"].map((hue, row) =>
      text(0, bands + lane * (row + 0.75), hue.toUpperCase(), type, `bold ink-${hue}`),
    ),
    parts.map(({ first, last, O, lse: figure, weight, tip }, k) => {
      const x = left + k * (wide + GAP);
      const to = x + wide / 2;
      const length = span * weight;
      const begin = left + span * ends[k] - length;
      const share = (100 * weight).toFixed(places);
      const range = big && k ? `${first}–${last}` : t("decode.keys", { first, last });
      return [
        path(
          `M${from} ${fan}C${from} ${bands - 4} ${to} ${fan} ${to} ${bands - 4}`,
          stroke("q", 1.4, { opacity: 0.5 }),
        ),
        ["k", "v"].map((hue, row) => {
          const cell = { x, y: bands, wide: wide / each, high: lane, gap: 1.5 };
          return path(cellPath([[row, 0, each]], cell), { fill: ink(hue), opacity: 0.8 });
        }),
        text(x, bands + 2 * lane + type, range, big ? type : type - 2, "quiet"),
        at > 0 && [
          arrow(to, outputs - 20 * unit, 15 * unit),
          strip(O, to - (own * q.length) / 2, outputs, own, 17 * unit, "o"),
          tipped(
            lse(to, outputs + 17 * unit + type * 1.25, figure, big ? type : type - 0.5, "middle"),
            tip,
          ),
        ],
        at > 1 &&
          tipped(
            [
              rect(begin, weights, length - 2, 38 * unit, "o", { "fill-opacity": 0.82 }, 3),
              text(
                begin + length / 2,
                weights + 19 * unit + type * 0.36,
                t("decode.weight", { share }),
                type,
                "bold middle on-o",
              ),
            ],
            tip,
          ),
      ];
    }),
    at > 1 && [
      text(0, weights - 9 * unit, t(isShort ? "decode.join.short" : "decode.join"), type, "semi"),
      arrow(middle, whole, 15 * unit),
      text(start - 12, sum + 16 * unit, "O", type + 1, "bold end ink-o"),
      strip(joined.O, start, sum, 15 * unit, 20 * unit, "o"),
      lse(start + sumWide + 12, sum + 15 * unit, joined.lse, type),
      !big && wrapped(0, sum + 26 * unit + type * 1.6, joined.same, width, type - 1, "quiet"),
    ],
  ];
}

/** @param {Scene<Picture>} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function decoding(scene, paper, pen) {
  const { width, height, narrow, big } = paper;
  const { small, chart: of } = scene.picture;
  const counts = Object.keys(small).map(Number);
  const joined = small[Math.max(...counts.filter((k) => k <= of.lines[of.chosen].splits))];
  if (narrow) paper.used = 664;
  const [wide, high] = narrow ? [width, 332] : [width * 0.485, height];
  const box = narrow
    ? { x: 0, y: 334, width, height: 330 }
    : { x: width * 0.555, y: 8, width: width * 0.445, height: height - (big ? 12 : 24) };
  return [
    group(0, narrow ? 4 : 8, example(scene.picture, joined, scene.at, wide, high, paper)),
    chart(scene, box, paper, pen),
  ];
}
