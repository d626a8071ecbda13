// Tiles: a map of every (Br, Bc) by speed or by what it takes, what the selected tile takes of an SM, and the maps of other head
// dimensions. A dark cell is a large value; hatching says that registers spill, an empty hatched one that there is no room.

import { group, line, path, rect, stroke, text, wrapped } from "../lib/svg_canvas.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{share: number, text: string, fits: boolean, spills: boolean}} Cell */
/** @typedef {{d: number, best: number, name: string, cells: Cell[]}} TileMap */
/** @typedef {{sides: number[], d: number, maps: TileMap[], has_wgmma: boolean, texts: Record<string, string>}} Picture */
/** What one program takes and what there is, in KiB. @typedef {[one: number, all: number]} Taken */
/** @typedef {{tip: string, label: string, programs?: number, registers?: Taken, shared?: Taken, takes?: {registers: string, shared: string}}} Tile */

export const height = { share: 2.3, least: 330, most: 620 };

const DARK = 0.72; // the share of the largest value from which on a cell is dark and its figure light

/** @param {Scene} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function paint({ data, at, go, choose }, paper, pen) {
  /** @type {Picture} */
  const { sides, d, maps, has_wgmma: hasWgmma, texts } = data.picture;
  const beats = /** @type {Tile[]} */ (/** @type {unknown} */ (data.beats));
  const { width, narrow, big, type } = paper;
  const size = big ? type : narrow ? 14 : 15;
  const own = maps.find((map) => map.d === d) ?? maps[0];
  const left = size * (narrow ? 2.6 : 4.6);
  const wide = ((narrow ? width : width * 0.49) - left) / sides.length;
  const top = size * 1.9;
  const high = narrow ? 44 : (paper.height - top - 10) / sides.length;
  const x = (/** @type {number} */ column) => left + column * wide;
  const y = (/** @type {number} */ row) => top + row * high;
  const [row, column] = [Math.floor(at / sides.length), at % sides.length];
  /** @param {number} dx @param {number} dy */
  const move = (dx, dy) => {
    const next = [row - dy, column + dx];
    if (!next.every((place) => place >= 0 && place < sides.length)) return;
    go(next[0] * sides.length + next[1]);
    pen.focus(`tile ${next[0] * sides.length + next[1]}`);
  };

  const cells = own.cells.map((cell, k) => {
    const place = /** @type {const} */ ([x(k % sides.length), y(Math.floor(k / sides.length))]);
    const node = pen.knob(
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
        paintCell(cell, ...place, wide - 3, high - 3, 4),
        cell.fits &&
          text(
            place[0] + wide / 2 - 1.5,
            place[1] + high / 2 + size * 0.4,
            cell.text,
            narrow ? 15 : size * 1.25,
            `middle ${k === own.best ? "bold" : ""} ${cell.share >= DARK ? "paper" : "ink"}`,
          ),
      ],
    );
    node.setAttribute("data-tip", beats[k].tip);
    return node;
  });
  const heads = sides.map((side, k) => [
    text(x(k) + wide / 2, size, side, size, `middle ${k === column ? "bold" : "quiet"}`),
    text(
      left - 14,
      y(k) + high / 2 + size * 0.35,
      side,
      size,
      `end ${k === row ? "bold" : "quiet"}`,
    ),
  ]);
  const bottom = y(sides.length);
  const right = narrow ? 0 : width * 0.7;
  const room = narrow ? width : width - right;
  const start = narrow ? bottom + 56 : size * 1.1;
  const taken = paintTaken(beats[at], texts, right, start, room, size);
  const others = maps.filter((map) => map !== own);
  const below = start + size * (narrow ? 9.5 : 10.2);
  const side = Math.min((room - size * 2) / 2, narrow ? 150 : paper.height - below - size * 4.2);
  if (narrow) paper.used = below + side + size * 4.2;
  return [
    text(left - 14, size, texts.corner, size * 0.85, "end quiet"),
    heads,
    cells,
    rect(
      x(column) - 1.5,
      y(row) - 1.5,
      wide,
      high,
      "",
      stroke("ink", 3, { "pointer-events": "none" }),
      5,
    ),
    hasWgmma && paintBorder(texts.wgmma, left, y(2) - 1.5, x(5), narrow, size, room),
    taken,
    text(right, below, texts.wider, size * 1.1, "bold"),
    others.map((map, k) =>
      paintSmall(map, right + k * (side + size * 2), below + size * 1.6, side, size, pen, () =>
        choose({ d: String(map.d) }),
      ),
    ),
    paintSigns(texts, maps, right, below + side + size * 3, size),
  ];
}

/** @param {Cell} cell @param {number} x @param {number} y @param {number} wide @param {number} high @param {number} round @returns {Drawn} */
function paintCell({ share, fits, spills }, x, y, wide, high, round) {
  const isDark = share >= DARK;
  const opacity = isDark ? 0.8 + (0.2 * (share - DARK)) / (1 - DARK) : 0.14 + 0.7 * share;
  const lines = stroke(fits ? (isDark ? "paper" : "accent-ink") : "quiet", 1, {
    opacity: fits ? 0.55 : 0.4,
    "pointer-events": "none",
  });
  return [
    rect(x, y, wide, high, "paper", { cursor: "pointer" }, round),
    fits
      ? rect(x, y, wide, high, isDark ? "accent-ink" : "accent", { opacity }, round)
      : rect(x + 0.5, y + 0.5, wide - 1, high - 1, "", stroke("line"), round),
    (spills || !fits) && path(hatch(x, y, wide, high, Math.max(5, wide / 14)), lines),
  ];
}

