// The schedule: a launch as it was simulated above the same launch as it ran, on one axis of time. A row is an SM, a bar a program, the
// darker the more tiles it visits; the shaded end is the tail.

import { scale, widthOf } from "../lib/chart.js";
import { times } from "../lib/lists.js";
import { group, ink, path, rect, stroke, text, wrapped } from "../lib/svg_canvas.js";
import { timeSlider } from "./time_slider.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** A program. @typedef {[row: number, slot: number, start: number, end: number, level: number]} Bar */
/** @typedef {{name: string, time: string, span: number, rows: number, slots: number, step: string, programs: Bar[], ends: number[], order: [first: string, later: string][], rooms: [share: number, from: number, to: number][], tail: [string, string, string]}} Lane */
/** @typedef {{lanes: Lane[], span: number, ticks: [number, string][], other: {at: number, texts: [string, string]} | null, sms: string}} Picture */

const LIGHTEST = 0.34; // opacity of the programs with the fewest tiles; the most have 1
const LEVELS = 5;
const WIDE = 210; // px that the words of a tail take
const LOOKS = ["on-accent", "ink"]; // of words on dark bars, and on light ones

/** @param {Scene<Picture>} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function schedule(scene, paper, pen) {
  const { lanes, span, ticks, other, sms } = scene.picture;
  const { width, height, narrow, big, type: size, small } = paper;
  const left = narrow ? 0 : size * 7.6;
  const aside = narrow ? 0 : size * (other ? 8.4 : 11.4); // right of the longest lane
  const x = scale([0, span], [left, width - aside]);
  const top = size * (narrow ? 3.4 : 1.8);
  const gap = size * (narrow ? 6.2 : 2.6);
  const room = (height - top - size * 2.2 - gap * (lanes.length - 1)) / lanes.length;
  const high = narrow ? 150 : Math.min(big ? room : lanes.length > 1 ? 240 : 340, room);
  const tops = lanes.map((_, k) => top + k * (high + gap));
  const bottom = tops[lanes.length - 1] + high;
  if (narrow) paper.used = bottom + size * 5.4;
  const beside = other ? x(other.at) + 9 : 0;
  const places = scene.beats.map(({ time }) => x(time));
  const edge = other ? x(other.at) : width;
  return [
    ticks.map(([when, words], k) =>
      text(x(when), bottom + size * 1.5, words, small(0.9), `${k ? "middle" : "start"} quiet`),
    ),
    other && [
      path(`M${x(other.at)} ${top}V${bottom}`, stroke("quiet", 1.4, { "stroke-dasharray": "4 4" })),
      narrow
        ? text(width, size * 1.4, other.texts.join(" "), size * 0.9, "end quiet")
        : group(beside, bottom, [
            text(0, -size * (big ? 4 : 2.5), other.texts[0], size, "bold"),
            wrapped(0, -size * (big ? 2.6 : 1.2), other.texts[1], aside - 12, small(0.86), "quiet"),
          ]),
    ],
    lanes.map((lane, k) => {
      const isLast = k === lanes.length - 1;
      return group(0, tops[k], [
        paintBars(lane, x, high),
        isLast && paintOrder(lane, x, high, size),
        paintName(lane, left, paper),
        paintTail(lane, x, high, paper, edge, isLast),
      ]);
    }),
    !narrow &&
      !big &&
      wrapped(0, top + high - size * 1.6, lanes[0].step || sms, left - 14, size * 0.86, "quiet"),
    narrow
      ? timeSlider(
          scene,
          pen,
          places,
          top,
          bottom,
          top + 8,
          tops.map((y) => [y, y + high]),
        )
      : timeSlider(scene, pen, places, size * 1.1, bottom + 4, size * 0.7),
  ];
}

/** The programs of a lane, one path for each darkness. @param {Lane} lane @param {(time: number) => number} x @param {number} high @returns {Drawn} */
function paintBars({ programs, rows, slots }, x, high) {
  const one = high / rows / slots;
  const thick = (one < 2 ? one * 1.15 : one - Math.min(1, one * 0.06)).toFixed(2); // fine bars touch
  const paths = times(LEVELS, () => "");
  for (const [place, slot, start, end, level] of programs) {
    const [from, to] = [x(start), x(end)];
    const wide = Math.max(0.4, to - from - (to - from > 4 ? 0.7 : 0)).toFixed(1);
    const top = ((place * slots + slot) * one).toFixed(2);
    paths[level] += `M${from.toFixed(1)} ${top}h${wide}v${thick}h-${wide}z`;
  }
  return [
    rect(x(0), 0, 1, high, "line"),
    paths.map((d, level) =>
      path(d, { fill: ink("accent"), opacity: LIGHTEST + ((1 - LIGHTEST) * level) / (LEVELS - 1) }),
    ),
  ];
}

