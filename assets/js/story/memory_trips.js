// Round trips: standard attention above, the fused kernel below, on one time axis. Each matrix is as long as its time on
// the bus and points where it goes; the playhead fills what has passed.

import { scale, slider, widthOf } from "../lib/chart.js";
import { clamp } from "../lib/format.js";
import {
  hit,
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

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{tensor: string, read: boolean, start: number, end: number, size: string, word: string, tip: string}} Trip start, end: shares of the axis */
/** @typedef {{name: string, note: string, kernels: {name: string, end: number}[], trips: Trip[]}} Lane */
/** @typedef {{share: number, moved: string[], so_far: string[], part: string, label: string}} Moment */
/**
 * @typedef {object} Picture
 * @property {[standard: Lane, fused: Lane]} lanes
 * @property {[share: number, figure: string][]} ticks
 * @property {{in: string, over: string, then: string}} pace
 * @property {string} sms
 * @property {string} memory
 * @property {string} time
 */
/** @typedef {{at: (share: number) => number, now: number, type: number, small: number, part: string}} View */
/** px of a lane: the tops of the SMs, of the way between and of HBM, and the bottom. @typedef {[number, number, number, number]} Tops */

const isScores = (/** @type {string} */ tensor) => tensor === "S" || tensor === "P";
const inkOf = (/** @type {string} */ tensor) => INKS[storedHue(tensor)] ?? "quiet";

/** The outline of a trip between two heights, as far as `until`: it points down to HBM or up to the chip.
 * @param {number} from @param {number} to @param {number} until @param {number} high @param {number} low @param {boolean} isRead */
function arrowOf(from, to, until, high, low, isRead) {
  const tip = to - from > 24 ? Math.min(18, (low - high) / 5) : 0;
  const [flat, point] = isRead ? [low, high] : [high, low];
  const shoulder = isRead ? high + tip : low - tip;
  const middle = (from + to) / 2;
  const edge =
    shoulder + (point - shoulder) * (1 - Math.abs(until - middle) / (middle - from || 1));
  const corner = until > middle ? `L${middle} ${point}` : "";
  return `M${from} ${flat}L${from} ${shoulder}${corner}L${until} ${edge}L${until} ${flat}z`;
}

/** A matrix on its way. @param {Trip} trip @param {View} view @param {number} high @param {number} low @param {number} bar of HBM @returns {Drawn} */
function drawTrip(
  { tensor, read, start, end, size, word, tip },
  { at, now, type, small, part },
  high,
  low,
  bar,
) {
  const [from, to] = [at(start), at(end)];
  const until = clamp(now, from, to);
  const wide = to - from;
  const last = wide > 3 ? to - 1 : to;
  const isDone = now >= to - 0.01;
  const isOn = !isDone && now > from;
  const isLong = isOn && until - from > small * 9.5;
  // The words of what is on its way stand beside the playhead, where it leaves more room
  const isBehind = until - from > to - until;
  const x = !isOn ? (from + to) / 2 : isBehind ? (from + until) / 2 : (until + to) / 2;
  const y = (high + low) / 2;
  const room = isOn ? Math.max(until - from, to - until) - 8 : wide;
  const look = `middle ${isDone ? "paper" : "ink"}`;
  const hue = ink(storedHue(tensor));
  const outline = stroke("hatch", wide > 8 ? 1.2 : 0.7, { "stroke-dasharray": "4 3" });
  return tipped(
    [
      path(
        arrowOf(from, last, last, high, low, read),
        isDone ? { fill: hue } : { ...outline, fill: "transparent" },
      ),
      isOn &&
        path(arrowOf(from, last, Math.min(until, last), high, low, read), {
          fill: `color-mix(in srgb, ${hue} 45%, ${ink("paper")})`,
        }),
      isScores(tensor) && wide > 46
        ? [
            text(x, y, tensor, type + 7, `bold ${look}`),
            widthOf(word, small) < room && text(x, y + type * 1.5, word, small, look),
            (!isOn || widthOf(size, small) < room) &&
              text(
                isLong ? (from + until) / 2 : x,
                bar,
                isLong ? part : size,
                small,
                `middle ${isOn ? "accent-ink semi" : isDone ? "" : "quiet"}`,
              ),
          ]
        : wide > 18 &&
          text(x, y + 5, tensor, type, `bold middle ${isDone ? "paper" : inkOf(tensor)}`),
    ],
    tip,
  );
}

/** The two memories of a lane, and what passes between them.
 * @param {Lane} lane @param {View} view @param {Tops} tops @param {Picture} picture @returns {Drawn} */
