// The SRAM card: the one tile being worked on, its operands, its scores and its row statistics.

import { Budget } from "./budget.js";
import { range } from "../lib/colors.js";
import { card, el, set } from "../lib/dom.js";
import { bytes, sub } from "../lib/format.js";
import { weight } from "../model/frame.js";
import { Matrix } from "./matrix.js";
import { RowTable } from "./rows.js";

const figure = (matrix, heading, name) => el("figure", { "data-spot": name }, [heading, matrix.root]);
const heading = (name) => el("figcaption", { class: `fa-ink-${name}` });

export class Sram {
  constructor({ onPhase, onRow, onCard, onZoom }) {
    this.matrices = Object.fromEntries(["Q", "K", "S", "P", "V", "O"].map((k) => [k, new Matrix(k)]));
    this.heads = Object.fromEntries(["Q", "K", "S", "P", "V", "O"].map((k) => [k, heading(k.toLowerCase())]));
    this.rail = el("div", { class: "fa-rail", role: "group", "aria-label": "Phases of this visit" });
    this.rail.addEventListener("click", (event) => {
      const phase = event.target.closest("button")?.dataset.go;
      if (phase) onPhase(phase);
    });
    this.boxes = Object.fromEntries(Object.keys(this.heads).map((k) => [k, figure(this.matrices[k], this.heads[k], k)]));
    const { Q, K, S, P, V, O } = this.boxes;
    this.ops = ["·", "→", "→"].map((text) => el("span", { class: "fa-op", text, "aria-hidden": "true" }));
    const [times, gives, then] = this.ops;
    this.products = el("div", { class: "fa-products" }, [Q, times, K, gives, S, then, P]);
    this.table = new RowTable(onRow);
    this.formula = el("span", { class: "fa-formula", "aria-hidden": "true" });
    this.outputs = el("div", { class: "fa-outputs" }, [V, this.formula, O]);
    this.words = el("span");
    const zoom = el("button", { type: "button", class: "fa-link is-main", text: "Show the numbers of this tile" });
    zoom.addEventListener("click", onZoom);
    this.empty = el("div", { class: "fa-empty" }, [this.words, zoom]);
    this.body = el("div", { class: "fa-sram-body" }, [this.products, this.table.root, this.outputs]);
    this.budget = new Budget(onCard);
    this.card = card("sram", "SRAM", "of one thread block", [this.body, this.empty, this.budget.warning]);
    this.card.head.append(this.budget.root, this.rail);
    this.root = this.card.root;
  }

  /** Sizes follow the Problem and the room, never the step: stepping moves nothing around. */
  layout(trace, theme) {
    this.trace = trace;
    this.theme = theme;
    const p = trace.problem;
    const { numbers } = trace.header;
    this.body.hidden = !numbers;
    this.empty.hidden = numbers;
    this.budget.layout(trace);
    this.rail.replaceChildren(
      ...trace.header.phases.map((name) => el("button", { type: "button", "data-go": name, "data-term": name, text: name, tabindex: -1 })),
    );
    if (!numbers) {
      this.words.textContent = `N = ${p.n.toLocaleString("en-US")}, d = ${p.d} has too many numbers to send at once: shown are the tiles, their order and their bytes. Click a tile of the map, or`;
      this.table.layout(p, trace.header.row_names);
      return;
    }
    this.ranges = Object.fromEntries(["Q", "K", "V", "O"].map((k) => [k, range(trace.arrays[k])]));
    this.ranges.S = range(trace.arrays.S);
    this.accRange = trace.arrays.acc?.length ? range(trace.arrays.acc) : this.ranges.O;
    this.table.layout(p, trace.header.row_names);
    this.arrange(null);
  }

  /** The numbers of one visit came: their ranges, and room for them. */
  zoomed(f) {
    const of = (name) => (f.zoom[name] ? range(f.zoom[name]) : [0, 1]);
    this.ranges = Object.fromEntries(["Q", "K", "V", "S", "O"].map((name) => [name, of(name)]));
    this.accRange = f.zoom.acc ? range(f.zoom.acc) : this.ranges.O;
    this.body.hidden = false;
    this.empty.hidden = true;
    this.arrange(f.stage);
  }

