// What the pictures are drawn on: an SVG as wide as its place, one unit a pixel, drawn anew when its size or its data
// change. Knobs are what can be dragged or chosen in it, by pointer, touch and keys; a knob keeps its focus when the
// picture is drawn anew.

import { all, find, isEnlarged, on, set, svg } from "./dom.js";
import { clamp } from "./format.js";
import { strideOf } from "./keys.js";

/** @import { Attributes } from "./dom.js" */
/** Nodes, in lists of any depth; what is nothing is left out.
 * @typedef {Node | false | null | undefined | "" | 0 | DrawnList} Drawn
 * @typedef {{[k: number]: Drawn} & ReadonlyArray<any>} DrawnList */
/** `redraw` draws other data, `update` not while a knob is dragged: then the hand knows more than an answer does.
 * @typedef {SVGSVGElement & {refit: () => void, redraw: (data: any) => void, update: (data: any) => void}} Canvas */

const NARROW = 600;
const PHONE = 960; // px of a window, as the style sheets have it
// px that text has in presentation mode, at 1280 × 720: on a page, and in a lesson
const [ON_PAGE, READ] = [24, 22.6];

/**
 * @typedef {object} Paper
 * @property {number} width
 * @property {number} height
 * @property {boolean} narrow a phone
 * @property {boolean} big in presentation mode
 * @property {number} type px of its text
 * @property {(share: number) => number} small px of smaller text; in presentation mode none is smaller
 * @property {number} [used] what was needed of its height, as `paint` found it
 */
/**
 * @typedef {object} Knob
 * @property {string} key it is known by
 * @property {string} label
 * @property {string} text its value
 * @property {[number, number, number]} [slides] it is a slider: [value, low, high]; else it is a button
 * @property {string} [group] of buttons that are one stop for the keyboard: arrows go along
 * @property {boolean} [chosen] of its group
 * @property {(dx: number, dy: number) => void} [keys] a key moves it, in steps to the right and up
 * @property {(x: number, y: number) => void} [drag] the pointer is here
 * @property {(x: number, y: number) => boolean} [reach] whether it also comes to a click here
 * @property {() => void} [press] it was chosen
 */
/**
 * @template T
 * @typedef {object} Pen
 * @property {(knob: Knob, drawn: Drawn) => SVGElement} knob a group that is a knob, with what is drawn in it
 * @property {(data: T) => void} redraw draws other data
 * @property {(key: string) => void} focus gives a knob the focus
 */
/** `fills`: one of several beside each other, narrow without a phone.
 * @typedef {{share: number, least?: number, most?: number, fills?: boolean}} Height */

/** How high a picture is: a share of a phone's width, else the room that there is.
 * @param {number} width @param {Height} wanted @param {boolean} narrow @param {number} room */
export function heightOf(width, wanted, narrow, room) {
  if (narrow) return Math.round(width * wanted.share);
  return Math.round(clamp(room, wanted.least ?? 300, wanted.most ?? 620));
}

/** How much larger a picture is shown than it is drawn: a presentation enlarges. @param {Element} root */
const scaleOf = (root) => root.getBoundingClientRect().width / (root.clientWidth || 1) || 1;

/** The unit of a presentation's sizes, as in its style sheet: 1 at 1280 × 720. */
export const presentationUnit = () =>
  clamp(Math.min(window.innerWidth / 1280, window.innerHeight / 720), 0.8, 3);

const OF_PAGE = ".fa-story-picture";
/** Is it drawn in the type of a presentation? @param {Element} root */
const isBig = (root) =>
  root.closest(OF_PAGE) ? isEnlarged() : Boolean(root.closest(".fa-present"));
const PLACE = ".fa-lesson-body > .fa-widget, .fa-story-picture"; // what has room for a picture

/** px from the top of a picture to the bottom of its widget's place on the screen. @param {Element} root */
export function roomOf(root) {
  const box = root.closest(PLACE);
  if (!box) return window.innerHeight * 0.62;
  const scale = scaleOf(root);
  const above =
    (root.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop) / scale;
  return box.clientHeight / scale - above - 6;
}

/** @param {Drawn} drawn @returns {Node[]} */
export const nodesOf = (drawn) =>
  /** @type {Node[]} */ (Array.isArray(drawn) ? drawn.flatMap(nodesOf) : drawn ? [drawn] : []);

/** Can a node become the other by its attributes and children? A knob stays the one that it is. @param {Node} a @param {Node} b */
const isAlike = (a, b) =>
  a instanceof SVGElement &&
  b instanceof SVGElement &&
  a.localName === b.localName &&
  a.dataset.knob === b.dataset.knob;

/** Gives a node the children of another one, and changes of its own only those that differ: what stays costs no style or layout.
 * @param {Node} node @param {Node} fresh */
