// The schedule: a launch as it was simulated above the same launch as it ran, on one axis of time. A row is an SM, a bar a program, the
// darker the more tiles it visits; the shaded end is the tail.

import { scale, widthOf } from "../lib/chart.js";
import { times } from "../lib/lists.js";
import { ink, path, rect, stroke, text, wrapped } from "../lib/svg_canvas.js";
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
  const { width, narrow, big, type: size, small } = paper;
  const left = narrow ? 0 : size * 7.6;
  const aside = narrow ? 0 : size * (other ? 8.4 : 11.4); // right of the longest lane
  const x = scale([0, span], [left, width - aside]);
  const top = size * (narrow ? 1 : 1.8);
  const gap = size * (narrow ? 6.2 : 2.6);
  const room = (paper.height - top - size * 2.2 - gap * (lanes.length - 1)) / lanes.length;
  const high = narrow ? 150 : Math.min(big ? room : lanes.length > 1 ? 240 : 340, room);
  const y = (/** @type {number} */ lane) => top + (narrow ? size * 2.4 : 0) + lane * (high + gap);
  const bottom = y(lanes.length - 1) + high;
  if (narrow) paper.used = bottom + size * 5.4;
  const beside = other ? x(other.at) + 9 : 0;
  const places = scene.beats.map(({ time }) => x(time));
  return [
    lanes.map((lane, k) => {
      const drawn = paintLane(lane, x, y(k), high);
      if (narrow)
        return [drawn, text(0, y(k) - size * 0.6, `${lane.name}, ${lane.time}`, size, "bold")];
      const name = wrapped(0, y(k) + size * 1.3, lane.name, left - 14, size * 1.1, "bold");
      const below = y(k) + size * (1.3 + 1.54 * name.length);
      return [drawn, name, text(0, below, lane.time, size, "semi accent-ink")];
    }),
    !narrow &&
      !big &&
      wrapped(0, y(0) + high - size * 1.6, lanes[0].step || sms, left - 14, size * 0.86, "quiet"),
    paintOrder(lanes[lanes.length - 1], x, y(lanes.length - 1), high, size),
    ticks.map(([when, words], k) =>
      text(x(when), bottom + size * 1.5, words, small(0.9), `${k ? "middle" : "start"} quiet`),
    ),
    other && [
      path(
        `M${x(other.at)} ${y(0)}V${bottom}`,
        stroke("quiet", 1.4, { "stroke-dasharray": "4 4" }),
      ),
      narrow
        ? text(width, top + size * 0.4, other.texts.join(" "), size * 0.9, "end quiet")
        : [
            text(beside, bottom - size * (big ? 4 : 2.5), other.texts[0], size, "bold"),
            wrapped(
              beside,
              bottom - size * (big ? 2.6 : 1.2),
              other.texts[1],
              aside - 12,
              small(0.86),
              "quiet",
            ),
          ],
    ],
    lanes.map((lane, k) =>
      paintTail(lane, x, y(k), high, paper, other ? x(other.at) : width, k === lanes.length - 1),
    ),
    narrow
      ? timeSlider(
          scene,
          pen,
          places,
          y(0),
          bottom,
          y(0) + 8,
          lanes.map((_, k) => [y(k), y(k) + high]),
        )
      : timeSlider(scene, pen, places, size * 1.1, bottom + 4, size * 0.7),
  ];
}

/** Its programs, one path for each darkness. @param {Lane} lane @param {(time: number) => number} x @param {number} y @param {number} high @returns {Drawn} */
function paintLane({ programs, rows, slots }, x, y, high) {
  const one = high / rows / slots;
  const thick = (one < 2 ? one * 1.15 : one - Math.min(1, one * 0.06)).toFixed(2); // fine bars touch
  const paths = times(LEVELS, () => "");
  for (const [place, slot, start, end, level] of programs) {
    const [from, to] = [x(start), x(end)];
    const wide = Math.max(0.4, to - from - (to - from > 4 ? 0.7 : 0)).toFixed(1);
    const top = (y + (place * slots + slot) * one).toFixed(2);
    paths[level] += `M${from.toFixed(1)} ${top}h${wide}v${thick}h-${wide}z`;
  }
  return [
    rect(x(0), y, 1, high, "line"),
    paths.map((d, level) =>
      path(d, { fill: ink("accent"), opacity: LIGHTEST + ((1 - LIGHTEST) * level) / (LEVELS - 1) }),
    ),
  ];
}

/** Which rows run first and which then, on their bars, in the first of the wordings that has room.
 * @param {Lane} lane @param {(time: number) => number} x @param {number} y @param {number} high @param {number} size @returns {Drawn} */
function paintOrder({ order, rooms }, x, y, high, size) {
  const label = (/** @type {string} */ words, /** @type {number} */ k) => {
    const [share, from, to] = rooms[k];
    if (x(to) - x(from) < widthOf(words, size) * 1.06 + size * 1.6) return null;
    const base = y + share * high + size * 0.35;
    return text(x(from) + size * 0.8, base, words, size, `semi ${LOOKS[k]}`);
  };
  // The second goes on from the first; what is short says both where a sentence has no room
  const drawn = order.map((names) => names.map(label)).filter(([first]) => first);
  return drawn.find((labels) => labels.every(Boolean)) ?? drawn[0];
}

/** What lies between the SMs' last ends and the end of the launch, with its name and size.
 * @param {Lane} lane @param {(time: number) => number} x @param {number} y @param {number} high @param {Paper} paper @param {number} edge where something else is drawn
 * @param {boolean} isLast is the axis below it?
 * @returns {Drawn} */
function paintTail({ ends, span, rows, tail }, x, y, high, paper, edge, isLast) {
  const { width, type: size, small, narrow, big } = paper;
  const [name, why, share] = tail;
  const row = high / rows;
  const end = x(span);
  const steps = ends
    .map((time, k) => `V${(y + k * row).toFixed(1)}H${x(time).toFixed(1)}`)
    .join("");
  const left = end + 12;
  const low = y + high + (isLast ? size * 1.8 : 0); // on a phone
  const said =
    big || narrow
      ? []
      : wrapped(left, y + size * 2.7, why, Math.min(WIDE, width - left), size * 0.9, "quiet halo");
  return [
    path(`M${end} ${y}H${x(ends[0])}${steps}V${y + high}H${end}z`, {
      fill: ink("o"),
      opacity: 0.14,
    }),
    path(`M${end} ${y - 3}V${y + high + 3}`, stroke("ink-o", 2)),
    narrow
      ? [
          text(0, low + size * 1.4, `${name}: ${share}`, size * 0.9, "semi ink-o"),
          wrapped(0, low + size * 2.7, why, width, size * 0.86, "quiet"),
        ]
      : [
          text(left, y + size * 1.3, name, size * 1.1, "bold ink-o halo"),
          said,
          wrapped(
            left,
            y + size * ((big ? 2.7 : 3.1) + said.length * 1.26),
            share,
            big ? edge - left : width,
            small(0.95),
            "semi ink-o halo",
          ),
        ],
  ];
}
