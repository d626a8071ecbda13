// The parts of a lane of warps.js: matrices in bands, the numbers of each warp, shared memory. They
// draw what explainer/parallel/warps.py packed, as warp_steps.js reads it.

import { range } from "../lib/colors.js";
import { el, get, set } from "../lib/dom.js";
import { bytes, number } from "../lib/format.js";
import { t } from "./texts.js";

/** @import { Slice, Split, Tile, WarpPiece, WarpStep } from "../model/warp_steps.js" */
/** @import { Attributes, Children } from "../lib/dom.js" */
/** @typedef {WarpStep["moves"][number]} Move */

const DIGITS = { width: 26, height: 14, long: 40 }; // px a cell needs for a number, for its decimals
const HEAT = [10, 52]; // per cent of a hue for the smallest and the largest value

/** Which rows or keys these are. @param {"row" | "key"} unit @param {Slice} slice */
function sliceText(unit, [from, to]) {
  if (to - from > 1) return t(`${unit}s`, { first: from, last: to - 1 });
  return to > from ? t(unit, { k: from }) : t(`no_${unit}`);
}
/** @param {number} count */
const cellsOf = (count) => Array.from({ length: count }, () => el("span", { class: "fa-wcell" }));
/** @param {number} warp */
const badge = (warp) => el("b", { class: `fa-badge fa-w${warp}`, text: warp });
const everyone = () => el("b", { class: "fa-badge fa-wall", text: t("every") });

/** @param {WarpPiece} h @param {number} row */
const hasRow = ({ first, long }, row) => first <= row && row < first + long;

/** Smallest and largest finite number of some pieces. @param {WarpPiece[]} pieces */
const extent = (pieces) => range(pieces.flatMap(({ numbers }) => numbers?.flat() ?? []));

/** @param {number} x @param {[number, number]} bounds */
const heat = (x, [low, high]) =>
  HEAT[0] + (HEAT[1] - HEAT[0]) * (high > low ? (x - low) / (high - low) : 0.5);

/** @param {number | undefined} x @param {boolean} short */
const written = (x, short) => number(x, short).replace(/^−(0\.0+)$/, "$1"); // no minus before nothing

/** A cell's colour strength, and its number where there is room for one.
 * @param {HTMLElement} cell @param {number | undefined} x @param {[number, number]} bounds @param {string} digits */
function paint(cell, x, bounds, digits) {
  const masked = x === -Infinity;
  const state =
    x === undefined ? "is-empty" : masked ? "is-masked" : Number.isFinite(x) ? "" : "is-odd";
  set(cell, { class: `fa-wcell ${state}`, text: digits ? written(x, digits === "short") : "" });
  if (x !== undefined && !state) cell.style.setProperty("--x", `${heat(x, bounds).toFixed(0)}%`);
}

/** How numbers fit a cell of this size: not at all, "short", or "long". @param {number} width @param {number} height */
function fitting(width, height) {
  if (width < DIGITS.width || height < DIGITS.height) return "";
  return width < DIGITS.long ? "short" : "long";
}

/** A matrix cut into the bands that the warps hold, or whole where every warp holds it. */
export class Bands {
  /** @type {{node: HTMLElement, cells: HTMLElement[], rows: number, cols: number}[]} */
  bands;
  digits = "";

  /** @param {string} tensor */
  constructor(tensor) {
    this.tensor = tensor;
    this.isTurned = tensor === "K"; // as Kᵀ
    this.name = el("b");
    this.body = el("div", { class: "fa-bands", "aria-hidden": "true" });
    this.edge = el("div", { class: "fa-edge", "aria-hidden": "true" });
    const hue = tensor.toLowerCase();
    this.root = el("figure", { class: `fa-warp-matrix fa-warp-matrix-${hue}` }, [
      el("figcaption", { class: `fa-ink-${hue}` }, [this.name]),
      this.edge,
      this.body,
    ]);
  }

  /** Lay the bands one below the other, or across: side by side, as keys do in S and Kᵀ. @param {Tile} tile @param {WarpPiece[]} pieces */
  layout(tile, pieces) {
    const isCut = this.tensor === "S" && new Set(pieces.map(({ keys }) => String(keys))).size > 1;
    const shared = pieces.length === 1 && pieces[0].warps.length > 1;
    this.root.classList.toggle("is-across", this.isTurned || isCut || shared);
    const edges = [];
    this.bands = [];
    for (const { first, long, keys, numbers, warps } of pieces) {
      const width = this.tensor === "S" && keys ? keys[1] - keys[0] : tile.d;
      const [rows, cols] = this.isTurned ? [width, long] : [long, width];
      const share = `flex-grow:${isCut ? width : long}`;
      const cells = cellsOf(numbers ? rows * cols : 0);
      const style = `${share}; --rows:${rows}; --cols:${cols}`;
      const look = `fa-band ${shared ? "fa-wall" : `fa-w${warps[0]}`}`;
      this.bands.push({ node: el("div", { class: look, style }, cells), cells, rows, cols });
      edges.push(el("span", { style: share }, [shared ? everyone() : badge(warps[0])]));
    }
    this.edge.replaceChildren(...edges);
    this.body.replaceChildren(...this.bands.map(({ node }) => node));
  }

