// Two arrows that can be dragged, what of q lies on k; how dot products of many numbers spread, and what softmax makes
// of them.

import { clamp, fixed } from "../../lib/format.js";
import {
  circle,
  group,
  ink,
  INKS,
  line,
  path,
  rect,
  stroke,
  svgCanvas,
  text,
} from "../../lib/svg_canvas.js";
import { svg } from "../../lib/dom.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_arrows.json" with { type: "json" };

const t = textsOf(texts);

/** @import { Api, ArrowsData, Plane } from "../types.js" */
/** @import { Paper, Pen, Drawn } from "../../lib/svg_canvas.js" */

/** What the picture measures of two vectors [x, y]: their dot product, the length of k, q's part along k, the angle
 * in degrees (null beside a vector of zeros).
 * @param {number[]} q @param {number[]} k */
export function measure(q, k) {
  const dot = q[0] * k[0] + q[1] * k[1];
  const [long, other] = [Math.hypot(...k), Math.hypot(...q)];
  const cosine = long && other ? clamp(dot / (long * other), -1, 1) : null;
  return {
    dot,
    length: long,
    on: long ? dot / long : 0,
    angle: cosine === null ? null : (Math.acos(cosine) * 180) / Math.PI,
  };
}

/** Where a point of the plane lies in a frame of width × height, and back, to the nearest step. @param {Plane} plane @param {number} width @param {number} height */
export function plane({ low, high, step }, width, height) {
  const unit = Math.min(width / (high[0] - low[0]), height / (high[1] - low[1]));
  const [x0, y0] = [
    (width - unit * (high[0] - low[0])) / 2,
    (height - unit * (high[1] - low[1])) / 2,
  ];
  const snap = (/** @type {number} */ x, /** @type {number} */ k) =>
    clamp(Math.round(x / step) * step, low[k], high[k]);
  return {
    unit,
    at: (/** @type {number[]} */ [x, y]) => [x0 + (x - low[0]) * unit, y0 + (high[1] - y) * unit],
    back: (/** @type {number} */ px, /** @type {number} */ py) => [
      snap((px - x0) / unit + low[0], 0),
      snap(high[1] - (py - y0) / unit, 1),
    ],
    move: (/** @type {number[]} */ [x, y], /** @type {number} */ dx, /** @type {number} */ dy) => [
      snap(x + dx * step, 0),
      snap(y + dy * step, 1),
    ],
  };
}

/** @param {number[]} number */
const pair = ([x, y]) => `(${x}, ${y})`.replaceAll("-", "−");

/** The projection of q on the line of k, and the angle between them.
 * @param {ArrowsData} data @param {ReturnType<typeof measure>} found @param {number} angle in degrees
 * @param {ReturnType<typeof plane>} on @param {number} type px @param {number} width @param {number} height
 * @returns {Drawn} */
function projection({ q, k }, found, angle, on, type, width, height) {
  const unit = k.map((x) => x / found.length);
  const along = (/** @type {number} */ length) => on.at(unit.map((x) => x * length));
  const [o, foot] = [along(0), along(found.on)];
  const ray = path(
    `M${along(-9)}L${along(9)}`,
    stroke("k", 1.2, { "stroke-dasharray": "2 5", opacity: 0.6 }),
  );
  ray.setAttribute("clip-path", "url(#fa-plane)");
  const [a, b] = [q, k].map(([x, y]) => Math.atan2(y, x));
  const turn = Math.atan2(Math.sin(b - a), Math.cos(b - a));
  const r = Math.min(1.1, 0.45 * Math.min(found.length, Math.hypot(...q))) * on.unit;
  const edge = (/** @type {number} */ angle, far = r) => [
    o[0] + far * Math.cos(angle),
    o[1] - far * Math.sin(angle),
  ];
  const [mx, my] = edge(a + turn / 2, r + 24);
  // The words lie on the side of k where q is not
  const away = unit[0] * q[1] - unit[1] * q[0] > 0 ? 20 : -20;
  const [hx, hy] = along(found.on / 2);
  const lean = (Math.atan2(-unit[1], unit[0]) * 180) / Math.PI;
  return [
    svg("clipPath", { id: "fa-plane" }, [rect(0, 0, width, height, "ink")]),
    ray,
    path(`M${o}L${foot}`, stroke("q", 12, { opacity: 0.28 })),
    path(`M${on.at(q)}L${foot}`, stroke("q", 2, { "stroke-dasharray": "6 5" })),
    path(`M${edge(a)}A${r} ${r} 0 0 ${turn < 0 ? 1 : 0} ${edge(a + turn)}`, stroke("ink", 2)),
    text(mx, my + 6, `${angle.toFixed(0)}°`, type + 2, "bold middle halo"),
    text(
      hx + unit[1] * away,
      hy + unit[0] * away + 5,
      t("on", { length: fixed(found.on, 2) }),
      type,
      "middle accent-ink halo",
      Math.abs(lean) > 90 ? lean + 180 : lean,
    ),
  ];
}

