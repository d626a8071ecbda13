// The HBM card: what the algorithm reads and writes as strips of blocks (strips.js) around the ghost of S. Tiles repaint only when
// their state changes, so stepping costs the same at N = 16 and at N = 16,384.

import { aroundZero, cividis, level, range, viridis } from "../lib/colors.js";
import { card, el, set, svg } from "../lib/dom.js";
import { filterTransfers, hidden } from "../model/frame.js";
import { algorithmOf } from "../model/passes.js";
import { keysOfBlock, rowsOfBlock, sizeOf } from "../model/spans.js";
import { t } from "../model/texts.js";
import { makeHeadRow } from "./heads.js";
import { cell, context2d, fit, hatch } from "./matrix.js";
import { Strips } from "./strips.js";
import { atPhase, lookOf, scored, tileState, unmasked, veiled } from "../model/tiles.js";

/** @import { Direction } from "../model/types.js" */
/** @import { Frame, Problem, Span, Trace } from "../model/types.js" */
/** @import { Box, OnHead, Theme } from "./types.js" */
/** @import { Look } from "../model/tiles.js" */

const GAP = 7;

/** What becomes of the N × N matrices, and in which order the backward goes. @param {Trace} trace @param {Frame} f */
function captionOf(trace, /** @type {Theme} */ { big }, f) {
  const { pass } = trace.header;
  const { n } = trace.problem;
  const stored = algorithmOf(trace).stores_scores;
  const isP = f.stage === "output" || (f.stage === "softmax" && (f.i > 0 || f.done("store")));
  if (pass === "forward")
    return t(!stored ? "map.never" : isP ? "map.stored.P" : "map.stored", { n });
  return stored ? t("map.b.stored", { n }) : t(big ? "map.b.keys.big" : "map.b.keys");
}

export class Hbm {
  /** @type {Trace} */
  trace;
  /** @type {Theme} */
  theme;
  /** @type {CanvasRenderingContext2D} */
  g;
  /** @type {string[] | null} */
  states;
  /** @type {CanvasPattern} */
  pattern;
  /** @type {number[]} */
  bounds;
  /** @type {SVGElement} */
  cursor;
  /** @type {SVGElement} */
  tileName;
  /** @type {boolean} */
  isPredicting = false;
  /** @type {boolean} */
  stored;
  /** @type {number} */
  left;
  /** @type {number} */
  top;
  /** @type {number} */
  side;
  /** @type {number} */
  cell;
  /** @type {number} */
  gap;
  /** @type {number} */
  ratio;
  /** @type {number} */
  paintedStep;
  /** @param {OnHead} [onHead] see views/heads.js */
  constructor(onHead) {
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.overlay = svg("svg.fa-map-overlay", { "aria-hidden": "true" });
    this.map = el(
      "div.fa-map",
      {
        "data-spot": "map",
        tabindex: 0,
        role: "application",
        "aria-roledescription": t("map"),
        "aria-label": t("map.keys"),
      },
      [this.canvas, this.overlay],
    );
    this.caption = el("p.fa-caption", { "data-spot": "map" });
    const bus = (/** @type {Direction} */ op) =>
      el(`div.fa-bus.fa-bus-${op}`, {
        "data-part": `visit.${op}`,
        "data-spot": "bus",
        "aria-hidden": "true",
      });
    this.bus = { read: bus("read"), write: bus("write") };
    this.heads = makeHeadRow(onHead);
    this.strips = new Strips();
    this.card = card("hbm", t("HBM"), "", [this.heads.root, this.map, this.caption]);
    this.root = this.card.root;
  }

