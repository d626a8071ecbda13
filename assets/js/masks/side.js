// Beside the map: what is left to do, as bars, and the masks of published models to start from.

import { el, set, svg } from "../lib/dom.js";
import { integer } from "../lib/format.js";
import { computed, insight, runs, share } from "../model/mask.js";

const DRAWN = 16; // tokens of a thumbnail
const SLOGAN = "The mask is data: picture, trace, bytes and kernel read the same line.";

/** Scores kept, tiles computed, and those of half the size. */
export class Work {
  constructor() {
    this.bars = el("div", { class: "fa-mask-bars" });
    this.insight = el("p", { class: "fa-mask-insight" });
    this.root = el("section", { class: "fa-mask-work", "aria-labelledby": "fa-mask-left" }, [el("h3", { id: "fa-mask-left", text: "What is left to do" }), this.bars, this.insight]);
  }

  draw(answer) {
    const { br, bc, half, scores, tiles } = answer;
    const sized = (of) => ["tiles", el("span", { class: "fa-mask-long", text: " computed" }), `, ${of.br} × ${of.bc}`];
    const rows = [[["scores kept"], scores.kept, scores.of, "scores"], [sized({ br, bc }), computed(answer), tiles.Tr * tiles.Tc, "tiles"]];
    if (half) rows.push([sized(half), half.computed, half.of, "half"]);
    this.bars.replaceChildren(...rows.map(([name, part, whole, what]) => el("div", { class: "fa-mask-bar", "data-what": what, "data-part": part, "data-whole": whole }, [
      el("span", {}, name), el("span", { class: "fa-mask-count" }, [el("b", { text: integer(part) }), ` of ${integer(whole)} `, el("i", { text: share(part, whole) })]),
      el("div", { class: "fa-mask-track", "aria-hidden": "true" }, [el("i", { style: `width:${(100 * part) / whole}%` })]),
    ])));
    set(this.insight, { text: insight(answer) });
  }
}

/** The kept scores of 16 tokens as one shape. */
function thumbnail(bits) {
  const shape = runs(bits, DRAWN).map(([i, from, to]) => `M${from} ${i}h${to - from}v1h${from - to}z`).join("");
  return svg("svg", { viewBox: `0 0 ${DRAWN} ${DRAWN}`, "aria-hidden": "true", class: "fa-mask-thumb" }, [svg("path", { d: shape })]);
}

export class Presets {
  /** @param act {use(preset)} */
  constructor(act) {
    this.act = act;
    this.list = el("div", { class: "fa-mask-presets-list" });
    this.about = el("p", { id: "fa-mask-about" });
    this.root = el("section", { class: "fa-mask-presets", "aria-labelledby": "fa-mask-start" }, [
      el("header", {}, [el("h3", { id: "fa-mask-start", text: "Start from a model" }), el("span", { text: `kept, drawn at ${DRAWN} tokens` })]), this.list,
    ]);
    this.root.addEventListener("pointerover", ({ target }) => this.tell(target.closest("[data-preset]")?.dataset.preset));
    this.root.addEventListener("focusin", ({ target }) => this.tell(target.closest("[data-preset]")?.dataset.preset));
    this.root.addEventListener("pointerleave", () => this.tell(this.now));
  }

  learn({ presets }) {
    this.known = Object.fromEntries(presets.map((one) => [one.key, one]));
    this.list.replaceChildren(...presets.map((one) => {
      const node = el("button", { type: "button", class: "fa-mask-preset", "data-preset": one.key, "aria-describedby": "fa-mask-about" }, [
        thumbnail(one.bits), el("span", {}, [el("b", { text: one.title }), el("span", { text: one.models })]), el("span", { class: "fa-mask-share", text: share(one.share, 1) }),
      ]);
      node.addEventListener("click", () => this.act.use(one));
      return node;
    }));
  }

  /** Which of them this is, if it is one. */
  draw({ mask, score, sink }) {
    const same = (one) => one.mask === mask && one.score === score && one.sink === (sink === null ? "" : String(sink));
    this.now = Object.values(this.known).find(same)?.key;
    for (const node of this.list.children) set(node, { "aria-pressed": String(node.dataset.preset === this.now) });
    this.tell(this.now);
  }

  tell(key) {
    const one = this.known?.[key ?? this.now];
    set(this.about, { "data-preset": one?.key ?? null });
    this.about.replaceChildren(...(one ? [el("span", { text: `${one.says} ` }), el("cite", { text: one.source })] : [SLOGAN]));
  }
}