  /** Choose how numbers are written for the room there is; return true if that changes. */
  measure() {
    const { node, rows, cols } = this.bands[0];
    const { clientWidth, clientHeight } = /** @type {Element} */ (this.edge.lastChild); // the smallest
    set(this.edge, { "data-tight": clientWidth < 13 || clientHeight < 13 });
    if (this.tensor !== "S") return false; // no other has digits
    const before = this.digits;
    this.digits = fitting(node.clientWidth / cols, node.clientHeight / rows);
    return this.digits !== before;
  }

  /** Show the numbers of a step; `active`: it works on this matrix. @param {WarpPiece[]} pieces @param {string} name @param {boolean} active */
  draw(pieces, name, active) {
    set(this.name, { text: name });
    set(this.root, { "data-active": active });
    const bounds = extent(pieces);
    this.bands.forEach(({ cells, cols }, b) =>
      cells.forEach((cell, k) => {
        const [row, col] = [Math.floor(k / cols), k % cols];
        const [r, c] = this.isTurned ? [col, row] : [row, col];
        const piece = pieces[b];
        paint(cell, piece?.at(piece.first + r, c), bounds, this.digits);
      }),
    );
  }
}

/** A warp's numbers, one per row of the tile. @typedef {{cells: HTMLElement[], node: HTMLElement}} Line */

// What the table of parts shows until the maxima are known, and then.
const MAXIMA = /** @type {const} */ ({ name: "max", tensor: "m", old: "m_old" });
const SUMS = /** @type {const} */ ({ name: "sum", tensor: "l", old: "alpha_l" });

/** What each warp has of every row: of m, then of ℓ. */
export class Parts {
  /** @type {number[]} */
  rows;
  /** @type {Line[]} */
  warps;
  /** @type {Line} */
  before;
  /** @type {Line} */
  after;
  /** @type {HTMLElement[]} */
  heads;
  digits = "";

  constructor() {
    this.title = el("th", { scope: "col" });
    this.root = el("table", { class: "fa-parts" });
  }

  /** @param {Tile} tile @param {Split} split */
  layout(tile, split) {
    const [first, end] = tile.rows;
    this.rows = Array.from({ length: end - first }, (_, r) => first + r);
    const line = (/** @type {Children} */ head, /** @type {Attributes} */ attributes) => {
      const cells = this.rows.map(() => el("td", { class: "fa-wcell" }));
      return { cells, node: el("tr", attributes, [el("th", { scope: "row" }, head), ...cells]) };
    };
    this.warps = Array.from({ length: tile.warps }, (_, w) => {
      const holds =
        split === "k" ? sliceText("key", tile.key_slices[w]) : sliceText("row", tile.row_slices[w]);
      return line(
        [
          badge(w),
          el("span", { class: "fa-warp-word", text: t("warp", { w }) }),
          el("span", { class: "fa-slice", text: holds }),
        ],
        { class: `fa-warp fa-w${w}` },
      );
    });
    this.before = line([el("span")], { class: "fa-wall" });
    this.after = line([el("span")], { class: "fa-wall is-after" });
    this.heads = this.rows.map((row) => el("th", { scope: "col", text: row }));
    this.root.replaceChildren(
      el("thead", {}, [el("tr", {}, [this.title, ...this.heads])]),
      el(
        "tbody",
        {},
        [...this.warps, this.before, this.after].map((l) => l.node),
      ),
    );
  }

  /** Choose how numbers are written for the room there is; return true if that changes. */
  measure() {
    const cell = this.after.cells[0];
    if (!cell.clientWidth) return false; // the products are shown in its place
    const every = Math.ceil(22 / cell.clientWidth); // row numbers need room too
    this.heads.forEach((head, r) => set(head, { text: r % every ? "" : String(this.rows[r]) }));
    const before = this.digits;
    this.digits = fitting(cell.clientWidth, cell.clientHeight);
    return this.digits !== before;
  }

  /** @param {WarpStep} step */
  draw(step) {
    const { name, tensor, old } = ["sum", "output", "store"].includes(step.phase) ? SUMS : MAXIMA;
    const piecesOf = (/** @type {string} */ name) => step.pieces[name] ?? [];
    set(this.title, { text: t(name) });
    set(get(this.before.node, "span"), { text: t(`${name}.before`) });
    set(get(this.after.node, "span"), { text: t(`${name}.after`) });
    const [parts, before, after] = [tensor, old, `${tensor}_new`].map(piecesOf);
    const bounds = extent([...parts, ...before, ...after]);
    this.line(this.before, before, bounds);
    this.line(this.after, after, bounds);
    this.warps.forEach((line, w) => {
      const own = parts.filter((h) => h.warps[0] === w);
      this.line(line, own, bounds);
    });
  }