  /** The name, as in model/links.js, of the tile or block at a place of the window. @param {number} clientX @param {number} clientY */
  partAt(clientX, clientY) {
    if (!this.trace) return null;
    const { problem: p } = this.trace;
    const box = this.map.getBoundingClientRect();
    const x = clientX - box.left - this.left;
    const y = clientY - box.top - this.top;
    const inside = (/** @type {number} */ at) => at >= 0 && at < this.side;
    if (inside(x) && inside(y))
      return `tile.${Math.floor(y / this.cell / p.block_q)}.${Math.floor(x / this.cell / p.block_k)}`;
    return this.strips.at(x, y);
  }

  get marks() {
    return this.strips.marks;
  }

  /** Places everything; `draw` only moves what is bright. @param {Trace} trace @param {Theme} theme */
  layout(trace, theme) {
    this.trace = trace;
    this.stored = algorithmOf(trace).stores_scores;
    this.theme = theme;
    this.heads.layout(trace);
    const { unit: u } = theme;
    this.gap = GAP * u;
    const p = trace.problem;
    const box = this.map.getBoundingClientRect();
    const taken = this.strips.measure(trace, theme, box.height);
    const [before, after, above] = [taken.left, taken.right, taken.above].map(
      (size) => size + this.gap,
    );
    const across = box.width - before - after;
    const side = Math.max(64, Math.floor(Math.min(across, box.height - above - 4)));
    this.cell = side / p.n;
    this.left = Math.floor(before + Math.max(0, across - side) / 2);
    this.top = Math.floor(above + Math.max(0, box.height - above - side - 4) / 2);
    Object.assign(this.canvas.style, { left: `${this.left}px`, top: `${this.top}px` });
    this.ratio = fit(this.canvas, side, side);
    set(this.overlay, {
      width: box.width,
      height: box.height,
      viewBox: `0 0 ${box.width} ${box.height}`,
    });
    this.side = side;
    this.states = null;
    this.map.classList.toggle("is-stored", this.stored);
    const { left, top, cell, gap } = this;
    const frame = svg("rect.fa-ghost", {
      x: left - 3,
      y: top - 3,
      width: side + 5,
      height: side + 5,
      rx: 5,
    });
    this.cursor = svg("rect.fa-cursor", { rx: 4 });
    this.tileName = svg("text.fa-block-name.fa-tile-name");
    const strips = this.strips.layout(trace, theme, { left, top, side, cell, gap });
    this.overlay.replaceChildren(
      frame,
      ...strips,
      ...this.skipWords(p),
      this.cursor,
      this.tileName,
    );
  }

  /** Where a part of the score matrix lies on the map. @param {Record<"rows" | "keys", Span>} area */
  boxOf({ rows, keys }) {
    const { left, top, cell } = this;
    const [width, height] = [sizeOf(keys) * cell, sizeOf(rows) * cell];
    return { x: left + keys.start * cell, y: top + rows.start * cell, width, height };
  }

  /** Where blocks of a tensor lie, within the window: a part of its strip, tiles of S, beside O what a row has one of. @param {string} tensor @param {(number | number[])[]} blocks @param {DOMRect} box */
  home(tensor, blocks, box) {
    const within = (/** @type {Box} */ { x, y, width, height }) =>
      new DOMRect(box.left + x, box.top + y, width, height);
    const strip =
      Array.isArray(blocks[0]) && !tensor.endsWith("′") ? null : this.strips.home(tensor, blocks);
    if (strip) return within(strip);
    const p = this.trace.problem;
    const { left, side, gap } = this;
    const tiles = blocks.filter((block) => Array.isArray(block));
    if (!tiles.length || tensor.endsWith("′")) {
      const { y, height } = /** @type {Box} */ (this.strips.home("O", [[blocks[0]].flat()[0]]));
      return within({ x: left + side + gap + this.strips.thick("O") + 1, y, width: 3, height });
    }
    const [i, j] = tiles[0];
    const last = tiles[tiles.length - 1][1];
    return within(
      this.boxOf({
        rows: rowsOfBlock(p, i),
        keys: { start: keysOfBlock(p, j).start, stop: keysOfBlock(p, last).stop },
      }),
    );
  }