  /** Standard attention's three kernels hold different things on chip: each has its arrangement. */
  arrange(stage) {
    this.stage = stage;
    const p = this.trace.problem;
    const strip = stage === "softmax" || stage === "output";
    const rows = p.block_q;
    const cols = strip ? p.n : p.block_k;
    const shown = { scores: "QKS", softmax: "SP", output: "PVO" }[stage] ?? "QKSPVO";
    for (const [name, box] of Object.entries(this.boxes)) box.style.visibility = shown.includes(name) ? "" : "hidden";
    for (const name of ["Q", "K"]) this.boxes[name].hidden = strip;
    this.ops.forEach((node, k) => (node.hidden = strip && k < 2));
    const width = this.body.clientWidth;
    const room = this.body.clientHeight;
    const narrow = width < 480 && getComputedStyle(this.products).flexWrap === "wrap"; // a phone
    const high = Math.max(64, Math.min(rows * 44, narrow ? 110 : room * 0.26));
    const big = this.theme.big;
    const usable = width - (narrow ? 96 : 110);
    const wide = strip ? 0.52 : narrow ? 0.6 : big ? 0.365 : 0.33;
    const share = (part, cells, cap) => Math.max(12, Math.min(usable * part, cells * cap * (big ? 1.5 : 1)));
    const lay = (name, r, c, w, h) => this.matrices[name].layout(r, c, w, h, big);
    lay("Q", rows, p.d, share(big ? 0.12 : 0.19, p.d, 22), high);
    lay("K", p.d, cols, share(big ? 0.1 : 0.15, cols, 26), high);
    lay("S", rows, cols, share(wide, cols, 56), high);
    lay("P", rows, cols, share(wide, cols, 56), high);
    const low = Math.max(48, Math.min(rows * 32, narrow ? 90 : room * 0.19));
    lay("V", cols, p.d, share(0.25, p.d, 26), low);
    lay("O", rows, p.d, share(0.36, p.d, 38), low);
  }

  draw(f, focus) {
    this.drawRail(f);
    if (!this.trace.header.numbers && this.body.hidden === f.numbers) {
      this.body.hidden = !f.numbers;
      this.empty.hidden = f.numbers;
    }
    if (!f.numbers) return;
    if (f.stage !== this.stage) this.arrange(f.stage);
    const p = f.problem;
    const { arrays } = this.trace;
    const theme = this.theme;
    const skip = f.kind === "skipped";
    const used = [f.rows.stop - f.rows.start, f.cols.stop - f.cols.start];
    const matrix = (name, values, [low, high], use, masked) =>
      this.matrices[name].draw({ values, low, high, ramp: theme[name], theme, used: use, masked });
    const flat = (data, width, start) => (r, c) => data[(start + r) * width + c];
    const scoring = !skip && f.stage !== "softmax" && f.stage !== "output";
    const loaded = f.done("load");
    const blank = () => undefined;
    const { Q, K, V, P } = f.zoom ?? arrays;
    const [row0, col0, across] = f.zoom ? [0, 0, used[1]] : [f.rows.start, f.cols.start, p.n];
    matrix("Q", scoring && (loaded || f.problem.order === "fa2") ? flat(Q, p.d, row0) : blank, this.ranges.Q, [used[0], p.d]);
    matrix("K", scoring && loaded ? (r, c) => K[(col0 + c) * p.d + r] : blank, this.ranges.K, [p.d, used[1]]);
    const scored = f.done("scores") || (f.stage === "softmax" && loaded);
    const at = (data) => (r, c) => data?.[(row0 + r) * across + col0 + c];
    const lanes = [used[0], f.j < 0 ? used[1] : p.block_k]; // a ragged edge has lanes without a key
    matrix("S", scored && !skip ? f.score : blank, this.ranges.S, lanes);
    const weighted = f.done("exp") || (f.stage === "output" && loaded);
    const unsummed = f.stage === "softmax" && !f.done("store"); // P itself is made when it is stored
    const weights = unsummed ? (r, c) => weight(f.score(r, c), f.stats[r]?.m_new) : at(P);
    matrix("P", weighted && !skip ? (r, c) => (f.hides(r, c) ? -Infinity : weights(r, c)) : blank, [0, 1], lanes, 0);
    const valued = !skip && loaded && f.stage !== "scores" && f.stage !== "softmax";
    matrix("V", valued ? flat(V, p.d, col0) : blank, this.ranges.V, [used[1], p.d]);
    const { acc } = f;
    const final = acc?.state === "final" || p.order !== "fa2";
    matrix("O", acc ? flat(acc.data, p.d, 0) : blank, final ? this.ranges.O : this.accRange, [used[0], p.d]);
    this.captions(f, acc);
    this.table.draw(f, focus);
  }

