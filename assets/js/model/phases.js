// One record per phase: its code line and its sentence with live numbers. The rail, the code card
// and the spoken text all read these, so they cannot disagree.

import { bytes, integer, number, sub } from "../lib/format.js";
import { algorithmsOf, backward } from "./passes.js";
import { bends, changesOf } from "./scores.js";
import { hiddenBy, listed, masked, maskName, minus, moved, rowWord, sumBytes, taken, tileName, tileOf } from "./wording.js";

/** @import { Frame, Order, Problem, Row } from "./types.js" */
/** `general`: the note under a mask that is neither full nor causal.
 * @typedef {{text: string, note?: string, general?: string, phase?: string, stage?: string, first?: boolean}} Line */

/** Does this code line run at this moment? @param {Line} line @param {Frame} f @returns {boolean} */
export function lit(line, f) {
  if (line.stage ? line.stage !== f.stage : f.pass === "backward" && f.stage !== null) return false; // it has kernels of both kinds
  if (line.phase !== f.phase) return false;
  if (line.first) return f.transfers.some((t) => t.tensor === algorithmsOf(f.pass)[f.problem.order].opens);
  return true;
}

/** A line of the code as it stands for this Problem: what its mask and its ragged edge hide is said there, what becomes of
 * a score, and where a sink enters.
 * @param {string} text @param {Problem} problem */
export function codeText(text, problem) {
  const { n, block_k, sink } = problem;
  const hides = [hiddenBy(problem).code, n % block_k ? `key ≥ ${n}` : ""].filter(Boolean);
  const none = sink === null || sink === undefined;
  /** @type {Record<string, string>} */
  const parts = {
    hidden: hides.join(" or ") || "a key is hidden: nowhere",
    score: changesOf(problem).map((code) => `;  S = ${code}`).join(""),
    m: none ? "−∞" : String(sink),
    l: none ? "0" : "1",
    top: none ? "rowmax S" : `max(rowmax S, ${sink})`,
    more: none ? "" : ` + exp(${sink} − m)`,
    slope: bends(problem) ? " ∘ dS/d(Q Kᵀ/√d)" : "",
  };
  return text.replace(/\{(\w+)\}/g, (all, name) => parts[name] ?? all);
}

/** What stands beside a line. @param {Line} line @param {Problem} problem */
export const noteOf = ({ note, general }, { plain }) => (plain ? note : general ?? note);

/** Are the new weights of every row too small to change a digit? @param {Frame} f */
const faint = (f) => f.stats.length > 0 && f.stats.every((s) => s.alpha === 1 && s.row_sum !== undefined && s.row_sum < 1e-3 * Number(s.l_new));

/** What is said of the rows whose maximum stayed, where that of another one rose. @param {Frame} f @param {Row} row @param {string} [end] */
function theOthers(f, row, end = "") {
  const kept = row.rose ? f.stats.filter((s) => !s.rose).map((s) => String(s.row)) : [];
  if (!kept.length) return "";
  const who = kept.length > 4 ? `${kept.length} of ${f.stats.length} rows` : `${kept.length > 1 ? "Rows" : "Row"} ${listed(kept)}`;
  return `${who} ${kept.length > 1 ? "keep theirs" : "keeps its own"}${end}.`;
}

/** A sentence; or with it a formula with its numbers, and what else is worth knowing.
 * @type {Record<string, (f: Frame, row?: Row) => string | string[]>} */
