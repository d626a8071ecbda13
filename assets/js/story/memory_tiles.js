// Tiles: a map of every (Br, Bc) by speed or by what it takes, what the selected tile takes of an SM, and the maps of other head
// dimensions. A dark cell is a large value; hatching says that registers spill, an empty hatched one that there is no room.

import { widthOf } from "../lib/chart.js";
import { times } from "../lib/lists.js";
import {
  group,
  hatch,
  hit,
  path,
  rect,
  stroke,
  text,
  tipped,
  titled,
  wrapped,
} from "../lib/svg_canvas.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{share: number, text: string, fits: boolean, spills: boolean}} Cell */
/** @typedef {{d: number, best: number, name: string, cells: Cell[]}} TileMap */
/** @typedef {{sides: number[], d: number, maps: TileMap[], has_wgmma: boolean, texts: Record<string, string>}} Picture */
/** What one program takes and what there is, in KiB, and a sentence of it. @typedef {{name: string, one: number, all: number, text: string}} Taken */
/** @typedef {{tip: string, label: string, programs?: number, taken?: Taken[]}} Tile */

const DARK = 0.72; // the share of the largest value from which on a cell is dark and its figure light

/** @param {Scene<Picture, Tile>} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function tiles({ picture, beats, beat, at, go, choose }, paper, pen) {
  const { sides, d, maps, has_wgmma: hasWgmma, texts } = picture;
  const { width, narrow, type: size, small } = paper;
  const count = sides.length;
  const own = maps.find((map) => map.d === d) ?? maps[0];
  const left = size * (narrow ? 4 : 4.6);
  const wide = ((narrow ? width : width * 0.49) - left) / count;
  const top = size * 1.9;
  const high = narrow ? 44 : (paper.height - top - 10) / count;
  const x = (/** @type {number} */ column) => left + column * wide;
  const y = (/** @type {number} */ row) => top + row * high;
  const [row, column] = [Math.floor(at / count), at % count];
  const move = (/** @type {number} */ dx, /** @type {number} */ dy) => {
    const next = [row - dy, column + dx];
    if (!next.every((place) => place >= 0 && place < count)) return;
    const k = next[0] * count + next[1];
    go(k);
    pen.focus(`tile ${k}`);
  };
  const right = narrow ? 0 : width * 0.7;
  const room = width - right;
  const start = narrow ? y(count) + 56 : size * 1.1;
  const below = start + size * (narrow ? 9.5 : 10.2);
  const side = Math.min((room - size * 2) / 2, narrow ? 150 : paper.height - below - size * 4.2);
  if (narrow) paper.used = below + side + size * 4.2;
  const all = maps.flatMap(({ cells }) => cells);
  const foot = below + side + size * 3.4;
  const sign = (
    /** @type {number} */ px,
    /** @type {Partial<Cell>} */ cell,
    /** @type {string} */ words,
  ) => [
    paintCell(
      { share: 0.5, text: "", fits: false, spills: false, ...cell },
      px,
      foot - size * 0.72,
      size * 0.9,
      size * 0.9,
      2,
    ),
    text(px + size * 1.35, foot, words, small(0.86), "quiet"),
  ];
  return [
    text(left - 14, size, texts.corner, small(0.85), "end quiet"),
    sides.map((one, k) => [
      text(x(k) + wide / 2, size, one, size, `middle ${k === column ? "bold" : "quiet"}`),
      text(
        left - 14,
        y(k) + high / 2 + size * 0.35,
        one,
        size,
        `end ${k === row ? "bold" : "quiet"}`,
      ),
    ]),
    own.cells.map((cell, k) => {
      const [px, py] = [x(k % count), y(Math.floor(k / count))];
      const look = `middle ${k === own.best ? "bold" : ""} ${cell.share >= DARK ? "paper" : "ink"}`;
      return tipped(
        pen.knob(
          {
            key: `tile ${k}`,
            group: "tile",
            label: beats[k].label,
            text: cell.text,
            chosen: k === at,
            press: () => go(k),
            keys: move,
          },
          [
            paintCell(cell, px, py, wide - 3, high - 3, 4),
            cell.fits &&
              text(
                px + wide / 2 - 1.5,
                py + high / 2 + size * 0.4,
                cell.text,
                narrow ? 15 : size * 1.25,
                look,
              ),
          ],
        ),
        beats[k].tip,
      );
    }),
    frame(x(column) - 1.5, y(row) - 1.5, wide, high),
    // The first row from which on the kernel uses Hopper's wide matrix unit
    hasWgmma && [
      path(
        `M${left - size * 2.4} ${y(2) - 1.5}H${x(count) + 10}`,
        stroke("ink-o", 2.5, { "pointer-events": "none" }),
      ),
      narrow
        ? text(x(count), y(count) + size * 1.1, texts.wgmma, size - 1, "end semi ink-o")
        : wrapped(x(count) + 28, y(2) - size * 0.45, texts.wgmma, room * 0.5, size, "semi ink-o"),
    ],
    group(0, 0, paintTaken(beat, texts, right, start, room, paper)), // of as many nodes as programs: apart, what follows keeps its own
    text(right, below, texts.wider, size * 1.1, "bold"),
    maps
      .filter((map) => map !== own)
      .map((map, k) =>
        paintSmall(
          map,
          right + k * (side + size * 2),
          below + size * 1.6,
          side,
          paper,
          pen,
          choose,
        ),
      ),
    all.some((cell) => cell.spills) && sign(right, { fits: true, spills: true }, texts.spills),
    all.some((cell) => !cell.fits) && sign(right + size * 9.4, {}, texts.unfit),
  ];
}

