// The SRAM card of either pass: frames of matrices, a line per row with its number and its statistics, and what stands there of a
// Problem that came without numbers. What is where, and what is in it, belongs to sram.js and sram_backward.js: `arrange` lays out
// what a kernel has on chip, `contents` and `captions` say what the frames hold, `readRow` what a row carries, `scale` takes ranges.

import { hueOf } from "../lib/colors.js";
import { button, card, el, set } from "../lib/dom.js";
import { number, sub } from "../lib/format.js";
import { recordOf, times } from "../lib/lists.js";
import { sizeOf } from "../model/spans.js";
import { AXES, tensorOf } from "../model/tensors.js";
import { t } from "../model/texts.js";
import { makeBudget } from "./budget.js";
import { MatrixFrame, put } from "./frame.js";
import layout from "./layout.json" with { type: "json" };
import { makeMatrix } from "./matrix.js";

/** @import { RowLine } from "./types.js" */
/** @import { Frame, Known, Numbers, Pass, Row, Stage, Trace } from "../model/types.js" */
/** @import { Axis } from "../model/tensors.js" */
/** @import { CellValues, Columns, Drawing, LinksAt, Ramp, Theme, TileOfPass } from "./types.js" */

/** @param {Theme} theme */
const rampsOf = (theme) => /** @type {Record<string, Ramp>} */ (/** @type {unknown} */ (theme));

/** In which columns a number per row may stand. @type {Record<string, string[]>} */
const COLUMNS = { m: ["m", "lse"], l: ["l", "lse"], lse: ["lse", "l"], D: ["D"] };
const DENSE = 18; // px of a row below which its statistics are colours

export class TilePanel {
  /** @type {Trace} */
  trace;
  /** @type {Theme} */
  theme;
  /** @type {Stage} */
  stage;
  /** @type {boolean} */
  second;
  /** From the least to the largest score of the trace. @type {number[]} */
  scores;
  /** @type {RowLine[]} */
  line;
  /** @type {Columns} none before numbers have come */
  columnsNow = {};
  /** @type {Record<string, number[]>} */
  heatOf;
  /** @type {number[]} */
  around;
  /** @type {number} */
  high;
  /** @type {number} */
  base;
  /** @type {number} */
  wide;
  /** @type {number} */
  used;
  /** @type {number} */
  first;
  /** @type {number} */
  every;
  /** @type {boolean} */
  dense;
  /** @type {number} */
  left;
  /** How many there are on each axis. @type {Record<Axis, number>} */
  sizes;
  /** px of the digits. @type {number} */
  type;
  /** @param {Pass} pass @param {Record<string, string>} stats what a row carries, as it is written
   * @param {() => void} onZoom */
  constructor(pass, stats, onZoom) {
    const tensors = layout.frames[pass];
    const turned = layout.turned[pass]; // those that lie on their side, so that keys run across
    /** Of each tensor its axes, down and across. */
    this.sides = recordOf(tensors, (name) =>
      turned.includes(name) ? AXES[name].toReversed() : AXES[name],
    );
    this.frames = recordOf(tensors, (name) => new MatrixFrame(name));
    this.list = Object.values(this.frames);
    this.columns = Object.keys(stats);
    this.heat = recordOf(this.columns, (key) => makeMatrix(key));
    this.heads = recordOf(this.columns, (key) =>
      el(`b.fa-stat-head.fa-ink-${key.toLowerCase()}`, {
        text: stats[key],
        "data-term": key,
        "data-part": key,
        "data-spot": key,
      }),
    );
    this.band = el("i.fa-row-band");
    this.lines = el("div.fa-sram-rows", { "aria-hidden": "true" });
    this.keys = el("div.fa-key-names", { "aria-hidden": "true" });
    this.words = el("span");
    const zoom = button(t("zoom"), onZoom, { class: "fa-link is-main" });
    this.empty = el("div.fa-empty", [this.words, zoom]);
    this.body = el("div.fa-tile", [
      this.band,
      this.lines,
      this.keys,
      ...this.list.map(({ root }) => root),
      el(
        "div.fa-stat-heat",
        Object.values(this.heat).map(({ root }) => root),
      ),
      ...Object.values(this.heads),
    ]);
    this.card = card("sram", t("SRAM"), "", [this.body, this.empty]);
    this.root = this.card.root;
    this.budget = makeBudget();
    this.root.append(this.budget.root);
  }

  /** Characters of the longest name of a row. */
  get nameLength() {
    const { row_names, problem: p } = this.trace.header;
    return Math.max(...(row_names ?? [p.n - 1]).map((name) => String(name).length));
  }