function drawLane({ kernels, trips }, view, [top, high, low, bottom], { sms, memory }) {
  const { at, type, small } = view;
  const [left, right] = [at(0), at(1)];
  const under = small * 0.36;
  const [upper, lower] = [(top + high) / 2 + under, (low + bottom) / 2 + under];
  /** Letters of the thin trips at an end of the lane. @param {Trip[]} some @param {number} x @param {string} look */
  const letters = (some, x, look) =>
    some
      .filter(({ start, end }) => at(end) - at(start) <= 18)
      .map(({ tensor }, k) =>
        text(
          x,
          (high + low) / 2 + type * (1.2 * k - 0.3),
          tensor,
          type,
          `bold ${look} ${inkOf(tensor)}`,
        ),
      );
  return [
    rect(left, top, right - left, high - top, "accent-pale", {}, 6),
    rect(left, low, right - left, bottom - low, "empty", {}, 6),
    text(0, upper, sms, small, "semi accent-ink"),
    text(0, lower, memory, small, "semi"),
    kernels.map(({ name, end }, k) => {
      const middle = (at(k ? kernels[k - 1].end : 0) + at(end)) / 2;
      const short = right - left < 500 ? name.replace(/^\d /, "") : name;
      return [
        text(middle, upper, short, small, "semi middle accent-ink"),
        end < 1 && path(`M${at(end)} ${top + 6}V${high - 6}`, stroke("chip-line", 1.4)),
      ];
    }),
    trips.map((trip) => drawTrip(trip, view, high, low, lower)),
    kernels.length > 0 && [
      letters(trips.slice(0, 2), left - 6, "end"),
      letters(trips.slice(-2), right + 7, "start"),
    ],
  ];
}

/** @param {Scene<Picture, Moment>} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function trips({ picture, beats, beat: moment, at, go }, paper, pen) {
  const { lanes, ticks, pace } = picture;
  const { width, narrow, big, type } = paper;
  const small = big ? type : narrow ? 12.5 : type - 1;
  const left = big ? type * 4.6 : narrow ? 58 : type * 5.7;
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
  const beside = x(/** @type {Trip} */ (lanes[1].trips.at(-1)).end) + 14;
  const way = (tops[1][1] + tops[1][2]) / 2;
  const words = /** @type {[string, string?][]} */ ([
    ...["Q", "K", "V"].map((name) => [`${name} `, `bold ${inkOf(name)}`]),
    [`${pace.in} `],
    ["O ", `bold ${inkOf("O")}`],
    [pace.over],
  ]);
  return [
    lanes.map((lane, k) => {
      const y = tops[k][0] - title * 0.28;
      const count = narrow ? 14 : type + 5;
      const isRight = now + 10 + widthOf(`${moment.moved[k]}  ${moment.so_far[k]}`, count) > width;
      const edge = isRight ? now - 10 : Math.max(now + 10, left + type * (narrow ? 6 : 13));
      return [
        drawLane(lane, view, tops[k], picture),
        titled(left, y, lane.name, narrow ? "" : lane.note, type + (big || narrow ? 0 : 2)),
        line(
          edge,
          y,
          [
            [moment.moved[k], "bold accent-ink"],
            [`  ${moment.so_far[k]}`, "quiet"],
          ],
          count,
          isRight ? "end" : "",
        ),
      ];
    }),
    narrow
      ? [
          line(0, bottom + type * 3.6, words, 14),
          wrapped(0, bottom + type * 5, pace.then, width, 12.5, "quiet"),
        ]
      : right - beside > type * 26 && [
          line(beside, way - (big ? -type * 0.35 : 3), words, type),
          !big && text(beside, way + type * 1.2, pace.then, small, "quiet"),
        ],
    ticks.map(
      ([share, figure], k) =>
        (!k || x(share) > left + type * 9) &&
        Math.abs(x(share) - now) > widthOf(figure, small) / 2 + 8 &&
        text(x(share), bottom + type * 1.5, figure, small, k ? "middle quiet" : "quiet"),
    ),
    slider(
      pen,
      {
        key: "time",
        label: picture.time,
        text: moment.label,
        at,
        places: beats.map((beat) => x(beat.share)),
        go,
      },
      [
        hit(now - 12, title * 0.3, 24, bottom + 8 - title * 0.3, "ew-resize"),
        path(
          tops.map(([from, , , to]) => `M${now} ${from}V${to}`).join("") + `V${bottom + 8}`,
          stroke("accent", 2),
        ),
        rect(now - 4, bottom + 2, 8, 12, "accent", {}, 3),
      ],
    ),
  ];
}