  /** @param {Problem} p */
  skipWords(p) {
    /** @type {SVGElement[]} */
    const words = [];
    const [wide, high] = this.theme.big
      ? [64 * this.theme.unit, 30 * this.theme.unit]
      : [36 * this.theme.unit, 16];
    if (this.stored || this.isPredicting || p.block_k * this.cell < wide) return words;
    for (let i = 0; i < p.Tr; i++)
      for (let j = 0; j < p.Tc; j++) {
        if (this.trace.arrays.tile_kind[i * p.Tc + j] !== 2) continue;
        const [rows, keys] = [rowsOfBlock(p, i), keysOfBlock(p, j)];
        const { x, y, width, height } = this.boxOf({ rows, keys });
        if (width < wide || height < high) continue;
        const middle = { x: x + width / 2, y: y + height / 2 };
        words.push(svg("text.fa-skip-word", { ...middle, text: t("map.skip") }));
      }
    return words;
  }

  /** @param {Frame} f */
  draw(f) {
    this.tiles(f);
    this.strips.draw(f);
    set(this.cursor, {
      ...this.boxOf({ rows: f.rows, keys: f.cols }),
      class: f.kind === "skipped" ? "fa-cursor is-skipped" : "fa-cursor",
    });
    if (this.theme.big) this.nameTile(f);
    set(this.caption, { text: captionOf(this.trace, this.theme, f) });
    this.drawBus(f);
  }

  /** In presentation mode the tile says which of them it is: S and P themselves are never here. */
  nameTile(/** @type {Frame} */ { i, j, rows, cols, kind, problem: { block_q, block_k } }) {
    const room = Math.min(block_q, block_k) * this.cell >= 66 * this.theme.unit;
    const named = room && i >= 0 && j >= 0 && kind !== "skipped" && !this.stored;
    const { x, y, width, height } = this.boxOf({ rows, keys: cols });
    const text = named ? `${i}, ${j}` : "";
    set(this.tileName, { x: x + width / 2, y: y + height / 2, text });
  }

  /** Where the tile of this visit stands in the window. */
  magnified(/** @type {Frame} */ { rows, cols }) {
    const { left, top } = this.map.getBoundingClientRect();
    return {
      x: left + this.left + cols.stop * this.cell,
      top: top + this.top + rows.start * this.cell,
      bottom: top + this.top + rows.stop * this.cell,
    };
  }

  /** From where to where in the window the strip right of the map reaches. */
  beside() {
    return this.home(
      this.trace.header.pass === "forward" ? "O" : "dQ",
      [0],
      this.map.getBoundingClientRect(),
    );
  }

  /** A lane is lit while something crosses. @param {Frame} f */
  drawBus(f) {
    for (const op of /** @type {Direction[]} */ (["read", "write"])) {
      const now = filterTransfers(f.transfers, op).some(({ phase }) => phase === f.phase);
      set(this.bus[op], { class: `fa-bus fa-bus-${op}${now ? " is-now" : ""}` });
    }
  }

  /** @param {Frame} f */
  tiles(f) {
    const p = f.problem;
    const total = p.Tr * p.Tc;
    const fresh = this.states === null;
    const states = (this.states ??= new Array(total).fill(""));
    if (fresh) {
      this.g = /** @type {CanvasRenderingContext2D} */ (context2d(this.canvas));
      this.g.clearRect(0, 0, this.canvas.width, this.canvas.height);
      this.pattern = hatch(this.g, this.theme.hatch, this.ratio);
      this.bounds = range(this.trace.arrays.S ?? []);
      this.paintedStep = 0;
    }
    const paint = (/** @type {number} */ i, /** @type {number} */ j) => {
      const at = i * p.Tc + j;
      const look = tileState(this.trace, f.step, i, j);
      const s = atPhase(this.isPredicting ? veiled(look, this.trace, f.step, i, j) : look, f);
      const key = lookOf(s, f);
      if (states[at] === key) return;
      states[at] = key;
      this.paintTile(i, j, s, f);
    };
    if (fresh || this.isPredicting || this.stored)
      for (let i = 0; i < p.Tr; i++) for (let j = 0; j < p.Tc; j++) paint(i, j);
    else {
      const { v_i, v_j } = this.trace.arrays;
      const from = Math.min(this.paintedStep, f.step);
      const to = Math.max(this.paintedStep, f.step);
      for (let v = from; v <= to; v++) if (v_j[v] >= 0 && v_i[v] >= 0) paint(v_i[v], v_j[v]);
    }
    this.paintedStep = f.step;
  }

