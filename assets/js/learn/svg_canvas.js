// What the pictures are drawn on: an SVG as wide as its place, one unit a pixel, drawn anew when its size or its data
// change. Knobs are what can be dragged or chosen in it, by pointer, touch and keys; a knob keeps its focus when the
// picture is drawn anew.

import { clamp } from "../lib/format.js";
import { all, on, set, svg } from "../lib/dom.js";
import { strideOf } from "../lib/keys.js";

const NARROW = 600;
const READ = 22.6; // px that text has in a lecture hall, at 1280 × 720

/**
 * @typedef {object} Paper
 * @property {number} width
 * @property {number} height
 * @property {boolean} narrow a phone
 * @property {boolean} big a lecture hall
 * @property {number} type px of its text
 * @property {number} [used] what was needed of its height, said by who paints
 */
/**
 * @typedef {object} Knob
 * @property {string} key it is known by
 * @property {string} label
 * @property {string} said its value
 * @property {[number, number, number]} [slides] it is a slider: [value, low, high]; else it is a button
 * @property {string} [group] of buttons that are one stop for the keyboard: arrows go along
 * @property {boolean} [chosen] of its group
 * @property {(dx: number, dy: number) => void} [keys] a key moves it, in steps to the right and up
 * @property {(x: number, y: number) => void} [drag] the pointer is here
 * @property {() => void} [press] it was chosen
 */

/** How high a picture is: a share of a phone's width, else the room that there is.
 * @param {number} width @param {{share: number, least?: number, most?: number}} wanted @param {number} room */
export function heightOf(width, wanted, narrow, room) {
  if (narrow) return Math.round(width * wanted.share);
  return Math.round(clamp(room, wanted.least ?? 300, wanted.most ?? 620));
}

/** How much larger a picture is shown than it is drawn: a lecture hall enlarges. */
const scaleOf = (root) => root.getBoundingClientRect().width / (root.clientWidth || 1) || 1;

/** The unit of a lecture hall's sizes, as in learn_hall.css: 1 at 1280 × 720. */
export const presentationUnit = () =>
  Math.max(0.8, Math.min(3, window.innerWidth / 1280, window.innerHeight / 720));

/** px from the top of a picture to the bottom of its widget's place on the screen. */
function roomOf(root) {
  const box = root.closest(".fa-lesson-body > .fa-widget");
  if (!box) return window.innerHeight * 0.62;
  const scale = scaleOf(root);
  const above =
    (root.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop) / scale;
  return box.clientHeight / scale - above - 6;
}

