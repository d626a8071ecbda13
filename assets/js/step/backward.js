// What a player shows of the backward alone, by the same names as step/forward.js.

import { makeProducts } from "../views/products.js";
import { SramBackward } from "../views/sram_backward.js";

/** @import { PanelOptions } from "../views/types.js" */
/** @import { PassViews } from "./types.js" */

/** Make the views of the backward pass alone. @param {PanelOptions} options @returns {PassViews} */
export function makeBackwardViews(options) {
  const { root, layout, draw } = makeProducts();
  return {
    sram: new SramBackward(options),
    first: "products",
    panels: { products: [root] },
    layout,
    veil: (on) => {
      root.hidden = on;
    },
    draw: (_, f) => draw(f),
  };
}