  /** Shows the numbers, or what stands there without them. @param {boolean} isVisible */
  reveal(isVisible) {
    this.body.hidden = !isVisible;
    this.empty.hidden = isVisible;
  }

  /** The column of a number per row: FA-1 keeps m and ℓ apart, where others have lse. @param {string} name */
  columnOf(name) {
    return COLUMNS[name]?.find((key) => this.columnsNow[key]);
  }

  /** Where a tensor lies, within the window: its frame, its column, or where it leaves from. @param {string} tensor
   * @this {TileOfPass} @param {(node: Element) => DOMRect} where where a node is */
  seat(tensor, where) {
    const name = tensorOf(tensor);
    const frame = this.frames[name];
    if (frame && !frame.root.hidden) return where(frame.root);
    const column = this.columnOf(name);
    if (!column) return this.edge(name, where);
    const { x, width } = this.columnsNow[column];
    const body = where(this.body);
    const high = this.high * this.line.length;
    return new DOMRect(body.x + x + width / 2 - 3, body.y + this.base, 6, high);
  }

  /** The row of the matrix at a height of the window. @param {number} clientY */
  rowAt(clientY) {
    const k = Math.floor((clientY - this.body.getBoundingClientRect().top - this.base) / this.high);
    return k >= 0 && k < this.used ? this.first + k : null;
  }

  /** Does this frame show its tensor on its side, keys across? @param {string} tensor */
  isTurned(tensor) {
    return this.sides[tensor][0] !== AXES[tensor][0];
  }

  /** The name of the cell of a frame at a place of the window, or of the frame's block beside its cells. `cellAt`: see
   * model/links.js. @param {string} tensor @param {number} clientX @param {number} clientY @param {LinksAt["cellAt"]} cellAt */
  partAt(tensor, clientX, clientY, cellAt) {
    const { root, matrix } = this.frames[tensor];
    const box = root.getBoundingClientRect();
    const down = Math.floor(((clientY - box.top) / box.height) * matrix.rows);
    const across = Math.floor(((clientX - box.left) / box.width) * matrix.cols);
    if (down < 0 || across < 0)
      return `${AXES[tensor][1] === "keys" ? "tile" : tensor}.${root.dataset.block?.replace(" ", ".")}`;
    return this.isTurned(tensor) ? cellAt(tensor, across, down) : cellAt(tensor, down, across);
  }

  /** The numbers of the rows that come with a tensor. @param {string} tensor */
  numbersOf(tensor) {
    const column = this.columnOf(tensor);
    return column ? this.line.map((line) => line[column]) : [];
  }

  /** Where the tile stands in the window, from the names of its rows on. */
  magnified() {
    const { left, top } = this.body.getBoundingClientRect();
    return {
      x: left + this.left,
      top: top + this.base,
      bottom: top + this.base + this.high * this.line.length,
    };
  }

  /** In presentation mode the names of the keys stand over their columns. @param {Frame} f */
  nameKeys({ cols: { start, stop } }) {
    if (this.keys.dataset.from === `${start} ${stop}`) return;
    this.keys.dataset.from = `${start} ${stop}`;
    const count = Math.min(stop - start, this.trace.problem.block_k);
    this.keys.replaceChildren(...times(count, (c) => el("b.fa-ink-k", `k${sub(start + c)}`)));
  }

  /** Rows and columns of what a frame shows. @param {string} name @param {Frame} f */
  shapeOf(name, { rows, cols, columns, lanes, problem: { block_q, d } }) {
    const sizes = {
      rows: Math.min(block_q, sizeOf(rows)),
      keys: columns === "lanes" ? lanes : sizeOf(cols),
      dims: d,
      outs: d,
    };
    return this.sides[name].map((axis) => sizes[axis]);
  }

