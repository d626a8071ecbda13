// The SRAM card of the backward: two crossings side by side, Q × Kᵀ → P and dO × Vᵀ → dS, dVᵀ under P and dKᵀ under dS, so that keys
// stay in their columns. lse stands right of P, D right of dS. The small kernels and those of standard attention show less of the
// same; a phone and presentation mode one crossing at a time, the one at work.

import { aroundZero, hueOf, range } from "../lib/colors.js";
import { el, set } from "../lib/dom.js";
import { clamp, fixed, number, sub } from "../lib/format.js";
import { sum } from "../lib/lists.js";
import { savesL } from "../model/passes.js";
import { crossings } from "../model/phases_backward.js";
import { sizeOf } from "../model/spans.js";
import { AXES } from "../model/tensors.js";
import { t } from "../model/texts.js";
import { tileOf } from "../model/wording.js";
import layout from "./layout.json" with { type: "json" };
import { placed } from "./rich.js";
import { TilePanel } from "./tile_panel.js";

/** @import { Frame, Known, Numbers, Row, Stage } from "../model/types.js" */
/** @import { CellValues, Columns, Corner } from "./types.js" */

/** What stands at the left, above, in the middle and below of a crossing, and beside it.
 * @typedef {{left?: string, above?: string, cell: string, stat?: string, below?: string}} Slot */
/** What stands where, of each kernel; null: over the tiles. @type {Record<string, Slot[]>} */
const PLACES = layout.crossings;
/** @type {("dV" | "dK")[]} */
const SUMS = ["dV", "dK"];
const RIGHT_FROM = ["dP", "D", "dS", "dQ", "dK"]; // phases of the second crossing, where there is room for one
// Pixels at 1280 × 720
const [HEAD, GAP, LOW_GAP, FOOT, EDGE] = [27, 31, 22, 8, 8];
const SHARES = { above: 62, cell: 126, below: 76 };
const [SIDE, STAT, APART, CELL] = [38, 38, 7, 96];
const ONE_BELOW = 460; // px of the card in which one crossing is shown

export class SramBackward extends TilePanel {
  /** @type {boolean} */
  alone;
  /** @type {number[]} */
  dP;
  /** @type {number[]} */
  dS;
  /** @type {Record<string, number[]>} */
  sums;
  /** @type {Frame} */
  last;
  /** @param {() => void} onZoom */
  constructor(onZoom) {
    super("backward", { lse: "lse", D: "D" }, onZoom);
    for (const name of ["dV", "dK"]) this.frames[name].root.classList.add("is-sum");
    this.counts = true;
    this.note = el("span");
    this.card.note.replaceChildren(this.note);
  }

  /** One scale for all operands, one for each gradient, the same on both sides of 0. @param {Record<string, Numbers>} arrays */
  scale(arrays) {
    const of = (/** @type {string[]} */ ...names) =>
      aroundZero(...names.map((name) => (arrays[name] ?? []).filter((x) => !Number.isNaN(x))));
    this.around = of("Q", "K", "V", "O", "dO");
    this.sums = {
      dQ: of("before_dQ", "acc_dQ", "dQ"),
      dK: of("before_dK", "acc_dK", "dK"),
      dV: of("before_dV", "acc_dV", "dV"),
    };
    this.scores = range(arrays.S ?? []);
    [this.dP, this.dS] = [of("dP"), of("dS")];
    this.heatOf = { lse: of("lse"), D: of("D") };
  }

  /** Between two crossings there is room for five characters, with fewer decimals if need be. @param {Known} x */
  format(x) {
    const text = number(x);
    if (!Number.isFinite(x) || this.alone) return text;
    return [2, 1, 0].map((decimals) => fixed(x, decimals)).find((one) => one.length < 6) ?? text;
  }

