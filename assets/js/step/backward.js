// What a player shows of the backward alone, by the same names as step/forward.js: in a script of its own, which comes with the
// first trace of a backward.

import {} from "../model/backward_texts.js";
import { Check, Products } from "../views/products.js";
import { SramBackward } from "../views/sram_backward.js";

class BackwardViews {
  constructor(on) {
    this.sram = new SramBackward(on);
    this.products = new Products();
    this.check = new Check();
    this.first = "products";
    this.panels = { products: [this.products.root], check: [this.check.root] };
  }

  layout(trace) {
    this.products.layout(trace);
    this.check.layout(trace);
  }

  fit() {}

  veil(on) {
    this.products.root.hidden = on;
  }

  draw(trace, f, row) {
    this.products.draw(f);
    this.check.draw(trace, f, row);
  }
}

/** @param options {onZoom(): the numbers of a tile are wanted} */
export function mount(options) {
  return new BackwardViews(options);
}
