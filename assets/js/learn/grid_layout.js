// Where the matrices of a picture stand, and how large their cells are.

import { clamp } from "../lib/format.js";

/** @import { GridItem } from "./types.js" */

const PHONE = 7; // columns side by side
const HALL = 9;
const SLIDE = 8; // rows of a slide
export const LABEL = 1.9; // lines above a grid: its name, its columns' names
const OPERATOR = 0.62; // px of a letter's width, by size

/** px that an item takes beside its cells: names of rows, sums, an operator's words. @param {GridItem} item @param {number} type px */
export function fixed(item, type) {
  if (item.kind === "sign") return item.words.length * type * OPERATOR + 18;
  if (item.kind === "note") return 0;
  const longest = Math.max(0, ...(item.rows ?? []).map((name) => name.length));
  return (longest ? longest * type * 0.58 + 12 : 0) + (item.sums?.rows ? type * 3.1 : 0) + 10;
}

/** The size of all cells [width, height]: one size for the whole picture, so that shapes can be compared.
 * @param {GridItem[][]} lines @param {number} width @param {number} height @param {number} type @returns {[number, number]} */
export function cellOf(lines, width, height, type, most = [76, 48]) {
  const lead = type * 1.35;
  const across = Math.min(
    ...lines.map((line) => {
      const columns = line.reduce((sum, item) => sum + (item.cells?.[0].length ?? 0), 0);
      const rest = line.reduce((sum, item) => sum + fixed(item, type), 0);
      return columns ? (width - rest) / columns : Infinity;
    }),
  );
  const rows = lines.reduce(
    (sum, line) => sum + Math.max(0, ...line.map((item) => item.cells?.length ?? 0)),
    0,
  );
  const extra = lines.reduce(
    (sum, line) =>
      sum +
      (line.some((x) => x.kind === "words")
        ? 110
        : lead * (LABEL + (line.some((item) => item.sums?.cols) ? 1 : 0)) + 14),
    0,
  );
  return [Math.min(most[0], across), clamp((height - extra) / rows, 20, most[1])];
}

/** On a phone, and in a lecture hall where the slide is high enough, a line of matrices is broken where its digits would
 * be too small to read. @param {GridItem[][]} lines @param {boolean} narrow */
export function broken(lines, narrow, big = false) {
  if (!narrow && !big) return lines;
  const apart = parted(lines, narrow ? PHONE : HALL);
  const rows = apart.reduce(
    (sum, line) => sum + Math.max(0, ...line.map((item) => item.cells?.length ?? 0)),
    0,
  );
  return narrow || rows <= SLIDE ? apart : lines;
}

/** @param {GridItem[][]} lines @param {number} most */
function parted(lines, most) {
  return lines.flatMap((line) => {
    const all = line.reduce((sum, item) => sum + (item.cells?.[0].length ?? 0), 0);
    if (all <= most) return [line];
    /** @type {GridItem[][]} */
    const out = [];
    let now = Infinity;
    for (const item of line) {
      const columns = item.cells?.[0].length ?? 0;
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
