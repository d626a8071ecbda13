// The HBM card: what the algorithm reads and writes as strips of blocks (strips.js) around the ghost of S. Tiles repaint only when
// their state changes, so stepping costs the same at N = 16 and at N = 16,384.

import { aroundZero, cividis, level, range, viridis } from "../lib/colors.js";
import { card, context2d, el, set, setText, svg } from "../lib/dom.js";
import { filterTransfers, hidden } from "../model/frame.js";
import { algorithmOf } from "../model/passes.js";
import { keysOfBlock, rowsOfBlock, sizeOf } from "../model/spans.js";
import { t } from "../model/texts.js";
import { makeHeadRow } from "./heads.js";
import { cell, fit, hatch } from "./matrix.js";
import { makeStrips } from "./strips.js";
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

/** Make the card of HBM. @param {OnHead} [onHead] see views/heads.js */
export function makeHbm(onHead) {
  /** @type {Trace} */
  let trace;
  /** @type {Theme} */
  let theme;
  /** @type {CanvasRenderingContext2D} */
  let g;
  /** @type {string[] | null} */
  let states;
  /** @type {CanvasPattern} */
  let pattern;
  /** @type {number[]} */
  let bounds;
  /** @type {SVGElement} */
  let tileName;
  /** @type {boolean} */
  let isPredicting = false;
  /** @type {boolean} */
  let stored;
  /** @type {number} */
  let left;
  /** @type {number} */
  let top;
  /** @type {number} */
  let side;
  /** px of a score. @type {number} */
  let size;
  /** @type {number} */
  let gap;
  /** @type {number} */
  let ratio;
  /** @type {number} */
  let paintedStep;

  const canvas = el("canvas", { "aria-hidden": "true" });
  const overlay = svg("svg.fa-map-overlay", { "aria-hidden": "true" });
  const cursor = svg("rect.fa-cursor", { rx: 4 });
  const map = el(
    "div.fa-map",
    {
      "data-spot": "map",
      tabindex: 0,
      role: "application",
      "aria-roledescription": t("map"),
      "aria-label": t("map.keys"),
    },
    [canvas, overlay],
  );
  const caption = el("p.fa-caption", { "data-spot": "map" });
  const busOf = (/** @type {Direction} */ op) =>
    el(`div.fa-bus.fa-bus-${op}`, {
      "data-part": `visit.${op}`,
      "data-spot": "bus",
      "aria-hidden": "true",
    });
  const bus = { read: busOf("read"), write: busOf("write") };
  const heads = makeHeadRow(onHead);
  const strips = makeStrips();
  const { root } = card("hbm", t("HBM"), "", [heads.root, map, caption]);

  /** The name, as in model/links.js, of the tile or block at a place of the window. @param {number} clientX @param {number} clientY */
  function partAt(clientX, clientY) {
    if (!trace) return null;
    const { problem: p } = trace;
    const box = map.getBoundingClientRect();
    const x = clientX - box.left - left;
    const y = clientY - box.top - top;
    const inside = (/** @type {number} */ at) => at >= 0 && at < side;
    if (inside(x) && inside(y))
      return `tile.${Math.floor(y / size / p.block_q)}.${Math.floor(x / size / p.block_k)}`;
    return strips.at(x, y);
  }

  /** Places everything; `draw` only moves what is bright. @param {Trace} nextTrace @param {Theme} nextTheme */
  function layout(nextTrace, nextTheme) {
    trace = nextTrace;
    theme = nextTheme;
    stored = algorithmOf(trace).stores_scores;
    heads.layout(trace);
    const { unit: u } = theme;
    gap = GAP * u;
    const p = trace.problem;
    const box = map.getBoundingClientRect();
    const taken = strips.measure(trace, theme, box.height);
    const [before, after, above] = [taken.left, taken.right, taken.above].map((size) => size + gap);
    const across = box.width - before - after;
    side = Math.max(64, Math.floor(Math.min(across, box.height - above - 4)));
    size = side / p.n;
    left = Math.floor(before + Math.max(0, across - side) / 2);
    top = Math.floor(above + Math.max(0, box.height - above - side - 4) / 2);
    Object.assign(canvas.style, { left: `${left}px`, top: `${top}px` });
    ratio = fit(canvas, side, side);
    set(overlay, {
      width: box.width,
      height: box.height,
      viewBox: `0 0 ${box.width} ${box.height}`,
    });
    states = null;
    map.classList.toggle("is-stored", stored);

    const frame = svg("rect.fa-ghost", {
      x: left - 3,
      y: top - 3,
      width: side + 5,
      height: side + 5,
      rx: 5,
    });
    tileName = svg("text.fa-block-name.fa-tile-name");
    overlay.replaceChildren(
      frame,
      ...strips.layout(trace, theme, { left, top, side, cell: size, gap }),
      ...skipWords(p),
      cursor,
      tileName,
    );
  }

  /** Where a part of the score matrix lies on the map. @param {Record<"rows" | "keys", Span>} area */
  function boxOf({ rows, keys }) {
    const [width, height] = [sizeOf(keys) * size, sizeOf(rows) * size];
    return { x: left + keys.start * size, y: top + rows.start * size, width, height };
  }

  /** Where blocks of a tensor lie, within the window: a part of its strip, tiles of S, beside O what a row has one of. @param {string} tensor @param {(number | number[])[]} blocks @param {DOMRect} box */
  function home(tensor, blocks, box) {
    const within = (/** @type {Box} */ { x, y, width, height }) =>
      new DOMRect(box.left + x, box.top + y, width, height);
    const strip =
      Array.isArray(blocks[0]) && !tensor.endsWith("′") ? null : strips.home(tensor, blocks);
    if (strip) return within(strip);
    const p = trace.problem;

    const tiles = blocks.filter((block) => Array.isArray(block));
    if (!tiles.length || tensor.endsWith("′")) {
      const { y, height } = /** @type {Box} */ (strips.home("O", [[blocks[0]].flat()[0]]));
      return within({ x: left + side + gap + strips.thick("O") + 1, y, width: 3, height });
    }
    const [i, j] = tiles[0];
    const last = tiles[tiles.length - 1][1];
    return within(
      boxOf({
        rows: rowsOfBlock(p, i),
        keys: { start: keysOfBlock(p, j).start, stop: keysOfBlock(p, last).stop },
      }),
    );
  }

  /** @param {Problem} p */
  function skipWords(p) {
    /** @type {SVGElement[]} */
    const words = [];
    const [wide, high] = theme.big ? [64 * theme.unit, 30 * theme.unit] : [36 * theme.unit, 16];
    if (stored || isPredicting || p.block_k * size < wide) return words;
    for (let i = 0; i < p.Tr; i++)
      for (let j = 0; j < p.Tc; j++) {
        if (trace.arrays.tile_kind[i * p.Tc + j] !== 2) continue;
        const [rows, keys] = [rowsOfBlock(p, i), keysOfBlock(p, j)];
        const { x, y, width, height } = boxOf({ rows, keys });
        if (width < wide || height < high) continue;
        const middle = { x: x + width / 2, y: y + height / 2 };
        words.push(svg("text.fa-skip-word", { ...middle, text: t("map.skip") }));
      }
    return words;
  }

  /** @param {Frame} f */
  function draw(f) {
    tiles(f);
    strips.draw(f);
    set(cursor, {
      ...boxOf({ rows: f.rows, keys: f.cols }),
      class: f.kind === "skipped" ? "fa-cursor is-skipped" : "fa-cursor",
    });
    if (theme.big) nameTile(f);
    setText(caption, captionOf(trace, theme, f));
    drawBus(f);
  }

  /** In presentation mode the tile says which of them it is: S and P themselves are never here. */
  function nameTile(
    /** @type {Frame} */ { i, j, rows, cols, kind, problem: { block_q, block_k } },
  ) {
    const room = Math.min(block_q, block_k) * size >= 66 * theme.unit;
    const named = room && i >= 0 && j >= 0 && kind !== "skipped" && !stored;
    const { x, y, width, height } = boxOf({ rows, keys: cols });
    const text = named ? `${i}, ${j}` : "";
    set(tileName, { x: x + width / 2, y: y + height / 2, text });
  }

  /** Where the tile of this visit stands in the window. */
  function magnified(/** @type {Frame} */ { rows, cols }) {
    const { x, y } = map.getBoundingClientRect();
    return {
      x: x + left + cols.stop * size,
      top: y + top + rows.start * size,
      bottom: y + top + rows.stop * size,
    };
  }

  /** From where to where in the window the strip right of the map reaches. */
  function beside() {
    return home(trace.header.pass === "forward" ? "O" : "dQ", [0], map.getBoundingClientRect());
  }

  /** A lane is lit while something crosses. @param {Frame} f */
  function drawBus(f) {
    for (const op of /** @type {Direction[]} */ (["read", "write"])) {
      const now = filterTransfers(f.transfers, op).some(({ phase }) => phase === f.phase);
      set(bus[op], { class: `fa-bus fa-bus-${op}${now ? " is-now" : ""}` });
    }
  }

  /** @param {Frame} f */
  function tiles(f) {
    const p = f.problem;
    const total = p.Tr * p.Tc;
    const fresh = states === null;
    const known = (states ??= new Array(total).fill(""));
    if (fresh) {
      g = context2d(canvas);
      g.clearRect(0, 0, canvas.width, canvas.height);
      pattern = hatch(g, theme.hatch, ratio);
      bounds = range(trace.arrays.S ?? []);
      paintedStep = 0;
    }
    const paint = (/** @type {number} */ i, /** @type {number} */ j) => {
      const at = i * p.Tc + j;
      const look = tileState(trace, f.step, i, j);
      const s = atPhase(isPredicting ? veiled(look, trace, f.step, i, j) : look, f);
      const key = lookOf(s, f);
      if (known[at] === key) return;
      known[at] = key;
      paintTile(i, j, s, f);
    };
    if (fresh || isPredicting || stored)
      for (let i = 0; i < p.Tr; i++) for (let j = 0; j < p.Tc; j++) paint(i, j);
    else {
      const { v_i, v_j } = trace.arrays;
      const from = Math.min(paintedStep, f.step);
      const to = Math.max(paintedStep, f.step);
      for (let v = from; v <= to; v++) if (v_j[v] >= 0 && v_i[v] >= 0) paint(v_i[v], v_j[v]);
    }
    paintedStep = f.step;
  }

  /** @param {number} i @param {number} j @param {Frame} f */
  function paintTile(i, j, /** @type {Look} */ { kind, layer, state }, f) {
    const scale = canvas.width / f.problem.n;
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
    if (state === "skipped" || (kind === "skipped" && !stored)) return fill(pattern);
    const known = state === "done" || (state === "current" && scored(f));
    const wanted = stored ? 2 : state === "current" ? 4 : Infinity; // px of a cell that is drawn by itself
    if (f.numbers && scale >= wanted * ratio)
      return paintCells(rows, cols, scale, layer, stored && known, f, state);
    fill(state === "current" ? theme.paper : known ? theme.done : theme.empty);
  }

  /** Of a tile that is worked on, its cells and what the mask hides, unless that is to be predicted; where S is
   * stored, its numbers. @param {Span} rows @param {Span} cols @param {number} scale @param {Look["layer"]} layer
   * @param {boolean} known @param {Frame} f @param {Look["state"]} state */
  function paintCells(rows, cols, scale, layer, known, f, state) {
    const { n } = f.problem;
    const values = trace.arrays[layer];
    const [low, high] = layer === "P" ? [0, 1] : layer === "S" ? bounds : aroundZero(values);
    const ramp = layer === "S" ? viridis : layer === "P" ? cividis : theme.dS;
    const gap = scale / ratio >= 6 ? Math.round(ratio) : 0;
    const raw = rows.start === f.rows.start && cols.start === f.cols.start && unmasked(f);
    const isVeiled = isPredicting && state === "pending";
    const blank = stored ? theme.empty : theme.paper;
    for (let r = rows.start; r < rows.stop; r++)
      for (let c = cols.start; c < cols.stop; c++) {
        const x = Math.round(c * scale);
        const y = Math.round(r * scale);
        const w = Math.round((c + 1) * scale) - x - gap;
        const h = Math.round((r + 1) * scale) - y - gap;
        const masked = !isVeiled && hidden(trace.arrays, r * n + c);
        g.fillStyle =
          known && (raw || !masked) ? ramp.css[level(values[r * n + c], low, high)] : blank;
        g.fillRect(x, y, w, h);
        if (masked) {
          g.fillStyle = pattern;
          g.fillRect(x, y, w, h);
        }
      }
  }

  return {
    root,
    map,
    overlay,
    caption,
    bus,
    strips,
    partAt,
    layout,
    boxOf,
    home,
    draw,
    cursor,
    magnified,
    beside,
    /** Leave to be guessed what the mask hides. @param {boolean} on */
    predicting(on) {
      isPredicting = on;
    },
    get cell() {
      return size;
    },
  };
}