  /** What stands where now. @param second is the second crossing at work? @param {Stage} stage */
  arrange(stage, second = false) {
    const { unit: u, big } = this.theme;
    const p = this.trace.problem;
    const [width, height] = [this.body.clientWidth, this.body.clientHeight];
    const alone = big || width < ONE_BELOW;
    Object.assign(this, { stage, second, alone, wide: width });
    const all = PLACES[String(stage)];
    const places = alone && all.length > 1 && stage !== "D" ? [all[second ? 1 : 0]] : all;
    const type = big
      ? Math.max(24, 24 * u)
      : Math.max(12, (alone ? 12 : stage === null ? 12 : 13) * u);
    this.body.classList.toggle("is-two", places.length > 1);
    const sizes = { rows: p.block_q, keys: stage === "dS" ? p.n : p.block_k, dims: p.d, outs: p.d };
    Object.assign(this, { sizes, type });
    const has = (/** @type {keyof Slot} */ place) =>
      places.some((one) => one[place]) && !(big && place !== "below");
    const keyed = AXES[places[0].cell][1] === "keys" && stage !== "dS"; // in presentation mode the names of the keys stand beside the card's own
    const [head, gap, low] = big
      ? [keyed ? 0 : 44 * u, 44 * u, 34 * u]
      : [HEAD * u, GAP * u, LOW_GAP * u];
    const room = height - head - FOOT * u - (has("above") ? gap : 0) - (has("below") ? low : 0);
    const whole =
      SHARES.cell + (has("above") ? SHARES.above : 0) + (has("below") ? SHARES.below : 0);
    const share = (/** @type {"above" | "below"} */ place) =>
      has(place) ? (room * SHARES[place]) / whole : 0;
    const high = { above: share("above"), below: share("below"), cell: 0 };
    high.cell = Math.min(room - high.above - high.below, p.block_q * (big ? 96 : 66) * u);
    const top = head + Math.max(0, room - high.above - high.below - high.cell) / 2;
    const base = top + (has("above") ? high.above + gap : 0);
    const edge = (places.length > 1 && stage === null ? EDGE : 3 * EDGE) * u;
    const label = Math.max((big ? 100 : EDGE) * u, this.nameLength * type * 0.66 + 9);
    this.high = high.cell / p.block_q;
    const wide = this.widths(places, width - label - edge);
    for (const { root } of this.list) root.hidden = true;
    /** @type {Columns} */
    const stats = {};
    let x = label + Math.max(0, (width - label - edge - wide.total) / 2);
    this.left = Math.max(0, x - label);
    const name = x - 6;
    places.forEach((one, k) => {
      const [side, cell, stat] = wide.each[k];
      if (side && one.left) this.lay(one.left, x, base, side, high.cell);
      x += side + (side ? APART * u : 0);
      if (one.above && has("above")) this.lay(one.above, x, top, cell, high.above);
      this.lay(one.cell, x, base, cell, high.cell);
      this.frames[one.cell].root.classList.toggle("is-slim", cell < 130 * u);
      if (one.below) this.lay(one.below, x, base + high.cell + low, cell, high.below);
      if (one.stat) stats[one.stat] = { x: x + cell + (stage === "D" ? 4 * u : 0), width: stat };
      x += cell + stat + (stat ? 0 : APART * u) + APART * u;
    });
    this.rows(p.block_q, name, base, stats);
    if (places.length > 1 && !big) this.lines.style.fontSize = `${Math.max(12, 12.5 * u)}px`;
    this.ghost(high.cell, wide.each[0][0]);
    const { cell } = places[0];
    const [, cols] = this.cellsOf(cell);
    const isNamed = big && AXES[cell][1] === "keys" && this.frames[cell].width >= cols * 58 * u;
    for (const one of places.toReversed()) this.placeKeys(isNamed, this.frames[one.cell]);
  }

