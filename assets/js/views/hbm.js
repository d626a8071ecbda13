// The HBM card: Q, K, V, O as strips of blocks around the ghost of S. Tiles repaint only when
// their state changes, so stepping costs the same at N = 16 and at N = 16,384.

import { cividis, level, range, viridis } from "../lib/colors.js";
import { card, el, set, svg } from "../lib/dom.js";
import { blockName, bytes, sub } from "../lib/format.js";
import { hidden } from "../model/frame.js";
import { fit, hatch } from "./matrix.js";
import { atPhase, blockWords, finishedRows, lookOf, mapWords, scored, tileState, tileWords, unmasked, veiled } from "../model/tiles.js";

const GAP = 8;
let STRIP = 22;
let LABEL_FROM = 17; // px of block below which its name is left out

export class Hbm {
  constructor({ onTile }) {
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.overlay = svg("svg", { class: "fa-map-overlay", "aria-hidden": "true" });
    this.map = el("div", { class: "fa-map", "data-spot": "map" }, [this.canvas, this.overlay]);
    this.caption = el("p", { class: "fa-caption" });
    this.reads = el("span", { class: "fa-chip" });
    this.writes = el("span", { class: "fa-chip" });
    this.bus = el("div", { class: "fa-bus", "data-spot": "bus", "aria-hidden": "true" }, [this.reads, this.writes]);
    this.card = card("hbm", "HBM", "large, slow", [this.map, this.caption, this.bus]);
    this.root = this.card.root;
    this.map.addEventListener("click", (event) => this.pick(event, onTile));
    this.map.addEventListener("pointermove", (event) => set(this.map, { title: this.nameAt(event) }));
  }

  pick(event, onTile) {
    if (!this.trace) return;
    const box = this.canvas.getBoundingClientRect();
    const { Tr, Tc, block_q, block_k } = this.trace.problem;
    const i = Math.floor((event.clientY - box.top) / this.cell / block_q);
    const j = Math.floor((event.clientX - box.left) / this.cell / block_k);
    if (i >= 0 && i < Tr && j >= 0 && j < Tc) onTile(i, j);
  }

  /** The block under the pointer: its name, shape, bytes and place. */
  nameAt(event) {
    if (!this.trace) return "";
    const { problem: p } = this.trace;
    const box = this.map.getBoundingClientRect();
    const x = event.clientX - box.left - this.left;
    const y = event.clientY - box.top - this.top;
    const inside = (at) => at >= 0 && at < this.side;
    const i = Math.floor(y / this.cell / p.block_q);
    const j = Math.floor(x / this.cell / p.block_k);
    if (inside(x) && inside(y)) return this.guessing ? "" : tileWords(this.trace, i, j);
    if (inside(x) && y < 0) return blockWords(this.trace, y < -GAP - STRIP ? "K" : "V", j);
    return inside(y) ? blockWords(this.trace, x < 0 ? "Q" : "O", i) : "";
  }

  layout(trace, theme) {
    this.trace = trace;
    this.theme = theme;
    [STRIP, LABEL_FROM] = theme.big ? [44, 36] : [22, 17];
    const p = trace.problem;
    const edge = STRIP + GAP;
    const top = 2 * (STRIP + 3) + GAP - 3;
    const box = this.map.getBoundingClientRect();
    const side = Math.max(96, Math.floor(Math.min(box.width - 2 * edge, box.height - top - 2)));
    this.cell = side / p.n;
    this.left = Math.floor((box.width - side) / 2);
    this.top = top;
    Object.assign(this.canvas.style, { left: `${this.left}px`, top: `${top}px` });
    this.ratio = fit(this.canvas, side, side);
    set(this.overlay, { width: box.width, height: box.height, viewBox: `0 0 ${box.width} ${box.height}` });
    this.side = side;
    this.states = null;
    this.strips(p, box);
    const stored = p.order === "standard" ? "S and P are written out in full" : "the dashed score matrix is never stored";
    this.card.note.textContent = `large, slow · ${stored}`;
    this.map.classList.toggle("is-stored", p.order === "standard");
  }

