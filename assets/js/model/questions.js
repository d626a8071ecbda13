// What to predict before a step: pure functions of a trace and a place. Every answer is looked up in the trace that then
// shows it. A question is asked only where its answer varies, and says afterwards why.

import { ALGORITHMS } from "./algorithms.js";
import { number, sub } from "../lib/format.js";
import { statsOf } from "./frame.js";
import { KINDS } from "./predicates.js";
import { TURNS as OF_BACKWARD } from "./questions_backward.js";
import { rowsOfBlock } from "./spans.js";
import { STATS } from "./statistics.js";
import { YES_NO, t } from "./texts.js";
import { listed } from "./wording.js";

/** @import { Row, Trace } from "./types.js" */
/** A choice: `options`, and the index of the right one; or a number: a `slider`, right within its `tolerance`.
 * @typedef {{min: number, max: number, step: number, tolerance: number}} Slider */
/** Of one row, or of none.
 * @typedef {{text: string, options: string[], slider?: Slider, answer: number, because: string, row?: number} | null} Question */

/** Statistics of the rows of visit v that had met a key before; none in standard attention. @param {Trace} trace @param {number} v */
const rowsOf = (trace, v) =>
  statsOf(trace, v, rowsOfBlock(trace.problem, trace.arrays.v_i[v]), () => true).filter((row) =>
    STATS.every(([name]) => Number.isFinite(row[name])),
  );

/** @param {Row[]} list @param {number} k */
const one = (list, k) => list[k % list.length];
/** @param {number} v */
const tileOf = (/** @type {Trace} */ { arrays, steps }, v) =>
  t("ask.tile", { v: v + 1, of: steps, i: sub(arrays.v_i[v]), j: sub(arrays.v_j[v]) });

/** "Does the maximum of this row change?", of a row where the answer is `wanted`.
 * @param {Trace} trace @param {number} v @param {boolean} wanted @returns {Question} */
function maximum(trace, v, wanted) {
  const rows = rowsOf(trace, v).filter(({ rose }) => rose === wanted);
  if (!rows.length) return null;
  const { row, m_old, row_max } = one(rows, v);
  const because = t(wanted ? "ask.max.rises" : "ask.max.stays", {
    row,
    top: number(row_max),
    before: number(m_old),
  });
  return {
    text: t("ask.max", { tile: tileOf(trace, v), row }),
    options: YES_NO,
    answer: wanted ? 0 : 1,
    because,
    row,
  };
}
/** @param {Trace} trace @param {number} v */
const rise = (trace, v) => maximum(trace, v, true);
/** @param {Trace} trace @param {number} v */
const stay = (trace, v) => maximum(trace, v, false);

/** "By which α is the row's past multiplied?" @param {Trace} trace @param {number} v @returns {Question} */
function alpha(trace, v) {
  const rows = rowsOf(trace, v).filter(({ rose }) => rose);
  if (!rows.length) return null;
  const { row, m_old, m_new, alpha: factor } = one(rows, v);
  return {
    text: t("ask.alpha", {
      tile: tileOf(trace, v),
      row,
      before: number(m_old),
      after: number(m_new),
    }),
    options: [],
    slider: { min: 0, max: 1, step: 0.01, tolerance: 0.05 },
    answer: Number(factor),
    because: `α = exp(${number(m_old)} − ${number(m_new)}) = ${number(factor)}`,
    row,
  };
}

/** "What is ℓ then?" @param {Trace} trace @param {number} v @returns {Question} */
function sum(trace, v) {
  const rows = rowsOf(trace, v);
  if (!rows.length) return null;
  const { row, alpha: factor, l_old, row_sum, l_new } = one(rows, v + 1);
  const max = Math.ceil(Number(l_old) + Number(row_sum));
  return {
    text: t("ask.sum", {
      tile: tileOf(trace, v),
      row,
      l: number(l_old),
      alpha: number(factor),
      sum: number(row_sum),
    }),
    options: [],
    slider: { min: 0, max, step: max / 100, tolerance: max / 20 },
    answer: Number(l_new),
    because: `ℓ = ${number(factor)} × ${number(l_old)} + ${number(row_sum)} = ${number(l_new)}`,
    row,
  };
}