  /** px of each place: [side, cell, stat] of each, and of all. @param {Slot[]} places @param {number} width */
  widths(places, width) {
    const { alone } = this;
    const { unit: u, big } = this.theme;
    const most = places.length === 1 && !alone ? 3 * SIDE : alone ? 60 : SIDE;
    const side = places.map(({ left }) =>
      left && !big ? clamp(this.cellsOf(left)[1] * 24, SIDE, most) * u : 0,
    ); // the names of the sums stand below
    const stat = places.map((one) => (one.stat ? (big ? 110 : alone ? 58 : STAT) * u : 0));
    const apart =
      sum(
        places.map((_, k) => (side[k] ? APART : 0) + (k ? (stat[k - 1] ? APART : 2 * APART) : 0)),
      ) * u;
    const left = width - sum([...side, ...stat]) - apart;
    const cell = places.map((one) =>
      Math.floor(Math.min(left / places.length, this.cellsOf(one.cell)[1] * CELL * u)),
    );
    return {
      each: places.map((_, k) => [side[k], cell[k], stat[k]]),
      total: left < 0 ? width : sum([apart, ...cell, ...side, ...stat]),
    };
  }

  /** What is added to dQ has no place of its own on chip: it leaves from dS, in the shape of Q. @param {number} high
   * @param {number} wide px of what stands at the left */
  ghost(high, wide) {
    const { dQ } = this.frames;
    if (!dQ.root.hidden || this.stage !== null) return;
    const from = this.frames.dS.root.hidden ? this.frames.S : this.frames.dS;
    const size = Math.max(48 * this.theme.unit, wide * 1.4);
    this.lay("dQ", from.x - size * 0.2, from.y + high * 0.2, size, high * 0.6);
    dQ.root.hidden = true;
  }

  /** What is added to dQ leaves from its ghost, the rest from the first frame. @param {string} name
   * @param {(node: Element) => DOMRect} where */
  edge(name, where) {
    const { dQ, S } = this.frames;
    if (name === "dQ" && this.stage === null) {
      const body = where(this.body);
      return new DOMRect(body.x + dQ.x, body.y + dQ.y, dQ.width, dQ.height);
    }
    const first = this.list.find(({ root }) => !root.hidden);
    const { x, y, height } = where((first ?? S).root);
    return new DOMRect(x, y, EDGE, height);
  }

  /** @param {string} tensor @param {number} edge @param {number} least @returns {Corner} */
  corner(tensor, edge, least) {
    const frame =
      this.frames[
        ["dO", "V", "dS", "dK", "D"].includes(tensor) && !this.frames.dS.root.hidden ? "dS" : "S"
      ];
    const [K, V] = [this.frames.K, this.frames.V].map((one) => (one.root.hidden ? null : one));
    const above = K ?? V;
    const { x, y } = above ?? frame;
    if (K && V)
      return {
        x: K.x + K.width + 6,
        width: V.x - K.x - K.width - 12,
        y: K.y,
        height: K.height + 2,
      };
    return {
      x: edge,
      width: x - edge - 8,
      y,
      height: above ? Math.max(least, above.height) : 0,
    };
  }

  /** @param {Frame} f */
  isSecond(f) {
    return this.alone && RIGHT_FROM.includes(f.phase);
  }

  /** @param {Row} row @returns {Record<string, Known>} */
  readRow({ lse, D }) {
    return { lse, D };
  }

  /** What each frame holds at this moment. @param {Frame} f */
  contents(f) {
    const { theme } = this;
    const loaded = f.done("load") && f.kind !== "skipped";
    const { contents, hold, entry, sums } = this.holding(f);
    for (const name of ["Q", "dO", "O"]) hold(name, String(f.stage), loaded);
    for (const name of ["K", "V"]) hold(name, String(f.stage), loaded && f.j >= 0);
    const { S, dS } = crossings(f);
    /** @type {(values: CellValues) => CellValues} */
    const gone = (values) => (r, c) => (f.hides(r, c) ? -Infinity : values(r, c));
    if (S === "P") hold("S", "P", true, gone(entry("S", "P")), [0, 1], theme.P, 0);
    else hold("S", `S ${f.done("mask")}`, S, f.score, this.scores);
    if (dS === "dS") hold("dS", "dS", true, gone(entry("dS")), this.dS, theme.dS, 0);
    else {
      const keys = sizeOf(f.cols);
      const dP = entry("dS", "dP");
      hold("dS", "dP", dS, (r, c) => (c < keys ? dP(r, c) : 0), this.dP, theme.dS);
    }
    for (const name of SUMS) {
      const acc = f.grads?.[name];
      const isSum = acc && acc.state !== "zero";
      hold(name, `${f.step} ${acc?.state}`, isSum, sums(name, acc?.data), this.sums[name]);
    }
    const dQ = f.grads?.dQ;
    const data = f.stage === null ? f.grads?.part : dQ?.state === "zero" ? null : dQ?.data;
    hold(
      "dQ",
      `${f.step} ${f.stage} ${dQ?.state}`,
      data && (f.stage !== "scale" || loaded),
      sums("dQ", data),
      this.sums.dQ,
    );
    return contents;
  }