  /** Static rectangles and names; `draw` only moves the bright ones. */
  strips(p, box) {
    const { left, top, side, cell } = this;
    const across = { k: top - GAP - 2 * STRIP - 3, v: top - GAP - STRIP };
    const frame = svg("rect", { class: "fa-ghost", x: left - 2, y: top - 2, width: side + 4, height: side + 4, rx: 4 });
    this.marks = {};
    const parts = [frame];
    const strip = (name, vertical, at, count, size) => {
      const place = (start, stop) => {
        const a = start * size * cell;
        const b = Math.min(side, stop * size * cell) - 1.5;
        return vertical
          ? { x: at, y: top + a, width: STRIP, height: Math.max(0.5, b - a) }
          : { x: left + a, y: at, width: Math.max(0.5, b - a), height: STRIP };
      };
      const wide = size * cell >= 3;
      const blocks = Array.from({ length: wide ? count : 1 }, (_, k) =>
        svg("rect", { class: `fa-block fa-fill-${name.toLowerCase()}`, rx: 2, ...(wide ? place(k, k + 1) : place(0, count)) }));
      const bright = svg("rect", { class: `fa-block is-now fa-fill-${name.toLowerCase()}`, rx: 2 });
      const done = svg("rect", { class: `fa-block is-done fa-fill-${name.toLowerCase()}`, rx: 2 });
      const labels = [];
      if (size * cell >= LABEL_FROM)
        for (let k = 0; k < count; k++) {
          const b = place(k, k + 1);
          const text = `${name}${sub(k)}`;
          labels.push(svg("text", { class: "fa-block-name", x: b.x + b.width / 2, y: b.y + b.height / 2, text }));
        }
      parts.push(...blocks, done, bright, ...labels);
      this.marks[name] = { place, bright, done, blocks, labels, count };
    };
    strip("K", false, across.k, p.Tc, p.block_k);
    strip("V", false, across.v, p.Tc, p.block_k);
    strip("Q", true, left - GAP - STRIP, p.Tr, p.block_q);
    strip("O", true, left + side + GAP, p.Tr, p.block_q);
    this.cursor = svg("rect", { class: "fa-cursor", rx: 3 });
    parts.push(this.cursor, ...this.skipWords(p));
    this.overlay.replaceChildren(...parts);
  }

  skipWords(p) {
    const words = [];
    const [wide, high] = this.theme.big ? [64, 30] : [30, 14];
    if (p.order === "standard" || this.guessing || p.block_k * this.cell < wide) return words;
    for (let i = 0; i < p.Tr; i++)
      for (let j = 0; j < p.Tc; j++) {
        if (this.trace.arrays.tile_kind[i * p.Tc + j] !== 2) continue;
        const width = Math.min(p.n - j * p.block_k, p.block_k) * this.cell;
        const height = Math.min(p.n - i * p.block_q, p.block_q) * this.cell;
        if (width < wide || height < high) continue;
        const x = this.left + j * p.block_k * this.cell + width / 2;
        const y = this.top + i * p.block_q * this.cell + height / 2;
        words.push(svg("text", { class: "fa-skip-word", x, y, text: "skip" }));
      }
    return words;
  }

  draw(f) {
    this.tiles(f);
    const mark = (name, now, done) => {
      const { place, bright, done: rect, labels } = this.marks[name];
      set(bright, now === null ? { width: 0, height: 0 } : place(now, now + 1));
      set(rect, done ? place(0, done) : { width: 0, height: 0 });
      labels.forEach((label, k) => label.classList.toggle("is-now", k === now || (name === "O" && k < done)));
    };
    const computing = f.kind !== "skipped";
    const single = f.j >= 0 ? f.j : null;
    mark("Q", computing && f.stage !== "softmax" && f.stage !== "output" ? f.i : null, 0);
    mark("K", computing && f.stage !== "softmax" && f.stage !== "output" ? single : null, 0);
    mark("V", computing && f.stage !== "scores" ? single : null, f.stage === "output" ? this.marks.V.count : 0);
    mark("O", f.done("store") && f.stage !== "scores" && f.stage !== "softmax" ? f.i : null, finishedRows(this.trace, f));
    const { problem: p } = f;
    set(this.cursor, {
      x: this.left + f.cols.start * this.cell,
      y: this.top + f.rows.start * this.cell,
      width: (f.cols.stop - f.cols.start) * this.cell,
      height: (f.rows.stop - f.rows.start) * this.cell,
      class: f.kind === "skipped" ? "fa-cursor is-skipped" : "fa-cursor",
    });
    set(this.caption, { text: mapWords(this.trace, f, this.guessing) });
    this.drawBus(f);
  }