/** @param {ArrowsData} data @param {Paper} paper @param {Pen<ArrowsData>} pen @param {Api} api @param {number} width @param {number} height
 * @returns {Drawn} */
function arrows(data, { big, narrow, type }, pen, api, width, height) {
  const found = measure(data.q, data.k);
  const on = plane(data.plane, width, height);
  const { low, high } = data.plane;
  const gridLine = (
    /** @type {number} */ at,
    /** @type {number[]} */ from,
    /** @type {number[]} */ to,
  ) => path(`M${on.at(from)}L${on.at(to)}`, stroke(at ? "empty" : "line", at ? 1 : 2));
  const names = /** @type {("q" | "k")[]} */ (["k", "q"]);
  const tip = (/** @type {"q" | "k"} */ name) => {
    const value = data[name];
    const [x, y] = on.at(value);
    const put = (/** @type {number[]} */ next) => {
      if (next.join() === value.join()) return;
      pen.redraw({ ...data, [name]: next });
      api.move({ [`${name}x`]: next[0], [`${name}y`]: next[1] });
    };
    return [
      text(
        clamp(x, 50, width - 54),
        y + (y > 52 ? -30 : 44),
        `${name} = ${pair(value)}`,
        type + 3,
        `bold middle ${INKS[name]} halo`,
      ),
      pen.knob(
        {
          key: name,
          slides: [value[0], low[0], high[0]],
          label: t("tip", { name }),
          text: pair(value).slice(1, -1),
          drag: (x, y) => put(on.back(x, y)),
          keys: (dx, dy) => put(on.move(value, dx, dy)),
        },
        [
          circle(x, y, 22, { fill: ink(name), opacity: 0.16 }),
          circle(x, y, 10, stroke(name, 4, { fill: ink("paper") }), "fa-knob-ring"),
        ],
      ),
    ];
  };
  const foot = height + type + 12;
  /** @type {[string, string?][]} */
  const product = [
    ["q", "accent-ink"],
    [" · "],
    ["k", "ink-k"],
    [" = "],
    [fixed(found.length, 2), "ink-k"],
    [" × "],
    [fixed(found.on, 2), "accent-ink"],
    [` = ${fixed(found.dot, 2)}`],
  ];
  return [
    span(low[0], high[0]).map((x) => gridLine(x, [x, low[1]], [x, high[1]])),
    span(low[1], high[1]).map((y) => gridLine(y, [low[0], y], [high[0], y])),
    found.angle !== null && projection(data, found, found.angle, on, type, width, height),
    names.map((name) => path(`M${on.at([0, 0])}L${on.at(data[name])}`, stroke(name, 4))),
    names.map(tip),
    line(width / 2, foot, product, type + 5, "bold middle"),
    !big &&
      text(width / 2, foot + 27, t(narrow ? "product.short" : "product"), type - 1, "middle quiet"),
  ];
}

/** The whole numbers from `low` to `high`. @param {number} low @param {number} high */
const span = (low, high) => Array.from({ length: high - low + 1 }, (_, k) => low + k);

/** Bars of shares in a colour, or without one their outline as stairs.
 * @param {number[]} shares @param {string} hue @param {(part: number) => number} at @param {number} base @param {number} unit px of a share of 1 */