  /** @param {number} i @param {number} j @param {Frame} f */
  paintTile(i, j, /** @type {Look} */ { kind, layer, state }, f) {
    const { g, theme, ratio } = this;
    const scale = this.canvas.width / f.problem.n;
    const [rows, cols] = [rowsOfBlock(f.problem, i), keysOfBlock(f.problem, j)];
    const [x0, y0] = [Math.round(cols.start * scale), Math.round(rows.start * scale)];
    const wide = Math.round(cols.stop * scale) - x0;
    const high = Math.round(rows.stop * scale) - y0;
    g.clearRect(x0, y0, wide, high);
    const least = Math.min(wide, high) / ratio;
    const gap = least > 24 ? 2 * ratio : least > 4 ? ratio : 0;
    const [w, h] = [Math.max(1, wide - gap), Math.max(1, high - gap)];
    const round = least > 12 ? 3 * ratio : 0;
    const fill = (/** @type {string | CanvasPattern} */ style) => {
      g.fillStyle = style;
      cell(g, x0, y0, w, h, round);
    };
    if (state === "skipped" || (kind === "skipped" && !this.stored)) return fill(this.pattern);
    const known = state === "done" || (state === "current" && scored(f));
    const wanted = this.stored ? 2 : state === "current" ? 4 : Infinity; // px of a cell that is drawn by itself
    if (f.numbers && scale >= wanted * ratio)
      return this.paintCells(rows, cols, scale, layer, this.stored && known, f, state);
    fill(state === "current" ? theme.paper : known ? theme.done : theme.empty);
  }

  /** Of a tile that is worked on, its cells and what the mask hides, unless that is to be predicted; where S is
   * stored, its numbers. @param {Span} rows @param {Span} cols @param {number} scale @param {Look["layer"]} layer
   * @param {boolean} known @param {Frame} f @param {Look["state"]} state */
  paintCells(rows, cols, scale, layer, known, f, state) {
    const { g, theme } = this;
    const { n } = f.problem;
    const values = this.trace.arrays[layer];
    const [low, high] = layer === "P" ? [0, 1] : layer === "S" ? this.bounds : aroundZero(values);
    const ramp = layer === "S" ? viridis : layer === "P" ? cividis : theme.dS;
    const gap = scale / this.ratio >= 6 ? Math.round(this.ratio) : 0;
    const raw = rows.start === f.rows.start && cols.start === f.cols.start && unmasked(f);
    const isVeiled = this.isPredicting && state === "pending";
    const blank = this.stored ? theme.empty : theme.paper;
    for (let r = rows.start; r < rows.stop; r++)
      for (let c = cols.start; c < cols.stop; c++) {
        const x = Math.round(c * scale);
        const y = Math.round(r * scale);
        const w = Math.round((c + 1) * scale) - x - gap;
        const h = Math.round((r + 1) * scale) - y - gap;
        const masked = !isVeiled && hidden(this.trace.arrays, r * n + c);
        g.fillStyle =
          known && (raw || !masked) ? ramp.css[level(values[r * n + c], low, high)] : blank;
        g.fillRect(x, y, w, h);
        if (masked) {
          g.fillStyle = this.pattern;
          g.fillRect(x, y, w, h);
        }
      }
  }
}