/** "How many tiles will be skipped?", before the first visit, if the mask hides anything. @param {Trace} trace @returns {Question} */
function skipped(trace) {
  const { header, problem: p } = trace;
  if (p.mask === "full" || !ALGORITHMS[p.order].running) return null;
  const { skipped: count } = header.tile_counts;
  const all = p.Tr * p.Tc;
  const options = [...new Set([count, Math.floor(all / 2), all - count])].sort((a, b) => a - b);
  if (options.length < 2) return null;
  return {
    text: t("ask.skipped", { all }),
    options: options.map(String),
    answer: options.indexOf(count),
    because: t(p.mask === "causal" ? "ask.skipped.causal" : "ask.skipped.mask", {
      count,
      all,
    }),
  };
}

/** "Is the next tile masked?", where not all tiles are of one kind. @param {Trace} trace @param {number} v @returns {Question} */
function masked(trace, v) {
  const { arrays, header, problem: p } = trace;
  const kinds = Object.values(header.tile_counts).filter(Boolean).length;
  if (arrays.v_j[v] < 0 || !ALGORITHMS[p.order].running || kinds < 2) return null;
  const kind = arrays.v_kind[v];
  return {
    text: t("ask.kind", { tile: tileOf(trace, v) }),
    options: KINDS.map((name) => t(`kind.${name}`)),
    answer: kind,
    because: t(`ask.kind.${KINDS[kind]}`),
  };
}

const TURNS = [
  [stay, rise, masked, alpha, sum],
  [alpha, sum, masked],
  [rise, stay, masked, sum],
  [sum, masked, alpha],
];

/** Of each trace, the questions so far and how often each answer was right. @type {WeakMap<Trace, {list: Question[], tally: Record<string, number[]>}>} */
const histories = new WeakMap();

/** No choice is asked whose answer was right more often than another one's, so that none is a safe bet.
 * @param {Question} question @param {Record<string, number[]>} tally */
function varies(question, tally) {
  if (!question?.options.length) return Boolean(question);
  const counts = (tally[question.options.join()] ??= question.options.map(() => 0));
  const others = counts.filter((_, k) => k !== question.answer);
  return counts[question.answer] <= Math.max(...others);
}

/** The question to ask at visit `step`; what happens at the next visit answers it. Null: none.
 * @param {Trace} trace @param {number} step @returns {Question} */
export function questionAt(trace, step) {
  if (step + 1 >= trace.steps) return null;
  if (!histories.has(trace)) histories.set(trace, { list: [], tally: {} });
  const { list, tally } = /** @type {{list: Question[], tally: Record<string, number[]>}} */ (
    histories.get(trace)
  );
  while (list.length <= step) {
    const at = list.length;
    const turns = trace.header.pass === "backward" ? OF_BACKWARD : TURNS;
    const first = at === 0 && trace.header.pass === "forward" ? skipped(trace) : null;
    const others = turns[at % turns.length].map((ask) => ask(trace, at + 1));
    const question = first ?? others.find((other) => varies(other, tally)) ?? null;
    if (question && at && question.options.length)
      tally[question.options.join()][question.answer] += 1;
    list.push(question);
  }
  return list[step];
}

/** Is this the answer: the index of an option, or the number that the slider shows?
 * @param {NonNullable<Question>} question @param {number} choice */
export const isRight = ({ answer, slider }, choice) =>
  Math.abs(choice - answer) <= (slider?.tolerance ?? 0);

/** "Which lane finishes first?": `finishes` are the ticks at which each lane is done.
 * @param {string[]} names @param {number[]} finishes @returns {Question} */
export function raceQuestion(names, finishes) {
  const first = Math.min(...finishes);
  const winners = names.filter((_, k) => finishes[k] === first);
  const options = winners.length > 1 ? [...names, t("ask.race.tie")] : names;
  return {
    text: t("ask.race"),
    options,
    answer: winners.length > 1 ? options.length - 1 : finishes.indexOf(first),
    because: t("ask.race.why", { lanes: listed(winners), n: first + 1 }),
  };
}
