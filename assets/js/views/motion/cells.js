// A matrix that becomes another one cell by cell, on a canvas over it while its own is hidden.

import { boxStyle, context2d, el } from "../../lib/dom.js";
import { clamp } from "../../lib/format.js";
import { times } from "../../lib/lists.js";
import { cellAt } from "../../model/motion.js";

/** @import { Layer } from "../types.js" */
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
    const t = clamp((now - one.start) / one.ms, 0, 1);
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

/** The pieces along one side of a matrix: which cells each has, and where it lies in px. @param {number} count @param {number} size */
const piecesAlong = (count, size) =>
  times(Math.min(count, MOST), (k) => {
    const cells = [k, k + 1].map((end) => Math.floor((end * count) / Math.min(count, MOST)));
    const [from, to] = cells.map((cell) => Math.round((cell * size) / count));
    return { cells, from, long: to - from };
  });

/** The pieces of a matrix that move, and how many of them there are down and across. @param {Turn} one */
function cut(/** @type {Matrix} */ { rows, cols, canvas }, one) {
  const down = piecesAlong(rows, canvas.height);
  const across = piecesAlong(cols, canvas.width);
  const [usedDown, usedAcross] = one.after.used ?? [rows, cols];
  return {
    list: down.flatMap((high, r) =>
      across.map((wide, c) => ({
        r,
        c,
        box: [wide.from, high.from, wide.long, high.long],
        still: same(one, high.cells, wide.cells),
      })),
    ),
    down: Math.ceil((usedDown * down.length) / rows),
    across: Math.ceil((usedAcross * across.length) / cols),
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
