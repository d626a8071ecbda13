// A scene: shapes that the server laid out, in one or more panels. Shapes that have a key stay the same element from
// one answer to the next, so the style sheet's transitions carry them to their new places. A knob is dragged, or moved
// with the arrow keys, and sets a control; it follows the hand at once.

import { clamp } from "../../lib/format.js";
import { level, viridis } from "../../lib/colors.js";
import { el, set, svg } from "../../lib/dom.js";
import { onDrag } from "../../lib/drag.js";
import { strideOf } from "../../lib/keys.js";
import { placeOf, valueAt } from "../../model/knob.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_scene.json" with { type: "json" };

const t = textsOf(texts);

/**
 * @typedef {{ kind: "box" | "text" | "path" | "dot" | "knob", key?: string, x?: number, y?: number, w?: number, h?: number, r?: number, d?: string, text?: string, hue?: string, look?: string, heat?: number, control?: string, low?: number, high?: number, step?: number, span?: number, value?: number, label?: string }} Shape
 * @typedef {{ w: number, h: number, shapes: Shape[], only?: string }} Panel
 * @typedef {{ panels: Panel[] }} Scene
 * @typedef {{ value: (key: string) => string | undefined, move: (values: Record<string, number>) => void, label: string }} Api
 */

/** @param {Shape} shape */
function attributes({
  kind,
  x = 0,
  y = 0,
  w = 0,
  h = 0,
  r = 0,
  d = "",
  hue = "plain",
  look = "",
  heat,
}) {
  const base = {
    class: `fa-scene-${kind} fa-hue-${hue} ${look}`.trim(),
    style: heat === undefined ? null : `fill:${viridis.css[level(heat, 0, 1)]}`,
  };
  if (kind === "box")
    return {
      ...base,
      x,
      y,
      width: Math.max(0, w),
      height: Math.max(0, h),
      rx: Math.min(4, w / 2, h / 2),
    };
  if (kind === "path") return { ...base, d };
  if (kind === "dot") return { ...base, cx: x, cy: y, r };
  return base;
}

/** @type {Record<string, "rect" | "path" | "circle" | "text" | "g">} */
const TAGS = { box: "rect", path: "path", dot: "circle", text: "text", knob: "g" };

/** A group a shape: what is drawn, and what is written on it. @param {Shape} shape */
function made(shape) {
  const node = svg("g", { "data-key": shape.key });
  node.append(svg(TAGS[shape.kind] ?? "g"));
  return node;
}

/** @param {SVGElement} node @param {Shape} shape */
function put(node, shape) {
  const first = /** @type {SVGElement} */ (node.firstElementChild);
  set(first, attributes(shape));
  if (shape.kind === "text") {
    set(first, { text: shape.text ?? "" });
    first.style.transform = `translate(${shape.x}px, ${shape.y}px)`;
    return;
  }
  const ink =
    shape.heat === undefined
      ? ""
      : viridis.dark[level(shape.heat, 0, 1)]
        ? " is-light"
        : " is-dark";
  let words = /** @type {SVGElement | null} */ (node.querySelector(":scope > text"));
  if (!shape.text) return words?.remove();
  if (!words) node.append((words = svg("text")));
  set(words, {
    class:
      `fa-scene-text is-middle${ink} ${shape.look?.includes("is-small") ? "is-small" : ""}`.trim(),
    text: shape.text,
  });
  words.style.transform = `translate(${(shape.x ?? 0) + (shape.w ?? 0) / 2}px, ${(shape.y ?? 0) + (shape.h ?? 0) / 2 + 5}px)`;
}

/** What is dragged: a track, and a button on it. @param {Shape} first @param {Api} api */
function knob(first, api) {
  let now = first;
  let isDragged = false;
  const track = svg("path", { class: "fa-scene-track" });
  const handle = svg("g", { class: "fa-scene-handle", tabindex: "0", role: "slider" }, [
    svg("circle", { class: "fa-scene-reach", r: 30 }),
    svg("circle", { class: "fa-scene-grip", r: 10 }),
  ]);
  const root = svg("g", {}, [track, handle]);
  const go = (/** @type {number} */ value) => {
    if (value === now.value || !now.control) return;
    lay({ ...now, value });
    api.move({ [now.control]: value });
  };
  const lay = (/** @type {Shape} */ shape) => {
    now = shape;
    const { x = 0, y = 0, span = 1, value = 0, low, high, label } = shape;
    set(track, { d: `M${x} ${y}h${span}` });
    handle.style.transform = `translate(${x + placeOf(shape, value)}px, ${y}px)`;
    set(handle, {
      "aria-label": label,
      "aria-valuemin": low,
      "aria-valuemax": high,
      "aria-valuenow": value,
      "aria-valuetext": t("value", { value, low: low ?? 0, high: high ?? 1 }),
    });
  };
  handle.addEventListener("keydown", (event) => {
    const by = strideOf(event);
    if (!by) return;
    event.preventDefault();
    event.stopPropagation(); // in presentation mode the arrows turn the slide
    const { low = 0, high = 1, step = 1, value = 0 } = now;
    go(Number(clamp(value + (by[0] || by[1]) * step, low, high).toFixed(6)));
  });
  onDrag(handle, (event) => {
    event.preventDefault();
    handle.focus();
    isDragged = true;
    const page = /** @type {SVGSVGElement} */ (root.ownerSVGElement);
    return {
      move({ clientX }) {
        const to = page.getScreenCTM();
        if (to) go(valueAt(now, (clientX - to.e) / to.a - (now.x ?? 0)));
      },
      end() {
        isDragged = false;
      },
    };
  });
  lay(first);
  // An answer that comes while it is held is about a place where the hand was before
  return Object.assign(root, {
    lay: (/** @type {Shape} */ shape) => lay(isDragged ? { ...shape, value: now.value } : shape),
  });
}

/** One panel; `update` takes its next shapes. @param {Panel} panel @param {Api} api */
function sheet(panel, api) {
  const root = svg("svg", {
    preserveAspectRatio: "xMinYMin",
    "aria-hidden": panel.shapes.some(({ kind }) => kind === "knob") ? null : "true",
  });
  /** @type {Map<string, any>} */
  let there = new Map();
  const update = (/** @type {Panel} */ { w, h, shapes, only }) => {
    set(root, { viewBox: `0 0 ${w} ${h}`, class: `fa-scene-panel${only ? ` is-${only}` : ""}` });
    root.style.setProperty("--w", `${w}px`);
    root.style.aspectRatio = `${w}/${h}`;
    const next = new Map();
    shapes.forEach((shape, k) => {
      const key = `${shape.kind} ${shape.key ?? `at ${k}`}`;
      const node = there.get(key) ?? (shape.kind === "knob" ? knob(shape, api) : made(shape));
      if (shape.kind === "knob") node.lay(shape);
      else put(node, shape);
      if (root.children[k] !== node) root.insertBefore(node, root.children[k] ?? null);
      next.set(key, node);
    });
    for (const [key, node] of there) if (!next.has(key)) node.remove();
    there = next;
  };
  update(panel);
  return Object.assign(root, { update });
}

/** @param {Scene} data @param {Api} api */
export function draw(data, api) {
  const sheets = data.panels.map((panel) => sheet(panel, api));
  const root = el("div", { class: "fa-scene" }, sheets);
  const update = (/** @type {Scene} */ { panels }) => {
    while (sheets.length > panels.length) sheets.pop()?.remove();
    panels.forEach((panel, k) => {
      if (sheets[k]) return sheets[k].update(panel);
      sheets.push(sheet(panel, api));
      root.append(sheets[k]);
    });
  };
  return Object.assign(root, { update });
}
