// What to guess before a step: pure functions of a trace and a place. Every answer is looked up in
// the trace that then shows it.

import { ALGORITHMS } from "./algorithms.js";
import { number } from "../lib/format.js";

/** @import { Trace } from "./types.js" */
/** @typedef {{text: string, options: string[], answer: number, because: string} | null} Question */

const YES_NO = ["Yes", "No"];

/** A row of visit v to ask about: another one at each step. @param {Trace} trace @param {number} v */
function rowOf({ arrays }, v) {
  const count = arrays.r_ptr[v + 1] - arrays.r_ptr[v];
  return count ? { k: arrays.r_ptr[v] + (v % count), row: v % count } : null;
}

/** "Does the maximum of this row change?", about visit v. @param {Trace} trace @param {number} v @returns {Question} */
function maximum(trace, v) {
  const { arrays, problem: p } = trace;
  const at = rowOf(trace, v);
  if (!at || p.order === "standard" || arrays.v_kind[v] === 2) return null;
  const [before, after] = [arrays.r_m_old[at.k], arrays.r_m_new[at.k]];
  if (before === -Infinity) return null; // the first tile always sets it
  const row = arrays.v_i[v] * p.block_q + at.row;
  return {
    text: `Next is tile (${arrays.v_i[v]}, ${arrays.v_j[v]}). Does row ${row}'s maximum change?`,
    options: YES_NO,
    answer: after > before ? 0 : 1,
    because: after > before ? `row ${row} rose from ${number(before)} to ${number(after)}` : `row ${row} stayed at ${number(before)}`,
  };
}

/** "How many tiles will be skipped?", before the first visit of a causal Problem. @param {Trace} trace @returns {Question} */
function skipped(trace) {
  const { header, problem: p } = trace;
  if (p.mask === "full" || !ALGORITHMS[p.order].running) return null;
  const { skipped: count } = header.tile_counts;
  const all = p.Tr * p.Tc;
  const options = [...new Set([count, Math.floor(all / 2), all - count])].sort((a, b) => a - b);
  if (options.length < 2) return null;
  return {
    text: `Of ${all} tiles, how many will be skipped?`,
    options: options.map(String),
    answer: options.indexOf(count),
    because: `${count} of ${all} lie wholly above the diagonal`,
  };
}

/** "Is the next tile masked?" @param {Trace} trace @param {number} v @returns {Question} */
function masked(trace, v) {
  const { arrays, problem: p } = trace;
  if (arrays.v_j[v] < 0 || p.order === "standard") return null;
  const kind = arrays.v_kind[v];
  const because = ["is full: no mask", "is partial: masked score by score", "is skipped"][kind];
  return {
    text: `What becomes of tile (${arrays.v_i[v]}, ${arrays.v_j[v]})?`,
    options: ["full", "partial", "skipped"],
    answer: kind,
    because: `tile (${arrays.v_i[v]}, ${arrays.v_j[v]}) ${because}`,
  };
}

/** The question to ask at visit `step`; what happens at the next visit answers it. Null: none.
 * @param {Trace} trace @param {number} step @returns {Question} */
export function questionAt(trace, step) {
  const next = step + 1;
  if (next >= trace.steps) return null;
  if (step === 0) {
    const first = skipped(trace);
    if (first) return first;
  }
  return step % 3 === 2 ? masked(trace, next) ?? maximum(trace, next) : maximum(trace, next) ?? masked(trace, next);
}

/** "Which lane finishes first?": `finishes` are the ticks at which each lane is done.
 * @param {string[]} names @param {number[]} finishes @returns {Question} */
export function raceQuestion(names, finishes) {
  const first = Math.min(...finishes);
  const winners = names.filter((_, k) => finishes[k] === first);
  const options = winners.length > 1 ? [...names, "a tie"] : names;
  return {
    text: "Which lane finishes first?",
    options,
    answer: winners.length > 1 ? options.length - 1 : finishes.indexOf(first),
    because: `${winners.join(" and ")} after ${first + 1} ticks`,
  };
}
