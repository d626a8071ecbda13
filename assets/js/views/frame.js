// A matrix in its place on the SRAM card, under its name; empty and dashed until something is in it.

import { hueOf } from "../lib/colors.js";
import { el, set, setText } from "../lib/dom.js";
import { t } from "../model/texts.js";
import { makeMatrix } from "./matrix.js";

/** @import { Drawing } from "./types.js" */

/** Where a node lies within what holds it, in px. @param {HTMLElement} node @param {number} x @param {number} y @param {number} width @param {number} height */
export const put = (node, x, y, width, height) =>
  Object.assign(node.style, {
    left: `${x}px`,
    top: `${y}px`,
    width: `${width}px`,
    height: `${height}px`,
  });

export class MatrixFrame {
  /** @type {number} */
  x;
  /** @type {number} */
  y;
  /** @type {number} */
  width;
  /** @type {number} */
  height;
  /** @type {string | null | undefined} */
  drawn;
  /** @param {string} name */
  constructor(name) {
    this.name = name;
    this.matrix = makeMatrix(name);
    this.head = el(`figcaption.fa-ink-${hueOf(name)}`, { "data-spot": name });
    this.inside = el("span.fa-frame-name", { "aria-hidden": "true" });
    this.root = el(
      "figure",
      {
        class: `fa-frame fa-frame-${name.toLowerCase()} fa-edge-${hueOf(name)}${/^d[QKVO]$/.test(name) ? " is-grad" : ""}`,
        "data-tensor": name,
        "data-spot": name,
        tabindex: -1,
        role: "application",
        "aria-roledescription": t("matrix"),
        "aria-label": t("matrix.keys", { name }),
      },
      [this.head, this.matrix.root, this.inside],
    );
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height @param {number} rows @param {number} cols @param {number} type */
  layout(x, y, width, height, rows, cols, type) {
    Object.assign(this, { x, y, width, height });
    put(this.root, x, y, width, height);
    this.matrix.layout(rows, cols, width, height, type);
    this.drawn = null;
  }

  /** `now` says what it holds in one line: the same is not drawn again. */
  draw(/** @type {Drawing} */ { filled, block, now, ...how }) {
    if (this.drawn === now) return;
    this.drawn = now;
    this.root.classList.toggle("is-empty", !filled);
    set(this.root, { "data-block": block });
    this.matrix.draw(how);
  }

  /** @param {string} strong @param {string} quiet @param {string} title */
  label(strong, quiet, title, inside = "") {
    const text = `${strong}|${quiet}`;
    setText(this.inside, inside);
    set(this.root, { title });
    if (this.head.dataset.text === text) return;
    this.head.dataset.text = text;
    this.head.replaceChildren(el("b", strong), el("span", quiet && ` ${quiet}`));
  }
}
