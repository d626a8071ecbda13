// What a player shows of the backward alone, by the same names as step/forward.js.

import { makeProducts } from "../views/products.js";
import { SramBackward } from "../views/sram_backward.js";

/** @import { Frame, Trace } from "../model/types.js" */
/** @import { PanelOptions } from "../views/types.js" */

export class BackwardViews {
  /** @param {PanelOptions} on */
  constructor(on) {
    this.sram = new SramBackward(on);
    this.products = makeProducts();
    this.first = "products";
    this.panels = { products: [this.products.root] };
  }

  /** @param {Trace} trace */
  layout(trace) {
    this.products.layout(trace);
  }

  /** @param {boolean} on */
  veil(on) {
    this.products.root.hidden = on;
  }

  /** @param {Trace} _trace @param {Frame} f */
  draw(_trace, f) {
    this.products.draw(f);
  }
}
