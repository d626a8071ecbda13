// The schedule: a launch as it was simulated above the same launch as it ran, on one axis of time. A row is an SM, a bar a program, the
// darker the more tiles it visits; the shaded end is the tail.

import { circle, ink, path, rect, stroke, text, wrapped } from "../lib/svg_canvas.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** A program. @typedef {[row: number, slot: number, start: number, end: number, level: number]} Bar */
/** @typedef {{name: string, time: string, span: number, rows: number, slots: number, step: string, programs: Bar[], ends: number[], tail: [string, string, string]}} Lane */
/** @typedef {{lanes: Lane[], span: number, ticks: [number, string][], other: {at: number, texts: [string, string]} | null, sms: string}} Picture */
/** @typedef {{time: number, label: string, note: string}} Beat */

export const height = { share: 1.9, least: 320, most: 680 };

const LIGHTEST = 0.34; // opacity of the programs with the fewest tiles; the most have 1
const LEVELS = 5;

/** @param {Scene} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function paint({ data, at, go }, paper, pen) {
  /** @type {Picture} */
  const { lanes, span, ticks, other, sms } = data.picture;
  const beats = /** @type {Beat[]} */ (/** @type {unknown} */ (data.beats));
  const { width, narrow, big, type } = paper;
  const size = big ? type : 15;
  const left = narrow ? 0 : size * 7.6;
  const aside = narrow ? 0 : size * (other ? 8.4 : 11.4); // right of the longest lane
  const unit = (width - left - aside) / (span || 1);
  const x = (/** @type {number} */ time) => left + time * unit;
  const top = size * 1.8;
  const foot = size * 2.2;
  const gap = size * (narrow ? 6.2 : 2.6);
  const high = narrow
    ? 130
    : Math.min(
        lanes.length > 1 ? 240 : 340,
        (paper.height - top - foot - gap * (lanes.length - 1)) / lanes.length,
      );
  const y = (/** @type {number} */ lane) => top + (narrow ? size * 2.4 : 0) + lane * (high + gap);
  const bottom = y(lanes.length - 1) + high;
  if (narrow) paper.used = bottom + size * 7.5;
  const now = x(beats[at].time);
  const nearest = (/** @type {number} */ px) =>
    beats.reduce(
      (best, { time }, k) =>
        Math.abs(x(time) - px) < Math.abs(x(beats[best].time) - px) ? k : best,
      0,
    );
  return [
    lanes.map((lane, k) => [
      paintLane(lane, x, y(k), high),
      narrow
        ? text(0, y(k) - size * 0.6, `${lane.name}, ${lane.time}`, size, "bold")
        : [
            wrapped(0, y(k) + size * 1.3, lane.name, left - 14, size * 1.1, "bold"),
            text(
              0,
              y(k) + size * (lane.name.length > 12 ? 5.9 : 2.8),
              lane.time,
              size,
              "semi accent-ink",
            ),
            k === 0 &&
              !big &&
              wrapped(
                0,
                y(k) + high - size * 1.6,
                lane.step || sms,
                left - 14,
                size * 0.86,
                "quiet",
              ),
          ],
      paintTail(lane, x, y(k), high, width, size, narrow, big),
    ]),
    ticks.map(([time, words], k) =>
      text(
        x(time),
        bottom + size * (narrow ? 5.6 : 1.5),
        words,
        size * 0.9,
        `${k ? "middle" : "start"} quiet`,
      ),
    ),
    other && [
      path(
        `M${x(other.at)} ${y(0)}V${bottom}`,
        stroke("quiet", 1.4, { "stroke-dasharray": "4 4" }),
      ),
      narrow
        ? text(width, top + size * 0.4, other.texts.join(" "), size * 0.9, "end quiet")
        : [
            text(x(other.at) + 9, bottom - size * 2.5, other.texts[0], size, "bold"),
            wrapped(
              x(other.at) + 9,
              bottom - size * 1.2,
              other.texts[1],
              aside - 12,
              size * 0.86,
              "quiet",
            ),
          ],
    ],
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
        rect(now - 14, 0, 28, bottom, "", { fill: "transparent", cursor: "ew-resize" }),
        path(`M${now} ${size * 1.1}V${bottom + 4}`, stroke("ink", 1.8)),
        circle(now, size * 0.7, 7.5, { fill: ink("paper"), ...stroke("ink", 2.5) }),
      ],
    ),
  ];
}

/** Its programs, one path for each darkness. @param {Lane} lane @param {(time: number) => number} x @param {number} y @param {number} high @returns {Drawn} */
function paintLane({ programs, rows, slots }, x, y, high) {
  const row = high / rows;
  const one = row / slots;
  const thick = Math.max(one * 0.94, one - 1);
  const paths = Array.from({ length: LEVELS }, () => "");
  for (const [place, slot, start, end, level] of programs) {
    const [from, to] = [x(start), x(end)];
    const wide = Math.max(0.4, to - from - (to - from > 4 ? 0.7 : 0));
    paths[level] +=
      `M${from.toFixed(1)} ${(y + place * row + slot * one).toFixed(2)}h${wide.toFixed(1)}v${thick.toFixed(2)}h-${wide.toFixed(1)}z`;
  }
  return [
    rect(x(0), y, 1, high, "line"),
    paths.map((d, level) =>
      path(d, {
        fill: ink("accent"),
        opacity: LIGHTEST + ((1 - LIGHTEST) * level) / (LEVELS - 1),
      }),
    ),
  ];
}

/** What lies between the SMs' last ends and the end of the launch, with its name and size.
 * @param {Lane} lane @param {(time: number) => number} x @param {number} y @param {number} high @param {number} width @param {number} size
 * @param {boolean} narrow @param {boolean} big @returns {Drawn} */
function paintTail({ ends, span, rows, tail }, x, y, high, width, size, narrow, big) {
  const row = high / rows;
  const end = x(span);
  const steps = ends
    .map(
      (time, k) =>
        `V${(y + k * row).toFixed(1)}H${x(time).toFixed(1)}V${(y + (k + 1) * row).toFixed(1)}`,
    )
    .join("");
  const left = end + 12;
  const most = Math.min(210, width - left);
  const said = big ? [] : wrapped(left, y + size * 2.7, tail[1], most, size * 0.9, "quiet halo");
  return [
    path(`M${end} ${y}H${x(ends[0])}${steps}H${end}z`, { fill: ink("o"), opacity: 0.14 }),
    path(`M${end} ${y - 3}V${y + high + 3}`, stroke("ink-o", 2)),
    narrow
      ? [
          text(0, y + high + size * 1.4, `${tail[0]}: ${tail[2]}`, size * 0.9, "semi ink-o"),
          wrapped(0, y + high + size * 2.7, tail[1], width, size * 0.86, "quiet"),
        ]
      : [
          text(left, y + size * 1.3, tail[0], size * 1.1, "bold ink-o halo"),
          said,
          text(
            left,
            y + size * (3.1 + said.length * 1.26),
            tail[2],
            size * 0.95,
            "semi ink-o halo",
          ),
        ],
  ];
}
