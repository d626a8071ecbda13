// What is said of a step, between the two lanes of the bus: symbols bear the colours of what they name, and its name
// (model/links.js).

import { el, set } from "../lib/dom.js";
import { algorithmOf } from "../model/passes.js";
import { describeStep } from "../model/phases.js";
import { t } from "../model/texts.js";
import { powers, rich } from "../views/rich.js";

/** @import { Frame, Row, Trace } from "../model/types.js" */

/** What the page is for, in a line and a half. @param {Trace} trace */
export function purposeOf(trace) {
  const usual =
    trace.header.pass === "forward"
      ? [t("purpose"), t("purpose.more")]
      : [t("purpose.b"), t("purpose.b.more")];
  return (algorithmOf(trace).texts.purpose ?? usual).map(rich);
}

/** A formula with its numbers: exp(x) as a power of e, and a result in the colour of what it is. @param {string} text */
function formula(text) {
  const [, left, result] = /^(.*= )([\d.−∞e]+)$/u.exec(text) ?? ["", text, ""];
  const nodes = powers(left, rich);
  const name = nodes.map((node) => ("className" in node ? node.className : "")).find(Boolean);
  return result ? [...nodes, el("b", { class: name, text: result })] : nodes;
}

/** Make the place of the sentence, the formula and the remark of a step.
 * @param {Record<"read" | "write", HTMLElement>} lanes what the bus shows above and below */
export function makeSentence({ read, write }) {
  const parts = ["words", "formula", "aside"].map((name) => el(`p.fa-${name}`));
  const root = el("section.fa-sentence", { "aria-label": t("sentence") }, [
    read,
    el("div.fa-sentence-parts", parts),
    write,
  ]);

  /** @param {Frame} f @param {Row | undefined} row */
  function draw(f, row) {
    const { words, formula: sum, aside, remarks } = describeStep(f, row);
    const nodes = [
      () => rich(words),
      () => formula(sum),
      () => remarks.flatMap((remark) => [el("span", rich(remark)), " "]),
    ];
    [words, sum, aside].forEach((text, k) => {
      const part = parts[k];
      if (part.dataset.text === text) return;
      set(part, { "data-text": text, hidden: text ? null : "" });
      part.replaceChildren(...nodes[k]());
    });
  }

  return { root, parts, draw };
}
