// In a lecture hall two lines lead from the tile on HBM's map to the same tile in SRAM, magnified; they pass behind the strip that
// stands between the two, whose names they would cross.

import { set, svg } from "../lib/dom.js";

export class Lens {
  constructor() {
    this.lines = ["top", "bottom"].map((side) => svg("line", { "data-side": side, pathLength: 1 }));
    this.root = svg("svg", { class: "fa-lens", "aria-hidden": "true" }, this.lines);
  }

  /** `from` and `to`: {x, top, bottom} in px of the window; null, and there is nothing to join. `strip`: {left, right}. */
  draw(from, to, strip) {
    this.root.style.visibility = from && to ? "" : "hidden";
    if (!from || !to) return;
    const { left, top } = this.root.getBoundingClientRect();
    const share = (x) => Math.min(1, Math.max(0, (x - from.x) / (to.x - 4 - from.x)));
    const [before, after] = [share(strip.left), share(strip.right)];
    for (const line of this.lines) {
      const { side } = line.dataset;
      set(line, { x1: from.x - left, y1: from[side] - top, x2: to.x - left - 4, y2: to[side] - top, "stroke-dasharray": `${before} ${after - before} 1` });
    }
  }
}