/** Beside a lane, on a phone above it. @param {Lane} lane @param {number} left @param {Paper} paper @returns {Drawn} */
function paintName({ name, time }, left, { narrow, type: size }) {
  if (narrow) return text(0, -size * 0.6, `${name}, ${time}`, size, "bold");
  const lines = wrapped(0, size * 1.3, name, left - 14, size * 1.1, "bold");
  return [lines, text(0, size * (1.3 + 1.54 * lines.length), time, size, "semi accent-ink")];
}

/** Which rows run first and which then, on their bars, in the first of the wordings that has room.
 * @param {Lane} lane @param {(time: number) => number} x @param {number} high @param {number} size @returns {Drawn} */
function paintOrder({ order, rooms }, x, high, size) {
  const label = (/** @type {string} */ words, /** @type {number} */ k) => {
    const [share, from, to] = rooms[k];
    if (x(to) - x(from) < widthOf(words, size) * 1.06 + size * 1.6) return null;
    const base = share * high + size * 0.35;
    return text(x(from) + size * 0.8, base, words, size, `semi ${LOOKS[k]}`);
  };
  // The second goes on from the first; what is short says both where a sentence has no room
  const drawn = order.map((names) => names.map(label)).filter(([first]) => first);
  return drawn.find((labels) => labels.every(Boolean)) ?? drawn[0];
}

/** What lies between the SMs' last ends and the end of the launch, with its name and size.
 * @param {Lane} lane @param {(time: number) => number} x @param {number} high @param {Paper} paper @param {number} edge where something else is drawn
 * @param {boolean} isLast is the axis below it?
 * @returns {Drawn} */
function paintTail({ ends, span, rows, tail }, x, high, paper, edge, isLast) {
  const { width, type: size, small, narrow, big } = paper;
  const [name, why, share] = tail;
  const end = x(span);
  const steps = ends.map((time, k) => `V${((k * high) / rows).toFixed(1)}H${x(time).toFixed(1)}`);
  const left = end + 12;
  const drawn = [
    path(`M${end} 0${steps.join("")}V${high}H${end}z`, { fill: ink("o"), opacity: 0.14 }),
    path(`M${end} -3V${high + 3}`, stroke("ink-o", 2)),
  ];
  if (narrow) {
    const low = high + (isLast ? size * 1.8 : 0);
    const summary = text(0, low + size * 1.4, `${name}: ${share}`, size * 0.9, "semi ink-o");
    return [drawn, summary, wrapped(0, low + size * 2.7, why, width, size * 0.86, "quiet")];
  }
  const room = Math.min(WIDE, width - left);
  const reason = big ? [] : wrapped(left, size * 2.7, why, room, size * 0.9, "quiet halo");
  const below = size * ((big ? 2.7 : 3.1) + reason.length * 1.26);
  const fits = big ? edge - left : width;
  return [
    drawn,
    text(left, size * 1.3, name, size * 1.1, "bold ink-o halo"),
    reason,
    wrapped(left, below, share, fits, small(0.95), "semi ink-o halo"),
  ];
}