  /** What the frames hold: `hold` adds one, by its tensor; `entry` reads a matrix of the trace by the cells of a frame, `sums` one
   * that lies on chip. @param {Frame} f */
  holding(f) {
    const theme = this.theme;
    const { i, j, problem: p } = f;
    /** @param {string} name @param {string} [tensor] @returns {CellValues} */
    const entry = (name, tensor = name) => {
      const starts = { rows: f.rows.start, keys: f.cols.start, dims: 0, outs: 0 };
      const [down, across] = this.sides[name].map((axis) => starts[axis]);
      const matrix = /** @type {Record<string, any>} */ (f.entries)[tensor];
      return this.isTurned(name)
        ? (r, c) => matrix(across + c, down + r)
        : (r, c) => matrix(down + r, across + c);
    };
    /** @param {string} name @param {Numbers | null | undefined} data @returns {CellValues} */
    const sums = (name, data) =>
      this.isTurned(name) ? (r, c) => data?.[c * p.d + r] : (r, c) => data?.[r * p.d + c];
    /** @type {Record<string, Required<Drawing>>} */
    const contents = {};
    /** @param {string} name @param {string} now what sets it apart @param {unknown} isFilled @param {CellValues} [values]
     * @param {number[]} [ends] of its scale @param {Ramp} [ramp] @param {number} [masked] what a hidden cell is written as */
    const hold = (
      name,
      now,
      isFilled,
      values = entry(name),
      [low, high] = this.around,
      ramp = rampsOf(theme)[name],
      masked = -Infinity,
    ) => {
      const filled = Boolean(isFilled);
      const [down, across] = this.sides[name];
      const used = this.shapeOf(name, f);
      if (down === "rows" && across === "keys" && j >= 0) used[1] = p.block_k; // a ragged edge has lanes without a key
      const block =
        down !== "rows" && across !== "rows" ? j : across !== "keys" || j < 0 ? i : `${i} ${j}`;
      contents[name] = {
        now: `${now} ${filled} ${block}${f.zoom ? ` ${f.step}` : ""}`,
        filled,
        block,
        values: filled ? values : () => undefined,
        low,
        high,
        ramp,
        theme,
        used,
        masked,
      };
    };
    return { contents, hold, entry, sums };
  }

  /** @this {TileOfPass} @param {Frame} f @param {number | undefined} focus */
  draw(f, focus) {
    this.reveal(f.numbers); // a Problem without numbers has them once those of its visit have come
    if (!f.numbers) return;
    const isSecond = this.isSecond(f);
    if (f.stage !== this.stage || isSecond !== this.second) this.arrange(f.stage, isSecond);
    this.first = f.rows.start;
    this.used = Math.min(f.problem.block_q, sizeOf(f.rows));
    for (const [name, how] of Object.entries(this.contents(f)))
      if (!this.frames[name].root.hidden) this.frames[name].draw(how);
    const [first] = this.filled();
    for (const frame of this.list)
      // one stop for Tab; arrows lead on from its edge
      set(frame.root, { tabindex: frame === first ? 0 : -1 });
    if (!this.keys.hidden) this.nameKeys(f);
    this.spend(f);
    this.captions(
      f,
      f.stats.find((s) => s.row === focus),
    );
    this.drawRows(f, focus);
  }

  /** The frames that are shown and hold something. */
  filled() {
    return this.list.filter(({ root }) => !root.hidden && !root.classList.contains("is-empty"));
  }

  /** Once its results are stored what the tile holds is spent: it is pale, and what was stored is no longer there.
   * @param {Frame} f */
  spend(f) {
    const isOver = f.phase === "store" && !f.stage;
    const stored = f.transfers
      .filter(({ op }) => op !== "read")
      .map(({ tensor }) => tensorOf(tensor));
    for (const { root, name } of this.list) {
      root.classList.toggle("is-spent", isOver && !stored.includes(name));
      root.classList.toggle("is-away", isOver && stored.includes(name));
    }
    this.lines.classList.toggle("is-spent", isOver);
  }

  /** How many cells of a tensor there are, down and across. @param {string} name */
  cellsOf(name) {
    return this.sides[name].map((axis) => this.sizes[axis]);
  }

  /** Put a frame in its place, and show it. @param {string} name @param {number} x @param {number} y @param {number} width @param {number} height */
  lay(name, x, y, width, height) {
    const [rows, cols] = this.cellsOf(name);
    const frame = this.frames[name];
    frame.layout(x, y, Math.max(1, width), Math.max(1, height), rows, cols, this.type);
    frame.root.hidden = false;
  }

  /** In presentation mode each key stands over its column, where there is room for that. @param {boolean} isVisible
   * @param {MatrixFrame} frame */
  placeKeys(isVisible, { head, x, width }) {
    const { unit: u } = this.theme;
    this.keys.hidden = !isVisible;
    put(this.keys, x, this.base - 46 * u, width, 44 * u);
    this.keys.style.gridTemplateColumns = `repeat(${this.sizes.keys}, 1fr)`;
    head.hidden = isVisible;
  }

  /** Sizes follow the Problem and the room, never the step: stepping moves nothing around. @this {TileOfPass} @param {Trace} trace @param {Theme} theme */
  layout(trace, theme) {
    this.trace = trace;
    this.theme = theme;
    this.budget.layout(trace);
    const p = trace.problem;
    const { numbers } = trace.header;
    this.reveal(numbers);
    if (!numbers) {
      this.words.textContent = t("zoom.large", { n: p.n, d: p.d });
      return;
    }
    this.scale(trace.arrays);
    this.arrange(null);
  }

