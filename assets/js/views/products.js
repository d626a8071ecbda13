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

/** @import { Frame, Known, Trace } from "../model/types.js" */

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
  /** @type {{tr: HTMLElement, title: HTMLElement, cells: HTMLElement[]}[]} */
  lines;
  /** @type {string} */
  words;
  constructor() {
    this.body = el("tbody");
    const heads = [tBackward("check.row"), "lse", "D", "", tBackward("check.keys")].map((text) =>
      el("th", { scope: "col", text }),
    );
    this.table = el("table", { "aria-label": t("rows") }, [
      el("thead", {}, [el("tr", {}, heads)]),
      this.body,
    ]);
    this.head = heads[3];
    this.scroll = el(
      "div",
      { class: "fa-rows", tabindex: 0, role: "region", "aria-label": t("rows") },
      [this.table],
    );
    this.sums = el("p");
    this.dQ = el("p");
    this.root = el("section", { class: "fa-card fa-check", "aria-label": tBackward("check") }, [
      this.scroll,
      el("div", { class: "fa-check-words" }, [this.sums, this.dQ]),
    ]);
  }

  layout(/** @type {Trace} */ { problem }) {
    const { block_q, sink } = problem;
    this.lines = Array.from({ length: block_q }, () => {
      const cells = ["lse", "D", "sum", "keys"].map((key) =>
        el(
          "td",
          key === "lse" || key === "D"
            ? { "data-stat": key, "data-value": "" }
            : { "data-column": key },
        ),
      );
      const title = el("th", { scope: "row" });
      return { tr: el("tr", {}, [title, ...cells]), title, cells };
    });
    this.body.replaceChildren(...this.lines.map(({ tr }) => tr));
    this.scroll.classList.toggle("is-dense", block_q > 4);
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
    this.lines.forEach(({ tr, title, cells }, k) => {
      const [sum, s] = [sums[k], f.stats[k]];
      tr.hidden = !sum;
      if (!sum) return tr.removeAttribute("data-row");
      set(tr, {
        "data-row": sum.row,
        "data-part": `row.${sum.row}`,
        class: sum.row === focus ? "is-followed" : "",
      });
      const name = trace.header.row_names?.[sum.row];
      set(title, { text: name ? `${sum.row} ${name}` : String(sum.row) });
      const known = (/** @type {Known} */ x) => (x === undefined ? "" : String(x));
      set(cells[0], {
        text: number(s?.lse),
        "data-value": known(s?.lse),
        "data-part": `lse.${sum.row}`,
      });
      set(cells[1], { text: number(s?.D), "data-value": known(s?.D), "data-part": `D.${sum.row}` });
      set(cells[2], {
        text: sum.seen ? small(sum.sum) : "",
        class: sum.seen === sum.of && sum.of ? "is-now" : "",
      });
      set(cells[3], {
        text: trace.header.numbers ? tBackward("check.seen", { seen: sum.seen, of: sum.of }) : "",
      });
    });
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