/** Strokes at 45° inside a rectangle. @param {number} x @param {number} y @param {number} wide @param {number} high @param {number} step */
function hatch(x, y, wide, high, step) {
  let d = "";
  for (let at = step; at < wide + high; at += step) {
    const [x0, y0] = at < high ? [0, at] : [at - high, high];
    const [x1, y1] = at < wide ? [at, 0] : [wide, at - wide];
    d += `M${x + x0} ${y + y0}L${x + x1} ${y + y1}`;
  }
  return d;
}

/** The first row from which on the kernel uses Hopper's wide matrix unit.
 * @param {string} words @param {number} left @param {number} y @param {number} right @param {boolean} narrow
 * @param {number} size @param {number} room @returns {Drawn} */
function paintBorder(words, left, y, right, narrow, size, room) {
  const said = narrow
    ? text(left, right > 0 ? y - 4 : y, "", size)
    : wrapped(right + 18, y - size * 0.35, words, room * 0.5, size, "semi ink-o");
  const border = path(
    `M${left - size * 2.4} ${y}H${right + 10}`,
    stroke("ink-o", 2.5, { "pointer-events": "none" }),
  );
  return [border, said];
}

/** Of one SM what the programs of this tile take: bars of registers and of shared memory.
 * @param {Tile} tile @param {Record<string, string>} texts @param {number} x @param {number} y @param {number} wide @param {number} size @returns {Drawn} */
function paintTaken({ label, programs = 0, registers, shared, takes }, texts, x, y, wide, size) {
  const head = text(x, y, `${label} ${texts.on_sm}`, size * 1.1, "bold");
  if (!registers || !shared || !takes)
    return [head, text(x, y + size * 2.3, texts.none, size, "quiet")];
  /** @param {string} name @param {Taken} of @param {string} said @param {number} at */
  const bar = (name, [one, all], said, at) => {
    const unit = wide / all;
    return [
      text(x, at, name, size),
      text(x + wide, at, said, size, "end quiet"),
      rect(x, at + 8, wide, size * 1.35, "line", {}, 3),
      Array.from({ length: programs }, (_, k) =>
        group(x + k * one * unit, at + 8, [
          rect(0, 0, one * unit - 2, size * 1.35, k % 2 ? "accent" : "accent-ink", {}, 3),
          one * unit > size * 5.6 &&
            text(
              (one * unit) / 2,
              size * 1.0,
              `${texts.program} ${k + 1}`,
              size * 0.86,
              "middle semi paper",
            ),
        ]),
      ),
    ];
  };
  return [
    head,
    bar(texts.registers, registers, takes.registers, y + size * 2.3),
    bar(texts.shared, shared, takes.shared, y + size * 6.1),
  ];
}

/** The map of another head dimension; a press draws it large.
 * @param {TileMap} map @param {number} x @param {number} y @param {number} side @param {number} size
 * @param {Pen<Scene>} pen @param {() => void} press @returns {Drawn} */
function paintSmall({ d, best, name, cells }, x, y, side, size, pen, press) {
  const count = Math.sqrt(cells.length);
  const one = side / count;
  const [row, column] = [Math.floor(best / count), best % count];
  return pen.knob({ key: `d ${d}`, group: "d", label: `d = ${d}`, text: name, press }, [
    rect(x, y - size, side, side + size * 1.5, "", { fill: "transparent", cursor: "pointer" }),
    line(
      x,
      y,
      [
        [`d = ${d}`, "bold"],
        [`  ${name}`, "quiet"],
      ],
      size * 0.9,
    ),
    cells.map((cell, k) =>
      paintCell(
        cell,
        x + (k % count) * one,
        y + size * 0.6 + Math.floor(k / count) * one,
        one - 1.5,
        one - 1.5,
        2,
      ),
    ),
    rect(
      x + column * one - 0.75,
      y + size * 0.6 + row * one - 0.75,
      one,
      one,
      "",
      stroke("ink", 2.5),
      3,
    ),
  ]);
}

/** What hatching means, where a map has it. @param {Record<string, string>} texts @param {TileMap[]} maps
 * @param {number} x @param {number} y @param {number} size @returns {Drawn} */
function paintSigns(texts, maps, x, y, size) {
  const all = maps.flatMap(({ cells }) => cells);
  const step = size * 0.9;
  /** @param {number} at @param {Cell} cell @param {string} words */
  const sign = (at, cell, words) => [
    paintCell(cell, at, y - step * 0.8, step, step, 2),
    text(at + step * 1.5, y, words, size * 0.86, "quiet"),
  ];
  const spills = { share: 0.5, text: "", fits: true, spills: true };
  const none = { share: 0, text: "", fits: false, spills: false };
  return [
    all.some((cell) => cell.spills) && sign(x, spills, texts.spills),
    all.some((cell) => !cell.fits) && sign(x + size * 9.4, none, texts.unfit),
  ];
}