  /** A line per row of the block: its number, and what it carries where `columns` says: {key: {x, width}}. @param {number} count @param {number} name @param {number} base @param {Columns} columns */
  rows(count, name, base, columns) {
    const { type, high, heads, heat, lines } = this;
    const { big, unit: u } = this.theme;
    this.base = base;
    this.dense = high < Math.max(DENSE * u, type + 3);
    this.every = Math.ceil((type + 2) / high);
    this.line = times(count, (k) => {
      /** @type {RowLine} */
      const line = { name: el("span.fa-row-name") };
      Object.assign(line.name.style, { width: `${name}px` });
      for (const key of this.columns) {
        line[key] = el(`span.fa-stat-now.is-${key}`, {
          "data-now": key,
          "data-spot": columns[key] ? key : null,
        });
        if (columns[key])
          Object.assign(line[key].style, {
            left: `${columns[key].x}px`,
            width: `${columns[key].width}px`,
          });
      }
      line.root = el("div.fa-sram-row", [line.name, ...this.columns.map((key) => line[key])]);
      put(line.root, 0, base + k * high, this.wide, high);
      return line;
    });
    lines.style.fontSize = `${big ? type : Math.max(12, 14 * u)}px`;
    lines.replaceChildren(...this.line.map(({ root }) => root));
    this.columnsNow = columns;
    for (const key of this.columns) {
      const at = columns[key];
      heads[key].hidden = !at;
      heat[key].root.hidden = !at || !this.dense;
      if (!at) continue;
      put(heads[key], at.x, base - (big ? 42 : 24) * u, at.width, (big ? 36 : 20) * u);
      put(heat[key].root, at.x + at.width * 0.25, base, at.width * 0.5, count * high);
      heat[key].layout(count, 1, at.width * 0.5, count * high, 99);
    }
  }

  /** The numbers of one visit came: their ranges, and room for them. @this {TileOfPass} @param {Frame} f */
  zoomed(f) {
    this.scale(f.zoom ?? {});
    this.reveal(true);
    this.arrange(f.stage);
  }

  /** A number of a row, as the cells of the tile write theirs. @param {Known} x */
  format(x) {
    return number(x, this.trace.decimals);
  }

  /** The numbers of the rows; a row whose maximum rose over an earlier one is marked. @this {TileOfPass} @param {Frame} f @param {number | undefined} focus */
  drawRows(f, focus) {
    const now = f.stats.map((s) => this.readRow(s));
    const at = f.stats.findIndex((s) => s.row === focus);
    // Where names are left out, the row that is followed has its own, and room for it.
    const named = (/** @type {number} */ k) =>
      k === at || (k % this.every === 0 && (at < 0 || Math.abs(k - at) >= this.every));
    this.line.forEach((line, k) => {
      const s = f.stats[k];
      line.root.hidden = !s;
      const stated = f.pass === "backward"; // in the forward the row table states them
      set(line.root, { "data-row": s && stated ? s.row : null });
      if (!s) return;
      const rose = s.rose && this.columns.some((key) => this.columnsNow[key]);
      set(line.root, {
        "data-of-row": s.row,
        class: `fa-sram-row${rose ? " is-risen" : ""}${s.row === focus ? " is-followed" : ""}`,
      });
      set(line.name, {
        "data-part": `row.${s.row}`,
        text: named(k) ? (s.name ?? String(s.row)) : "",
      });
      for (const key of this.columns)
        set(line[key], {
          ...(stated && { "data-stat": key, "data-value": String(now[k][key] ?? "") }),
          "data-part": this.columnsNow[key] ? `${key}.${s.row}` : null,
          text: this.columnsNow[key] && !this.dense ? this.format(now[k][key]) : "",
        });
    });
    for (const key of this.columns)
      if (this.dense && this.columnsNow[key]) {
        const [low, high] = this.heatOf[key];
        this.heat[key].draw({
          values: (/** @type {number} */ r) => now[r]?.[key],
          low,
          high,
          ramp: rampsOf(this.theme)[hueOf(key).toUpperCase()],
          theme: this.theme,
        });
      }
    this.band.hidden = at < 0;
    const grow = this.dense ? 1 : 3;
    if (at >= 0)
      put(
        this.band,
        6,
        this.base + at * this.high - grow,
        this.wide - 12,
        this.high + 2 * grow - 2,
      );
  }
}