function histogram(shares, hue, at, base, unit) {
  const wide = (at(1) - at(0)) / shares.length;
  if (hue)
    return shares.map(
      (y, k) =>
        y > 0 &&
        rect(at(0) + k * wide + 0.5, base - y * unit, Math.max(1, wide - 1), y * unit, hue),
    );
  const steps = shares.map((y, k) => `V${base - y * unit}H${at(0) + (k + 1) * wide}`).join("");
  return path(
    `M${at(0)} ${base}${steps}V${base}Z`,
    stroke("quiet", 1.5, { fill: ink("line"), "fill-opacity": 0.8 }),
  );
}

/** How random dot products spread, in a frame of width × high.
 * @param {ArrowsData} data @param {Paper} paper @param {number} width @param {number} high @returns {Drawn} */
function spread({ spread: { many, reach, ticks, raw, scaled }, d }, { type }, width, high) {
  const at = (/** @type {number} */ part) => 12 + part * (width - 24);
  const unit = (high - 40) / Math.max(...raw.shares, ...scaled.shares);
  const small = type - 1;
  const caption = (
    /** @type {number} */ x,
    /** @type {string} */ words,
    /** @type {number} */ wide,
    /** @type {string} */ look,
  ) => [
    text(x, 58, words, small, `bold ${look}`),
    text(x, 58 + small * 1.3, t("spread", { x: fixed(wide, 1) }), small, look),
  ];
  return [
    text(0, 0, t("why"), type + 1, "bold"),
    text(0, 23, t("random", { n: many, d }), type - 1.5, "quiet"),
    histogram(raw.shares, "", at, high, unit),
    histogram(scaled.shares, "q", at, high, unit),
    path(`M${at(0)} ${high}H${at(1)}`, stroke("quiet")),
    ticks.map((x) =>
      text(
        at((x + reach) / (2 * reach)),
        high + type + 3,
        String(x).replace("-", "−"),
        type - 2,
        "middle quiet",
      ),
    ),
    caption(0, t("divided"), scaled.spread, "accent-ink halo"),
    caption(width, t("raw"), raw.spread, "end quiet halo"),
  ];
}

/** The largest share that softmax gives with and without the scale.
 * @param {ArrowsData} data @param {Paper} paper @param {number} width @returns {Drawn} */
function tops({ spread: { keys, raw, scaled } }, { type }, width) {
  const [left, wide] = [type * 4.6, width - type * 8.4];
  const bar = (
    /** @type {number} */ y,
    /** @type {string} */ name,
    /** @type {number} */ value,
    /** @type {string} */ hue,
  ) => [
    text(0, y + 14, name, type, "quiet"),
    rect(left, y, wide, 18, "empty"),
    rect(left, y, wide * value, 18, hue),
    text(width, y + 15, fixed(value, 2), type, "bold end"),
  ];
  return [
    text(0, 0, t("softmax", { n: keys }), type + 1, "bold"),
    text(0, 22, t("largest"), type - 1.5, "quiet"),
    bar(46, t("raw"), raw.top, "quiet"),
    bar(76, t("scaled"), scaled.top, "q"),
  ];
}

/** What the server computes: q, k, the plane they may lie in, and the spread of random dot products. @param {ArrowsData} data @param {Api} api */
export function draw(data, api) {
  return svgCanvas(data, api, { share: 2.1, most: 600 }, (now, paper, pen) => {
    const { width, height, narrow, type, big } = paper;
    const foot = big ? type + 24 : type + 46;
    const plain = (/** @type {number} */ wide, /** @type {number} */ high) =>
      arrows(now, paper, pen, api, wide, high);
    // In presentation mode the arrows have the slide for themselves
    if (big) return plain(width, height - foot);
    if (narrow) {
      const high = Math.round(width * 0.76);
      return [
        plain(width, high),
        group(0, high + foot + 36, spread(now, paper, width, 170)),
        group(0, high + foot + 272, tops(now, paper, width)),
      ];
    }
    const left = width * 0.585;
    const wide = width - left - 28;
    return [
      plain(left, height - foot),
      group(left + 28, type + 2, spread(now, paper, wide, Math.min(230, height * 0.46))),
      group(left + 28, height - 106, tops(now, paper, wide)),
    ];
  });
}
