// Masks: the tiles that a mask leaves of N × N, and beside it the keys and values that decoding caches, of all keys and all heads.

import { cellPath } from "../lib/chart.js";
import { times } from "../lib/lists.js";
import { ink, INKS, path, rect, stroke, text, titled, wrapped } from "../lib/svg_canvas.js";

/** @import { Drawn, Paper } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** A run of cells of a row. @typedef {[row: number, first: number, past: number]} Run */
/** @typedef {{rows: number, columns: number, full: Run[], partial: Run[], cached: [number, number][]}} Tiles */
/** @typedef {{maps: Record<string, Tiles>, heads: number, texts: Record<string, string>}} Picture */
/** @typedef {{mask: string, heads: number, tiles: string, cached: string, of_heads: string, note: string}} Beat */

/** @param {Scene<Picture, Beat>} scene @param {Paper} paper @returns {Drawn} */
export function masks({ picture: { maps, heads, texts }, beat }, paper) {
  const { width, narrow, type: size, small } = paper;
  const { rows, columns, full, partial, cached } = maps[beat.mask];
  const left = size * 1.7;
  const top = size * 3.1;
  const side = narrow
    ? width - left
    : Math.min(paper.height - top - size * 3.6, width * 0.42 - left);
  const foot = top + side + size * 1.7;
  const right = narrow ? 0 : Math.max(left + side + size * 4, width * 0.47);
  const start = narrow ? foot + size * 3.6 : 0;
  const inner = right + size * 1.8;
  const high = narrow ? 84 : (paper.height - size * 8.5) / 2; // of K and of V
  const below = start + size * 3.1 + high * 2 + size * 2.6;
  if (narrow) paper.used = below + size;
  const cell = { x: left, y: top, wide: side / columns, high: side / rows };
  const gap = Math.min(cell.wide, cell.high) > 5 ? 1 : 0;
  const head = high / heads;
  return [
    text(left, size, texts.map, size * 1.1, "bold"),
    text(left + side / 2, top - size * 0.6, texts.columns, small(0.9), "middle quiet"),
    text(left - size * 0.6, top + side / 2, texts.rows, small(0.9), "middle quiet", -90),
    rect(left - 1, top - 1, side + 2, side + 2, "", stroke("line", 1.5), 3),
    path(cellPath(full, { ...cell, gap }), { fill: ink("accent") }),
    path(cellPath(partial, { ...cell, gap }), { fill: ink("accent"), opacity: 0.45 }),
    wrapped(left, foot, beat.tiles, narrow ? width : right - left - size * 2, size),
    text(right, start + size, texts.cache, size * 1.1, "bold"),
    titled(
      width,
      start + size * 2.5,
      beat.of_heads,
      `${texts.of} ${texts.of_heads}`,
      small(0.9),
      "end",
    ),
    // Keys along, heads down: what is cached is filled, the rest is an outline
    ["k", "v"].map((hue, k) => {
      const y = start + size * 3.1 + k * (high + size * 0.8);
      const wide = width - inner;
      const bars = cached.map(([first, past]) =>
        times(beat.heads, (row) =>
          rect(
            inner + first * wide,
            y + row * head,
            (past - first) * wide,
            head - (head > 5 ? 1.5 : head / 4),
            hue,
          ),
        ),
      );
      return [
        text(
          right + size * 1.1,
          y + high / 2 + size * 0.35,
          hue.toUpperCase(),
          size,
          `end bold ${INKS[hue]}`,
        ),
        rect(inner, y, wide, high, "", stroke("line", 1.5, { "stroke-dasharray": "4 4" }), 3),
        bars,
      ];
    }),
    titled(inner, below, beat.cached, `${texts.of} ${texts.full}`, size * 1.2),
  ];
}
