// The five products of the backward, the one at work underlined; and what its numbers must add up to so far.

import { el, set } from "../lib/dom.js";
import { number, sub } from "../lib/format.js";
import { agreement, ofSink, sumsOfRows } from "../model/check.js";
import { algorithmOf } from "../model/passes.js";
import { PRODUCTS } from "../model/phases_backward.js";
import { bends } from "../model/scores.js";
import { t } from "../model/texts.js";
import { tBackward } from "../model/texts_backward.js";
import { rich } from "./rich.js";
import { RowLines } from "./rows.js";

/** @import { Frame, Trace } from "../model/types.js" */

/** @type {Record<string, string>} */
const AT = { exp: "scores", mask: "scores", dS: "dP" }; // phases that finish a product
export class Products {
  /** @type {HTMLElement[]} */
  items;
  constructor() {
    this.list = el("ol", { class: "fa-products" });
    this.lesson = el("p", { class: "fa-caption" });
    this.root = el("section", { class: "fa-card fa-products-card", "aria-label": t("products") }, [
      this.list,
      this.lesson,
    ]);
  }

  /** @param {Trace} trace */
  layout(trace) {
    const { stores_scores, scales_dQ, texts } = algorithmOf(trace);
    const products = PRODUCTS.filter(([phase]) => !stores_scores || phase !== "scores");
    this.items = products.map(([phase, formula, where]) =>
      el("li", { "data-product": phase, "data-part": `phase.${phase}` }, [
        el("b", {}, rich(scales_dQ && phase === "dQ" ? `${formula} / √d` : formula)),
        el("span", { text: texts.products?.[phase] ?? where }),
      ]),
    );
    this.list.replaceChildren(...this.items);
    set(this.lesson, { text: texts.products_lesson ?? tBackward("products.five") });
  }

  draw(/** @type {Frame} */ { phase }) {
    const now = AT[phase] ?? phase;
    for (const item of this.items)
      set(item, {
        class: item.dataset.product === now ? "is-now" : "",
        "aria-current": item.dataset.product === now ? "step" : null,
      });
  }
}

/** @param {number} x */
const small = (x) => (Math.abs(x) < 5e-7 ? "0" : number(x));

export class Check {
  /** @type {string} */
  words;
  constructor() {
    const heads = ["lse", "D", "", tBackward("check.keys")].map((text) =>
      el("th", { scope: "col", text }),
    );
    this.head = heads[2];
    this.rows = new RowLines(heads, tBackward("check.row"), t("rows"));
    this.sums = el("p");
    this.dQ = el("p");
    this.root = el("section", { class: "fa-card fa-check", "aria-label": tBackward("check") }, [
      this.rows.root,
      el("div", { class: "fa-check-words" }, [this.sums, this.dQ]),
    ]);
  }

  layout(/** @type {Trace} */ { problem }) {
    const { block_q, sink } = problem;
    const stats = ["lse", "D"].map((key) => ({ "data-stat": key, "data-value": "" }));
    const columns = ["sum", "keys"].map((key) => ({ "data-column": key }));
    this.rows.makeLines(block_q, [...stats, ...columns], 4);
    const bent = bends(problem); // a slope is not one of softmax
    this.words =
      sink === null
        ? tBackward(bent ? "check.zero.slope" : "check.zero")
        : tBackward(bent ? "check.sink.slope" : "check.sink");
    set(this.head, { text: tBackward(bent ? "check.sums.slope" : "check.sums") });
  }

  /** @param {Trace} trace @param {Frame} f @param {number | undefined} focus */
  draw(trace, f, focus) {
    const sums = sumsOfRows(trace, f);
    this.rows.fill(
      sums.map(({ row, sum, seen, of }, k) => ({
        row,
        name: trace.header.row_names?.[row],
        style: row === focus ? "is-followed" : "",
        cells: [
          .../** @type {("lse" | "D")[]} */ (["lse", "D"]).map((key) => ({
            text: number(f.stats[k]?.[key]),
            "data-value": String(f.stats[k]?.[key] ?? ""),
            "data-part": `${key}.${row}`,
          })),
          { text: seen ? small(sum) : "", class: seen === of && of ? "is-now" : "" },
          { text: trace.header.numbers ? tBackward("check.seen", { seen, of }) : "" },
        ],
      })),
    );
    const dsink = ofSink(trace, f);
    const sink =
      dsink === undefined ? "" : ` ${tBackward("check.dsink", { dsink: number(dsink) })}`;
    set(this.sums, { text: (sums.length ? this.words : tBackward("check.idle")) + sink });
    const found = this.root.checkVisibility() ? agreement(trace, f) : null; // which takes a while
    const [added, of] = [Number(f.grads?.added[f.i]), Number(f.grads?.of[f.i])];
    set(this.dQ, {
      text: found
        ? tBackward(added < of ? "check.dQ" : "check.dQ.whole", {
            i: sub(f.i),
            added,
            of,
            off: number(found.off),
            most: number(found.most),
          })
        : "",
    });
  }
}
