// The two roofs of a card, and where attention stands under them before and after fusion.

import { clamp } from "../../lib/format.js";
import { svgCanvas, ink, path, stroke, text } from "../svg_canvas.js";
import { svg } from "../../lib/dom.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_roofline.json" with { type: "json" };

const t = textsOf(texts);

/** @import { Api, RooflineData } from "../types.js" */
/** @import { Paper, Drawn } from "../svg_canvas.js" */

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

const POWERS = [1, 10, 100, 1000, 10000];

/** @param {RooflineData} data @param {Api} api */
export function draw(data, api) {
  return svgCanvas(data, api, { share: 1.15, least: 360, most: 540 }, (now, paper) => {
    const { width, height, narrow, type } = paper;
    const isShort = narrow || paper.big;
    const left = type * 3.4;
    const foot = type * 3.2;
    const on = axes(now, left, type * 1.6, width - left - 10, height - foot - type * 1.6);
    const roof = (/** @type {number} */ x) => Math.min(now.peak, (x * now.per_s) / 1e12);
    /** @type {Drawn[]} */
    const nodes = [
      text(0, type, t("y"), type - 1, "quiet"),
      text(width - 10, height - 4, narrow ? t("x.short") : t("x"), type - 2, "end quiet"),
    ];
    for (const x of POWERS)
      nodes.push(
        path(`M${on.x(x)} ${on.y(on.base)}V${on.y(now.peak * 2.2)}`, stroke("empty", 1)),
        text(on.x(x), on.y(on.base) + type * 1.2, x.toLocaleString("en"), type - 2, "middle quiet"),
      );
    for (const y of [1, 10, 100, 1000])
      nodes.push(
        path(`M${on.x(now.low)} ${on.y(y)}H${on.x(now.high)}`, stroke("empty", 1)),
        text(left - 8, on.y(y) + 5, y.toLocaleString("en"), type - 2, "end quiet"),
      );
    // On a phone each side of the ridge has room for half of its words
    const side = (
      /** @type {number} */ x,
      /** @type {string} */ words,
      /** @type {string} */ hue,
      /** @type {string} */ anchor,
    ) => {
      const [, first, last] = (narrow && words.match(/^(\S+ \S+) (.*)$/)) || ["", "", words];
      return [first, last].map((part, k) =>
        text(x, on.y(on.base) - 12 - (1 - k) * type * 1.2, part, type, `bold ${anchor} ${hue}`),
      );
    };
    const edge = [on.x(now.edge), on.y(now.peak)];
    const start = [on.x(now.low), on.y(roof(now.low))];
    nodes.push(
      svg("path", {
        d: `M${start}L${edge}V${on.y(on.base)}H${on.x(now.low)}Z`,
        style: `fill:${ink("risen")};opacity:.6`,
      }),
      svg("path", {
        d: `M${edge}H${on.x(now.high)}V${on.y(on.base)}H${edge[0]}Z`,
        style: `fill:${ink("accent-pale")};opacity:.7`,
      }),
    );
    nodes.push(
      path(`M${start}L${edge}H${on.x(now.high)}`, stroke("ink", 3)),
      path(`M${edge}V${on.y(on.base)}`, stroke("quiet", 1.2, { "stroke-dasharray": "4 4" })),
    );
    const lean = (Math.atan2(edge[1] - start[1], edge[0] - start[0]) * 180) / Math.PI;
    const part = (/** @type {number} */ f) => [
      start[0] + (edge[0] - start[0]) * f,
      start[1] + (edge[1] - start[1]) * f,
    ];
    nodes.push(
      text(part(0.3)[0] + 10, part(0.3)[1] + 20, now.memory, type - 1, "semi middle", lean),
    );
    nodes.push(
      text(
        on.x(now.high) - 4,
        edge[1] - 12,
        narrow ? now.units.split(",")[0] : now.units,
        type - 1,
        "semi end",
      ),
    );
    nodes.push(
      side(start[0] + 12, t("memory"), "risen-ink", "start"),
      side(on.x(now.high) - 12, isShort ? t("units.short") : t("units"), "accent-ink", "end"),
    );
    nodes.push(
      text(
        edge[0] + 6,
        on.y(on.base) - type * (narrow ? 3.8 : 2.6),
        now.edge_text,
        type - 1,
        "semi",
      ),
    );
    const [before, after] = now.points.map((p) => [on.x(p.x), on.y(p.y)]);
    nodes.push(path(`M${before}L${after}`, stroke("ink", 1.5, { "stroke-dasharray": "3 5" })));
    now.points.forEach((p, k) => {
      const [x, y] = [before, after][k];
      const hue = k ? "q" : "o";
      const right = k && x < width * 0.6;
      const [tx, anchor] = narrow
        ? [k && x > edge[0] ? edge[0] + 8 : k ? x + 18 : left + 6, "start"]
        : right
          ? [x + 18, "start"]
          : k
            ? [Math.min(width - 6, x + 40), "end"]
            : [Math.max(x - 16, p.name.length * (type + 1) * 0.68), "end"];
      const ty = y + type * (k ? 2.6 : -2.4);
      nodes.push(
        svg(
          k ? "circle" : "rect",
          k
            ? {
                cx: x,
                cy: y,
                r: 10,
                style: `fill:${ink(hue)};stroke:${ink("paper")};stroke-width:2`,
              }
            : {
                x: x - 9,
                y: y - 9,
                width: 18,
                height: 18,
                style: `fill:${ink(hue)};stroke:${ink("paper")};stroke-width:2`,
              },
        ),
      );
      nodes.push(
        text(tx, ty, p.name, type + 1, `bold ${anchor} ${k ? "accent-ink" : "ink-o"} halo`),
      );
      (isShort
        ? [t("per_byte", { n: p.operations.split(" ")[0] })]
        : [p.operations, p.most]
      ).forEach((words, r) =>
        nodes.push(text(tx, ty + type * 1.3 * (r + 1), words, type - 1, `${anchor} halo`)),
      );
    });
    return nodes;
  });
}