  /** @param {Frame} f */
  captions(f) {
    const block = { i: Math.max(0, f.i), j: f.j };
    const [i, j, ij] = [sub(block.i), f.j < 0 ? "" : sub(f.j), tileOf(block)];
    /** @type {(name: string, strong: string, quiet?: string, inside?: string) => void} */
    const head = (name, strong, quiet = "", inside) => {
      const [rows, cols] = this.shapeOf(name, f);
      const title = t("sram.on_chip", { block: strong, rows, cols });
      this.frames[name].label(strong, quiet, title, inside);
    };
    for (const name of ["Q", "dO", "O"]) head(name, `${name}${i}`);
    for (const name of ["K", "V"]) head(name, `${name}${j}ᵀ`);
    const { S, dS } = crossings(f);
    const by = f.stage ? "" : savesL(f.problem) ? "= exp(S − m)/ℓ" : `= exp(S − lse${i})`;
    head(
      "S",
      S ? `${S}${ij}` : "",
      S === "P" ? by : S ? "= QKᵀ/√d" : "",
      `${f.stage ? "P" : "S"}${ij}`,
    );
    head(
      "dS",
      dS ? `${dS}${ij}` : "",
      dS === "dP" ? "= dO Vᵀ" : dS && (!f.stage || f.stage === "dS") ? "= P ∘ (dP − D)" : "",
      `dP${ij}`,
    );
    const sums = { dV: ["+ PᵀdO", t("sram.done")], dK: ["+ dSᵀQ", "/ √d"] };
    for (const name of SUMS) {
      const state = f.grads?.[name]?.state;
      head(
        name,
        `${name}${j}ᵀ`,
        sums[name][state === "final" ? 1 : 0],
        state === "zero" ? "0" : "",
      );
    }
    head("dQ", `dQ${i}`, f.stage === "scale" ? (f.done("scale") ? "/ √d" : t("sram.fp32")) : "");
    for (const name of ["dV", "dK"])
      this.frames[name].head.classList.toggle("is-now", f.phase === name);
    this.last = f;
    this.remark();
  }

  /** Of a thing that is pointed at what it comes to, in the place of the remark; null: the remark again. The corner between the
   * crossings has no room for it. @param {(Node | string)[] | null} nodes */
  headline(nodes) {
    if (!nodes) return this.remark();
    this.note.replaceChildren(...nodes);
    delete this.note.dataset.text;
  }

  /** Which stays, and which streams past. */
  remark() {
    const f = this.last;
    const j = f.j < 0 ? "" : sub(f.j);
    const keys = f.stage === null && f.j >= 0 && f.kind !== "skipped";
    const text = keys ? `K${j} V${j}` : (f.stage ?? "");
    if (this.note.dataset.text === text) return;
    set(this.note, { "data-text": text });
    const b = (/** @type {string} */ name) =>
      el(`b.fa-ink-${hueOf(name)}`, { text: `${name}${j}`, "data-part": `${name}.${f.j}` });
    if (keys)
      this.note.replaceChildren(
        ...placed(t("sram.keys", { K: "[K]", V: "[V]", dK: "[dK]", dV: "[dV]" }), {
          K: b("K"),
          V: b("V"),
          dK: b("dK"),
          dV: b("dV"),
        }),
      );
    else if (f.stage === "D" || f.stage === "scale") this.note.replaceChildren(t("sram.kernel"));
    else this.note.replaceChildren();
  }
}
