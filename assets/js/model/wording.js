// The words that sentences of both passes are made of: rows, tiles, what the mask hides, what is moved. Pure.

import { blockName, bytes, number, sub } from "../lib/format.js";

/** @import { Frame, Op, Problem, Row } from "./types.js" */

const NAMED = 36; // characters of a mask that a sentence takes
/** What a sentence calls the mask. @param {Problem} problem */
export const maskName = ({ mask }) => `the mask${mask.length > NAMED ? "" : ` ${mask}`}`;

/** Of each plain mask: when a score is hidden, why scores are, and why a tile is skipped. */
const HIDDEN = {
  full: { code: "", why: "", skip: "" },
  causal: { code: "key > query", why: "their key comes after their query", skip: "Every key comes after every query here" },
};
/** The same of any; `who` hides scores of the tile, in words, where that is known. @param {Problem} problem */
export const hiddenBy = (problem, who = "") => HIDDEN[problem.mask] ?? {
  code: problem.mask.length > NAMED ? "the mask hides a key" : `not ${problem.mask}`,
  why: `${who || `${maskName(problem)} hides`} their key`,
  skip: who ? `${who[0].toUpperCase()}${who.slice(1)} this whole tile` : `No query here sees any of these keys under ${maskName(problem)}`,
};

/** How many scores of this tile the mask hides, and how many of its lanes have no key. @param {Frame} f */
export function taken(f) {
  const [rows, cols] = [f.rows.stop - f.rows.start, f.cols.stop - f.cols.start];
  let scores = 0;
  for (let k = 0; f.numbers && k < rows * cols; k++) if (f.hides(Math.floor(k / cols), k % cols)) scores++;
  return { scores, of: rows * cols, lanes: f.j < 0 ? 0 : f.problem.block_k - cols };
}

/** @param {Frame} f */
export const tileName = (f) => (f.j < 0 ? `row block ${f.i}` : `tile (${f.i}, ${f.j})`);
/** @param {Frame} f @param {Op} op */
export const sumBytes = (f, op) => f.transfers.reduce((a, t) => a + (t.op === op ? t.bytes : 0), 0);
/** The blocks that are read or written here. @param {Frame} f @param {Op} op */
export function moved(f, op) {
  const names = f.transfers.filter((t) => t.op === op).map(blockName);
  const what = names.length > 6 ? `${names.slice(0, 2).join(", ")} … ${names.at(-1)}` : listed(names);
  return `${what} ${names.length > 1 ? "are" : "is"} ${op === "read" ? "read from" : "written to"} HBM, ${bytes(sumBytes(f, op))}`;
}

/** @param {Row} row */
export const rowWord = (row) => (row.name ? `Row ${row.row} “${row.name}”` : `Row ${row.row}`);
/** @param {string[]} words */
export const listed = (words) => (words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)}` : words.join(""));
/** @param {number | undefined} a @param {number | undefined} b */
export const minus = (a, b) => `${number(a)} − ${Number(b) < 0 ? `(${number(b)})` : number(b)}`;
/** @param {Frame} f */
export const tileOf = (f) => (f.j < 0 ? sub(f.i) : f.i > 9 || f.j > 9 ? `${sub(f.i)},${sub(f.j)}` : sub(f.i) + sub(f.j));

/** What the mask takes away of this tile. @param {Frame} f */
export function masked(f) {
  const { mask, n } = f.problem;
  const { scores, of, lanes } = taken(f);
  const { why } = hiddenBy(f.problem, f.hiders);
  const parts = [];
  if (!f.numbers && mask !== "full") parts.push("The keys that these queries may not see become −∞");
  else if (scores) parts.push(`${scores} of ${of} scores become −∞: ${why}`);
  if (lanes > 1) parts.push(`${lanes} lanes beyond key ${n - 1} hold no key: their 0 becomes −∞ and enters no sum`);
  else if (lanes) parts.push(`${parts.length ? "the" : "The"} lane beyond key ${n - 1} holds no key: its 0 becomes −∞ and enters no sum`);
  if (!parts.length) return `Every query here sees every key, so nothing changes; lanes beyond row ${n - 1} hold no query, and nothing of them is stored.`;
  return `${parts.join("; ")}.`;
}
