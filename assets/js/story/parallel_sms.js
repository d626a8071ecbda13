// SMs: two cards at one moment, FA-1's and FA-2's. A square is an SM, split among the programs that it runs at once and filled as far as
// they are; below, both launches on one scale of time, and the moment to drag.

import { circle, ink, line, path, rect, stroke, text } from "../lib/svg_canvas.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{name: string, ink: string, programs: string, count: string, slots: number, span: number, time: string}} Card */
/** @typedef {{groups: number[], cards: Card[], sooner: string}} Picture */
/** `fills` of each card: per SM and place, percent of its program; −1 where none runs.
 * @typedef {{time: number, fills: number[][], done: string[], label: string, note: string}} Beat */

export const height = { share: 2.4, least: 340, most: 700 };

const ACROSS = 4; // SMs in a row of a group, and groups in a row of a card
const IDLE = -1;

/** @param {Scene} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function paint({ data, at, go }, paper, pen) {
  /** @type {Picture} */
  const { groups, cards, sooner } = data.picture;
  const beats = /** @type {Beat[]} */ (/** @type {unknown} */ (data.beats));
  const beat = beats[at];
  const { width, narrow, big, type } = paper;
  const size = big ? type : 15;
  const wide = narrow ? width : width * 0.46;
  const foot = size * 5.4;
  const rows = Math.ceil(Math.max(...groups) / ACROSS);
  const lines = Math.ceil(groups.length / ACROSS);
  const gap = size * (narrow ? 1.1 : 1.9);
  const head = size * 1.9;
  const tall = narrow ? Infinity : (paper.height - foot - head - gap * (lines - 1)) / lines / rows;
  const pitch = Math.min((wide - gap * (ACROSS - 1)) / ACROSS / ACROSS, tall);
  const cardHigh = head + lines * rows * pitch + (lines - 1) * gap;
  const places = cards.map((_, k) =>
    narrow ? [0, k * (cardHigh + size * 1.6)] : [k * (width - wide), 0],
  );
  const bars = (narrow ? places[1][1] : 0) + cardHigh + size * 1.6;
  if (narrow) paper.used = bars + foot;
  return [
    cards.map((card, k) => [
      line(
        places[k][0],
        places[k][1] + size,
        [
          [card.name, `bold ${inkOf(card)}`],
          [`  ${card.count}${narrow || big ? "" : `, ${card.programs}`}`, "quiet"],
        ],
        size,
      ),
      text(places[k][0] + wide, places[k][1] + size, beat.done[k], size, `end semi ${inkOf(card)}`),
      paintSms(card, beat.fills[k], groups, places[k][0], places[k][1] + head, wide, pitch, {
        rows,
        gap,
      }),
    ]),
    paintTimes({ beats, at, go }, cards, sooner, bars, width, size, narrow, pen),
  ];
}

/** @param {Card} card */
const inkOf = ({ ink: hue }) => (hue === "accent" ? "accent-ink" : `ink-${hue}`);

/** The squares of one card, as one path for places, one for programs and one for what is done.
 * @param {Card} card @param {number[]} fills @param {number[]} groups @param {number} x @param {number} y @param {number} wide
 * @param {number} pitch @param {{rows: number, gap: number}} layout @returns {Drawn} */
function paintSms(card, fills, groups, x, y, wide, pitch, { rows, gap }) {
  const side = pitch * 0.9;
  const one = side / card.slots;
  const across = (wide - (ACROSS - 1) * gap) / ACROSS;
  const step = Math.min(pitch * ACROSS + gap, across + gap);
  let [idle, runs, done] = ["", "", ""];
  let sm = 0;
  groups.forEach((count, group) => {
    const left = x + (group % ACROSS) * step;
    const top = y + Math.floor(group / ACROSS) * (rows * pitch + gap);
    for (let k = 0; k < count; k++, sm++) {
      const place = [left + (k % ACROSS) * pitch, top + Math.floor(k / ACROSS) * pitch];
      for (let slot = 0; slot < card.slots; slot++) {
        const fill = fills[sm * card.slots + slot];
        const box = `M${(place[0] + slot * one).toFixed(1)} `;
        const inner = (one - (card.slots > 1 ? 1 : 0)).toFixed(1);
        const whole = `${box}${place[1].toFixed(1)}h${inner}v${side.toFixed(1)}h-${inner}z`;
        if (fill === IDLE) {
          idle += whole;
          continue;
        }
        runs += whole;
        const high = ((side * fill) / 100).toFixed(1);
        done += `${box}${(place[1] + side).toFixed(1)}h${inner}v-${high}h-${inner}z`;
      }
    }
  });
  return [
    path(idle, { fill: ink("line"), opacity: 0.55 }),
    path(runs, { fill: ink(card.ink), opacity: 0.36 }),
    path(done, { fill: ink(card.ink) }),
  ];
}

/** Both launches on one scale of time, and the moment that is shown.
 * @param {{beats: Beat[], at: number, go: (at: number) => void}} scene @param {Card[]} cards @param {string} sooner @param {number} y
 * @param {number} width @param {number} size @param {boolean} narrow @param {Pen<Scene>} pen @returns {Drawn} */
function paintTimes({ beats, at, go }, cards, sooner, y, width, size, narrow, pen) {
  const left = size * 4.4;
  const longest = Math.max(...cards.map(({ span }) => span));
  const unit = (width - left - size * 5.4) / longest;
  const x = (/** @type {number} */ time) => left + time * unit;
  const row = size * 1.75;
  const now = x(beats[at].time);
  const nearest = (/** @type {number} */ px) =>
    beats.reduce(
      (best, { time }, k) =>
        Math.abs(x(time) - px) < Math.abs(x(beats[best].time) - px) ? k : best,
      0,
    );
  return [
    cards.map((card, k) => {
      const top = y + k * row;
      const end = x(card.span);
      const isShort = card.span < longest;
      return [
        text(0, top + size * 0.85, card.name, size, `semi ${inkOf(card)}`),
        rect(left, top, Math.max(2, end - left), size * 1.05, card.ink, {}, 3),
        line(
          end + 10,
          top + size * 0.85,
          [
            [card.time, "bold"],
            [isShort && !narrow ? `   ${sooner}` : "", "quiet"],
          ],
          size,
          "halo",
        ),
      ];
    }),
    narrow && text(0, y + row * 2 + size * 1.5, sooner, size, "quiet"),
    pen.knob(
      {
        key: "time",
        label: "t",
        text: `${beats[at].label}, ${beats[at].note}`,
        slides: [at, 0, beats.length - 1],
        keys: (dx, dy) => go(at + dx + dy),
        drag: (px) => go(nearest(px)),
      },
      [
        rect(now - 14, y - size * 1.4, 28, row * 2 + size * 1.6, "", {
          fill: "transparent",
          cursor: "ew-resize",
        }),
        path(`M${now} ${y - size * 0.7}V${y + row * 2}`, stroke("ink", 1.8)),
        circle(now, y - size * 0.8, 7.5, { fill: ink("paper"), ...stroke("ink", 2.5) }),
      ],
    ),
  ];
}