  /** What this visit moves, reads and writes apart, each block in its tensor's colour. */
  drawBus(f) {
    for (const [op, chip, arrow] of [["read", this.reads, "→ SRAM"], ["write", this.writes, "HBM ←"]]) {
      const list = f.transfers.filter((t) => t.op === op);
      chip.hidden = !list.length;
      if (!list.length) continue;
      const names = list.slice(0, 7).map((t) => el("b", { class: `fa-ink-${t.tensor.toLowerCase()}`, text: blockName(t) }));
      const total = list.reduce((sum, t) => sum + t.bytes, 0);
      const more = list.length > 7 ? " …" : "";
      const ends = [el("span", { text: arrow }), ...names, el("span", { text: `${more} ${bytes(total)}` })];
      chip.replaceChildren(...ends);
      const now = list.some((t) => t.phase === f.phase);
      set(chip, { class: `fa-chip${now ? " is-now" : ""}${list[0].moved ? "" : " is-pending"}` });
    }
  }

  tiles(f) {
    const p = f.problem;
    const total = p.Tr * p.Tc;
    const fresh = this.states === null;
    if (fresh) {
      this.states = new Array(total).fill("");
      this.g = this.canvas.getContext("2d");
      this.g.clearRect(0, 0, this.canvas.width, this.canvas.height);
      this.pattern = hatch(this.g, this.theme.hatch, this.ratio);
      this.bounds = range(this.trace.arrays.S ?? []);
      this.shown = 0;
    }
    const paint = (i, j) => {
      const at = i * p.Tc + j;
      const look = tileState(this.trace, f.step, i, j);
      const s = atPhase(this.guessing ? veiled(look, this.trace, f.step, i, j) : look, f);
      const key = lookOf(s, f);
      if (this.states[at] === key) return;
      this.states[at] = key;
      this.paintTile(i, j, s, f);
    };
    if (fresh || this.guessing || p.order === "standard")
      for (let i = 0; i < p.Tr; i++) for (let j = 0; j < p.Tc; j++) paint(i, j);
    else {
      const { v_i, v_j } = this.trace.arrays;
      const from = Math.min(this.shown, f.step);
      const to = Math.max(this.shown, f.step);
      for (let v = from; v <= to; v++) paint(v_i[v], v_j[v]);
    }
    this.shown = f.step;
  }

  paintTile(i, j, { kind, layer, state }, f) {
    const { g, theme } = this;
    const { n, block_q, block_k } = f.problem;
    const scale = this.canvas.width / n;
    const r0 = i * block_q;
    const c0 = j * block_k;
    const r1 = Math.min(n, r0 + block_q);
    const c1 = Math.min(n, c0 + block_k);
    const x0 = Math.round(c0 * scale);
    const y0 = Math.round(r0 * scale);
    const x1 = Math.round(c1 * scale);
    const y1 = Math.round(r1 * scale);
    g.clearRect(x0, y0, x1 - x0, y1 - y0);
    if (state === "skipped" || kind === "skipped" && f.problem.order !== "standard") {
      g.fillStyle = this.pattern;
      g.fillRect(x0, y0, x1 - x0 - 1, y1 - y0 - 1);
      return;
    }
    const cells = f.numbers && scale >= 2 * this.ratio;
    const known = state === "done" || (state === "current" && scored(f));
    g.globalAlpha = state === "done" ? 0.5 : 1;
    if (!cells) {
      g.fillStyle = known ? viridis.css[state === "current" ? 150 : 90] : theme.empty;
      g.fillRect(x0, y0, Math.max(1, x1 - x0 - (scale * block_k > 3 ? 1 : 0)), Math.max(1, y1 - y0 - (scale * block_q > 3 ? 1 : 0)));
    } else this.paintCells(r0, r1, c0, c1, scale, layer, known, f, this.guessing && state === "pending");
    g.globalAlpha = 1;
  }

  paintCells(r0, r1, c0, c1, scale, layer, known, f, veil) {
    const { g, theme } = this;
    const { n } = f.problem;
    const values = this.trace.arrays[layer];
    const [low, high] = layer === "P" ? [0, 1] : this.bounds;
    const ramp = layer === "P" ? cividis : viridis;
    const gap = scale / this.ratio >= 6 ? Math.round(this.ratio) : 0;
    const raw = r0 === f.rows.start && c0 === f.cols.start && unmasked(f);
    for (let r = r0; r < r1; r++)
      for (let c = c0; c < c1; c++) {
        const x = Math.round(c * scale);
        const y = Math.round(r * scale);
        const w = Math.round((c + 1) * scale) - x - gap;
        const h = Math.round((r + 1) * scale) - y - gap;
        const masked = !veil && hidden(this.trace.arrays, r * n + c);
        g.fillStyle = known && (raw || !masked) ? ramp.css[level(values[r * n + c], low, high)] : theme.empty;
        g.fillRect(x, y, w, h);
        if (masked) {
          g.fillStyle = this.pattern;
          g.fillRect(x, y, w, h);
        }
      }
  }
}
