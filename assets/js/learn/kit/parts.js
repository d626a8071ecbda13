// What the parts of the kit share: hues, places, motion.

import { all, isStill } from "../../lib/dom.js";

/** A mark as explainer/learn/kit.py builds it: each kind has parts of its own, and what is empty is not there.
 * @typedef {{hue?: string, [part: string]: any}} Mark */

const MOVE_MS = 300;

/** The class of a hue. @param {string} [hue] */
export const hueClass = (hue) => `fa-hue-${hue ?? "plain"}`;

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
  if (!before.size || isStill()) return;
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