function patch(node, fresh) {
  const [old, wanted] = [[...node.childNodes], [...fresh.childNodes]];
  for (const extra of old.slice(wanted.length)) node.removeChild(extra);
  wanted.forEach((child, k) => {
    const was = old[k];
    if (!was) node.appendChild(child);
    else if (was.isEqualNode(child)) return;
    else if (isAlike(was, child)) {
      const [to, from] = /** @type {SVGElement[]} */ ([was, child]);
      for (const name of to.getAttributeNames())
        if (!from.hasAttribute(name)) to.removeAttribute(name);
      for (const { name, value } of from.attributes) set(to, { [name]: value });
      patch(to, from);
    } else node.replaceChild(child, was);
  });
}

/** An element that paints `data`.
 * @template T
 * @param {T} data @param {{label: string}} api @param {Height} wanted
 * @param {(data: T, paper: Paper, pen: Pen<T>) => Drawn} paint
 * @returns {Canvas} */
export function svgCanvas(data, api, wanted, paint) {
  const root = svg("svg.fa-svg-canvas", { role: "group", "aria-label": api.label });
  /** @type {Map<string, Knob>} */
  const knobs = new Map();
  let now = data;
  let dragged = ""; // the key of the knob
  let size = "";
  /** Of each group the knob that is its stop. @type {Map<string, string>} */
  const stops = new Map();
  const nodes = (/** @type {ParentNode} */ place = root) => all(place, "[data-knob]");
  const isNarrow = (/** @type {number} */ width, /** @type {boolean} */ big) =>
    width < (wanted.fills && window.innerWidth > PHONE ? 0 : NARROW) && !big;
  const knobAt = (/** @type {EventTarget | null} */ target) =>
    target instanceof Element ? knobs.get(knobNode(target)?.dataset.knob ?? "") : undefined;
  const focusKnob = (/** @type {string | undefined} */ key) =>
    nodes()
      .find((node) => node.dataset.knob === key)
      ?.focus({ preventScroll: true });
  const draw = () => {
    const width = root.clientWidth || root.parentElement?.clientWidth;
    if (!width) return;
    const big = isBig(root);
    const narrow = isNarrow(width, big);
    const height = heightOf(width, wanted, narrow, roomOf(root));
    const focused = find(root, "[data-knob]:focus")?.dataset.knob;
    knobs.clear();
    const page = root.closest(OF_PAGE); // its type grows with the window
    const grown = page && !narrow ? clamp(presentationUnit(), 1, 1.6) : 1;
    const type = big
      ? Math.max(15, ((page ? ON_PAGE : READ) * presentationUnit()) / scaleOf(root))
      : (page && narrow ? 14 : 15) * grown;
    const small = (/** @type {number} */ share) => type * (big ? Math.max(1, share) : share);
    /** @type {Paper} */
    const paper = { width, height, narrow, big, type, small };
    const fresh = document.createDocumentFragment();
    fresh.append(...nodesOf(paint(now, paper, pen)));
    rove(fresh);
    patch(root, fresh);
    // A phone scrolls: there a picture takes what it needs, elsewhere it keeps to the room that there is
    const high = narrow ? (paper.used ?? height) : Math.min(height, paper.used ?? height);
    root.setAttribute("viewBox", `0 0 ${width} ${high}`);
    root.style.height = `${high}px`;
    // What was chosen may be no knob any more
    const stop = find(root, "[data-knob][tabindex='0']")?.dataset.knob;
    if (focused) focusKnob(knobs.has(focused) ? focused : stop);
    size = `${width} ${height}`;
  };
  const members = (/** @type {string} */ group) =>
    [...knobs.values()].filter((knob) => knob.group === group);
  /** Makes one knob of each group the stop of the keyboard. @param {ParentNode} [place] */
  const rove = (place) => {
    for (const node of nodes(place)) {
      const { key, group } = knobAt(node) ?? { key: "" };
      const those = group ? members(group) : [];
      const stop =
        those.find((one) => one.key === stops.get(group ?? "")) ??
        those.find(({ chosen }) => chosen) ??
        those[0];
      set(node, { tabindex: !stop || stop.key === key ? "0" : "-1" });
    }
  };
  /** Moves the focus along the group of this knob, to its ends too. @param {Knob} knob @param {number} by */
  const along = ({ key, group = "" }, by) => {
    const those = members(group);
    const at = those.findIndex((one) => one.key === key);
    focusKnob(those[clamp(at + by, 0, those.length - 1)].key);
  };
  /** @type {Pen<T>} */
  const pen = {
    knob(knob, drawn) {
      knobs.set(knob.key, knob);
      const { key, label, text, slides, group } = knob;
      const [value, low, high] = slides ?? [];
      /** @type {Attributes} */
      const role = slides
        ? {
            role: "slider",
            "aria-label": label,
            "aria-valuetext": text,
            "aria-valuemin": low,
            "aria-valuemax": high,
            "aria-valuenow": value,
          }
        : { role: "button", "aria-label": `${label}${text && `: ${text}`}` };
      const look = { class: "fa-knob", "data-knob": key, tabindex: "0", ...role };
      const node = svg("g", look, nodesOf(drawn));
      // Not on the picture: Chromium makes a svg that listens for focus a stop of its own
      node.addEventListener("focus", () => {
        if (!group) return;
        stops.set(group, key);
        rove();
      });
      return node;
    },
    redraw(fresh) {
      now = fresh;
      draw();
    },
    focus: focusKnob,
  };
  /** Where the pointer is in the picture. @param {PointerEvent} event @returns {[number, number]} */
  const placeOf = ({ clientX, clientY }) => {
    const { left, top } = root.getBoundingClientRect();
    const scale = scaleOf(root);
    return [(clientX - left) / scale, (clientY - top) / scale];
  };
  root.addEventListener("pointerdown", (event) => {
    const own = knobAt(event.target);
    const place = placeOf(event);
    const knob = own ?? [...knobs.values()].find(({ reach }) => reach?.(...place));
    if (!knob?.drag) return;
    event.preventDefault();
    focusKnob(knob.key);
    root.setPointerCapture(event.pointerId);
    dragged = knob.key;
    if (!own) knob.drag(...place); // it comes to where the picture was clicked
  });
  root.addEventListener("pointermove", (event) => {
    knobs.get(dragged)?.drag?.(...placeOf(event));
  });
  on(root, ["pointerup", "pointercancel"], () => {
    dragged = "";
  });
  root.addEventListener("click", ({ target }) => knobAt(target)?.press?.());
  root.addEventListener("keydown", (event) => {
    const knob = knobAt(event.target);
    const by = strideOf(event);
    const isPress = event.key === "Enter" || event.key === " ";
    if (!knob || !(by ? knob.keys || knob.group : isPress && knob.press)) return;
    event.preventDefault();
    event.stopPropagation();
    if (!by) knob.press?.();
    else if (knob.keys) knob.keys(...by);
    else along(knob, by[0] - by[1]);
  });
  const watch = new ResizeObserver(() => {
    if (!root.isConnected && size) return watch.disconnect();
    const box = root.closest(PLACE);
    if (box) watch.observe(box);
    const narrow = isNarrow(root.clientWidth, isBig(root));
    const high = heightOf(root.clientWidth, wanted, narrow, roomOf(root));
    if (size !== `${root.clientWidth} ${high}`) draw();
  });
  watch.observe(root);
  return Object.assign(root, {
    refit: draw,
    redraw: pen.redraw,
    update(/** @type {T} */ fresh) {
      if (!dragged) now = fresh;
      draw();
    },
  });
}

