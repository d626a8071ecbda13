// A paged cache above the map: the numbers of the pool's pages over the strips of K and V, whose pages lie where they lie in HBM,
// and under the strips the block table, a cell over each key block. A line leads from the cell at work to its page.

import { set, svg } from "../lib/dom.js";
import { clamp } from "../lib/format.js";
import { times } from "../lib/lists.js";
import { t } from "../model/texts.js";

/** @import { Problem } from "../model/types.js" */
/** @import { Box, Theme } from "./types.js" */

const DIGIT = 0.64; // em, the width of one
const CELL_FROM = 5; // px below which the table is one bar
const PAGE_FROM = 3; // px below which pages of other requests are left empty
const HATCH = 6; // px between the lines in pages of other requests
const NOWHERE = { width: 0, height: 0 };

/** What the rows of numbers, the table and the line to it take, in px. @param {Theme} theme */
export function roomOfPages({ unit: u, big }) {
  const [numbers, table, line] = big ? [34, 34, 20] : [18, 18, 14];
  return { numbers: Math.max(17, numbers * u), table: Math.max(16, table * u), line: line * u };
}

/** The lines that fill a box, as the text of a path. @param {Box} box */
function hatched({ x, y, width, height }) {
  const count = Math.floor((width + height) / HATCH);
  const lines = times(count, (k) => {
    const at = (k + 0.5) * HATCH;
    const [low, high] = [Math.min(at, width), Math.min(at, height)];
    return `M${x + low} ${y + at - low}L${x + at - high} ${y + high}`;
  });
  return lines.join("");
}

/** Make the table of a paged cache. @param {Problem} problem with a block table @param {Theme} theme
 * @param {{left: number, side: number, cell: number}} map @param {Box} strips of K and V, one over the other @param {Box[]} boxes a
 * page of each strip, the first one of the pool */
export function makePages(problem, theme, { left, side, cell }, strips, boxes) {
  const { block_k, Tc, pages = 0, block_table: table = [] } = problem;
  const room = roomOfPages(theme);
  const wide = side / pages;
  const long = block_k * cell;
  const type = theme.big ? Math.max(24, 24 * theme.unit) : Math.max(12, 13 * theme.unit);
  const least = String(pages - 1).length * DIGIT * type + 6; // px of a cell that has room for its number
  const bottom = strips.y + strips.height;
  const top = bottom + room.line; // of the table
  const own = new Set(table);
  /** The cell of key block j. @param {number} j */
  const cellOf = (j) => ({
    x: left + j * long,
    y: top,
    width: Math.max(0.5, Math.min(side - j * long, long) - 2),
    height: room.table,
  });

  /** A row of numbers, of which one is bold: that is there also where the others have no room.
   * @param {number[]} numbers @param {number} each @param {(k: number) => Box} boxOf */
  function rowOf(numbers, each, boxOf) {
    const middle = (/** @type {number} */ k) => {
      const { x, y, width, height } = roomy(boxOf(k));
      return { x: x + width / 2, y: y + height / 2 };
    };
    const texts = each < least ? [] : numbers;
    const plain = texts.map((text, k) => svg("text.fa-page-name", { ...middle(k), text }));
    const now = svg("text.fa-page-name.is-now");
    const draw = (/** @type {number | null} */ at) => {
      plain.forEach((node, k) => set(node, { visibility: k === at ? "hidden" : null }));
      set(now, at === null ? { text: "" } : { ...middle(at), text: numbers[at] });
    };
    return { nodes: [...plain, now], draw };
  }

  const numbers = rowOf(
    times(pages, (page) => page),
    wide,
    (page) => ({
      x: left + page * wide,
      y: strips.y - room.numbers,
      width: wide - 2,
      height: room.numbers,
    }),
  );
  const entries = rowOf(table, Math.min(long, side), cellOf);
  const others = times(pages, (page) => page).filter((page) => wide >= PAGE_FROM && !own.has(page));
  const boxesOfOthers = others.flatMap((page) =>
    boxes.map((box) => ({ ...box, x: box.x + page * wide })),
  );
  const cells =
    long < CELL_FROM ? [{ ...cellOf(0), width: side - 2 }] : times(Tc, (j) => cellOf(j));
  const head = (/** @type {"page" | "table"} */ name, /** @type {number} */ y) =>
    svg("text.fa-page-name.fa-page-head", { x: left - 6, y, text: t(`map.${name}`) });
  const frame = svg("rect.fa-page-now", { rx: 4 });
  const cellNow = svg("rect.fa-page-now.is-filled", { rx: 3 });
  const line = svg("path.fa-page-line");
  const nodes = [
    ...boxesOfOthers.map((box) => svg("rect.fa-page-other", { ...box, rx: 3 })),
    svg("path.fa-page-hatch", { d: boxesOfOthers.map(hatched).join("") }),
    ...cells.map((box) => svg("rect.fa-page-cell", { ...box, rx: 3 })),
    line,
    frame,
    cellNow,
    head("page", strips.y - room.numbers / 2),
    head("table", top + room.table / 2),
    ...numbers.nodes,
    ...entries.nodes,
  ];

  /** A cell that has room for its number, wider than the others where they have none. @param {Box} cell */
  function roomy({ x, width, ...rest }) {
    const wider = Math.max(width, least);
    return {
      ...rest,
      x: clamp(x + (width - wider) / 2, left - 2, left + side - wider),
      width: wider,
    };
  }

  /** Key block j is at work; null: none is. @param {number | null} j */
  function draw(j) {
    const page = j === null ? null : table[j];
    numbers.draw(page);
    entries.draw(j);
    if (j === null || page === null) {
      for (const node of [frame, cellNow]) set(node, NOWHERE);
      return set(line, { d: "" });
    }
    const box = {
      x: left + page * wide - 2,
      y: strips.y - 2,
      width: wide + 2,
      height: strips.height + 4,
    };
    const at = cellOf(j);
    set(frame, box);
    set(cellNow, roomy(at));
    set(line, {
      d: `M${at.x + at.width / 2} ${top}V${top - room.line / 2}H${box.x + box.width / 2}V${bottom + 2}`,
    });
  }

  /** The key block whose cell is at a place; null where none is. @param {number} x @param {number} y */
  function at(x, y) {
    const isThere = y >= top && y <= top + room.table && x >= left && x < left + side;
    return isThere ? Math.floor((x - left) / long) : null;
  }

  return { nodes, draw, at };
}
