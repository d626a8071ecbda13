// Round trips: standard attention above, the fused kernel below, on one time axis. Each matrix is as long as its time on
// the bus and points where it goes; the playhead fills what has passed.

import { scale, widthOf } from "../lib/chart.js";
import { clamp } from "../lib/format.js";
import {
  ink,
  INKS,
  line,
  path,
  rect,
  storedHue,
  stroke,
  text,
  tipped,
  titled,
  wrapped,
} from "../lib/svg_canvas.js";
import { timeSlider } from "./time_slider.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{tensor: string, read: boolean, start: number, end: number, size: string, word: string, tip: string}} Trip start, end: shares of the axis */
/** @typedef {{name: string, note: string, kernels: {name: string, end: number}[], trips: Trip[]}} Lane */
/** @typedef {{share: number, moved: string[], so_far: string[], part: string}} Moment */
/**
 * @typedef {object} Picture
 * @property {[standard: Lane, fused: Lane]} lanes
 * @property {[share: number, figure: string][]} ticks
 * @property {{in: string, over: string, then: string}} pace
 * @property {string} sms
 * @property {string} memory
 */
/** @typedef {{at: (share: number) => number, now: number, type: number, small: number, part: string}} View */
/** px of a lane: the tops of the SMs, of the way between and of HBM, and the bottom. @typedef {[number, number, number, number]} Tops */

const inkOf = (/** @type {string} */ tensor) => INKS[storedHue(tensor)] ?? "quiet";

/** A matrix on its way: it points down to HBM or up to the chip, and is filled as far as now.
 * @param {Trip} trip @param {View} view @param {number} high @param {number} low @param {number} bar of HBM @returns {Drawn} */
function drawTrip(
  { tensor, read, start, end, size, word, tip },
  { at, now, type, small, part },
  high,
  low,
  bar,
) {
  const [from, to] = [at(start), at(end)];
  const wide = to - from;
  const right = wide > 3 ? to - 1 : to;
  const point = wide > 24 ? Math.min(18, (low - high) / 5) : 0;
  const [flat, shoulder, peak] = read ? [low, high + point, high] : [high, low - point, low];
  const arrow = `M${from} ${flat}V${shoulder}L${(from + right) / 2} ${peak}L${right} ${shoulder}V${flat}z`;
  const hue = ink(storedHue(tensor));
  const past = clamp((now - from) / wide, 0, 1);
  const isDone = past > 0.999;
  const isOn = past > 0 && !isDone;
  // The words of what is on its way stand beside the playhead, where it leaves more room
  const [left, edge] = !isOn ? [from, to] : past > 0.5 ? [from, now] : [now, to];
  const x = (left + edge) / 2;
  const y = (high + low) / 2;
  const look = isDone ? "paper" : isOn ? "ink" : inkOf(tensor);
  const moved = isOn ? part : size;
  const fits = (/** @type {string} */ words) => widthOf(words, small) < edge - left - 8;
  return tipped(
    [
      path(arrow, {
        ...stroke("hatch", wide > 8 ? 1.2 : 0.7, { "stroke-dasharray": "4 3" }),
        fill: "transparent",
      }),
      past > 0 &&
        path(arrow, {
          fill: isDone ? hue : `color-mix(in srgb, ${hue} 45%, ${ink("paper")})`,
          "clip-path": `inset(0 ${100 * (1 - past)}% 0 0)`,
        }),
      wide > 18 && text(x, y + 5, tensor, wide > 46 ? type + 7 : type, `bold middle ${look}`),
      low - high > 5 * type && fits(word) && text(x, y + type * 1.8, word, small, `middle ${look}`),
      fits(moved) &&
        text(x, bar, moved, small, `middle ${isOn ? "accent-ink semi" : isDone ? "" : "quiet"}`),
    ],
    tip,
  );
}

/** The two memories of a lane, and what passes between them.
 * @param {Lane} lane @param {View} view @param {Tops} tops @param {Picture} picture @returns {Drawn} */