/** @param {Element} target @returns {HTMLElement | null} */
const knobNode = (target) => target.closest("[data-knob]");

// ---- a few shapes; colours are the page's own, by name

/** @typedef {Record<string, string | number>} Paints CSS of a shape */

/** The ink of words about what has this hue. @type {Record<string, string>} */
export const INKS = { q: "accent-ink", k: "ink-k", v: "ink-v", o: "ink-o", m: "ink-m", l: "l" };
/** The hue of a tensor, where S and P of attention are matrices beside the operands. @type {Record<string, string>} */
export const HUES = { Q: "q", K: "k", V: "v", O: "o", S: "m", P: "l" };

/** The hue of a tensor where S and P lie in memory, beside the operands. @param {string} tensor */
export const storedHue = (tensor) =>
  tensor === "S" || tensor === "P" ? "quiet" : (HUES[tensor] ?? "quiet");

/** @param {string} name */
export const ink = (name) => `var(--fa-${name})`;
/** @param {Paints} paints */
const styleOf = (paints) =>
  Object.entries(paints)
    .map(([key, value]) => `${key}:${value}`)
    .join(";");

/** Letters in an outline of this colour. @param {string} hue @returns {Paints} */
const outlined = (hue) => ({ "paint-order": "stroke", stroke: ink(hue), "stroke-width": "4px" });

/** What the words of a look mean; any other is the name of a colour. @type {Record<string, Paints>} */
const LOOKS = {
  bold: { "font-weight": 700 },
  semi: { "font-weight": 600 },
  middle: { "text-anchor": "middle" },
  end: { "text-anchor": "end" },
  start: {},
  halo: outlined("paper"),
  "on-accent": { fill: ink("paper"), ...outlined("accent") },
  inverse: { fill: ink("paper"), ...outlined("quiet") },
};

