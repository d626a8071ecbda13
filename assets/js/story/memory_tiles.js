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
/** @typedef {{x: number, y: number, width: number, height: number}} Box */
/** @typedef {{d: number, best: number, name: string, cells: Cell[]}} TileMap */
/** @typedef {{sides: number[], d: number, maps: TileMap[], has_wgmma: boolean, texts: Record<string, string>}} Picture */
/** What one program takes and what there is, in KiB, and a sentence of it. @typedef {{name: string, one: number, all: number, text: string}} Taken */
/** @typedef {{label: string, headline?: string, programs?: number, taken?: Taken[]}} Tile */

const DARK = 0.72; // the share of the largest value from which on a cell is dark and its figure light

/** @param {Scene<Picture, Tile>} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function tiles({ picture, beats, beat, at, go, choose }, paper, pen) {
  const { sides, d, maps, has_wgmma: hasWgmma, texts } = picture;
  const { width, narrow, type: size, small } = paper;
  const count = sides.length;
  const own = maps.find((map) => map.d === d) ?? maps[0];
  const left = size * (narrow ? 4 : 4.6);
  const top = size * 1.9;
  const wide = ((narrow ? width : width * 0.49) - left) / count;
  const high = narrow ? 44 : (paper.height - top - 10) / count;
  const end = left + count * wide;
  const bottom = top + count * high;
  const line = top + 2 * high - 1.5; // above the first row from which on the kernel uses Hopper's wide matrix unit
  const [row, column] = [Math.floor(at / count), at % count];
  const keys = (/** @type {number} */ dx, /** @type {number} */ dy) => {
    const next = [row - dy, column + dx];
    if (!next.every((place) => place >= 0 && place < count)) return;
    const k = next[0] * count + next[1];
    go(k);
    pen.focus(`tile ${k}`);
  };
  const right = narrow ? 0 : width * 0.7;
  const room = width - right;
  const start = narrow ? bottom + 56 : size * 1.1;
  const below = start + size * 10;
  const side = Math.min((room - size * 2) / 2, narrow ? 150 : paper.height - below - size * 4.2);
  const foot = below + side + size * 3.4;
  if (narrow) paper.used = foot + size;
  const all = maps.flatMap(({ cells }) => cells);
  /** What a hatched cell means. @param {number} x @param {boolean} fits @param {string} words */
  const sign = (x, fits, words) => [
    paintCell({ share: 0.5, fits, spills: fits }, x, foot - size * 0.72, size * 0.9, size * 0.9, 2),
    text(x + size * 1.35, foot, words, small(0.86), "quiet"),
  ];
  return [
    text(left - 14, size, texts.corner, small(0.85), "end quiet"),
    sides.map((one, k) => {
      const [x, y] = [left + (k + 0.5) * wide, top + (k + 0.5) * high + size * 0.35];
      return [
        text(x, size, one, size, `middle ${k === column ? "bold" : "quiet"}`),
        text(left - 14, y, one, size, `end ${k === row ? "bold" : "quiet"}`),
      ];
    }),
    paintMap(
      own,
      { x: left, y: top, width: end - left, height: bottom - top },
      at,
      3,
      (cell, k, x, y) => {
        const { share, fits, text: value } = own.cells[k];
        const { label, headline = "" } = beats[k];
        const look = `middle ${k === own.best ? "bold" : ""} ${share >= DARK ? "paper" : "ink"}`;
        const knob = {
          key: `tile ${k}`,
          group: "tile",
          label,
          text: value,
          chosen: k === at,
          press: () => go(k),
          keys,
        };
        return tipped(
          pen.knob(knob, [
            cell,
            fits && text(x, y + size * 0.4, value, narrow ? 15 : size * 1.25, look),
          ]),
          headline,
        );
      },
    ),
    hasWgmma && [
      path(
        `M${left - size * 2.4} ${line}H${narrow ? end : end + 10}`,
        stroke("ink-o", 2.5, { "pointer-events": "none" }),
      ),
      narrow
        ? text(end, bottom + size * 1.1, texts.wgmma, size - 1, "end semi ink-o")
        : wrapped(end + 28, line - size * 0.4, texts.wgmma, room * 0.5, size, "semi ink-o"),
    ],
    group(0, 0, paintTaken(beat, texts, right, start, room, paper)), // of as many nodes as programs: apart, what follows keeps its own
    text(right, below, texts.wider, size * 1.1, "bold"),
    maps
      .filter((map) => map !== own)
      .map((map, k) => {
        const box = {
          x: right + k * (side + size * 2),
          y: below + size * 2.2,
          width: side,
          height: side,
        };
        const name = `d = ${map.d}`;
        const press = () => choose({ d: String(map.d) });
        return pen.knob({ key: `d ${map.d}`, group: "d", label: name, text: map.name, press }, [
          hit(box.x, below + size * 0.6, side, side + size * 1.5),
          titled(
            box.x,
            below + size * 1.6,
            name,
            widthOf(map.name, size) < side / 2 ? map.name : "",
            small(0.9),
          ),
          paintMap(map, box, map.best, 1.5),
        ]);
      }),
    all.some((cell) => cell.spills) && sign(right, true, texts.spills),
    all.some((cell) => !cell.fits) && sign(right + size * 9.4, false, texts.unfit),
  ];
}