const SAID = {
  skip: (f) => `${hiddenBy(f.problem, f.hiders).skip}, so nothing is loaded and nothing computed.`,
  load: (f) => {
    const what = `${moved(f, "read")}.`;
    const [i, j, { sink, rope }] = [sub(f.i), sub(f.j), f.problem];
    const starts = sink === null ? "m = −∞, ℓ = 0" : `m = ${number(sink)}, the sink, and ℓ = 1`;
    if (f.stage) return what;
    if (f.unseen) return [what, "", `No query of this row block sees a key under ${maskName(f.problem)}: ${starts}, O${i} = 0, and no tile is computed.`];
    if (f.step === 0) return [what, "", `${rope ? "RoPE rotated Q and K before this, row by row by its position. " : ""}Nothing is computed yet${sink === null ? "" : `: ${starts}`}. Next: every row of Q${i} meets every key of K${j}.`];
    if (f.problem.order === "fa2") return [what, "", f.first ? `A new row block: ${starts}, O${i} = 0.` : `Q${i}, O${i}, m and ℓ are still on chip.`];
    return [what, "", `FA-1 comes back to O${i}, m and ℓ for every key block.`];
  },
  scores: (f) => {
    const { lanes } = taken(f);
    const rest = lanes ? `The ${lanes > 1 ? `${lanes} lanes` : "lane"} without a key: 0.` : "";
    const [i, j, { d }] = [sub(f.i), sub(f.j), f.problem];
    return [`Every row of Q${i} meets every key of K${j}: ${f.rows.stop - f.rows.start} × ${f.cols.stop - f.cols.start} scores, on chip.`, [`S${tileOf(f)} = Q${i} K${j}ᵀ / √${d}`, ...changesOf(f.problem)].join(", then "), rest];
  },
  mask: masked,
  max: (f, row) => {
    if (!row) return "Each row takes its maximum.";
    const who = rowWord(row);
    if (f.stage === "softmax" && f.problem.sink !== null) return [`${who}: m is its largest score, or its sink.`, `m = max(${number(row.row_max)}, ${number(f.problem.sink)}) = ${number(row.m_new)}`];
    if (f.stage === "softmax") return [`${who}: m is its largest score.`, `m = ${number(row.m_new)}`];
    if (row.m_new === -Infinity) return [`${who} sees no key yet: it has no maximum.`, "m = −∞"];
    if (row.m_old === -Infinity) return [`${who} meets its first scores. The largest is m.`, `m = ${number(row.m_new)}`];
    const formula = `m = max(${number(row.m_old)}, ${number(row.row_max)}) = ${number(row.m_new)}`;
    if (f.first) return [`${who} starts at its sink. ${row.rose ? "A score is larger: a new maximum." : "No score is larger: its maximum stays."}`, formula];
    if (row.rose) return [`${who} meets a larger score, a new maximum.`, formula, theOthers(f, row)];
    if (row.row_max === -Infinity) return [`${who} sees no key here: its maximum stays.`, formula];
    return [`${who} meets no larger score: its maximum stays${f.stats.some((s) => s.rose) ? "" : ", as in every row"}.`, formula];
  },
  exp: (f, row) => {
    if (f.stage === "softmax") return ["Every weight is at most 1. Divided by ℓ it will be P.", "weight = exp(S − m)"];
    const weights = `P${tileOf(f)} = exp(S − m)`;
    if (!row || row.alpha === undefined) return ["Every weight is at most 1.", weights];
    if (row.m_new === -Infinity) return [`${rowWord(row)} sees no key yet: all its weights are 0.`, weights];
    if (row.m_old === -Infinity) return ["Scores become weights, at most 1.", weights, "Nothing was summed before, so there is nothing to rescale."];
    const formula = `α = exp(${minus(row.m_old, row.m_new)}) = ${number(row.alpha)}`;
    if (row.rose && f.first) return [`${rowWord(row)}: m rose over its sink, so the sink's 1 in ℓ shrinks.`, formula];
    if (row.rose) return [`${rowWord(row)}: m rose to ${number(row.m_new)}, so what it summed before shrinks.`, formula, theOthers(f, row, ": α\u00a0=\u00a01")];
    return [`${rowWord(row)}: m stayed, so what it summed before keeps its size.`, formula];
  },
  sum: (f, row) => {
    if (!row) return "Each row sums its weights.";
    if (f.stage && f.problem.sink !== null) return [`${rowWord(row)}: ℓ is the sum of its weights and of its sink's, which has no value.`, `ℓ = ${number(row.row_sum)} + exp(${minus(f.problem.sink, row.m_new)}) = ${number(row.l_new)}`];
    if (row.alpha === undefined || row.m_old === -Infinity) return [`${rowWord(row)}: ℓ is the sum of its weights.`, `ℓ = ${number(row.l_new)}`];
    const end = faint(f) ? "The new weights are too small to change a digit." : "";
    const why = f.first ? "what is left of its sink's 1, and its new weights" : row.alpha === 1 ? "its old sum, and its new weights" : "what is left of its old sum, and its new weights";
    return [`${rowWord(row)}: ${why}.`, `ℓ = ${number(row.alpha)} × ${number(row.l_old)} + ${number(row.row_sum)} = ${number(row.l_new)}`, end];
  },
  output: (f) => {
    const [i, j] = [sub(f.i), sub(f.j)];
    const { dropout } = f.problem;
    if (dropout && !f.stage) return [`O${i} takes in V${j}, weighed by P after dropout.`, `O${i} ← ${f.problem.order === "fa1" ? `(ℓ·α·O${i} + drop(P) V${j}) / ℓ` : `α·O${i} + drop(P) V${j}`}`, `A weight is dropped with probability ${dropout}, otherwise divided by ${number(1 - dropout)}; ℓ is the sum of them all.`];
    if (f.stage) return [`O${i} is made of V and of P, read back from HBM.`, `O${i} = P V`];
    if (f.problem.order === "fa1") return [`O${i} takes in V${j}, and is divided by the new ℓ at every visit.`, `O${i} ← (ℓ·α·O${i} + P V${j}) / ℓ`];
    const end = faint(f) ? "The new weights are too small to show." : "Not yet divided by ℓ, and still on chip.";
    if (f.stats.length && (f.first || f.stats.every(({ m_old }) => m_old === -Infinity))) return [`O${i} takes in V${j}, weighed by P. It was 0: nothing to shrink.`, `O${i} ← P V${j}`, end];
    return [`O${i}, shrunk by α, takes in V${j}, weighed by P.`, `O${i} ← α·O${i} + P V${j}`, end];
  },
  store: (f) => {
    const what = moved(f, "write");
    const whole = `All ${integer(f.problem.n)} × ${integer(f.problem.n)} of them will cross.`;
    if (f.stage === "softmax") return [`${what}.`, f.problem.dropout ? "P = drop(exp(S − m) / ℓ)" : "P = exp(S − m) / ℓ", whole];
    if (f.stage) return [`${what}.`, "", f.stage === "scores" ? whole : ""];
    if (f.problem.order === "fa1") return [`${what}, at every visit.`, "", "S never crosses."];
    const end = f.problem.sink === null ? "−∞" : number(f.problem.sink);
    if (f.unseen) return [`O${sub(f.i)} = 0 goes home with lse${sub(f.i)}: ${f.problem.sink === null ? "nothing was summed" : "the sink alone was summed"}.`, `lse${sub(f.i)} = ${end}`, `${bytes(sumBytes(f, "write"))} written.`];
    const blind = f.stats.filter((s) => s.l_new === 0 || (f.problem.sink !== null && s.l_new === 1 && s.m_new === f.problem.sink)).map((s) => String(s.row));
    if (blind.length) return [`O${sub(f.i)} is divided by ℓ, once, and goes home with lse${sub(f.i)}.`, `lse${sub(f.i)} = m + log ℓ`, `${blind.length > 1 ? `Rows ${listed(blind)} see` : `Row ${blind[0]} sees`} no key: O = 0, lse = ${end}.`];
    return [`O${sub(f.i)} is divided by ℓ, once, and goes home with lse${sub(f.i)}.`, `lse${sub(f.i)} = m + log ℓ`, `${bytes(sumBytes(f, "write"))} written. lse, one number per row, is for the backward pass. S never crosses.`];
  },
};

/** What is said of a step; "" where there is no formula or nothing else worth knowing; `row` is the followed row.
 * @param {Frame} f @param {Row} [row] */
export function said(f, row) {
  const [words, formula = "", aside = ""] = [(f.pass === "backward" ? backward.said : SAID)[f.phase](f, row)].flat();
  return { words, formula, aside };
}

/** The step in words: what the eye sees, for the ear. @param {Frame} f @param {Row} [row] */
export function sentence(f, row) {
  const where = tileName(f);
  const { words, formula, aside } = said(f, row);
  return `${where[0].toUpperCase()}${where.slice(1)}: ${[words, formula && `${formula}.`, aside].filter(Boolean).join(" ")}`;
}