function drawLane({ kernels, trips }, view, [top, high, low, bottom], { sms, memory }) {
  const { at, type, small } = view;
  const [left, right] = [at(0), at(1)];
  const [upper, lower] = [top + high, low + bottom].map((ends) => ends / 2 + small * 0.36);
  /** Letters of the thin trips at an end of the lane. @param {Trip[]} some @param {number} x @param {string} look */
  const letters = (some, x, look) =>
    some
      .filter(({ start, end }) => at(end) - at(start) <= 18)
      .map(({ tensor }, k) => {
        const y = (high + low) / 2 + type * (1.2 * k - 0.3);
        return text(x, y, tensor, type, `bold ${look} ${inkOf(tensor)}`);
      });
  return [
    rect(left, top, right - left, high - top, "accent-pale", {}, 6),
    rect(left, low, right - left, bottom - low, "empty", {}, 6),
    text(0, upper, sms, small, "semi accent-ink"),
    text(0, lower, memory, small, "semi"),
    kernels.map(({ name, end }, k) => [
      text(
        (at(k && kernels[k - 1].end) + at(end)) / 2,
        upper,
        name,
        small,
        "semi middle accent-ink",
      ),
      end < 1 && path(`M${at(end)} ${top + 6}V${high - 6}`, stroke("chip-line", 1.4)),
    ]),
    trips.map((trip) => drawTrip(trip, view, high, low, lower)),
    kernels.length > 0 && [
      letters(trips.slice(0, 2), left - 6, "end"),
      letters(trips.slice(-2), right + 7, "start"),
    ],
  ];
}

/** @param {Scene<Picture, Moment>} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function trips(scene, paper, pen) {
  const { picture, beats, beat: moment } = scene;
  const { lanes, ticks, pace } = picture;
  const { width, narrow, big, type } = paper;
  const small = paper.small(0.92);
  const left = type * (narrow ? 4.1 : big ? 4.6 : 5.7);
  const right = width - (narrow ? 16 : 24);
  const x = scale([0, 1], [left, right]);
  const now = x(moment.share);
  const view = { at: x, now, type, small, part: moment.part };
  const title = (type + 3) * 2;
  // What is left of the height after two titles and the axis goes to the lanes
  const room = paper.height - 2 * title - type * (narrow ? 8.6 : 2.4);
  const bar = clamp(room * 0.1, 22, 40);
  const short = clamp(room * 0.15, 34, 70);
  /** @param {number} top @param {number} way @returns {Tops} */
  const topsOf = (top, way) => [top, top + bar, top + bar + way, top + 2 * bar + way];
  const first = topsOf(title, room - 4 * bar - short);
  const tops = [first, topsOf(first[3] + title, short)];
  const bottom = tops[1][3];
  // On a phone the words of the fused kernel stand below, else beside its bytes
  const [beside, way] = narrow
    ? [0, bottom + type * 3.6]
    : [x(lanes[1].trips[lanes[1].trips.length - 1].end) + 14, (tops[1][1] + tops[1][2]) / 2 - 3];
  const words = /** @type {[string, string?][]} */ ([
    ...["Q", "K", "V"].map((name) => [`${name} `, `bold ${inkOf(name)}`]),
    [`${pace.in} `],
    ["O ", `bold ${inkOf("O")}`],
    [pace.over],
  ]);
  return [
    lanes.map((lane, k) => {
      const y = tops[k][0] - title * 0.28;
      const [moved, then] = [moment.moved[k], `  ${moment.so_far[k]}`];
      const count = type + (narrow ? 0 : 5);
      const isRight = now + 10 + widthOf(moved + then, count) > width;
      const edge = isRight ? now - 10 : Math.max(now + 10, left + type * (narrow ? 6 : 13));
      return [
        drawLane(lane, view, tops[k], picture),
        titled(narrow ? 0 : left, y, lane.name, narrow ? "" : lane.note, type),
        line(
          edge,
          y,
          [
            [moved, "bold accent-ink"],
            [then, "quiet"],
          ],
          count,
          isRight ? "end" : "",
        ),
      ];
    }),
    (narrow || right - beside > type * 26) && [
      line(beside, big ? way + type * 0.5 : way, words, type),
      !big && wrapped(beside, way + type * 1.3, pace.then, width - beside, small, "quiet"),
    ],
    ticks.map(
      ([share, figure], k) =>
        (!k || x(share) > left + type * 9) &&
        Math.abs(x(share) - now) > widthOf(figure, small) / 2 + 8 &&
        text(x(share), bottom + type * 1.5, figure, small, k ? "middle quiet" : "quiet"),
    ),
    timeSlider(
      scene,
      pen,
      beats.map(({ share }) => x(share)),
      title * 0.3,
      bottom + 8,
      bottom + 10,
      tops.map(([from, , , to], k) => [from, to + 8 * k]),
    ),
  ];
}
