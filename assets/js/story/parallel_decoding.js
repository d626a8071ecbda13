// One query against keys in parts: each part its own softmax, joined by lse; beside it the recorded times, in which the
// number of parts moves a line.

import { svg } from "../lib/dom.js";
import { clamp } from "../lib/format.js";
import { circle, ink, line, path, rect, stroke, text, wrapped } from "../lib/svg_canvas.js";
import { textsOf } from "../lib/texts.js";
import { chart } from "./decode_chart.js";
import texts from "../../texts/parallel_scripts.json" with { type: "json" };

/** @import { Paper, Pen, Drawn } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @import { Box, Chart, Times } from "./decode_chart.js" */
/** @typedef {{first: number, last: number, lse: string, weight: number, O: number[], tip: string}} Part */
/** @typedef {{keys: number, q: number[], parts: Part[], O: number[], lse: string, same: string}} Small */
/** @typedef {{small: Record<string, Small>, chart: Chart}} Picture */

export const height = { share: 1.1, least: 300, most: 620 };

const t = textsOf(texts);
const GAP = 12; // px between two parts

/** A cell's colour: its hue for a number above 0, grey below. @param {number} x @param {number} most @param {string} hue */
const shade = (x, most, hue) =>
  `color-mix(in srgb, ${ink(x < 0 ? "minus" : hue)} ${Math.round(12 + (88 * Math.abs(x)) / most)}%, ${ink("zero")})`;

/** A row of numbers as cells, from x on. @param {number[]} values @param {number} x @param {number} y @param {number} wide of a cell
 * @param {number} high @param {string} hue @param {string} [tip] */
function strip(values, x, y, wide, high, hue, tip = values.map((v) => v.toFixed(2)).join(", ")) {
  const most = Math.max(...values.map(Math.abs));
  const cells = values.map((v, k) =>
    rect(x + k * wide, y, wide - 1.5, high, "", { fill: shade(v, most, hue) }, 2),
  );
  return svg("g", { "data-tip": tip.replaceAll("-", "−") }, cells);
}

/** @param {number} x @param {number} y @param {number} high */
const arrow = (x, y, high) =>
  path(`M${x} ${y}V${y + high}M${x - 4} ${y + high - 5}l4 5 4 -5`, stroke("quiet", 1.2));

/** The small example, as far as its beat: the parts, their softmax, how they join.
 * @param {Small} small @param {number} at @param {Box} box @param {Paper} paper @returns {Drawn} */
