// One record per phase: its code line and its sentence with live numbers. The rail, the code card
// and the spoken text all read these, so they cannot disagree.

import { ALGORITHMS } from "./algorithms.js";
import { blockName, bytes, number, sub } from "../lib/format.js";

/** @import { Frame, Order, Problem, Row } from "./types.js" */
/** @typedef {{text: string, note?: string, phase?: string, stage?: string, first?: boolean}} Line */

/** Does this code line run at this moment? @param {Line} line @param {Frame} f @returns {boolean} */
export function lit(line, f) {
  if (line.stage && line.stage !== f.stage) return false;
  if (line.phase !== f.phase) return false;
  if (line.first) return f.transfers.some((t) => t.tensor === ALGORITHMS[f.problem.order].opens);
  return true;
}

/** A line of the code as it stands for this Problem: what its mask and its ragged edge hide is said there.
 * @param {string} text @param {Problem} problem */
export function codeText(text, { mask, n, block_k }) {
  const parts = { causal: ["key > query"], full: [] }[mask] ?? ["the mask hides a key"];
  if (n % block_k) parts.push(`key ≥ ${n}`);
  return text.replace("{hidden}", parts.join(" or ") || "a key is hidden: nowhere");
}

/** How many scores of this tile the mask hides, and how many of its lanes have no key. @param {Frame} f */
export function taken(f) {
  const [rows, cols] = [f.rows.stop - f.rows.start, f.cols.stop - f.cols.start];
  let scores = 0;
  for (let k = 0; f.numbers && k < rows * cols; k++) if (f.hides(Math.floor(k / cols), k % cols)) scores++;
  return { scores, of: rows * cols, lanes: f.j < 0 ? 0 : f.problem.block_k - cols };
}

/** Are the new weights of every row too small to change a digit? @param {Frame} f */
const faint = (f) => f.stats.every((s) => s.alpha === 1 && s.row_sum !== undefined && s.row_sum < 1e-3 * Number(s.l_new));

/** @param {Frame} f */
const tileName = (f) => (f.j < 0 ? `row block ${f.i}` : `tile (${f.i}, ${f.j})`);
/** @param {Frame} f @param {string} op */
const sumBytes = (f, op) => f.transfers.reduce((a, t) => a + (t.op === op ? t.bytes : 0), 0);
/** @param {Frame} f @param {string} op */
const namesOf = (f, op) => {
  const all = f.transfers.filter((t) => t.op === op).map(blockName);
  return all.length > 6 ? `${all.slice(0, 2).join(", ")} … ${all.at(-1)}` : all.join(", ");
};

/** @param {Row} row */
const rowWord = (row) => (row.name ? `row ${row.row} “${row.name}”` : `row ${row.row}`);

/** @type {Record<string, (f: Frame, row?: Row) => string>} */
const SENTENCES = {
  skip: () => "every key comes after every query here, so nothing is loaded and nothing computed.",
  load: (f) => `${namesOf(f, "read")} read from HBM, ${bytes(sumBytes(f, "read"))}.`,
  scores: (f) => {
    const { lanes } = taken(f);
    const rest = lanes ? `, and 0 in the ${lanes > 1 ? `${lanes} lanes` : "lane"} without a key` : "";
    return `S = Q Kᵀ / √d: ${f.rows.stop - f.rows.start} × ${f.cols.stop - f.cols.start} scores on chip${rest}.`;
  },
  mask: (f) => {
    const { mask, n } = f.problem;
    const { scores, of, lanes } = taken(f);
    const why = mask === "causal" ? "their key comes after their query" : "the mask hides their key";
    const parts = [];
    if (!f.numbers && mask !== "full") parts.push("the keys that these queries may not see become −∞");
    else if (scores) parts.push(`${scores} of ${of} scores become −∞: ${why}`);
    if (lanes > 1) parts.push(`${lanes} lanes beyond key ${n - 1} hold no key: their 0 becomes −∞ and enters no sum`);
    else if (lanes) parts.push(`the lane beyond key ${n - 1} holds no key: its 0 becomes −∞ and enters no sum`);
    if (!parts.length) return `every query here sees every key, so nothing changes; lanes beyond row ${n - 1} hold no query, and nothing of them is stored.`;
    return `${parts.join("; ")}.`;
  },
  max: (f, row) => {
    if (!row) return "each row takes its maximum.";
    if (f.stage === "softmax") return `${rowWord(row)}: its largest score is ${number(row.m_new)}.`;
    if (row.m_old === -Infinity) return `${rowWord(row)}: ${number(row.m_new)} is its first maximum.`;
    const all = f.stats.some((s) => s.rose) ? "" : ", as in every row";
    if (!row.rose) return `${rowWord(row)}: max(${number(row.m_old)}, ${number(row.row_max)}) = ${number(row.m_new)}, the maximum stays${all}.`;
    return `${rowWord(row)}: max(${number(row.m_old)}, ${number(row.row_max)}) = ${number(row.m_new)}, a new maximum.`;
  },
  exp: (f, row) => {
    if (f.stage === "softmax") return "exp(S − m): every weight is at most 1, and divided by ℓ it will be P.";
    if (!row || row.alpha === undefined) return "P = exp(S − m): every weight is at most 1.";
    if (row.m_old === -Infinity) return "P = exp(S − m): every weight is at most 1. Nothing was summed before, so there is nothing to rescale.";
    if (!row.rose) return `${rowWord(row)}: P = exp(S − m). Its maximum stayed, so α = 1 and what was summed before keeps its size.`;
    return `${rowWord(row)}: α = exp(${number(row.m_old)} − ${number(row.m_new)}) = ${number(row.alpha)} rescales what was summed before.`;
  },
  sum: (f, row) => {
    if (!row) return "each row sums its weights.";
    if (row.alpha === undefined || row.m_old === -Infinity) return `${rowWord(row)}: its weights sum to ℓ = ${number(row.l_new)}.`;
    const end = faint(f) ? "; the new weights are too small to change a digit" : "";
    return `${rowWord(row)}: ℓ = ${number(row.alpha)} × ${number(row.l_old)} + ${number(row.row_sum)} = ${number(row.l_new)}${end}.`;
  },
  output: (f) => {
    const i = sub(f.i);
    if (f.stage) return `O${i} = P V, read back from the stored P.`;
    if (f.problem.order === "fa1") return `O${i} ← (ℓ·α·O${i} + P V${sub(f.j)}) / ℓ_new, normalised at every visit.`;
    const end = faint(f) ? "; the new weights are too small to show" : "";
    return `O${i} ← α·O${i} + P V${sub(f.j)}, still unnormalised on chip${end}.`;
  },
  store: (f) => {
    const what = `${namesOf(f, "write")} written to HBM, ${bytes(sumBytes(f, "write"))}`;
    if (f.stage === "softmax") return `P = exp(S − m)/ℓ; ${what}.`;
    return f.problem.order === "fa2" ? `O${sub(f.i)} is divided by ℓ once; ${what}.` : `${what}.`;
  },
};

/** The step in words: what the eye sees, for the ear and the table; `row` is the followed row. @param {Frame} f @param {Row} [row] */
export function sentence(f, row) {
  const where = tileName(f);
  return `${where[0].toUpperCase()}${where.slice(1)}: ${SENTENCES[f.phase](f, row)}`;
}