  /** What hovering a block says: its shape, its bytes, and where it is. */
  place(name, block, f) {
    const rows = f.rows.stop - f.rows.start;
    const cols = f.cols.stop - f.cols.start;
    const [r, c] = { Q: [rows, f.problem.d], K: [f.problem.d, cols], V: [cols, f.problem.d], O: [rows, f.problem.d] }[name] ?? [rows, cols];
    const size = "QKV".includes(name) ? this.trace.header.itemsize[name] : 4;
    const where = "QKV".includes(name) ? "shared memory (SRAM)" : "registers";
    return `${block}: ${r} × ${c}, ${bytes(r * c * size)}, in ${where}`;
  }

  drawRail(f) {
    for (const button of this.rail.children) {
      const name = button.dataset.go;
      const here = f.phases.includes(name);
      set(button, {
        class: name === f.phase ? "is-now" : f.done(name) ? "is-done" : "",
        "aria-current": name === f.phase ? "step" : null,
        disabled: here ? null : "",
      });
    }
  }

  captions(f, acc) {
    const p = f.problem;
    const i = sub(f.i);
    const j = f.j < 0 ? "" : sub(f.j);
    const ij = f.i > 9 || f.j > 9 ? `${i},${j}` : `${i}${j}`;
    const say = (name, strong, quiet) => {
      const text = `${strong}|${quiet}`;
      if (this.heads[name].dataset.text === text) return;
      this.heads[name].dataset.text = text;
      this.heads[name].replaceChildren(el("b", { text: strong }), el("span", { text: ` ${quiet}` }));
      this.boxes[name].title = this.place(name, strong, f);
    };
    say("Q", `Q${i}`, `${f.rows.stop - f.rows.start} × ${p.d}`);
    say("K", `K${j}ᵀ`, `${p.d} × ${f.cols.stop - f.cols.start}`);
    say("S", `S${ij}`, "= QKᵀ/√d");
    const divided = f.stage === "output" || f.done("store");
    if (f.stage === "softmax" && !divided) say("P", "weights", "= exp(S − m)");
    else say("P", `P${ij}`, p.order === "standard" ? "= exp(S − m)/ℓ" : "= exp(S − m)");
    say("V", `V${j}`, `${f.cols.stop - f.cols.start} × ${p.d}`);
    const states = {
      zero: "accumulator, starts at 0",
      before: "accumulator, before this tile",
      after: p.order === "fa2" ? "accumulator, not yet divided by ℓ" : "normalised, goes back to HBM",
      final: "= accumulator / ℓ, written to HBM",
    };
    say("O", `O${i}`, p.order === "standard" ? "= P V" : acc ? states[acc.state] : "");
    const product = f.stage === "output" ? `O${i} = P${i}V` : "";
    const formulas = { fa2: `O${i} ← α·O${i} + P${ij}V${j}`, fa1: `O${i} ← (ℓα·O${i} + P${ij}V${j}) / ℓ′`, standard: product };
    set(this.formula, { text: formulas[p.order], class: `fa-formula${f.phase === "output" ? " is-now" : ""}` });
  }
}