/** An element that paints `data` and has `update`. `paint(data, paper, pen)` → nodes. */
export function svgCanvas(data, api, wanted, paint) {
  const root = /** @type {any} */ (
    svg("svg", { class: "fa-easel", role: "group", "aria-label": api.label })
  );
  const knobs = new Map();
  let now = data;
  /** @type {string | null} */
  let held = null;
  let size = "";
  /** Of each group the knob that is its stop. @type {Map<string, string>} */
  const stops = new Map();
  const nodes = () => /** @type {any[]} */ (all(root, "[data-knob]"));
  const draw = () => {
    const width = root.clientWidth || root.parentNode?.clientWidth;
    if (!width) return;
    const big = Boolean(root.closest(".fa-present"));
    const narrow = width < NARROW && !big;
    const height = heightOf(width, wanted, narrow, roomOf(root));
    const focused = root.querySelector("[data-knob]:focus")?.dataset.knob;
    knobs.clear();
    const paper = /** @type {Paper} */ ({
      width,
      height,
      narrow,
      big,
      type: big ? Math.max(15, (READ * presentationUnit()) / scaleOf(root)) : 15,
    });
    root.replaceChildren(...paint(now, paper, pen).flat(Infinity).filter(Boolean));
    // A phone scrolls: there a picture takes what it needs, elsewhere it keeps to the room that there is
    const high = narrow ? (paper.used ?? height) : Math.min(height, paper.used ?? height);
    root.setAttribute("viewBox", `0 0 ${width} ${high}`);
    root.style.height = `${high}px`;
    rove();
    if (focused)
      nodes()
        .find((node) => node.dataset.knob === focused)
        ?.focus({ preventScroll: true });
    size = `${width} ${height}`;
  };
  const members = (group) => [...knobs.values()].filter((knob) => knob.group === group);
  const rove = () => {
    for (const node of nodes()) {
      const { key, group } = knobs.get(node.dataset.knob);
      const all = group ? members(group) : [];
      const stop =
        all.find((one) => one.key === stops.get(group)) ??
        all.find(({ chosen }) => chosen) ??
        all[0];
      set(node, { tabindex: !stop || stop.key === key ? "0" : "-1" });
    }
  };
  const stopAt = (group, key) => {
    stops.set(group, key);
    rove();
  };
  /** Along the group of this knob, to its ends too. */
  const along = ({ key, group }, dx, dy) => {
    const all = members(group);
    const to = all[clamp(all.findIndex((one) => one.key === key) + dx - dy, 0, all.length - 1)];
    nodes()
      .find((node) => node.dataset.knob === to.key)
      ?.focus({ preventScroll: true });
  };
  /** A group that is a knob, with what is drawn in it. */
  const pen = {
    /** @param {Knob} knob @param {Element[]} drawn */
    knob: (knob, drawn) => {
      knobs.set(knob.key, knob);
      const [now, low, high] = knob.slides ?? [];
      const is = knob.slides
        ? {
            role: "slider",
            "aria-label": knob.label,
            "aria-valuetext": knob.said,
            "aria-valuemin": low,
            "aria-valuemax": high,
            "aria-valuenow": now,
          }
        : { role: "button", "aria-label": `${knob.label}${knob.said && `: ${knob.said}`}` };
      const node = svg(
        "g",
        { class: "fa-knob", "data-knob": knob.key, tabindex: "0", ...is },
        drawn.flat(Infinity).filter(Boolean),
      );
      // Not on the picture: Chromium makes a svg that listens for focus a stop of its own
      node.addEventListener("focus", () => knob.group && stopAt(knob.group, knob.key));
      return node;
    },
    redraw: (fresh) => {
      now = fresh;
      draw();
    },
  };
  const knobOf = (target) => knobs.get(target.closest?.("[data-knob]")?.dataset.knob);
  const at = (event) => {
    const box = root.getBoundingClientRect();
    const scale = scaleOf(root);
    return [(event.clientX - box.left) / scale, (event.clientY - box.top) / scale];
  };
  root.addEventListener("pointerdown", (event) => {
    const knob = knobOf(event.target);
    if (!knob?.drag) return;
    event.preventDefault();
    event.target.closest("[data-knob]").focus({ preventScroll: true });
    root.setPointerCapture(event.pointerId);
    held = knob.key;
  });
  root.addEventListener("pointermove", (event) => held && knobs.get(held)?.drag(...at(event)));
  on(root, ["pointerup", "pointercancel"], () => {
    held = null;
  });
  root.addEventListener("click", (event) => knobOf(event.target)?.press?.());
  root.addEventListener("keydown", (event) => {
    const knob = knobOf(event.target);
    const by = strideOf(event);
    const moves = knob?.keys ?? (knob?.group && ((dx, dy) => along(knob, dx, dy)));
    const act = by
      ? moves && (() => moves(...by))
      : event.key === "Enter" || event.key === " "
        ? knob?.press
        : null;
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
  root.refit = draw;
  root.update = (fresh) => {
    if (!held) now = fresh;
    draw();
  };
  const watch = new ResizeObserver(() => {
    if (!root.isConnected && size) return watch.disconnect();
    const box = root.closest(".fa-lesson-body > .fa-widget");
    if (box) watch.observe(box);
    const narrow = root.clientWidth < NARROW && !root.closest(".fa-present");
    if (size !== `${root.clientWidth} ${heightOf(root.clientWidth, wanted, narrow, roomOf(root))}`)
      draw();
  });
  watch.observe(root);
  return root;
}

// ---- a few shapes; colours are the page's own, by name

export const ink = (name) => `var(--fa-${name})`;
const styled = (paints) =>
  Object.entries(paints)
    .map(([key, value]) => `${key}:${value}`)
    .join(";");

export function text(
  x,
  y,
  words,
  { size = 15, weight = 400, hue = "ink", anchor = "start", turn = 0, halo = false } = {},
) {
  const paints = {
    "font-size": `${size}px`,
    "font-weight": weight,
    fill: ink(hue),
    ...(halo ? { "paint-order": "stroke", stroke: ink("paper"), "stroke-width": "4px" } : {}),
  };
  return svg("text", {
    x,
    y,
    "text-anchor": anchor,
    style: styled(paints),
    transform: turn ? `rotate(${turn} ${x} ${y})` : null,
    text: words,
  });
}

/** Words of several colours in one line: [[words, hue, weight], …].
 * @param {number} x @param {number} y @param {any[][]} parts */
export function line(x, y, parts, { size = 15, anchor = "start", weight = 400 } = {}) {
  const node = svg("text", {
    x,
    y,
    "text-anchor": anchor,
    style: `font-size:${size}px;white-space:pre`,
  });
  for (const [words, hue = "ink", heavy = weight] of parts)
    node.append(
      svg("tspan", { style: styled({ fill: ink(hue), "font-weight": heavy }), text: words }),
    );
  return node;
}

/** @typedef {{size?: number, weight?: number, hue?: string, anchor?: string, turn?: number, halo?: boolean}} Type */

/** A text in lines of at most `wide` px, the first at y; its height is lines × 1.4 × size.
 * @param {number} x @param {number} y @param {string} words @param {number} wide @param {Type} more */
export function wrapped(x, y, words, wide, more = {}) {
  const size = more.size ?? 15;
  const lines = [""];
  for (const word of words.split(" ")) {
    const next = `${lines[lines.length - 1]} ${word}`.trim();
    if (next.length * size * ((more.weight ?? 400) > 500 ? 0.6 : 0.54) > wide && lines.at(-1))
      lines.push(word);
    else lines[lines.length - 1] = next;
  }
  return lines.map((part, k) => text(x, y + k * size * 1.4, part, more));
}

/** @param {{rx?: number, style?: Record<string, any>}} more */
export const rect = (x, y, width, height, fill, more = {}) =>
  svg("rect", {
    x,
    y,
    width: Math.max(0, width),
    height: Math.max(0, height),
    rx: more.rx ?? 0,
    style: styled({ fill: fill ? ink(fill) : "none", ...(more.style ?? {}) }),
  });

export const path = (d, paints) => svg("path", { d, style: styled({ fill: "none", ...paints }) });

export const stroke = (hue, width = 1, more = {}) => ({
  stroke: ink(hue),
  "stroke-width": width,
  ...more,
});

/** 1.5 → “1.50”, with a true minus. */
export const digits = (x, places = 2) =>
  x
    .toFixed(places)
    .replace("-", "−")
    .replace(/^−(0(?:\.0+)?)$/, "$1");
