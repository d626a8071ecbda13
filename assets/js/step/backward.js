// What a player shows of the backward alone, by the same names as step/forward.js.

import { makeProducts } from "../views/products.js";
import { SramBackward } from "../views/sram_backward.js";

/** @import { PassViews } from "./types.js" */

/** Make the views of the backward pass alone. @param {() => void} onZoom @returns {PassViews} */
export function makeBackwardViews(onZoom) {
  const { root, layout, draw } = makeProducts();
  return {
    sram: new SramBackward(onZoom),
    first: "products",
    panels: { products: [root] },
    layout,
    veil: (on) => {
      root.hidden = on;
    },
    draw: (_, f) => draw(f),
  };
}
