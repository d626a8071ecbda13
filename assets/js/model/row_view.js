// The row view: its weights so far, on one scale exp(S − m), against the exact softmax that they meet after the last
// tile; and what two other loops would make of it: one that forgets α, and one that rescales only when needed. Pure.

import { number, sub } from "../lib/format.js";
import { times } from "../lib/lists.js";
import { ALGORITHMS } from "./algorithms.js";
import { hidden, laneOf, weight } from "./frame.js";
import { keysOfBlock } from "./spans.js";
import { PENDING } from "./statistics.js";
import { t } from "./texts.js";

/** @import { Frame, Known, Row, Span, Trace } from "./types.js" */
/** How the past is kept in the measure of the present: by α, not at all, or only once m is far behind.
 * @typedef {"alpha" | "forget" | "lazy"} Way */
/** A visit as this way has it: the m that its weights are measured by, and the factor for what was summed before.
 * @typedef {{v: number, keys: Span, m: number, alpha: number}} Visit */
/** @typedef {{state: "seen" | "ahead" | "hidden", weight: Known, before: Known, exact: number}} Slot */

/** FA-4 keeps an old maximum while the new one is ahead by less than this, in log2 (arXiv 2603.05451). */
const AHEAD = 8;

/** @param {Trace} trace @param {number} row @param {number} c the score of key c, −∞ where it is hidden */
const scoreAt = ({ arrays, problem: p }, row, c) =>
  hidden(arrays, row * p.n + c) ? -Infinity : arrays.S[row * p.n + c];

/** The visits of this row (of a part of its keys) that take a maximum, in order, as this way measures them.
 * @param {Trace} trace @param {number} row @param {Way} way @param {number} [lane] @returns {Visit[]} */
export function visitsOf({ arrays, problem: p, visitsOfRow }, row, way, lane = 0) {
  const i = Math.floor(row / p.block_q);
  const { running, lanes } = ALGORITHMS[p.order]; // not running: there is no past to keep
  /** @type {Visit[]} */
  const visits = [];
  let m = (lane === 0 ? p.sink : null) ?? -Infinity; // where a sink stands, as if it had been met before the first key
  for (const v of visitsOfRow[i]) {
    const at = arrays.r_ptr[v] + row - i * p.block_q;
    if (arrays.r_ptr[v + 1] === arrays.r_ptr[v]) continue;
    if (laneOf(arrays, v) !== lane || (lanes > 1 && arrays.v_stage[v])) continue; // a part is measured by its own m
    const keys = keysOfBlock(p, arrays.v_j[v]);
    const top = arrays.r_m_new[at];
    const next =
      running && way === "lazy" && m > -Infinity && (top - m) * Math.LOG2E < AHEAD ? m : top;
    visits.push({
      v,
      keys,
      m: next,
      alpha: (running && way === "forget") || !(next > m) ? 1 : Math.exp(m - next),
    });
    m = next;
  }
  return visits;
}

/** Where this way ends: ℓ and the row of O (d numbers). @param {Trace} trace @param {number} row @param {Way} way */
export function outcome(trace, row, way) {
  const { arrays, problem: p } = trace;
  let l = p.sink === null ? 0 : 1; // of a sink, whose weight is 1 by its own measure
  const O = new Float64Array(p.d);
  for (const { keys, m, alpha } of visitsOf(trace, row, way)) {
    l *= alpha;
    for (let x = 0; x < p.d; x++) O[x] *= alpha;
    for (let c = keys.start; c < keys.stop; c++) {
      const w = weight(scoreAt(trace, row, c), m);
      l += w;
      for (let x = 0; x < p.d; x++) O[x] += w * arrays.V[c * p.d + x];
    }
  }
  return { l, O: O.map((x) => x / (l || 1)) };
}

/** The largest distance between two rows. @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
export const distance = (a, b) =>
  Array.from(a).reduce((most, x, k) => Math.max(most, Math.abs(x - b[k])), 0);

/** How often a row's past is rescaled (at its first maximum only over a sink), over all rows. @param {Trace} trace @param {Way} way */
export function rescales(trace, way) {
  const { n, order, sink } = trace.problem;
  const first = sink === null || !ALGORITHMS[order].running ? 1 : 0;
  let count = 0;
  for (let row = 0; row < n; row++)
    count += visitsOf(trace, row, way)
      .slice(first)
      .filter(({ alpha }) => alpha > 0 && alpha < 1).length;
  return count;
}

