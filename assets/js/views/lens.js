// In presentation mode two lines lead from the rows of the tile on HBM's map to the same tile in SRAM, magnified. They begin
// right of the map and of the strip beside it, whose names they would cross.

import { set, svg } from "../lib/dom.js";

/** @import { Edge } from "./types.js" */

/** @type {("top" | "bottom")[]} */
const SIDES = ["top", "bottom"];

/** Make the two lines. */
export function makeLens() {
  const lines = SIDES.map((side) => svg("line", { "data-side": side }));
  const root = svg("svg.fa-lens", { "aria-hidden": "true" }, lines);

  /** `from` and `to`: {x, top, bottom} in px of the window; null, and there is nothing to join. `strip`: {right}. @param {Edge | null} from @param {Edge | null} to @param {DOMRect} strip */
  function draw(from, to, strip) {
    root.style.visibility = from && to ? "" : "hidden";
    if (!from || !to) return;
    const { left, top } = root.getBoundingClientRect();
    const x1 = Math.max(from.x, strip.right) - left + 8;
    SIDES.forEach((side, k) =>
      set(lines[k], { x1, y1: from[side] - top, x2: to.x - left - 4, y2: to[side] - top }),
    );
  }

  return { root, draw };
}