/** The cells of a map, one of them framed; `draw` makes more of a cell, whose middle it is told.
 * @param {TileMap} map @param {Box} box @param {number} framed @param {number} gap
 * @param {(cell: Drawn, k: number, x: number, y: number) => Drawn} draw @returns {Drawn} */
function paintMap({ cells }, box, framed, gap, draw = (cell) => cell) {
  const count = Math.sqrt(cells.length);
  const [wide, high] = [box.width / count, box.height / count];
  const x = (/** @type {number} */ k) => box.x + (k % count) * wide;
  const y = (/** @type {number} */ k) => box.y + Math.floor(k / count) * high;
  return [
    cells.map((cell, k) => {
      const drawn = paintCell(cell, x(k), y(k), wide - gap, high - gap, gap + 1);
      return draw(drawn, k, x(k) + (wide - gap) / 2, y(k) + (high - gap) / 2);
    }),
    rect(
      x(framed) - gap / 2,
      y(framed) - gap / 2,
      wide,
      high,
      "",
      stroke("ink", 3, { "pointer-events": "none" }),
      5,
    ),
  ];
}

/** @param {Omit<Cell, "text">} cell @param {number} x @param {number} y @param {number} wide @param {number} high @param {number} round @returns {Drawn} */
function paintCell({ share, fits, spills }, x, y, wide, high, round) {
  const hue = fits ? (share >= DARK ? "paper" : "accent-ink") : "quiet";
  const lines = stroke(hue, 1, { opacity: 0.5, "pointer-events": "none" });
  return [
    rect(x, y, wide, high, "paper", fits ? {} : stroke("line"), round),
    fits && rect(x, y, wide, high, "accent-ink", { opacity: 0.14 + 0.86 * share }, round),
    (spills || !fits) && path(hatch(x, y, wide, high, Math.max(5, wide / 14)), lines),
  ];
}

/** Of one SM what the programs of this tile take: bars of registers and of shared memory.
 * @param {Tile} tile @param {Record<string, string>} texts @param {number} x @param {number} y @param {number} wide @param {Paper} paper @returns {Drawn} */
function paintTaken({ label, programs = 0, taken }, texts, x, y, wide, { type: size, small, big }) {
  return [
    text(x, y, `${label} ${texts.on_sm}`, size * 1.1, "bold"),
    !taken && text(x, y + size * 2.3, texts.none, size, "quiet"),
    taken?.map(({ name, one, all, text: amount }, k) => {
      const top = y + size * (2.3 + 3.8 * k);
      const part = (one * wide) / all;
      return [
        text(x, top, name, size),
        !big && text(x + wide, top, amount, size, "end quiet"),
        rect(x, top + 8, wide, size * 1.35, "line", {}, 3),
        times(programs, (p) => {
          const hue = p % 2 ? "accent" : "accent-ink";
          const words = part > size * 5.6 && `${texts.program} ${p + 1}`;
          return [
            rect(x + p * part, top + 8, part - 2, size * 1.35, hue, {}, 3),
            words &&
              text(x + (p + 0.5) * part, top + 8 + size, words, small(0.86), "middle semi paper"),
          ];
        }),
      ];
    }),
  ];
}
