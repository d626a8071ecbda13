// Round trips: standard attention above, the fused kernel below, on one time axis. Each matrix is as long as its time on
// the bus and points where it goes; the playhead fills what has passed.

import { svg } from "../lib/dom.js";
import { clamp } from "../lib/format.js";
import {
  group,
  HUES,
  ink,
  INKS,
  line,
  path,
  rect,
  stroke,
  text,
  wrapped,
} from "../lib/svg_canvas.js";
import { typeOf } from "./where_parts.js";

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
 * @property {string} sram
 * @property {string} memory
 * @property {string} time
 */
/** @typedef {{at: (share: number) => number, left: number, right: number, now: number, type: number, small: number, part: string}} View */

export const height = { share: 1.25, least: 330, most: 800 };

const hueOf = (/** @type {string} */ tensor) =>
  HUES[tensor] === undefined || "SP".includes(tensor) ? "quiet" : HUES[tensor];
const inkOf = (/** @type {string} */ tensor) => INKS[hueOf(tensor)] ?? "quiet";
const isScores = (/** @type {string} */ tensor) => tensor === "S" || tensor === "P";

/** The outline of a trip between two heights, as far as `until`: it points down to HBM or up to the chip.
 * @param {number} from @param {number} to @param {number} until @param {number} high @param {number} low @param {boolean} isRead */
function arrowOf(from, to, until, high, low, isRead) {
  const tip = to - from > 24 ? Math.min(18, (low - high) / 5) : 0;
  const [flat, point] = isRead ? [low, high] : [high, low];
  const shoulder = isRead ? high + tip : low - tip;
  const middle = (from + to) / 2;
  const edge = (/** @type {number} */ x) =>
    shoulder + (point - shoulder) * (1 - Math.abs(x - middle) / (middle - from || 1));
  const corner = until > middle ? `L${middle} ${point}` : "";
  return `M${from} ${flat}L${from} ${shoulder}${corner}L${until} ${edge(until)}L${until} ${flat}z`;
}

/** A matrix on its way. @param {Trip} trip @param {View} view @param {number} high @param {number} low @param {number} bar of HBM @returns {Drawn} */
function drawTrip(trip, view, high, low, bar) {
  const [from, to] = [view.at(trip.start), view.at(trip.end)];
  const until = clamp(view.now, from, to);
  const wide = to - from;
  const gap = wide > 3 ? 1 : 0;
  const hue = hueOf(trip.tensor);
  const isDone = view.now >= to - 0.01;
  const isOn = !isDone && view.now > from;
  const isLong = isOn && until - from > view.small * 9.5;
  const isTold = isScores(trip.tensor) && wide > 46;
  const middle = (from + to) / 2;
  const look = isDone ? "paper" : "ink";
  const below = isLong ? view.part : trip.size;
  return svg("g", { "data-tip": trip.tip }, [
    path(arrowOf(from, to - gap, to - gap, high, low, trip.read), {
      ...(isDone ? {} : stroke("hatch", wide > 8 ? 1.2 : 0.7, { "stroke-dasharray": "4 3" })),
      fill: isDone ? ink(hue) : "transparent",
    }),
    group(
      0,
      0,
      isOn &&
        path(arrowOf(from, to - gap, Math.min(until, to - gap), high, low, trip.read), {
          fill: `color-mix(in srgb, ${ink(hue)} 45%, ${ink("paper")})`,
        }),
    ),
    group(0, 0, [
      isTold && [
        text(middle, (high + low) / 2, trip.tensor, view.type + 7, `bold middle ${look}`),
        text(middle, (high + low) / 2 + view.type * 1.5, trip.word, view.small, `middle ${look}`),
        text(
          isLong ? (from + until) / 2 : middle,
          bar,
          below,
          view.small,
          `middle ${isOn ? "accent-ink semi" : isDone ? "" : "quiet"}`,
        ),
      ],
      !isTold &&
        wide > 18 &&
        text(
          middle,
          (high + low) / 2 + 5,
          trip.tensor,
          view.type,
          `bold middle ${isDone ? "paper" : inkOf(trip.tensor)}`,
        ),
    ]),
  ]);
}

/** Letters of the thin trips at an end of a lane. @param {Trip[]} trips @param {View} view @param {number} x @param {number} y @param {string} look */
const letters = (trips, view, x, y, look) =>
  trips
    .filter(({ start, end }) => view.at(end) - view.at(start) <= 18)
    .map(({ tensor }, k) =>
      text(x, y + k * view.type * 1.2, tensor, view.type, `bold ${look} ${inkOf(tensor)}`),
    );

/** The two memories of a lane with its name, and what passes between them.
 * @param {Lane} lane @param {View} view @param {number} top @param {[number, number, number]} heights of SRAM, the way, HBM
 * @param {Picture} picture @returns {Drawn} */
