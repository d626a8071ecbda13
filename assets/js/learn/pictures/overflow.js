// Four scores on the axis of exp, a lane for each format: where exp is a number there, and what softmax makes of them.

import { clamp } from "../../lib/format.js";
import { circle, svgCanvas, ink, line, path, rect, stroke, text } from "../svg_canvas.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_overflow.json" with { type: "json" };

const t = textsOf(texts);

/** @import { Api, OverflowData } from "../types.js" */
/** @import { Paper, Drawn } from "../svg_canvas.js" */

/** Score ↔ px along a lane from `left`, `width` px wide. @param {{low: number, high: number, step: number}} it @param {number} left @param {number} width */
export function axis({ low, high, step }, left, width) {
  return {
    at: (/** @type {number} */ x) => left + ((clamp(x, low, high) - low) / (high - low)) * width,
    back: (/** @type {number} */ px) =>
      clamp(Math.round((low + ((px - left) / width) * (high - low)) / step) * step, low, high) + 0,
  };
}

/** @param {number} x */
const short = (x) => String(x).replace("-", "−");
/** @param {number[]} list */
const scores = (list) => list.map(short).join(", ");

/** @param {OverflowData} data @param {Api} api */
export function draw(data, api) {
  return svgCanvas(data, api, { share: 1.5, least: 340, most: 520 }, (now, paper, pen) => {
    const { width, height, narrow, type } = paper;
    const isBoth = paper.big && !now.subtract; // a lecture hall sees the cure beside the failure
    const side = narrow ? 0 : type * (isBoth ? 19.4 : 15);
    const wide = width - side - 16;
    const on = axis(now, 8, wide);
    const head = type * 2.6;
    const each = (height - head - type * 2.2) / now.lanes.length;
    /** @type {Drawn[]} */
    const nodes = [
      text(
        8,
        type + 2,
        paper.big ? t("goes") : t("drag", { x: now.subtract ? "x − m" : "x" }),
        type + 1,
        "bold",
      ),
    ];
    if (!narrow) nodes.push(text(width, type + 2, t("weights"), type + 1, "bold end"));
    const put = (/** @type {number} */ top) => {
      const value = clamp(top, now.low + 10, now.high);
      if (value !== now.top) api.move({ top: value });
      pen.redraw({
        ...now,
        top: value,
        lanes: now.lanes.map((one) => ({
          ...one,
          at: now.subtract ? one.at : one.at.map((x) => x + value - now.top),
        })),
      });
    };
    now.lanes.forEach((lane, k) => {
      const top = head + k * each;
      const [y, high] = [top + type * 1.5, Math.min(52, each - type * (narrow ? 4.6 : 2.4))];
      const [a, b] = [on.at(lane.zero), on.at(lane.end)];
      nodes.push(
        line(
          8,
          top + type,
          [
            [lane.name, "bold"],
            [
              isBoth
                ? ""
                : `  ${narrow || paper.big ? t("largest.short", { x: lane.largest }) : t("largest", { x: lane.largest })}`,
              "quiet",
            ],
          ],
          type,
        ),
      );
      nodes.push(
        rect(8, y, a - 8, high, "empty"),
        rect(a, y, b - a, high, "chip-paper", stroke("chip-line", 1)),
        rect(b, y, on.at(now.high) - b, high, "risen"),
      );
      const inside = /** @type {[number, number, string, string][]} */ ([
        [8, a, t("under"), "quiet"],
        [b, on.at(now.high), "∞", "risen-ink"],
      ]);
      for (const [from, to, words, hue] of inside)
        if (to - from > words.length * type * 0.6)
          nodes.push(text((from + to) / 2, y + high - 7, words, type - 1, `middle ${hue}`));
      nodes.push(
        text(Math.min(b, wide - type), y - 5, lane.end.toFixed(2), type - 2, "middle quiet halo"),
      );
      const dots = lane.at.map((x, r) =>
        circle(
          on.at(x),
          y + high * (0.2 + r * 0.19),
          5,
          stroke("paper", 1.5, { fill: ink(x > lane.end ? "o" : x < lane.zero ? "quiet" : "q") }),
        ),
      );
      // What is subtracted from stays to be seen, and follows the hand
      if (now.subtract)
        nodes.push(
          now.below.map((x, r) =>
            circle(
              on.at(now.top + x),
              y + high * (0.2 + r * 0.19),
              4,
              stroke("quiet", 1.5, { fill: "none" }),
            ),
          ),
        );
      nodes.push(dots);
      if (k === 0)
        nodes.push(
          pen.knob(
            {
              key: "top",
              slides: [now.top, now.low + 10, now.high],
              label: t("top"),
              text: short(now.top),
              drag: (x) => put(on.back(x)),
              keys: (dx, dy) => put(now.top + (dx || dy) * now.step),
            },
            [
              rect(on.at(now.top) - 22, y - 10, 44, high + 20, "", {
                fill: ink("paper"),
                "fill-opacity": 0,
              }),
              circle(
                on.at(now.top),
                y + high * 0.2,
                11,
                stroke("q", 3, { fill: "none" }),
                "fa-knob-ring",
              ),
            ],
          ),
        );
      const mark = lane.tone === "good" ? "✓ " : "✗ ";
      const hue = lane.tone === "good" ? "ink-v" : "risen-ink";
      if (narrow) {
        nodes.push(
          text(8, y + high + type * 1.3, lane.weights.join("   "), type, "bold"),
          text(8, y + high + type * 2.6, mark + lane.what, type - 1, `semi ${hue}`),
        );
        return;
      }
      const rows = /** @type {[string[], string, number][]} */ (
        isBoth
          ? [
              [lane.weights, t("lane.x"), -0.75],
              [lane.subtracted, t("lane.m"), 0.55],
            ]
          : [[lane.weights, "", 0]]
      );
      for (const [weights, words, down] of rows) {
        const at = y + high * 0.62 + type * down;
        if (words) nodes.push(text(width - type * 15.2, at, words, type - 2, "end quiet"));
        weights.forEach((weight, r) =>
          nodes.push(
            text(
              width - type * (11.2 - r * 3.67) - 10,
              at,
              weight,
              type,
              `bold end ${down > 0 ? "ink-v" : ""}`,
            ),
          ),
        );
      }
      nodes.push(text(width, y + high + type * 1.3, mark + lane.what, type - 1, `semi end ${hue}`));
    });
    const base = height - type * 1.4;
    nodes.push(path(`M8 ${base}H${on.at(now.high)}`, stroke("line", 1)));
    for (let x = -100; x <= 100; x += 50)
      nodes.push(
        path(`M${on.at(x)} ${base}v5`, stroke("quiet", 1)),
        text(
          Math.min(on.at(x), 8 + wide - type * 0.6),
          base + type + 4,
          short(x),
          type - 2,
          "middle quiet",
        ),
      );
    nodes.push(
      text(
        on.at(now.subtract ? 0 : now.top),
        head - 4,
        now.subtract
          ? t("m", {
              x: scores(now.below.map((x) => x + now.top)),
              z: scores(now.below),
            })
          : `x = ${scores(now.lanes[0].at)}`,
        type,
        `semi ${now.top > 20 && !now.subtract ? "end" : "middle"} accent-ink`,
      ),
    );
    return nodes;
  });
}
