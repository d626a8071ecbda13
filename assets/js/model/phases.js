// One record per phase: its code line and its sentence with live numbers. The rail, the code card
// and the spoken text all read these, so they cannot disagree.

import { ALGORITHMS } from "./algorithms.js";
import { blockName, bytes, number, sub } from "../lib/format.js";

/** @import { Frame, Order, Row } from "./types.js" */
/** @typedef {{text: string, note?: string, phase?: string, stage?: string, first?: boolean}} Line */

/** Does this code line run at this moment? @param {Line} line @param {Frame} f @returns {boolean} */
export function lit(line, f) {
  if (line.stage && line.stage !== f.stage) return false;
  if (line.phase !== f.phase) return false;
  if (line.first) return f.transfers.some((t) => t.tensor === ALGORITHMS[f.problem.order].opens);
  return true;
}

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
  scores: (f) => `S = Q Kᵀ / √d: ${f.rows.stop - f.rows.start} × ${f.cols.stop - f.cols.start} scores on chip.`,
  mask: () => "the keys that these queries may not see become −∞.",
  max: (f, row) => {
    if (!row) return "each row takes its maximum.";
    if (f.stage === "softmax") return `${rowWord(row)}: its largest score is ${number(row.m_new)}.`;
    if (!row.rose) return `${rowWord(row)}: max(${number(row.m_old)}, ${number(row.row_max)}) = ${number(row.m_new)}, the maximum stays.`;
    return `${rowWord(row)}: max(${number(row.m_old)}, ${number(row.row_max)}) = ${number(row.m_new)}, a new maximum.`;
  },
  exp: (f, row) => {
    if (f.stage === "softmax") return "exp(S − m): every weight is at most 1, and divided by ℓ it will be P.";
    if (!row || row.alpha === undefined) return "P = exp(S − m): every weight is at most 1.";
    return `${rowWord(row)}: α = exp(${number(row.m_old)} − ${number(row.m_new)}) = ${number(row.alpha)} rescales what was summed before.`;
  },
  sum: (f, row) => {
    if (!row) return "each row sums its weights.";
    if (row.alpha === undefined) return `${rowWord(row)}: ℓ = ${number(row.l_new)}.`;
    return `${rowWord(row)}: ℓ = ${number(row.alpha)} × ${number(row.l_old)} + ${number(row.row_sum)} = ${number(row.l_new)}.`;
  },
  output: (f) => {
    const i = sub(f.i);
    if (f.stage) return `O${i} = P V, read back from the stored P.`;
    if (f.problem.order === "fa1") return `O${i} ← (ℓ·α·O${i} + P V${sub(f.j)}) / ℓ_new, normalised at every visit.`;
    return `O${i} ← α·O${i} + P V${sub(f.j)}, still unnormalised on chip.`;
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