/** @param {number} x @param {number} y @param {number} wide @param {number} high */
const frame = (x, y, wide, high) =>
  rect(x, y, wide, high, "", stroke("ink", 3, { "pointer-events": "none" }), 5);

/** @param {Cell} cell @param {number} x @param {number} y @param {number} wide @param {number} high @param {number} round @returns {Drawn} */
function paintCell({ share, fits, spills }, x, y, wide, high, round) {
  const isDark = share >= DARK;
  const opacity = isDark ? 0.8 + (0.2 * (share - DARK)) / (1 - DARK) : 0.14 + 0.7 * share;
  const hue = fits ? (isDark ? "paper" : "accent-ink") : "quiet";
  return [
    rect(x, y, wide, high, "paper", { cursor: "pointer" }, round),
    fits
      ? rect(x, y, wide, high, isDark ? "accent-ink" : "accent", { opacity }, round)
      : rect(x + 0.5, y + 0.5, wide - 1, high - 1, "", stroke("line"), round),
    (spills || !fits) &&
      path(
        hatch(x, y, wide, high, Math.max(5, wide / 14)),
        stroke(hue, 1, { opacity: 0.5, "pointer-events": "none" }),
      ),
  ];
}

/** Of one SM what the programs of this tile take: bars of registers and of shared memory.
 * @param {Tile} tile @param {Record<string, string>} texts @param {number} x @param {number} y @param {number} wide @param {Paper} paper @returns {Drawn} */
function paintTaken({ label, programs = 0, taken }, texts, x, y, wide, { type: size, small, big }) {
  return [
    text(x, y, `${label} ${texts.on_sm}`, size * 1.1, "bold"),
    !taken && text(x, y + size * 2.3, texts.none, size, "quiet"),
    taken?.map(({ name, one, all, text: said }, k) => {
      const top = y + size * (2.3 + 3.8 * k);
      const part = (one * wide) / all;
      return [
        text(x, top, name, size),
        !big && text(x + wide, top, said, size, "end quiet"),
        rect(x, top + 8, wide, size * 1.35, "line", {}, 3),
        times(programs, (p) => [
          rect(
            x + p * part,
            top + 8,
            part - 2,
            size * 1.35,
            p % 2 ? "accent" : "accent-ink",
            {},
            3,
          ),
          part > size * 5.6 &&
            text(
              x + (p + 0.5) * part,
              top + 8 + size,
              `${texts.program} ${p + 1}`,
              small(0.86),
              "middle semi paper",
            ),
        ]),
      ];
    }),
  ];
}

/** The map of another head dimension; a press draws it large. @param {TileMap} map @param {number} x @param {number} y @param {number} side @param {Paper} paper
 * @param {Pen<Scene>} pen @param {Scene["choose"]} choose @returns {Drawn} */
function paintSmall({ d, best, name, cells }, x, y, side, { type: size, small }, pen, choose) {
  const count = Math.sqrt(cells.length);
  const one = side / count;
  const top = y + size * 0.6;
  const press = () => choose({ d: String(d) });
  return pen.knob({ key: `d ${d}`, group: "d", label: `d = ${d}`, text: name, press }, [
    hit(x, y - size, side, side + size * 1.5),
    titled(x, y, `d = ${d}`, widthOf(name, size) < side / 2 ? name : "", small(0.9)),
    cells.map((cell, k) =>
      paintCell(
        cell,
        x + (k % count) * one,
        top + Math.floor(k / count) * one,
        one - 1.5,
        one - 1.5,
        2,
      ),
    ),
    frame(x + (best % count) * one - 0.75, top + Math.floor(best / count) * one - 0.75, one, one),
  ]);
}
