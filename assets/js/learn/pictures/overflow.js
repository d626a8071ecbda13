// Four scores on the axis of exp, a lane for each format: where exp is a number there, and what softmax makes of them.

import { clamp } from "../../lib/format.js";
import { svgCanvas, ink, line, path, rect, stroke, text } from "../svg_canvas.js";
import { svg } from "../../lib/dom.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_overflow.json" with { type: "json" };

const t = textsOf(texts);

/** Score ↔ px along a lane from `left`, `width` px wide. */
export function axis({ low, high, step }, left, width) {
  return {
    at: (x) => left + ((clamp(x, low, high) - low) / (high - low)) * width,
    back: (px) =>
      clamp(Math.round((low + ((px - left) / width) * (high - low)) / step) * step, low, high) + 0,
  };
}

const short = (x) => String(x).replace("-", "−");
const scores = (list) => list.map(short).join(", ");

export function draw(data, api) {
  return svgCanvas(data, api, { share: 1.5, least: 340, most: 520 }, (now, paper, pen) => {
    const { width, height, narrow, type } = paper;
    const isBoth = paper.big && !now.subtract; // a lecture hall sees the cure beside the failure
    const side = narrow ? 0 : type * (isBoth ? 19.4 : 15);
    const wide = width - side - 16;
    const on = axis(now, 8, wide);
    const head = type * 2.6;
    const each = (height - head - type * 2.2) / now.lanes.length;
    const nodes = [
      text(8, type + 2, paper.big ? t("goes") : t("drag", { x: now.subtract ? "x − m" : "x" }), {
        size: type + 1,
        weight: 700,
      }),
    ];
    if (!narrow)
      nodes.push(
        text(width, type + 2, t("weights"), { size: type + 1, weight: 700, anchor: "end" }),
      );
    const put = (top) => {
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
            [lane.name, "ink", 700],
            [
              isBoth
                ? ""
                : `  ${narrow || paper.big ? t("largest.short", { x: lane.largest }) : t("largest", { x: lane.largest })}`,
              "quiet",
            ],
          ],
          { size: type },
        ),
      );
      nodes.push(
        rect(8, y, a - 8, high, "empty"),
        rect(a, y, b - a, high, "chip-paper", { style: stroke("chip-line", 1) }),
        rect(b, y, on.at(now.high) - b, high, "risen"),
      );
      const inside = [
        [8, a, t("under"), "quiet"],
        [b, on.at(now.high), "∞", "risen-ink"],
      ];
      for (const [from, to, words, hue] of inside)
        if (to - from > words.length * type * 0.6)
          nodes.push(
            text((from + to) / 2, y + high - 7, words, { size: type - 1, anchor: "middle", hue }),
          );
      nodes.push(
        text(Math.min(b, wide - type), y - 5, lane.end.toFixed(2), {
          size: type - 2,
          anchor: "middle",
          hue: "quiet",
          halo: true,
        }),
      );
      const dots = lane.at.map((x, r) =>
        svg("circle", {
          cx: on.at(x),
          cy: y + high * 0.2 + r * high * 0.19,
          r: 5,
          style: `fill:${ink(x > lane.end ? "o" : x < lane.zero ? "quiet" : "q")};stroke:${ink("paper")};stroke-width:1.5`,
        }),
      );
      // What is subtracted from stays to be seen, and follows the hand
      if (now.subtract)
        nodes.push(
          now.below.map((x, r) =>
            svg("circle", {
              cx: on.at(now.top + x),
              cy: y + high * 0.2 + r * high * 0.19,
              r: 4,
              style: `fill:none;stroke:${ink("quiet")};stroke-width:1.5`,
            }),
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
              said: short(now.top),
              drag: (x) => put(on.back(x)),
              keys: (dx, dy) => put(now.top + (dx || dy) * now.step),
            },
            [
              rect(on.at(now.top) - 22, y - 10, 44, high + 20, "", {
                style: { fill: ink("paper"), "fill-opacity": 0 },
              }),
              svg("circle", {
                cx: on.at(now.top),
                cy: y + high * 0.2,
                r: 11,
                class: "fa-knob-ring",
                style: `fill:none;stroke:${ink("q")};stroke-width:3`,
              }),
            ],
          ),
        );
      const mark = lane.tone === "good" ? "✓ " : "✗ ";
      const hue = lane.tone === "good" ? "ink-v" : "risen-ink";
      if (narrow) {
        nodes.push(
          text(8, y + high + type * 1.3, lane.weights.join("   "), { size: type, weight: 700 }),
          text(8, y + high + type * 2.6, mark + lane.what, { size: type - 1, hue, weight: 600 }),
        );
        return;
      }
      const rows = isBoth
        ? [
            [lane.weights, t("lane.x"), -0.75],
            [lane.subtracted, t("lane.m"), 0.55],
          ]
        : [[lane.weights, "", 0]];
      for (const [weights, words, down] of rows) {
        const at = y + high * 0.62 + type * down;
        if (words)
          nodes.push(
            text(width - type * 15.2, at, words, { size: type - 2, hue: "quiet", anchor: "end" }),
          );
        weights.forEach((weight, r) =>
          nodes.push(
            text(width - type * (11.2 - r * 3.67) - 10, at, weight, {
              size: type,
              weight: 700,
              anchor: "end",
              hue: down > 0 ? "ink-v" : "ink",
            }),
          ),
        );
      }
      nodes.push(
        text(width, y + high + type * 1.3, mark + lane.what, {
          size: type - 1,
          hue,
          weight: 600,
          anchor: "end",
        }),
      );
    });
    const base = height - type * 1.4;
    nodes.push(path(`M8 ${base}H${on.at(now.high)}`, stroke("line", 1)));
    for (let x = -100; x <= 100; x += 50)
      nodes.push(
        path(`M${on.at(x)} ${base}v5`, stroke("quiet", 1)),
        text(Math.min(on.at(x), 8 + wide - type * 0.6), base + type + 4, short(x), {
          size: type - 2,
          anchor: "middle",
          hue: "quiet",
        }),
      );
    nodes.push(
      text(
        on.at(now.subtract ? 0 : now.top),
        head - 4,
        now.subtract
          ? t("m", { x: scores(now.below.map((x) => x + now.top)), z: scores(now.below) })
          : `x = ${scores(now.lanes[0].at)}`,
        {
          size: type,
          hue: "accent-ink",
          weight: 600,
          anchor: now.top > 20 && !now.subtract ? "end" : "middle",
        },
      ),
    );
    return nodes;
  });
}