function drawLane(lane, view, top, [sram, way, hbm], picture) {
  const { left, right, type, small } = view;
  const [high, low] = [top + sram, top + sram + way];
  const baseline = (/** @type {number} */ y, /** @type {number} */ h) => y + h / 2 + small * 0.36;
  const starts = [0, ...lane.kernels.map(({ end }) => end)];
  const isThree = lane.kernels.length > 0;
  return [
    rect(left, top, right - left, sram, "accent-pale", {}, 6),
    rect(left, low, right - left, hbm, "empty", {}, 6),
    text(0, baseline(top, sram), picture.sram, small, "semi accent-ink"),
    text(0, baseline(low, hbm), picture.memory, small, "semi"),
    lane.kernels.map(({ name, end }, k) => [
      text(
        (view.at(starts[k]) + view.at(end)) / 2,
        baseline(top, sram),
        view.right - view.left < 500 ? name.replace(/^\d /, "") : name,
        small,
        "semi middle accent-ink",
      ),
      k < lane.kernels.length - 1 &&
        path(`M${view.at(end)} ${top + 6}v${sram - 12}`, stroke("chip-line", 1.4)),
    ]),
    lane.trips.map((trip) => drawTrip(trip, view, high, low, baseline(low, hbm))),
    isThree && [
      letters(lane.trips.slice(0, 2), view, left - 6, (high + low) / 2 - type * 0.3, "end"),
      letters(lane.trips.slice(-2), view, right + 7, (high + low) / 2 - type * 0.3, "start"),
    ],
  ];
}

/** @param {Scene} scene @param {Paper} paper @param {Pen<Scene>} pen */
export function paint({ data, at, go }, paper, pen) {
  const picture = /** @type {Picture} */ (data.picture);
  const moment = /** @type {Moment} */ (/** @type {unknown} */ (data.beats[at]));
  const { width, narrow, big } = paper;
  const type = typeOf(paper);
  const small = big ? type : narrow ? 12.5 : type - 1;
  const high = paper.height;
  const left = big ? type * 4.6 : narrow ? 58 : 86;
  const right = width - (narrow ? 16 : 24);
  const place = (/** @type {number} */ share) => left + share * (right - left);
  /** @type {View} */
  const view = { at: place, left, right, now: place(moment.share), type, small, part: moment.part };
  const title = type + 3;
  // What is left of the height after two titles and the axis goes to the lanes
  const below = narrow ? type * 6.2 : 0;
  const room = high - 2 * title * 2.1 - type * 2.4 - below;
  const bars = clamp(room * 0.1, 22, 40);
  const ways = [room - 4 * bars - clamp(room * 0.15, 34, 70), clamp(room * 0.15, 34, 70)];
  const tops = [title * 1.9, title * 1.9 + 2 * bars + ways[0] + title * 2.1];
  const bottom = tops[1] + 2 * bars + ways[1];
  const [, fused] = picture.lanes;
  const over = place(/** @type {Trip} */ (fused.trips.at(-1)).end);
  const way = tops[1] + bars;
  const inputs = /** @type {[string, string][]} */ (
    ["Q", "K", "V"].map((name) => [`${name} `, `bold ${inkOf(name)}`])
  );
  const words = /** @type {[string, string?][]} */ ([
    ...inputs,
    [`${picture.pace.in} `],
    ["O ", `bold ${inkOf("O")}`],
    [picture.pace.over],
  ]);
  const beside = over + 14;
  const isBeside = !narrow && right - beside > type * 26;
  const count = data.beats.length - 1;
  const nearest = (/** @type {number} */ x) => {
    const share = (x - left) / (right - left);
    const shares = data.beats.map((beat) => Math.abs(beat.share - share));
    return shares.indexOf(Math.min(...shares));
  };
  const titleWidth = type * 13;
  const figures = picture.lanes.map((lane, k) => {
    const y = tops[k] - title * 0.55;
    const parts = /** @type {[string, string][]} */ ([
      [moment.moved[k], "bold accent-ink"],
      [`  ${moment.so_far[k]}`, "quiet"],
    ]);
    const isRight = narrow || view.now > right - type * 13;
    const at = narrow ? right : view.now - 10;
    const x = isRight ? at : Math.max(view.now + 10, left + titleWidth);
    const size = narrow ? 16 : type + 5;
    return [
      line(
        left,
        y,
        [
          [lane.name, "bold"],
          [narrow ? "" : `  ${lane.note}`, "quiet"],
        ],
        narrow ? 14 : type + (big ? 0 : 2),
      ),
      line(x, y, parts, size, isRight ? "end" : ""),
    ];
  });
  return [
    picture.lanes.map((lane, k) => drawLane(lane, view, tops[k], [bars, ways[k], bars], picture)),
    isBeside && [
      line(beside, way + ways[1] / 2 - (big ? -type * 0.35 : 3), words, big ? type : type + 0.5),
      !big && text(beside, way + ways[1] / 2 + type * 1.2, picture.pace.then, type - 1, "quiet"),
    ],
    narrow && [
      line(0, bottom + type * 3.6, words, 14),
      wrapped(0, bottom + type * 5, picture.pace.then, width, 12.5, "quiet"),
    ],
    picture.ticks.map(
      ([share, figure], k) =>
        (!k || place(share) > left + type * 9) &&
        text(
          place(share),
          bottom + type * 1.5,
          figure,
          big ? type : type - 2,
          k ? "middle quiet" : "quiet",
        ),
    ),
    figures,
    pen.knob(
      {
        key: "time",
        label: picture.time,
        text: moment.label,
        slides: [at, 0, count],
        keys: (dx, dy) => go(clamp(at + dx + dy, 0, count)),
        drag: (x) => go(nearest(x)),
      },
      [
        rect(view.now - 12, tops[0] - title * 1.4, 24, bottom + 8 - tops[0] + title * 1.4, "", {
          fill: "transparent",
          cursor: "ew-resize",
        }),
        path(`M${view.now} ${tops[0] - title * 1.4}V${bottom + 8}`, stroke("accent", 2)),
        rect(view.now - 4, bottom + 2, 8, 12, "accent", {}, 3),
      ],
    ),
  ];
}
