// Two arrows that can be dragged, what of q lies on k; how dot products of many numbers spread, and what softmax makes
// of them.

import { clamp } from "../../lib/format.js";
import { circle, digits, svgCanvas, ink, line, path, rect, stroke, text } from "../svg_canvas.js";
import { svg } from "../../lib/dom.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_arrows.json" with { type: "json" };

const t = textsOf(texts);

/** @import { Api, ArrowsData, Plane } from "../types.js" */
/** @import { Paper, Pen, Drawn } from "../svg_canvas.js" */
/** @typedef {{left: number, width: number, top: number, height: number, hist: number}} Box */

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

/** Where a point of the plane lies in a frame of width × height, and back, to the nearest step. @param {Plane} plane @param {number} left @param {number} top @param {number} width @param {number} height */
export function plane({ low, high, step }, left, top, width, height) {
  const unit = Math.min(width / (high[0] - low[0]), height / (high[1] - low[1]));
  const [x0, y0] = [
    left + (width - unit * (high[0] - low[0])) / 2,
    top + (height - unit * (high[1] - low[1])) / 2,
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

/** @param {number} x */
const short = (x) => String(x).replace("-", "−");
/** @param {number[]} number */
const pair = ([x, y]) => `(${short(x)}, ${short(y)})`;
const INKS = { q: "accent-ink", k: "ink-k" };

/** @param {ArrowsData} data @param {Paper} paper @param {Pen<ArrowsData>} pen @param {Api} api @param {Box} box */
function arrows(data, paper, pen, api, box) {
  const { q, k } = data;
  const found = measure(q, k);
  const on = plane(data.plane, box.left, box.top, box.width, box.height);
  const o = on.at([0, 0]);
  /** @type {Drawn[]} */
  const nodes = [];
  const { low, high } = data.plane;
  for (let x = low[0]; x <= high[0]; x++)
    nodes.push(
      path(
        `M${on.at([x, low[1]])}L${on.at([x, high[1]])}`,
        stroke(x ? "empty" : "line", x ? 1 : 2),
      ),
    );
  for (let y = low[1]; y <= high[1]; y++)
    nodes.push(
      path(
        `M${on.at([low[0], y])}L${on.at([high[0], y])}`,
        stroke(y ? "empty" : "line", y ? 1 : 2),
      ),
    );
  const [tipQ, tipK] = [on.at(q), on.at(k)];
  if (found.angle !== null) {
    const unit = k.map((x) => x / found.length);
    const foot = on.at(unit.map((x) => x * found.on));
    const far = [-9, 9].map((r) => on.at(unit.map((x) => x * r)));
    nodes.push(
      svg("clipPath", { id: "fa-plane" }, [
        svg("rect", { x: box.left, y: box.top, width: box.width, height: box.height }),
      ]),
    );
    const ray = path(
      `M${far[0]}L${far[1]}`,
      stroke("k", 1.2, { "stroke-dasharray": "2 5", opacity: 0.6 }),
    );
    ray.setAttribute("clip-path", "url(#fa-plane)");
    nodes.push(
      ray,
      path(`M${o}L${foot}`, stroke("q", 12, { opacity: 0.28 })),
      path(`M${tipQ}L${foot}`, stroke("q", 2, { "stroke-dasharray": "6 5" })),
    );
    const [a, b] = [q, k].map(([x, y]) => Math.atan2(y, x));
    const turn = Math.atan2(Math.sin(b - a), Math.cos(b - a));
    const r = Math.min(1.1, 0.45 * Math.min(found.length, Math.hypot(...q))) * on.unit;
    const edge = (/** @type {number} */ angle) => [
      o[0] + r * Math.cos(angle),
      o[1] - r * Math.sin(angle),
    ];
    nodes.push(
      path(`M${edge(a)}A${r} ${r} 0 0 ${turn < 0 ? 1 : 0} ${edge(a + turn)}`, stroke("ink", 2)),
    );
    const mid = a + turn / 2;
    nodes.push(
      text(
        o[0] + (r + 24) * Math.cos(mid),
        o[1] - (r + 24) * Math.sin(mid) + 6,
        `${found.angle.toFixed(0)}°`,
        paper.type + 2,
        "bold middle halo",
      ),
    );
    // The words lie on the side of k where q is not
    const away = unit[0] * q[1] - unit[1] * q[0] > 0 ? 1 : -1;
    const [hx, hy] = on.at(unit.map((x) => (x * found.on) / 2));
    const [lx, ly] = [hx + unit[1] * away * 20, hy + unit[0] * away * 20];
    const lean = (Math.atan2(-unit[1], unit[0]) * 180) / Math.PI;
    nodes.push(
      text(
        lx,
        ly + 5,
        t("on", { length: digits(found.on) }),
        paper.type,
        "middle accent-ink halo",
        Math.abs(lean) > 90 ? lean + 180 : lean,
      ),
    );
  }
  nodes.push(path(`M${o}L${tipK}`, stroke("k", 4)), path(`M${o}L${tipQ}`, stroke("q", 4)));
  const put = (/** @type {"q" | "k"} */ name, /** @type {number[]} */ value) => {
    if (value.join() === data[name].join()) return;
    pen.redraw({ ...data, [name]: value });
    api.move({ [`${name}x`]: value[0], [`${name}y`]: value[1] });
  };
  for (const [name, tip] of /** @type {["q" | "k", number[]][]} */ ([
    ["k", tipK],
    ["q", tipQ],
  ])) {
    const above = tip[1] - box.top > 52 ? -30 : 44;
    nodes.push(
      text(
        clamp(tip[0], box.left + 50, box.left + box.width - 54),
        tip[1] + above,
        `${name} = ${pair(data[name])}`,
        paper.type + 3,
        `bold middle ${INKS[name]} halo`,
      ),
    );
    nodes.push(
      pen.knob(
        {
          key: name,
          slides: [data[name][0], low[0], high[0]],
          label: t("tip", { name }),
          text: pair(data[name]).slice(1, -1),
          drag: (x, y) => put(name, on.back(x, y)),
          keys: (dx, dy) => put(name, on.move(data[name], dx, dy)),
        },
        [
          circle(tip[0], tip[1], 22, { fill: ink(name), opacity: 0.16 }),
          circle(tip[0], tip[1], 10, stroke(name, 4, { fill: ink("paper") }), "fa-knob-ring"),
        ],
      ),
    );
  }
  const y = box.top + box.height + paper.type + 12;
  const middle = box.left + box.width / 2;
  nodes.push(
    line(
      middle,
      y,
      [
        ["q", "accent-ink"],
        [" · "],
        ["k", "ink-k"],
        [" = "],
        [digits(found.length), "ink-k"],
        [" × "],
        [digits(found.on), "accent-ink"],
        [` = ${digits(found.dot)}`],
      ],
      paper.type + 5,
      "bold middle",
    ),
  );
  if (!paper.big)
    nodes.push(
      text(
        middle,
        y + 27,
        paper.narrow ? t("product.short") : t("product"),
        paper.type - 1,
        "middle quiet",
      ),
    );
  return nodes;
}

/** Bars of shares in a colour, or without one their outline as stairs.
 * @param {{shares: number[], hue?: string}} bars @param {(part: number) => number} at @param {number} base @param {number} high @param {number} most */
function histogram({ shares, hue }, at, base, high, most) {
  const wide = (at(1) - at(0)) / shares.length;
  if (hue)
    return shares.map(
      (y, k) =>
        y > 0 &&
        rect(
          at(0) + k * wide + 0.5,
          base - (y / most) * high,
          Math.max(1, wide - 1),
          (y / most) * high,
          hue,
        ),
    );
  const steps = shares
    .map((y, k) => `V${base - (y / most) * high}H${at(0) + (k + 1) * wide}`)
    .join("");
  return [
    path(`M${at(0)} ${base}${steps}V${base}Z`, {
      ...stroke("quiet", 1.5),
      fill: ink("line"),
      "fill-opacity": 0.8,
    }),
  ];
}

/** @param {ArrowsData} arrowsData @param {Paper} paper @param {Box} box */
function spread({ spread: s, d }, paper, box) {
  /** @type {Drawn[]} */
  const nodes = [text(box.left, box.top, t("why"), paper.type + 1, "bold")];
  nodes.push(
    text(box.left, box.top + 23, t("random", { n: s.many, d }), paper.type - 1.5, "quiet"),
  );
  const [top, base] = [box.top + 40, box.top + box.hist];
  const at = (/** @type {number} */ part) => box.left + 12 + part * (box.width - 24);
  const most = Math.max(...s.raw.shares, ...s.scaled.shares);
  nodes.push(
    histogram({ shares: s.raw.shares }, at, base, base - top, most),
    histogram({ shares: s.scaled.shares, hue: "q" }, at, base, base - top, most),
  );
  nodes.push(path(`M${at(0)} ${base}H${at(1)}`, stroke("quiet", 1)));
  for (const x of s.ticks)
    nodes.push(
      text(
        at((x + s.reach) / (2 * s.reach)),
        base + paper.type + 3,
        short(x),
        paper.type - 2,
        "middle quiet",
      ),
    );
  const small = paper.type - 1;
  const raw = "end quiet halo";
  nodes.push(
    text(box.left, top + 18, t("divided"), small, "bold accent-ink halo"),
    text(
      box.left,
      top + 18 + small * 1.3,
      t("spread", { x: digits(s.scaled.spread, 1) }),
      small,
      "accent-ink halo",
    ),
  );
  nodes.push(
    text(box.left + box.width, top + 18, t("raw"), small, `bold ${raw}`),
    text(
      box.left + box.width,
      top + 18 + small * 1.3,
      t("spread", { x: digits(s.raw.spread, 1) }),
      small,
      raw,
    ),
  );
  return nodes;
}

/** @param {ArrowsData} arrowsData @param {Paper} paper @param {Box} box */
function tops({ spread: s }, paper, box) {
  /** @type {Drawn[]} */
  const nodes = [text(box.left, box.top, t("softmax", { n: s.keys }), paper.type + 1, "bold")];
  nodes.push(text(box.left, box.top + 22, t("largest"), paper.type - 1.5, "quiet"));
  let y = box.top + 46;
  for (const [name, value, hue] of /** @type {[string, number, string][]} */ ([
    [t("raw"), s.raw.top, "quiet"],
    [t("scaled"), s.scaled.top, "q"],
  ])) {
    const [left, wide] = [box.left + paper.type * 4.6, box.width - paper.type * 8.4];
    nodes.push(
      text(box.left, y + 14, name, paper.type, "quiet"),
      rect(left, y, wide, 18, "empty"),
      rect(left, y, wide * value, 18, hue),
      text(box.left + box.width, y + 15, digits(value), paper.type, "bold end"),
    );
    y += 30;
  }
  return nodes;
}

/** What the server computes: q, k, the plane they may lie in, and the spread of random dot products. @param {ArrowsData} data @param {Api} api */
export function draw(data, api) {
  return svgCanvas(data, api, { share: 2.1, most: 600 }, (now, paper, pen) => {
    const { width, height, narrow, type } = paper;
    const foot = paper.big ? type + 24 : type + 46;
    // In a lecture hall the arrows have the slide for themselves
    if (paper.big)
      return arrows(now, paper, pen, api, {
        left: 0,
        top: 0,
        width,
        height: height - foot,
        hist: 0,
      });
    if (narrow) {
      const high = Math.round(width * 0.76);
      const box = { left: 0, width, top: high + foot + 36, height: 0, hist: 170 };
      return [
        arrows(now, paper, pen, api, { left: 0, top: 0, width, height: high, hist: 0 }),
        spread(now, paper, box),
        tops(now, paper, { ...box, top: box.top + 236 }),
      ];
    }
    const left = width * 0.585;
    const side = {
      left: left + 28,
      width: width - left - 28,
      top: type + 2,
      height: 0,
      hist: Math.min(230, height * 0.46),
    };
    return [
      arrows(now, paper, pen, api, {
        left: 0,
        top: 0,
        width: left,
        height: height - foot,
        hist: 0,
      }),
      spread(now, paper, side),
      tops(now, paper, { ...side, top: height - 106 }),
    ];
  });
}