function example(small, at, { x, y, width, height: room }, { big, narrow, type }) {
  const { parts, keys, q } = small;
  const isShort = big || narrow;
  const unit = clamp(room / (big ? 400 : 388), 0.8, 1.5);
  const indent = type * 1.4; // for K and V
  const [left, wide] = [x + indent, (width - indent + GAP) / parts.length - GAP];
  const cell = (wide + 1.5) / (keys / parts.length);
  const lane = 21 * unit;
  const small8 = Math.min(wide / q.length, 13 * unit);
  const starts = parts.map((_, k) => left + k * (wide + GAP));
  const words = t(isShort ? "decode.meets.short" : "decode.meets", { keys, parts: parts.length });
  const queryAt = x + type * 6.6;
  let top = y + type;
  /** @type {Drawn[]} */
  const drawn = [
    text(x, top, t("decode.query"), type + 1, "bold"),
    strip(q, queryAt, top - type, 13 * unit, 18 * unit, "q"),
    text(queryAt + 13 * unit * q.length + 12, top, words, type, "quiet"),
  ];
  const from = queryAt + (13 * unit * q.length) / 2;
  top += 6 * unit;
  const below = top + 22 * unit;
  for (const start of starts)
    drawn.push(
      path(
        `M${from} ${top}C${from} ${below} ${start + wide / 2} ${top} ${start + wide / 2} ${below}`,
        stroke("q", 1.4, { opacity: 0.5 }),
      ),
    );
  top = below + 4;
  for (const [name, hue] of [
    ["K", "k"],
    ["V", "v"],
  ]) {
    drawn.push(text(x, top + lane * 0.75, name, type, `bold ink-${hue}`));
    const d = starts
      .flatMap((start, p) =>
        Array.from(
          { length: parts[p].last - parts[p].first + 1 },
          (_, k) => `M${start + k * cell} ${top}h${cell - 1.5}v${lane - 3}h${1.5 - cell}z`,
        ),
      )
      .join("");
    drawn.push(path(d, { fill: ink(hue), opacity: 0.8 }));
    top += lane;
  }
  top += type;
  for (const [k, { first, last }] of parts.entries()) {
    const label = t("decode.keys", { first, last });
    drawn.push(text(starts[k], top, label, type - 2, "quiet"));
  }
  if (at > 0) {
    top += 8 * unit;
    for (const [k, part] of parts.entries()) {
      const middle = starts[k] + wide / 2;
      const over = top + 20 * unit;
      drawn.push(
        arrow(middle, top, 15 * unit),
        strip(part.O, middle - (small8 * q.length) / 2, over, small8, 17 * unit, "o"),
        svg("g", { "data-tip": part.tip }, [
          line(
            middle - type * 2.1,
            over + 17 * unit + type * 1.25,
            [
              [t("decode.lse"), "l semi"],
              [part.lse, "semi"],
            ],
            type - 0.5,
          ),
        ]),
      );
    }
    top += 37 * unit + type * 1.25;
  }
  if (at > 1) {
    top += type * 2 + 4 * unit;
    const wording = t(isShort ? "decode.join.short" : "decode.join");
    drawn.push(text(x, top, wording, type, "semi"));
    top += 9 * unit;
    const bar = 38 * unit;
    const span = width - indent;
    let begin = left;
    for (const part of parts) {
      const length = span * part.weight;
      const places = length < type * 4.4 ? 0 : 1;
      const share = t("decode.weight", { share: (100 * part.weight).toFixed(places) });
      drawn.push(
        rect(begin, top, length - 2, bar, "o", { "fill-opacity": 0.82 }, 3),
        text(begin + length / 2, top + bar / 2 + type * 0.36, share, type, "bold middle on-o"),
      );
      drawn[drawn.length - 2] = svg("g", { "data-tip": part.tip }, [
        /** @type {Node} */ (drawn[drawn.length - 2]),
      ]);
      begin += length;
    }
    top += bar + 5;
    const middle = left + span / 2;
    drawn.push(arrow(middle, top, 15 * unit));
    top += 20 * unit;
    const cells = 15 * unit;
    const start = middle - (cells * q.length) / 2;
    drawn.push(
      text(start - 12, top + 16 * unit, "O", type + 1, "bold end ink-o"),
      strip(small.O, start, top, cells, 20 * unit, "o"),
      line(
        start + cells * q.length + 12,
        top + 15 * unit,
        [
          [t("decode.lse"), "l semi"],
          [small.lse, "semi"],
        ],
        type,
      ),
    );
    top += 20 * unit + type * 1.6;
    if (!big) drawn.push(wrapped(x, top + 6, small.same, width, type - 1, "quiet"));
  }
  return drawn;
}

/** @param {Scene} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function paint(scene, paper, pen) {
  const { width, height: room, narrow, big } = paper;
  const { small, chart: of } = /** @type {Picture} */ (scene.data.picture);
  const counts = Object.keys(small).map(Number);
  const count = Math.max(...counts.filter((k) => k <= of.lines[of.chosen].splits));
  if (narrow) {
    const high = 372;
    paper.used = high + 330;
    return [
      example(small[count], scene.at, { x: 0, y: 4, width, height: high - 40 }, paper),
      chart(scene, { x: 0, y: high, width, height: 330 }, paper, pen),
    ];
  }
  const half = width * 0.485;
  return [
    example(small[count], scene.at, { x: 0, y: 8, width: half, height: room }, paper),
    chart(
      scene,
      { x: width * 0.555, y: 8, width: width * 0.445, height: room - (big ? 12 : 24) },
      paper,
      pen,
    ),
  ];
}
