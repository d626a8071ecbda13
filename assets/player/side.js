// The two small cards: the algorithm with its current line, and the HBM bytes so far.

import { card, el, set } from "./dom.js";
import { bytes } from "./format.js";
import { CODE, lit } from "./phases.js";

const NAMES = { standard: "Standard", fa1: "FA-1", fa2: "FA-2" };

export class Code {
  constructor() {
    this.list = el("ol", { class: "fa-code" });
    this.card = card("code", "Algorithm", "", [this.list]);
    this.root = this.card.root;
  }

  layout(trace) {
    const { order } = trace.problem;
    this.lines = CODE[order];
    this.card.note.textContent = order === "standard" ? "three kernels, nothing fused" : `${NAMES[order]} forward pass`;
    this.list.replaceChildren(
      ...this.lines.map(({ text, note }) => el("li", {}, [el("code", { text }), note && el("span", { text: `# ${note}` })])),
    );
  }

  draw(f) {
    this.lines.forEach((line, k) => {
      const on = lit(line, f);
      set(this.list.children[k], { class: on ? "is-now" : "", "aria-current": on ? "step" : null });
    });
  }
}

export class Traffic {
  constructor() {
    this.body = el("div", { class: "fa-bars" });
    this.sum = el("p", { class: "fa-caption" });
    this.card = card("traffic", "HBM traffic", "requests to global memory", [this.body, this.sum]);
    this.root = this.card.root;
  }

  layout(trace) {
    const { totals } = trace.header;
    this.rows = {};
    const sums = {};
    for (const [order, perTensor] of Object.entries(totals)) {
      if (!perTensor) continue;
      sums[order] = Object.values(perTensor).reduce((a, [r, w]) => [a[0] + r, a[1] + w], [0, 0]);
    }
    const most = Math.max(...Object.values(sums).map(([r, w]) => r + w));
    this.body.replaceChildren();
    for (const [order, [r, w]] of Object.entries(sums)) {
      const read = el("i", { class: "fa-read" });
      const write = el("i", { class: "fa-write" });
      const track = el("span", { class: "fa-track", style: `width:${(((r + w) / most) * 100).toFixed(2)}%` }, [read, write]);
      const current = order === trace.problem.order;
      const label = el("span", { class: "fa-bar-name", text: NAMES[order] });
      const total = el("span", { class: "fa-bar-total", text: bytes(r + w) });
      this.body.append(el("div", { class: `fa-bar fa-order-${order}${current ? " is-now" : ""}` }, [label, el("span", { class: "fa-rail-track" }, [track]), total]));
      this.rows[order] = { read, write, total: r + w };
    }
  }

  draw(f) {
    for (const [order, { read, write, total }] of Object.entries(this.rows)) {
      const mine = order === f.problem.order;
      read.style.width = mine ? `${((f.reads / total) * 100).toFixed(2)}%` : "0";
      write.style.width = mine ? `${((f.writes / total) * 100).toFixed(2)}%` : "0";
    }
    set(this.sum, { text: `so far: ${bytes(f.reads)} read, ${bytes(f.writes)} written` });
  }
}
