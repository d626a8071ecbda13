// What the drawers of the kit share: figures with their title, cells, buttons, motion.

import { level, viridis } from "../../lib/colors.js";
import { all, el, find, svg } from "../../lib/dom.js";
import { digits } from "../../lib/svg_canvas.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_kit.json" with { type: "json" };

/** @import { Children } from "../../lib/dom.js" */
/** @import { Api, Cell } from "../types.js" */
/** A mark as explainer/learn/kit.py builds it: each kind has parts of its own, and what is empty is not there.
 * @typedef {{mark: string, key?: string, hue?: string, aside?: boolean, [part: string]: any}} Mark
 * What a drawer has of the picture: `later` is called when everything has its size.
 * @typedef {{api: Api, render: (mark: Mark) => HTMLElement, later: (lay: () => void) => void}} Kit
 * @typedef {(mark: Mark, kit: Kit) => HTMLElement} Drawer */

export const t = textsOf(texts);
const MOVE_MS = 300;

/** The class of a hue. @param {string} [hue] */
export const hueClass = (hue) => `fa-hue-${hue ?? "plain"}`;

/** A figure with its title and a quiet remark behind it. @param {string} kind @param {Mark} mark @param {Children} children */
export function figure(kind, { title, remark, hue }, children) {
  const head =
    (title || remark) &&
    el("figcaption", {}, [
      title && el("b", { text: title }),
      remark && el("span", { text: remark }),
    ]);
  return el("figure", { class: `fa-kit-${kind} ${hueClass(hue)}` }, [head, ...children]);
}

/** A button that sets the control `pick` to its index; buttons of one control are one stop for the keyboard.
 * @param {string} pick @param {number} k @param {boolean} isChosen @param {string} label @param {Kit} kit @param {Children} [children] */
export function choice(pick, k, isChosen, label, { api }, children = [label]) {
  const node = el(
    "button",
    {
      type: "button",
      "data-group": pick,
      "data-handle": `${pick} ${k}`,
      "aria-pressed": String(isChosen),
      "aria-label": label,
      tabindex: isChosen ? "0" : "-1",
    },
    children,
  );
  node.addEventListener("click", (event) => {
    event.stopPropagation();
    api.move({ [pick]: k });
  });
  return node;
}

/** The number or the text of a cell. @param {Cell} x @param {number} places */
export const cellText = (x, places) => (typeof x === "number" ? digits(x, places) : (x ?? ""));

/** How a cell is painted: on the ramp of scores, or in the hue of its matrix, a text pale. @param {Cell} x
 * @param {[number, number] | undefined} heat @param {number} most the size that has the full hue */
export function paint(x, heat, most) {
  if (x === null || x === "−∞" || x === "NaN") return "";
  if (typeof x === "string")
    return "background:color-mix(in srgb, var(--fa-hue) 16%, var(--fa-paper))";
  if (heat) {
    const at = level(x, heat[0], heat[1]);
    return `background:${viridis.css[at]};color:${viridis.dark[at] ? "#fff" : "#000"}`;
  }
  const share = Math.round(10 + 40 * Math.min(1, Math.abs(x) / (most || 1)));
  return `background:color-mix(in srgb, var(--fa-hue) ${x ? share : 4}%, var(--fa-paper))`;
}

/** The largest size of the numbers among some cells. @param {Cell[][]} cells */
export const largest = (cells) =>
  Math.max(0, ...cells.flat().map((x) => (typeof x === "number" ? Math.abs(x) : 0)));

/** A drawing over a box, in its px, that takes no clicks. */
export const overlay = () => svg("svg", { class: "fa-kit-over", "aria-hidden": "true" });

/** Where a node lies in a box, in px that do not count how much the box is enlarged.
 * @param {Element} node @param {HTMLElement} box */
export function placeIn(node, box) {
  const outer = box.getBoundingClientRect();
  const inner = node.getBoundingClientRect();
  const by = box.offsetWidth / (outer.width || 1);
  return {
    left: (inner.left - outer.left) * by,
    right: (inner.right - outer.left) * by,
    top: (inner.top - outer.top) * by,
    bottom: (inner.bottom - outer.top) * by,
  };
}

/** Where everything that has a key is now. @param {HTMLElement} root */
export const places = (root) =>
  new Map(
    all(root, "[data-key]").map((node) => [node.dataset.key ?? "", node.getBoundingClientRect()]),
  );

/** Lets everything that has a key move from where it was to where it is; what is new fades in.
 * @param {HTMLElement} root @param {Map<string, DOMRect>} before */
export function move(root, before) {
  if (!before.size || window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const scale = root.getBoundingClientRect().width / (root.offsetWidth || 1) || 1;
  const options = { duration: MOVE_MS, easing: "ease-in-out" };
  for (const node of all(root, "[data-key]")) {
    const was = before.get(node.dataset.key ?? "");
    if (!was) {
      node.animate([{ opacity: 0 }, {}], options);
      continue;
    }
    const is = node.getBoundingClientRect();
    const [x, y] = [(was.left - is.left) / scale, (was.top - is.top) / scale];
    const [w, h] = [was.width / (is.width || 1), was.height / (is.height || 1)];
    const isSized = node.classList.contains("fa-kit-fill") && (w !== 1 || h !== 1);
    if (!x && !y && !isSized) continue;
    const scaled = isSized ? ` scale(${w}, ${h})` : "";
    const from = `translate(${x}px, ${y}px)${scaled}`;
    node.animate(
      [{ transformOrigin: "0 0", transform: from }, { transformOrigin: "0 0" }],
      options,
    );
  }
}

/** Gives the focus to the button or handle of this name. @param {HTMLElement} root @param {string} [name] */
export const focusHandle = (root, name) =>
  name && find(root, `[data-handle="${name}"]`)?.focus({ preventScroll: true });
