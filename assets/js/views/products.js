// The five products of the backward, the one at work underlined; and what its numbers must add up to so far.

import { el, set, setText } from "../lib/dom.js";
import { algorithmOf } from "../model/passes.js";
import { PRODUCTS, purposes } from "../model/phases_backward.js";
import { t } from "../model/texts.js";
import { rich } from "./rich.js";

/** @import { Frame, Trace } from "../model/types.js" */

/** @type {Record<string, string>} */
const AT = { exp: "scores", mask: "scores", dS: "dP" }; // phases that finish a product
/** Make the card of the products. */
export function makeProducts() {
  /** @type {HTMLElement[]} */
  let items;

  const list = el("ol.fa-products");
  const lesson = el("p.fa-caption");
  const answers = el("dl.fa-purposes"); // on the first screen
  const root = el("section.fa-card.fa-products-card", { "aria-label": t("products") }, [
    answers,
    list,
    lesson,
  ]);

  /** @param {Trace} trace */
  function layout(trace) {
    const { stores_scores, scales_dQ, texts } = algorithmOf(trace);
    const products = PRODUCTS.filter(([phase]) => !stores_scores || phase !== "scores");
    items = products.map(([phase, formula, where]) =>
      el("li", { "data-product": phase, "data-part": `phase.${phase}` }, [
        el("b", rich(scales_dQ && phase === "dQ" ? `${formula} / √d` : formula)),
        el("span", texts.products?.[phase] ?? where),
      ]),
    );
    list.replaceChildren(...items);
    answers.replaceChildren();
    setText(lesson, texts.products_lesson ?? t("products.five"));
  }

  function draw(/** @type {Frame} */ { step, phase, phases, problem }) {
    const begins = step === 0 && phase === phases[0];
    if (begins && !answers.children.length)
      answers.replaceChildren(
        ...purposes(problem).flatMap(([question, answer]) => [
          el("dt", rich(question)),
          el("dd", rich(answer)),
        ]),
      );
    answers.hidden = !begins;
    list.hidden = lesson.hidden = begins;
    const now = AT[phase] ?? phase;
    for (const item of items)
      set(item, {
        class: item.dataset.product === now ? "is-now" : "",
        "aria-current": item.dataset.product === now ? "step" : null,
      });
  }

  return { root, layout, draw };
}
