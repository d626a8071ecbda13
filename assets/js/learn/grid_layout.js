// Where the matrices of a picture stand, and how large their cells are.

import { clamp } from "../lib/format.js";

/** @import { GridItem } from "./types.js" */

const PHONE = 7; // columns side by side
const HALL = 9;
const SLIDE = 8; // rows of a slide
const LABEL = 1.9; // lines above a grid: its name, its columns' names
export const WORDS = 110; // px of words joined by weights
const [WIDEST, HIGHEST] = [76, 48]; // px of a cell
const OPERATOR = 0.62; // px of a letter's width, by size

const LINE = 1.35; // px of a line of type, by size
/** The columns of an item that has cells. @param {GridItem} item */
const columnsOf = (item) => item.cells?.[0].length ?? 0;
/** The rows of a line's highest matrix. @param {GridItem[]} line */
export const rowsOf = (line) => Math.max(0, ...line.map((item) => item.cells?.length ?? 0));
/** @param {number[]} values */
const sum = (values) => values.reduce((a, b) => a + b, 0);

/** px above the cells of a grid: its name, its columns' names. @param {number} type px */
export const headOf = (type) => type * LINE * LABEL;

/** px of a line beside its cells: names above, sums below, a gap. @param {GridItem[]} line @param {number} type px */
export const restOf = (line, type) =>
  headOf(type) + (line.some((item) => item.sums?.cols) ? type * LINE : 0) + 14;

/** px that an item takes beside its cells: names of rows, sums, an operator's words. @param {GridItem} item @param {number} type px */
export function fixed(item, type) {
  if (item.kind === "sign") return item.words.length * type * OPERATOR + 18;
  if (item.kind === "note") return 0;
  const longest = Math.max(0, ...(item.rows ?? []).map((name) => name.length));
  return (longest ? longest * type * 0.58 + 12 : 0) + (item.sums?.rows ? type * 3.1 : 0) + 10;
}

/** The size of all cells [width, height]: one size for the whole picture, so that shapes can be compared.
 * @param {GridItem[][]} lines @param {number} width @param {number} height @param {number} type @returns {[number, number]} */
export function cellOf(lines, width, height, type) {
  const across = lines.map((line) => {
    const columns = sum(line.map(columnsOf));
    return columns ? (width - sum(line.map((item) => fixed(item, type)))) / columns : Infinity;
  });
  const rest = lines.map((line) =>
    line.some((item) => item.kind === "words") ? WORDS : restOf(line, type),
  );
  return [
    Math.min(WIDEST, ...across),
    clamp((height - sum(rest)) / sum(lines.map(rowsOf)), 20, HIGHEST),
  ];
}

/** On a phone, and in presentation mode where the slide is high enough, a line of matrices is broken where its digits would
 * be too small to read. @param {GridItem[][]} lines @param {boolean} narrow */
export function broken(lines, narrow, big = false) {
  if (!narrow && !big) return lines;
  const apart = parted(lines, narrow ? PHONE : HALL);
  return narrow || sum(apart.map(rowsOf)) <= SLIDE ? apart : lines;
}

/** @param {GridItem[][]} lines @param {number} most */
function parted(lines, most) {
  return lines.flatMap((line) => {
    if (sum(line.map(columnsOf)) <= most) return [line];
    /** @type {GridItem[][]} */
    const out = [];
    let now = Infinity;
    for (const item of line) {
      const columns = columnsOf(item);
      if (now + columns > most) {
        const before = out.at(-1);
        const sign = before?.at(-1)?.kind === "sign" ? before.pop() : null; // it stays with its matrix
        out.push(sign ? [sign] : []);
        now = 0;
      }
      out[out.length - 1].push(item);
      now += columns;
    }
    return out;
  });
}