/** @param {number} size @param {string} look */
const textStyle = (size, look) =>
  styleOf({
    "font-size": `${size}px`,
    "font-weight": 400,
    fill: ink("ink"),
    ...Object.assign(
      {},
      ...look
        .split(" ")
        .filter(Boolean)
        .map((word) => LOOKS[word] ?? { fill: ink(word) }),
    ),
  });

/** Words at (x, y). `look`: "bold" or "semi", "middle" or "end", "halo", "inverse" on S or P, the name of a colour; `turn` in degrees.
 * @param {number} x @param {number} y @param {string | number} words @param {number} size px */
export const text = (x, y, words, size, look = "", turn = 0) =>
  svg("text", {
    x,
    y,
    style: textStyle(size, look),
    transform: turn ? `rotate(${turn} ${x} ${y})` : null,
    text: words,
  });

/** Words of several looks in one line.
 * @param {number} x @param {number} y @param {[words: string, look?: string][]} parts @param {number} size px */
export function line(x, y, parts, size, look = "") {
  const style = `${textStyle(size, look)};white-space:pre`;
  const spans = parts.map(([words, own = ""]) =>
    svg("tspan", { style: textStyle(size, `${look} ${own}`), text: words }),
  );
  return svg("text", { x, y, style }, spans);
}

/** A name in bold, and after it quietly what it is; "" for none.
 * @param {number} x @param {number} y @param {string} name @param {string} note @param {number} size px */
export const titled = (x, y, name, note, size, look = "") =>
  line(
    x,
    y,
    [
      [name, "bold"],
      [note && `  ${note}`, "quiet"],
    ],
    size,
    look,
  );

/** A text in lines of at most `wide` px, the first at y; its height is lines × 1.4 × size.
 * @param {number} x @param {number} y @param {string} words @param {number} wide @param {number} size px */
export function wrapped(x, y, words, wide, size, look = "") {
  const em = /bold|semi/.test(look) ? 0.6 : 0.54;
  const lines = [""];
  for (const word of words.split(" ")) {
    const next = `${lines[lines.length - 1]} ${word}`.trim();
    if (next.length * size * em > wide && lines.at(-1)) lines.push(word);
    else lines[lines.length - 1] = next;
  }
  return lines.map((part, k) => text(x, y + k * size * 1.4, part, size, look));
}

/** @param {number} x @param {number} y @param {number} width @param {number} height
 * @param {string} fill a colour, or "" @param {Paints} paints */
export const rect = (x, y, width, height, fill, paints = {}, rx = 0) =>
  svg("rect", {
    x,
    y,
    width: Math.max(0, width),
    height: Math.max(0, height),
    rx: rx || null,
    style: styleOf({ fill: fill ? ink(fill) : "none", ...paints }),
  });

/** What is pressed or dragged there, unseen. @param {number} x @param {number} y @param {number} width @param {number} height */
export const hit = (x, y, width, height, cursor = "pointer") =>
  rect(x, y, width, height, "", { fill: "transparent", cursor });

/** @param {number} x @param {number} y @param {number} r @param {Paints} paints @param {string} [look] its class */
export const circle = (x, y, r, paints, look) =>
  svg("circle", { cx: x, cy: y, r, class: look, style: styleOf(paints) });

/** @param {string} d @param {Paints} paints */
export const path = (d, paints) => svg("path", { d, style: styleOf({ fill: "none", ...paints }) });

/** Strokes at 45° inside a rectangle, so many px apart, for `path`. @param {number} x @param {number} y @param {number} wide @param {number} high
 * @param {number} step */
export function hatch(x, y, wide, high, step, first = step) {
  let d = "";
  for (let at = first; at < wide + high; at += step)
    d += `M${x + Math.max(0, at - high)} ${y + Math.min(at, high)}L${x + Math.min(at, wide)} ${y + Math.max(0, at - wide)}`;
  return d;
}

/** @param {string} hue @param {Paints} more @returns {Paints} */
export const stroke = (hue, width = 1, more = {}) => ({
  stroke: ink(hue),
  "stroke-width": width,
  ...more,
});

/** What is drawn from (x, y) on. @param {number} x @param {number} y @param {Drawn} drawn */
export const group = (x, y, drawn) =>
  svg("g", { transform: `translate(${x} ${y})` }, nodesOf(drawn));

/** The same with its exact value, for hover, focus and tap. @template {Drawn} T @param {T} drawn @param {string} words */
export function tipped(drawn, words) {
  const node = drawn instanceof Element ? drawn : svg("g", nodesOf(drawn));
  if (words) node.setAttribute("data-tip", words);
  return node;
}
