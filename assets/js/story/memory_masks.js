// Masks: the tiles that a mask leaves of N × N, and beside it the keys and values that decoding keeps, of all keys and all heads.

import { INKS, line, path, rect, stroke, text, wrapped } from "../lib/svg_canvas.js";

/** @import { Drawn, Paper } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** A run of cells of a row. @typedef {[row: number, first: number, past: number]} Run */
/** @typedef {{rows: number, columns: number, full: Run[], partial: Run[], kept: [number, number][]}} Tiles */
/** @typedef {{maps: Record<string, Tiles>, heads: number, texts: Record<string, string>}} Picture */
/** @typedef {{mask: string, heads: number, tiles: string, flops: string, kept: string, long: string, of_heads: string, note: string}} Beat */

export const height = { share: 2.1, least: 320, most: 640 };

/** @param {Scene} scene @param {Paper} paper @returns {Drawn} */
export function paint({ data, at }, paper) {
  /** @type {Picture} */
  const { maps, heads, texts } = data.picture;
  const beat = /** @type {Beat} */ (/** @type {unknown} */ (data.beats[at]));
  const { width, narrow, big, type } = paper;
  const size = big ? type : 15;
  const map = maps[beat.mask];
  const left = size * 1.7;
  const top = size * 3.1;
  const side = narrow
    ? width - left
    : Math.min(paper.height - top - size * 4.6, width * 0.42 - left);
  const foot = top + side + size * 1.7;
  const right = narrow ? 0 : Math.max(left + side + size * 4, width * 0.47);
  const start = narrow ? foot + size * 4.6 : 0;
  const room = width - right;
  const cacheHigh = narrow ? 84 : (paper.height - size * 10.5) / 2;
  const below = start + size * 3.1 + cacheHigh * 2 + size * 2.6;
  if (narrow) paper.used = below + size * 3.4;
  return [
    text(left, size, texts.map, size * 1.1, "bold"),
    text(left + side / 2, top - size * 0.6, texts.columns, size * 0.9, "middle quiet"),
    text(left - size * 0.6, top + side / 2, texts.rows, size * 0.9, "middle quiet", -90),
    paintTiles(map, left, top, side),
    wrapped(left, foot, beat.tiles, narrow ? width : right - left - size * 2, size, ""),
    text(left, foot + size * (narrow ? 2.9 : 1.5), beat.flops, size * 0.9, "quiet"),
    text(right, start + size, texts.cache, size * 1.1, "bold"),
    line(
      width,
      start + size * 2.5,
      [
        [beat.of_heads, "bold"],
        [`  ${texts.of} ${texts.of_heads}`, "quiet"],
      ],
      size * 0.9,
      "end",
    ),
    ["k", "v"].map((hue, k) =>
      paintCache(
        { hue, kept: map.kept, heads: beat.heads, of: heads },
        right + size * 1.8,
        start + size * 3.1 + k * (cacheHigh + size * 0.8),
        room - size * 1.8,
        cacheHigh,
        size,
      ),
    ),
    line(
      right + size * 1.8,
      below,
      [
        [beat.kept, "bold"],
        [`  ${texts.of} ${texts.full}`, "quiet"],
      ],
      size * 1.2,
    ),
    text(right + size * 1.8, below + size * 1.7, beat.long, size * 0.95, "quiet"),
  ];
}

/** @param {Tiles} tiles @param {number} x @param {number} y @param {number} side @returns {Drawn} */
function paintTiles({ rows, columns, full, partial }, x, y, side) {
  const [wide, high] = [side / columns, side / rows];
  const gap = Math.min(wide, high) > 5 ? 1 : 0;
  /** @param {Run[]} runs */
  const drawn = (runs) =>
    runs
      .flatMap(([row, first, past]) =>
        Array.from(
          { length: past - first },
          (_, k) =>
            `M${x + (first + k) * wide} ${y + row * high}h${wide - gap}v${high - gap}h${gap - wide}z`,
        ),
      )
      .join("");
  return [
    rect(x - 1, y - 1, side + 2, side + 2, "", stroke("line", 1.5), 3),
    path(drawn(full), { fill: "var(--fa-accent)" }),
    path(drawn(partial), { fill: "var(--fa-accent)", opacity: 0.45 }),
  ];
}

/** K or V: keys along, heads down; what is kept is filled, the rest is an outline.
 * @param {{hue: string, kept: [number, number][], heads: number, of: number}} cache @param {number} x @param {number} y
 * @param {number} wide @param {number} high @param {number} size @returns {Drawn} */
function paintCache({ hue, kept, heads, of }, x, y, wide, high, size) {
  const one = high / of;
  const gap = one > 5 ? 1.5 : one > 2.5 ? 0.6 : 0;
  return [
    text(
      x - size * 0.7,
      y + high / 2 + size * 0.35,
      hue.toUpperCase(),
      size,
      `end bold ${INKS[hue]}`,
    ),
    rect(x, y, wide, high, "", stroke("line", 1.5, { "stroke-dasharray": "4 4" }), 3),
    path(
      kept
        .flatMap(([first, past]) =>
          Array.from(
            { length: heads },
            (_, k) =>
              `M${x + first * wide} ${y + k * one}h${(past - first) * wide}v${one - gap}h${(first - past) * wide}z`,
          ),
        )
        .join(""),
      { fill: `var(--fa-${hue})` },
    ),
  ];
}
