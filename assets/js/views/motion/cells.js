// A matrix that becomes another one cell by cell, on a canvas over it while its own is hidden.

import { boxStyle, el } from "../../lib/dom.js";
import { cellAt } from "../../model/motion.js";
import { context2d } from "../matrix.js";

/** @import { Layer } from "./layer.js" */
/** @import { Context2D } from "../types.js" */
/** @import { Thing } from "../../model/links.js" */

/** @import { Matrix } from "../matrix.js" */
/** @import { Brushes, Turn, View } from "../types.js" */

const MOST = 16; // pieces along a side: more cells than that move in groups

/** How a piece goes from old to new: what fills grows, what turns is flipped, what changes size fades over. */
const KINDS = {
  grow: (/** @type {number} */ t, /** @type {Brushes} */ draw) => {
    draw.old(1);
    if (t > 0) draw.fresh(t, 0.6 + 0.4 * t, 0.6 + 0.4 * t);
  },
  flip: (/** @type {number} */ t, /** @type {Brushes} */ draw) =>
    t < 0.5 ? draw.old(1, 1, Math.cos(Math.PI * t)) : draw.fresh(1, 1, -Math.cos(Math.PI * t)),
  fade: (/** @type {number} */ t, /** @type {Brushes} */ draw) => {
    draw.old(1 - t);
    draw.fresh(t);
  },
};

/** @param {View} frame of views/sram.js @param {Turn[]} turns [{kind, phase, start, ms, before, after: what the frame holds}] in order @param {Layer} layer */
export function turn(layer, frame, turns) {
  const { matrix } = frame;
  const { x, y } = layer.place(layer.box(matrix.canvas));
  const { width, height } = matrix.canvas;
  const style = boxStyle({ x, y, width: matrix.width, height: matrix.height });
  const canvas = layer.add(el("canvas", { width, height, style }));
  const g = context2d(canvas);
  const last = turns[turns.length - 1];
  const end = last.start + last.ms;
  layer.hide(matrix.root, { ms: end });
  let painted = "";
  /** @type {Turn | null} */
  let drawn = null;
  layer.paint((/** @type {number} */ now) => {
    const one = turns.findLast(({ start }) => start <= now) ?? turns[0];
    const t = Math.max(0, Math.min(1, (now - one.start) / one.ms));
    const state = now >= end ? "over" : `${one.start} ${t}`;
    if (state === painted) return;
    painted = state;
    if (one !== drawn || now >= end) g.clearRect(0, 0, width, height);
    drawn = one;
    if (now >= end) return;
    one.cut ??= cut(matrix, one);
    pieces(g, one, one.cut, t, {
      old: () => (one.old ??= matrix.picture(one.before)),
      fresh: () => (one.fresh ??= matrix.picture(one.after)),
    });
  });
}

/** Does nothing change in these cells? */
function same(
  /** @type {Turn} */ { before, after },
  /** @type {number[]} */ [r0, r1],
  /** @type {number[]} */ [c0, c1],
) {
  if (before.ramp !== after.ramp || before.filled !== after.filled) return false;
  for (let r = r0; r < r1; r++)
    for (let c = c0; c < c1; c++)
      if (!Object.is(before.values(r, c), after.values(r, c))) return false;
  return true;
}

/** The pieces of a matrix that move, as [row, column, x, y, width, height], and how many of them there are down and across. @param {Turn} one */
function cut(/** @type {Matrix} */ { rows, cols, canvas }, one) {
  const [down, across] = [Math.min(rows, MOST), Math.min(cols, MOST)];
  /** @type {(k: number, parts: number, of: number) => number[]} */
  const cells = (k, parts, of) => [
    Math.floor((k * of) / parts),
    Math.floor(((k + 1) * of) / parts),
  ];
  const px = (
    /** @type {number[]} */ range,
    /** @type {number} */ of,
    /** @type {number} */ size,
  ) => range.map((k) => Math.round((k * size) / of));
  const list = [];
  for (let r = 0; r < down; r++)
    for (let c = 0; c < across; c++) {
      const [high, wide] = [cells(r, down, rows), cells(c, across, cols)];
      const [[y, bottom], [x, right]] = [
        px(high, rows, canvas.height),
        px(wide, cols, canvas.width),
      ];
      list.push({ r, c, box: [x, y, right - x, bottom - y], still: same(one, high, wide) });
    }
  const [usedDown, usedAcross] = one.after.used ?? [rows, cols];
  return {
    list,
    down: Math.ceil((usedDown * down) / rows),
    across: Math.ceil((usedAcross * across) / cols),
  };
}

/** Draws those that have moved since they were drawn last. @param {Context2D} g @param {number} t */
function pieces(
  g,
  /** @type {Turn} */ { kind, phase, before },
  /** @type {NonNullable<Turn["cut"]>} */ { list, down, across },
  t,
  /** @type {{old: () => OffscreenCanvas, fresh: () => OffscreenCanvas}} */ { old, fresh },
) {
  for (const piece of list) {
    const [x, y, w, h] = piece.box;
    const at = piece.still ? 1 : cellAt(phase, piece.r, piece.c, down, across, t);
    if (at === piece.at) continue;
    piece.at = at;
    const paint =
      (/** @type {() => OffscreenCanvas} */ picture, filled = true) =>
      (alpha = 1, wide = 1, high = 1) => {
        g.globalAlpha = alpha;
        if (filled)
          g.drawImage(
            picture(),
            x,
            y,
            w,
            h,
            x + (w * (1 - wide)) / 2,
            y + (h * (1 - high)) / 2,
            w * wide,
            h * high,
          );
      };
    g.clearRect(x, y, w, h);
    KINDS[kind](at, { old: paint(old, before.filled), fresh: paint(fresh) });
  }
}