  /** @param {Line} line @param {WarpPiece[]} pieces @param {[number, number]} bounds */
  line({ cells }, pieces, bounds) {
    cells.forEach((cell, r) => {
      const row = this.rows[r];
      paint(cell, pieces.find((h) => hasRow(h, row))?.at(row), bounds, this.digits);
    });
  }
}

/** A warp's own share of O: in split-K a part of every number, in split-Q its rows. */
export class Products {
  /** @type {Tile} */
  tile;
  /** @type {{cells: HTMLElement[], node: HTMLElement, cols: number}[]} */
  warps;

  constructor() {
    this.title = el("p", { class: "fa-part-title", text: "" });
    this.list = el("div", { class: "fa-products-list" });
    this.root = el("div", { class: "fa-products-of" }, [this.title, this.list]);
  }

  /** @param {Tile} tile */
  layout(tile) {
    const [first, end] = tile.rows;
    this.tile = tile;
    const rows = end - first;
    const count = rows * tile.d <= 256 ? rows * tile.d : rows; // beyond: a row is one cell
    this.warps = Array.from({ length: tile.warps }, (_, w) => {
      const cells = cellsOf(count);
      const cols = count / rows;
      const style = `--rows:${rows}; --cols:${cols}`;
      const node = el("figure", { "aria-hidden": "true" }, [
        el("figcaption", {}, [badge(w)]),
        el("div", { class: `fa-mini fa-w${w}`, style }, cells),
      ]);
      return { cells, node, cols };
    });
    this.list.replaceChildren(...this.warps.map((warp) => warp.node));
  }

  /** @param {WarpPiece[]} pieces @param {string} title */
  draw(pieces, title) {
    set(this.title, { text: title });
    const bounds = extent(pieces);
    this.warps.forEach(({ cells, cols }, w) => {
      const h = pieces.find((p) => p.warps[0] === w);
      cells.forEach((cell, k) => {
        const row = this.tile.rows[0] + Math.floor(k / cols);
        if (h && hasRow(h, row) && (!h.numbers || cols < this.tile.d))
          set(cell, { class: "fa-wcell is-plain" });
        else paint(cell, h?.at(row, k % cols), bounds, "");
      });
    });
  }
}

/** Shared memory: what was copied in, then the parts that warps leave there for each other. */
export class Shared {
  /** @type {WarpStep} */
  drawn;

  constructor() {
    this.note = el("span", { class: "fa-remark" });
    this.body = el("div", { class: "fa-places" });
    this.root = el("div", { class: "fa-shared" }, [
      el("div", { class: "fa-shared-head" }, [el("h3", { text: t("shared") }), this.note]),
      this.body,
    ]);
  }

  /** `written`: the writes whose parts lie there now. @param {WarpStep} step @param {Move[]} written
   * @param {[name: string, nbytes: number][]} operands */
  draw(step, written, operands) {
    if (this.drawn === step) return; // what lies there already does not arrive again
    this.drawn = step;
    const reads = step.moves.filter((x) => x.op === "read");
    const size = (/** @type {Move[]} */ moves) =>
      bytes(moves.reduce((sum, x) => sum + x.nbytes, 0));
    set(this.note, {
      text: reads.length
        ? t("shared.read", { warps: reads.length, size: size(reads) })
        : step.part === "write" && written.length
          ? t("shared.written", { size: size(written) })
          : "",
    });
    const places =
      step.phase === "load"
        ? operands.map(([name, nbytes]) =>
            el("span", { class: `fa-place fa-operand fa-ink-${name[0].toLowerCase()}` }, [
              el("b", { text: name }),
              ` ${bytes(nbytes)}`,
            ]),
          )
        : written.map((x) =>
            el("span", { class: `fa-place fa-w${x.warp}`, "data-tensor": x.tensor }, [
              badge(x.warp),
              el("i", { text: x.tensor === "l" ? "ℓ" : x.tensor }),
              ` ${bytes(x.nbytes)}`,
            ]),
          );
    const barrier = step.barriers ? [el("span", { class: "fa-barrier", text: t("barrier") })] : [];
    const quiet = step.part === "own" ? t("shared.own") : t("shared.nothing");
    const body = places.length ? places : [el("span", { class: "fa-nothing", text: quiet })];
    set(this.root, {
      class: `fa-shared${places.length ? " is-used" : ""}${reads.length ? " is-read" : ""}`,
    });
    this.body.replaceChildren(...body, ...barrier);
  }
}
