// Running max m and running sum l of the current rows, key block by key block.

import { card, el, svg } from "../lib/dom.js";
import { number, sub } from "../lib/format.js";
import { history } from "../model/frame.js";

const MOST_LINES = 8;
const PAD = { left: 40, right: 10, top: 8, bottom: 18 };

class Chart {
  constructor(title, key) {
    this.key = key;
    this.title = el("h3", { text: title });
    this.svg = svg("svg", { role: "img", "aria-label": `${title} over key blocks` });
    this.root = el("div", { class: "fa-chart" }, [this.title, this.svg]);
  }

  /** Sizes are read here, once: reading them in draw() would force a layout in every frame. */
  layout() {
    this.width = this.svg.clientWidth || 200;
    this.height = this.svg.clientHeight || 110;
  }

  draw(points, f, focus, domain) {
    const { width, height } = this;
    const x = (j) => PAD.left + ((j + 0.5) / f.problem.Tc) * (width - PAD.left - PAD.right);
    const values = points.flatMap((p) => p.rows.map((r) => r[this.key])).filter(Number.isFinite);
    const [low, high] = domain ?? [Math.min(...values), Math.max(...values)];
    const span = high - low || 1;
    const y = (v) => height - PAD.bottom - ((v - low) / span) * (height - PAD.top - PAD.bottom);
    const parts = [];
    const base = height - PAD.bottom;
    parts.push(svg("line", { class: "fa-axis", x1: PAD.left, x2: width - PAD.right, y1: base, y2: base }));
    for (const v of [low, high])
      if (Number.isFinite(v)) parts.push(svg("text", { class: "fa-tick is-end", x: PAD.left - 5, y: y(v) + 3.5, text: number(v) }));
    if (f.j >= 0) parts.push(svg("line", { class: "fa-now-line", x1: x(f.j), x2: x(f.j), y1: PAD.top - 4, y2: base }));
    const every = Math.ceil((f.problem.Tc * 24) / (width - PAD.left - PAD.right));
    for (let j = 0; j < f.problem.Tc; j += every)
      parts.push(svg("text", { class: `fa-tick${j === f.j ? " is-now" : ""}`, x: x(j), y: height - 4, text: `K${sub(j)}` }));
    const rows = Math.max(0, ...points.map((p) => p.rows.length));
    const stride = Math.ceil(rows / MOST_LINES);
    for (let r = 0; r < rows; r++) {
      const followed = f.rows.start + r === focus;
      if (r % stride && !followed) continue;
      const line = points.map((p) => [x(p.j), y(p.rows[r]?.[this.key])]).filter((p) => Number.isFinite(p[1]));
      if (!line.length) continue;
      const kind = `fa-line fa-line-${Math.floor(r / stride) % MOST_LINES}${followed ? " is-followed" : ""}`;
      parts.push(svg("polyline", { class: kind, points: line.map((p) => p.map((u) => u.toFixed(1)).join()).join(" ") }));
      if (points.length <= 24)
        for (const [cx, cy] of line) parts.push(svg("circle", { class: kind, cx: cx.toFixed(1), cy: cy.toFixed(1), r: followed ? 3.4 : 2.4 }));
    }
    this.svg.replaceChildren(...parts);
  }
}

export class Charts {
  constructor() {
    this.m = new Chart("running max m", "m");
    this.l = new Chart("running sum ℓ", "l");
    this.card = card("charts", "Rows of this block", "", [el("div", { class: "fa-chart-pair" }, [this.m.root, this.l.root])]);
    this.root = this.card.root;
  }

  layout() {
    this.m.layout();
    this.l.layout();
  }

  draw(trace, f, focus) {
    const points = history(trace, f);
    this.card.note.textContent = f.numbers ? `${f.rows.start} to ${f.rows.stop - 1}, key block by key block` : "numbers up to N = 128";
    this.m.draw(points, f, focus);
    this.l.draw(points, f, focus);
  }
}