/** A slot for each key of the row at this moment: its weight if it is known, the same before α shrank it (in phase
 * "exp" alone), and its exact softmax times the final ℓ. Null where the numbers did not come.
 * @param {Trace} trace @param {Frame} f @param {number} row @param {Way} way @returns {Slot[] | null} */
export function slotsOf(trace, f, row, way) {
  if (!trace.header.numbers) return null;
  const parts = times(f.lanes, (lane) => slotsOfPart(trace, f, row, way, lane));
  return parts[0].map((slot, c) => parts.find((part) => part[c].state === "seen")?.[c] ?? slot);
}

/** @param {Trace} trace @param {Frame} f @param {number} row @param {Way} way @param {number} lane @returns {Slot[]} */
function slotsOfPart(trace, f, row, way, lane) {
  const visits = visitsOf(trace, row, way, lane);
  const known = visits.filter(({ v }) => v < f.step || (v === f.step && f.done("exp")));
  const now = known.at(-1);
  const shrinks = f.phase === "exp" && now?.v === f.step && now.alpha < 1 && known.length > 1;
  const end = way === "forget" ? visitsOf(trace, row, "alpha").at(-1) : visits.at(-1);
  return times(trace.problem.n, (c) => {
    const score = scoreAt(trace, row, c);
    const exact = weight(score, end?.m ?? 0);
    const seen = known.find(({ keys }) => c >= keys.start && c < keys.stop);
    if (score === -Infinity) return { state: "hidden", weight: PENDING, before: PENDING, exact: 0 };
    if (!seen || !now) return { state: "ahead", weight: PENDING, before: PENDING, exact };
    const before = shrinks && seen !== now ? weight(score, known[known.length - 2].m) : PENDING;
    return {
      state: "seen",
      weight: weight(score, way === "forget" ? seen.m : now.m),
      before,
      exact,
    };
  });
}

/** What m, ℓ and O of the row do in this phase: [symbol, what becomes of it, in words].
 * @param {Frame} f @param {Row} row @returns {[string, string, string][]} */
export function changes(f, row) {
  const { m_old, m_new, alpha, l_old, row_sum, l_new } = row;
  const past = m_old !== PENDING && m_old > -Infinity;
  const name = t("row_view.row", { row: row.row });
  const text = (/** @type {Known} */ x) => number(x, f.decimals);
  const m = f.done("max") ? m_new : m_old;
  /** @type {[string, string, string][]} */
  const lines = [];
  const rose = f.done("max") && row.rose;
  if (m === -Infinity) lines.push(["m", text(m), t("row_view.unseen")]);
  else if (m !== PENDING && m === f.problem.sink) lines.push(["m", text(m), t("row_view.sink")]);
  else if (m !== PENDING)
    lines.push(["m", rose ? `${text(m_old)} → ${text(m)}` : text(m), t("row_view.m")]);
  if (f.done("sum"))
    lines.push([
      "ℓ",
      past ? `${number(alpha)} × ${text(l_old)} + ${text(row_sum)} = ${text(l_new)}` : text(l_new),
      t(past ? "row_view.l.new" : "row_view.l"),
    ]);
  else if (f.done("exp") && row.rose)
    lines.push([
      "ℓ",
      `${text(l_old)} × ${number(alpha)} = ${text(Number(l_old) * Number(alpha))}`,
      t("row_view.l.shrunk"),
    ]);
  else if (past) lines.push(["ℓ", text(l_old), t("row_view.l.old")]);
  if (f.done("exp") && past)
    lines.push([
      "O",
      `${name} × ${number(alpha)}${f.done("output") ? " + P V" : ""}`,
      row.rose ? t("row_view.O.shrinks", { i: sub(f.i) }) : t("row_view.O.stays"),
    ]);
  return lines;
}

/** What the chosen way makes of the row, beside the right answer. @param {Trace} trace @param {number} row @param {Way} way */
export function verdict(trace, row, way) {
  const right = outcome(trace, row, "alpha");
  const other = outcome(trace, row, way);
  const off = distance(other.O, right.O);
  if (way === "forget") {
    if (off === 0) return { wrong: false, text: t("row_view.same", { row }) };
    return {
      wrong: true,
      text: t("row_view.wrong", {
        row,
        l: number(other.l),
        right: number(right.l),
        off: number(off),
      }),
    };
  }
  const [usual, left] = [rescales(trace, "alpha"), rescales(trace, "lazy")];
  return {
    wrong: false,
    text: usual ? t("row_view.lazy", { saved: usual - left, all: usual }) : t("row_view.lazy.none"),
  };
}
