// Four scores on the axis of exp, a lane for each format: where exp is a number there, and what softmax makes of them.

import { clamp } from "../../lib/format.js";
import {
  circle,
  group,
  ink,
  line,
  minus,
  path,
  rect,
  stroke,
  svgCanvas,
  text,
} from "../../lib/svg_canvas.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_overflow.json" with { type: "json" };

const t = textsOf(texts);

/** @import { Api, ExpLane, OverflowData } from "../types.js" */
/** @import { Paper } from "../../lib/svg_canvas.js" */

/** Score ↔ px along a lane from `left`, `width` px wide. @param {{low: number, high: number, step: number}} it @param {number} left @param {number} width */
export function axis({ low, high, step }, left, width) {
  return {
    at: (/** @type {number} */ x) => left + ((clamp(x, low, high) - low) / (high - low)) * width,
    back: (/** @type {number} */ px) =>
      clamp(Math.round((low + ((px - left) / width) * (high - low)) / step) * step, low, high) + 0,
  };
}

/** @param {number[]} list */
const scores = (list) => list.map(minus).join(", ");

/** The lane of a format, from its name to the weights that softmax has there.
 * @param {ExpLane} lane @param {OverflowData} now @param {ReturnType<typeof axis>} on @param {Paper} paper
 * @param {boolean} isBoth @param {number} wide px of the axis @param {number} each px from lane to lane */
function drawLane(lane, now, on, { width, narrow, big, type }, isBoth, wide, each) {
  const [y, high] = [type * 1.5, Math.min(52, each - type * (narrow ? 4.6 : 2.4))];
  const [a, b, end] = [lane.zero, lane.end, now.high].map(on.at);
  const largest =
    narrow || big ? t("largest.short", { x: lane.largest }) : t("largest", { x: lane.largest });
  const inside = (
    /** @type {number} */ from,
    /** @type {number} */ to,
    /** @type {string} */ words,
    /** @type {string} */ hue,
  ) =>
    to - from > words.length * type * 0.6 &&
    text((from + to) / 2, y + high - 7, words, type - 1, `middle ${hue}`);
  const dot = (
    /** @type {number} */ x,
    /** @type {number} */ row,
    /** @type {number} */ r,
    /** @type {string} */ edge,
    /** @type {string} */ fill,
  ) => circle(on.at(x), y + high * (0.2 + row * 0.19), r, stroke(edge, 1.5, { fill }));
  const isGood = lane.tone === "good";
  const verdict = `${isGood ? "✓" : "✗"} ${lane.what}`;
  const hue = isGood ? "ink-v" : "risen-ink";
  const weights = (
    /** @type {string[]} */ values,
    /** @type {string} */ words,
    /** @type {number} */ down,
  ) => {
    const at = y + high * 0.62 + type * down;
    const look = `bold end ${down > 0 ? "ink-v" : ""}`;
    return [
      words && text(width - type * 15.2, at, words, type - 2, "end quiet"),
      values.map((weight, r) =>
        text(width - type * (11.2 - r * 3.67) - 10, at, weight, type, look),
      ),
    ];
  };
  const below = y + high + type * 1.3;
  return {
    nodes: [
      line(
        8,
        type,
        [
          [lane.name, "bold"],
          [isBoth ? "" : `  ${largest}`, "quiet"],
        ],
        type,
      ),
      rect(8, y, a - 8, high, "empty"),
      rect(a, y, b - a, high, "chip-paper", stroke("chip-line")),
      rect(b, y, end - b, high, "risen"),
      inside(8, a, t("under"), "quiet"),
      inside(b, end, "∞", "risen-ink"),
      text(Math.min(b, wide - type), y - 5, lane.end.toFixed(2), type - 2, "middle quiet halo"),
      // What is subtracted from stays to be seen, and follows the hand
      now.subtract && now.below.map((x, r) => dot(now.top + x, r, 4, "quiet", "none")),
      lane.at.map((x, r) =>
        dot(x, r, 5, "paper", ink(x > lane.end ? "o" : x < lane.zero ? "quiet" : "q")),
      ),
    ],
    beside: narrow
      ? [
          text(8, below, lane.weights.join("   "), type, "bold"),
          text(8, below + type * 1.3, verdict, type - 1, `semi ${hue}`),
        ]
      : [
          isBoth
            ? [
                weights(lane.weights, t("lane.x"), -0.75),
                weights(lane.subtracted, t("lane.m"), 0.55),
              ]
            : weights(lane.weights, "", 0),
          text(width, below, verdict, type - 1, `semi end ${hue}`),
        ],
    y,
    high,
  };
}

/** @param {OverflowData} data @param {Api} api */
export function draw(data, api) {
  return svgCanvas(data, api, { share: 1.5, least: 340, most: 520 }, (now, paper, pen) => {
    const { width, height, narrow, big, type } = paper;
    const { low, high, step, top, subtract, below, lanes } = now;
    const isBoth = big && !subtract; // a slide shows the cure beside the failure
    const wide = width - (narrow ? 0 : type * (isBoth ? 19.4 : 15)) - 16;
    const on = axis(now, 8, wide);
    const head = type * 2.6;
    const each = (height - head - type * 2.2) / lanes.length;
    const base = height - type * 1.4;
    const put = (/** @type {number} */ next) => {
      const value = clamp(next, low + 10, high);
      if (value !== top) api.move({ top: value });
      const moved = lanes.map((lane) => ({ ...lane, at: lane.at.map((x) => x + value - top) }));
      pen.redraw({ ...now, top: value, lanes: subtract ? lanes : moved });
    };
    const handle = (/** @type {number} */ y, /** @type {number} */ high) =>
      pen.knob(
        {
          key: "top",
          slides: [top, low + 10, now.high],
          label: t("top"),
          text: minus(top),
          drag: (x) => put(on.back(x)),
          keys: (dx, dy) => put(top + (dx || dy) * step),
        },
        [
          rect(on.at(top) - 22, y - 10, 44, high + 20, "paper", { "fill-opacity": 0 }),
          circle(on.at(top), y + high * 0.2, 11, stroke("q", 3, { fill: "none" }), "fa-knob-ring"),
        ],
      );
    const marks = [-100, -50, 0, 50, 100];
    const written = subtract
      ? t("m", { x: scores(below.map((x) => x + top)), z: scores(below) })
      : `x = ${scores(lanes[0].at)}`;
    return [
      text(
        8,
        type + 2,
        big ? t("goes") : t("drag", { x: subtract ? "x − m" : "x" }),
        type + 1,
        "bold",
      ),
      !narrow && text(width, type + 2, t("weights"), type + 1, "bold end"),
      lanes.map((lane, k) => {
        const found = drawLane(lane, now, on, paper, isBoth, wide, each);
        const knob = k === 0 && handle(found.y, found.high);
        return group(0, head + k * each, [found.nodes, knob, found.beside]);
      }),
      path(`M8 ${base}H${on.at(high)}`, stroke("line")),
      marks.map((x) => [
        path(`M${on.at(x)} ${base}v5`, stroke("quiet")),
        text(
          Math.min(on.at(x), 8 + wide - type * 0.6),
          base + type + 4,
          minus(x),
          type - 2,
          "middle quiet",
        ),
      ]),
      text(
        on.at(subtract ? 0 : top),
        head - 4,
        written,
        type,
        `semi ${top > 20 && !subtract ? "end" : "middle"} accent-ink`,
      ),
    ];
  });
}
