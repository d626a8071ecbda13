// SMs: two cards at one moment, FA-1's and FA-2's. A square is an SM, split among the programs that it runs at once and filled as far as
// they are; below, both launches on one scale of time, and the moment to drag.

import { scale, widthOf } from "../lib/chart.js";
import { times } from "../lib/lists.js";
import { group, ink, line, path, rect, text } from "../lib/svg_canvas.js";
import { timeSlider } from "./time_slider.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{name: string, ink: string, programs: string, count: string, slots: number, span: number, time: string}} Card */
/** @typedef {{groups: number[], cards: Card[], sooner: string}} Picture */
/** `fills` of each card: per SM and place, percent of its program; −1 where none runs.
 * @typedef {{time: number, fills: number[][], done: string[], label: string, note: string}} Beat */

const ACROSS = 4; // SMs in a row of a group, and groups in a row of a card
const IDLE = -1;

/** @param {Scene<Picture, Beat>} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function sms(scene, paper, pen) {
  const { beats, beat } = scene;
  const { groups, cards, sooner } = scene.picture;
  const { width, height, narrow, big, type: size } = paper;
  const wide = narrow ? width : width * 0.46;
  const foot = size * 5.4;
  const head = size * 1.9;
  const gap = size * (narrow ? 1.1 : 1.9);
  const [rows, lines] = [Math.max(...groups), groups.length].map((n) => Math.ceil(n / ACROSS));
  const room = narrow ? Infinity : (height - foot - head - gap * (lines - 1)) / lines / rows;
  const pitch = Math.min((wide - gap * (ACROSS - 1)) / ACROSS / ACROSS, room);
  const step = pitch * ACROSS + gap; // from a group to the next
  const places = groups.flatMap((count, group) =>
    times(count, (k) => [
      (group % ACROSS) * step + (k % ACROSS) * pitch,
      head + Math.floor(group / ACROSS) * (rows * pitch + gap) + Math.floor(k / ACROSS) * pitch,
    ]),
  );
  const high = head + lines * (rows * pitch + gap) - gap + size * 1.6;
  const top = narrow ? 2 * high : high; // of the bars
  if (narrow) paper.used = top + foot;
  const [left, row] = [size * 4.4, size * 1.75];
  const longest = cards.reduce((one, other) => (other.span > one.span ? other : one));
  const x = scale([0, longest.span], [left, width - widthOf(longest.time, size) - 24]);
  const moments = beats.map(({ time }) => x(time));
  return [
    cards.map((card, k) => {
      const hue = card.ink === "accent" ? "accent-ink" : `ink-${card.ink}`;
      const end = x(card.span);
      return [
        group(narrow ? 0 : k * (width - wide), narrow ? k * high : 0, [
          line(
            0,
            size,
            [
              [card.name, `bold ${hue}`],
              [`  ${card.count}${narrow || big ? "" : `, ${card.programs}`}`, "quiet"],
            ],
            size,
          ),
          text(wide, size, beat.done[k], size, `end semi ${hue}`),
          paintSms(card, beat.fills[k], places, pitch * 0.9),
        ]),
        group(0, top + k * row, [
          text(0, size * 0.85, card.name, size, `semi ${hue}`),
          rect(left, 0, Math.max(2, end - left), size * 1.05, card.ink, {}, 3),
          line(
            end + 10,
            size * 0.85,
            [
              [card.time, "bold"],
              [card.span < longest.span && !narrow ? `   ${sooner}` : "", "quiet"],
            ],
            size,
            "halo",
          ),
        ]),
      ];
    }),
    narrow && text(0, top + row * 2 + size * 1.5, sooner, size, "quiet"),
    timeSlider(scene, pen, moments, top - size * 0.7, top + row * 2, top - size * 0.8),
  ];
}

/** The squares of one card, as one path for idle places, one for programs and one for what is done.
 * @param {Card} card @param {number[]} fills @param {number[][]} places of its SMs @param {number} side of a square @returns {Drawn} */
function paintSms({ slots, ink: hue }, fills, places, side) {
  const one = side / slots;
  const inner = (one - (slots > 1 ? 1 : 0)).toFixed(1);
  /** @param {(fill: number) => number} share of the height @param {string} name @param {number} opacity */
  const squares = (share, name, opacity) => {
    const paths = fills.map((fill, k) => {
      const [x, y] = places[Math.floor(k / slots)];
      const high = (side * share(fill)).toFixed(1);
      const left = (x + (k % slots) * one).toFixed(1);
      return +high > 0 ? `M${left} ${(y + side).toFixed(1)}h${inner}v-${high}h-${inner}z` : "";
    });
    return path(paths.join(""), { fill: ink(name), opacity });
  };
  return [
    squares((fill) => Number(fill === IDLE), "line", 0.55),
    squares((fill) => Number(fill !== IDLE), hue, 0.36),
    squares((fill) => fill / 100, hue, 1),
  ];
}
