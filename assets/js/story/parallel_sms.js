// SMs: two cards at one moment, FA-1's and FA-2's. A square is an SM, split among the programs that it runs at once and filled as far as
// they are; below, both launches on one scale of time, and the moment to drag.

import { scale, widthOf } from "../lib/chart.js";
import { times } from "../lib/lists.js";
import { ink, line, path, rect, text } from "../lib/svg_canvas.js";
import { timeSlider } from "./time_slider.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{name: string, ink: string, programs: string, count: string, slots: number, span: number, time: string}} Card */
/** @typedef {{groups: number[], cards: Card[], sooner: string}} Picture */
/** `fills` of each card: per SM and place, percent of its program; −1 where none runs.
 * @typedef {{time: number, fills: number[][], done: string[], label: string, note: string}} Beat */
/** @typedef {{wide: number, pitch: number, rows: number, gap: number}} Layout */

const ACROSS = 4; // SMs in a row of a group, and groups in a row of a card
const IDLE = -1;

/** @param {Scene<Picture, Beat>} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function sms(scene, paper, pen) {
  const { beats, beat } = scene;
  const { groups, cards, sooner } = scene.picture;
  const { width, narrow, big, type: size } = paper;
  const wide = narrow ? width : width * 0.46;
  const foot = size * 5.4;
  const rows = Math.ceil(Math.max(...groups) / ACROSS);
  const lines = Math.ceil(groups.length / ACROSS);
  const gap = size * (narrow ? 1.1 : 1.9);
  const head = size * 1.9;
  const tall = narrow ? Infinity : (paper.height - foot - head - gap * (lines - 1)) / lines / rows;
  const pitch = Math.min((wide - gap * (ACROSS - 1)) / ACROSS / ACROSS, tall);
  const high = head + lines * rows * pitch + (lines - 1) * gap;
  const bars = (narrow ? high + size * 1.6 : 0) + high + size * 1.6;
  if (narrow) paper.used = bars + foot;
  const [left, row] = [size * 4.4, size * 1.75];
  const longest = cards.reduce((one, other) => (other.span > one.span ? other : one));
  const x = scale([0, longest.span], [left, width - widthOf(longest.time, size) - 24]);
  const { done, fills } = beat;
  const places = beats.map(({ time }) => x(time));
  const isFirst = (/** @type {Card} */ { span }) => cards.some((other) => other.span > span);
  return [
    cards.map((card, k) => {
      const [dx, dy] = narrow ? [0, k * (high + size * 1.6)] : [k * (width - wide), 0];
      const [hue, top] = [inkOf(card), bars + k * row];
      const count = `  ${card.count}${narrow || big ? "" : `, ${card.programs}`}`;
      return [
        line(
          dx,
          dy + size,
          [
            [card.name, `bold ${hue}`],
            [count, "quiet"],
          ],
          size,
        ),
        text(dx + wide, dy + size, done[k], size, `end semi ${hue}`),
        paintSms(card, fills[k], groups, dx, dy + head, { wide, pitch, rows, gap }),
        text(0, top + size * 0.85, card.name, size, `semi ${hue}`),
        rect(left, top, Math.max(2, x(card.span) - left), size * 1.05, card.ink, {}, 3),
        line(
          x(card.span) + 10,
          top + size * 0.85,
          [
            [card.time, "bold"],
            [isFirst(card) && !narrow ? `   ${sooner}` : "", "quiet"],
          ],
          size,
          "halo",
        ),
      ];
    }),
    narrow && text(0, bars + row * 2 + size * 1.5, sooner, size, "quiet"),
    timeSlider(scene, pen, places, bars - size * 0.7, bars + row * 2, bars - size * 0.8),
  ];
}

/** @param {Card} card */
const inkOf = ({ ink: hue }) => (hue === "accent" ? "accent-ink" : `ink-${hue}`);

/** The squares of one card, as one path for idle places, one for programs and one for what is done.
 * @param {Card} card @param {number[]} fills @param {number[]} groups @param {number} x @param {number} y @param {Layout} layout @returns {Drawn} */
function paintSms({ slots, ink: hue }, fills, groups, x, y, { wide, pitch, rows, gap }) {
  const side = pitch * 0.9;
  const one = side / slots;
  const step = Math.min(pitch * ACROSS, (wide - (ACROSS - 1) * gap) / ACROSS) + gap;
  const places = groups.flatMap((count, group) =>
    times(count, (k) => [
      x + (group % ACROSS) * step + (k % ACROSS) * pitch,
      y + Math.floor(group / ACROSS) * (rows * pitch + gap) + Math.floor(k / ACROSS) * pitch,
    ]),
  );
  const inner = (one - (slots > 1 ? 1 : 0)).toFixed(1);
  /** @param {(fill: number) => number} share of the height */
  const squares = (share) =>
    fills
      .map((fill, k) => {
        const [left, top] = places[Math.floor(k / slots)];
        const high = (side * share(fill)).toFixed(1);
        return +high > 0
          ? `M${(left + (k % slots) * one).toFixed(1)} ${(top + side).toFixed(1)}h${inner}v-${high}h-${inner}z`
          : "";
      })
      .join("");
  return [
    path(
      squares((fill) => (fill === IDLE ? 1 : 0)),
      { fill: ink("line"), opacity: 0.55 },
    ),
    path(
      squares((fill) => (fill === IDLE ? 0 : 1)),
      { fill: ink(hue), opacity: 0.36 },
    ),
    path(
      squares((fill) => fill / 100),
      { fill: ink(hue) },
    ),
  ];
}
