// The two roofs of a card, and where attention stands under them before and after fusion.

import { clamp, integer } from "../../lib/format.js";
import { circle, ink, path, rect, stroke, svgCanvas, text } from "../../lib/svg_canvas.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_roofline.json" with { type: "json" };

const t = textsOf(texts);

/** @import { Api, RooflineData } from "../types.js" */

/** Logarithmic axes: operations per byte and TFLOP/s to px, inside a frame.
 * @param {{low: number, high: number, peak: number}} it @param {number} left @param {number} top @param {number} width @param {number} height */
export function axes({ low, high, peak }, left, top, width, height) {
  const [base, most] = [0.5, peak * 2.2];
  const part = (/** @type {number} */ x, /** @type {number} */ a, /** @type {number} */ b) =>
    Math.log(clamp(x, a, b) / a) / Math.log(b / a);
  return {
    x: (/** @type {number} */ v) => left + part(v, low, high) * width,
    y: (/** @type {number} */ v) => top + (1 - part(v, base, most)) * height,
    base,
  };
}

const DECADES = [1, 10, 100, 1000, 10000];

/** @param {RooflineData} data @param {Api} api */
export function draw(data, api) {
  return svgCanvas(data, api, { share: 1.15, least: 360, most: 540 }, (now, paper) => {
    const { width, height, narrow, type } = paper;
    const isShort = narrow || paper.big;
    const left = type * 3.4;
    const on = axes(now, left, type * 1.6, width - left - 10, height - type * 4.8);
    const [low, high, base] = [on.x(now.low), on.x(now.high), on.y(on.base)];
    const start = [low, on.y(Math.min(now.peak, (now.low * now.per_s) / 1e12))];
    const edge = [on.x(now.edge), on.y(now.peak)];
    const lean = Math.atan2(edge[1] - start[1], edge[0] - start[0]);
    // On a phone each side of the ridge has room for half of its words
    const side = (
      /** @type {number} */ x,
      /** @type {string} */ words,
      /** @type {string} */ look,
    ) => {
      const [, first, last] = (narrow && words.match(/^(\S+ \S+) (.*)$/)) || ["", "", words];
      return [first, last].map((part, k) =>
        text(x, base - 12 - (1 - k) * type * 1.2, part, type, `bold ${look}`),
      );
    };
    const [before, after] = now.points.map((p) => [on.x(p.x), on.y(p.y)]);
    const point = (/** @type {RooflineData["points"][number]} */ p, /** @type {number} */ k) => {
      const [x, y] = [before, after][k];
      const [tx, anchor] = narrow
        ? [k && x > edge[0] ? edge[0] + 8 : k ? x + 18 : left + 6, "start"]
        : k && x < width * 0.6
          ? [x + 18, "start"]
          : k
            ? [Math.min(width - 6, x + 40), "end"]
            : [Math.max(x - 16, p.name.length * (type + 1) * 0.68), "end"];
      const ty = y + type * (k ? 2.6 : -2.4);
      const words = isShort
        ? [t("per_byte", { n: p.operations.split(" ")[0] })]
        : [p.operations, p.most];
      const mark = stroke("paper", 2);
      return [
        k ? circle(x, y, 10, { fill: ink("q"), ...mark }) : rect(x - 9, y - 9, 18, 18, "o", mark),
        text(tx, ty, p.name, type + 1, `bold ${anchor} ${k ? "accent-ink" : "ink-o"} halo`),
        words.map((part, r) =>
          text(tx, ty + type * 1.3 * (r + 1), part, type - 1, `${anchor} halo`),
        ),
      ];
    };
    return [
      text(0, type, t("y"), type - 1, "quiet"),
      text(width - 10, height - 4, narrow ? t("x.short") : t("x"), type - 2, "end quiet"),
      DECADES.map((x) => [
        path(`M${on.x(x)} ${base}V${on.y(now.peak * 2.2)}`, stroke("empty")),
        text(on.x(x), base + type * 1.2, integer(x), type - 2, "middle quiet"),
      ]),
      DECADES.slice(0, -1).map((y) => [
        path(`M${low} ${on.y(y)}H${high}`, stroke("empty")),
        text(left - 8, on.y(y) + 5, integer(y), type - 2, "end quiet"),
      ]),
      path(`M${start}L${edge}V${base}H${low}Z`, { fill: ink("risen"), opacity: 0.6 }),
      path(`M${edge}H${high}V${base}H${edge[0]}Z`, { fill: ink("accent-pale"), opacity: 0.7 }),
      path(`M${start}L${edge}H${high}`, stroke("ink", 3)),
      path(`M${edge}V${base}`, stroke("quiet", 1.2, { "stroke-dasharray": "4 4" })),
      text(
        start[0] + (edge[0] - start[0]) * 0.3 + 10,
        start[1] + (edge[1] - start[1]) * 0.3 + 20,
        now.memory,
        type - 1,
        "semi middle",
        (lean * 180) / Math.PI,
      ),
      text(
        high - 4,
        edge[1] - 12,
        narrow ? now.units.split(",")[0] : now.units,
        type - 1,
        "semi end",
      ),
      side(low + 12, t("memory"), "risen-ink"),
      side(high - 12, isShort ? t("units.short") : t("units"), "end accent-ink"),
      text(edge[0] + 6, base - type * (narrow ? 3.8 : 2.6), now.edge_text, type - 1, "semi"),
      path(`M${before}L${after}`, stroke("ink", 1.5, { "stroke-dasharray": "3 5" })),
      now.points.map(point),
    ];
  });
}
