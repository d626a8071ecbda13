// One record per phase: its code line and its sentence with live numbers. The rail, the code card
// and the spoken text all read these, so they cannot disagree.

import { bytes, number, sub } from "../lib/format.js";
import { algorithmOf, backward } from "./passes.js";
import { bends, changesOf } from "./scores.js";
import { say } from "./texts.js";
import {
  blocksOf,
  hiddenCode,
  listed,
  masked,
  maskName,
  minus,
  moved,
  rowWord,
  sumBytes,
  taken,
  tileOf,
  whySkipped,
} from "./wording.js";

/** @import { Frame, Order, Problem, Row } from "./types.js" */
/** `general`: the note under a mask that is neither full nor causal.
 * @typedef {{text: string, note?: string, general?: string, phase?: string, stage?: string, first?: boolean}} Line */

/** Are there kernels over tiles and others? @param {Frame} f */
const hasBoth = (f) => f.pass === "backward" || f.lanes > 1;

/** Does this code line run at this moment? @param {Line} line @param {Frame} f @returns {boolean} */
export function lit(line, f) {
  if (line.stage ? line.stage !== f.stage : f.stage !== null && hasBoth(f)) return false;
  if (line.phase !== f.phase) return false;
  if (line.first) return f.transfers.some((t) => t.tensor === algorithmOf(f).opens);
  return true;
}

/** A line of the code as it stands for this Problem: what its mask and its ragged edge hide is said there, what becomes of
 * a score, and where a sink enters.
 * @param {string} text @param {Problem} problem */
export function codeText(text, problem) {
  const { n, block_k, sink } = problem;
  const hides = [hiddenCode(problem), n % block_k ? `key ≥ ${n}` : ""].filter(Boolean);
  const none = sink === null || sink === undefined;
  /** @type {Record<string, string>} */
  const parts = {
    hidden:
      hides.length > 1
        ? say("code.or", { a: hides[0], b: hides[1] })
        : (hides[0] ?? say("code.nowhere")),
    score: changesOf(problem)
      .map((code) => `;  S = ${code}`)
      .join(""),
    m: none ? "−∞" : String(sink),
    l: none ? "0" : "1",
    top: none ? "rowmax S" : `max(rowmax S, ${sink})`,
    more: none ? "" : ` + exp(${sink} − m)`,
    slope: bends(problem) ? " ∘ dS/d(Q Kᵀ/√d)" : "",
  };
  return text.replace(/\{(\w+)\}/g, (all, name) => parts[name] ?? all);
}

/** What stands beside a line. @param {Line} line @param {Problem} problem */
export const noteOf = ({ note, general }, { plain }) => (plain ? note : (general ?? note));

/** Are the new weights of every row too small to change a digit? @param {Frame} f */
const faint = (f) =>
  f.stats.length > 0 &&
  f.stats.every(
    (s) => s.alpha === 1 && s.row_sum !== undefined && s.row_sum < 1e-3 * Number(s.l_new),
  );

/** What is said of the rows whose maximum stayed, where that of another one rose. @param {Frame} f @param {Row} row
 * @param {boolean} [alpha] with their α */
function theOthers(f, row, alpha = false) {
  const kept = row.rose ? f.stats.filter((s) => !s.rose).map((s) => String(s.row)) : [];
  if (!kept.length) return "";
  if (kept.length > 4)
    return say(alpha ? "others.many.alpha" : "others.many", {
      count: kept.length,
      of: f.stats.length,
    });
  if (kept.length > 1)
    return say(alpha ? "others.more.alpha" : "others.more", { rows: listed(kept) });
  return say(alpha ? "others.one.alpha" : "others.one", { rows: kept[0] });
}

/** Where m and ℓ of a row begin. @param {Problem} problem */
const starts = ({ sink }) =>
  sink === null ? say("starts") : say("starts.sink", { sink: number(sink) });

/** A sentence; or with it a formula with its numbers, and what else is worth knowing.
 * @type {Record<string, (f: Frame, row?: Row) => string | string[]>} */
const SAID = {
  skip: (f) => say("skip", { why: whySkipped(f) }),
  load: (f) => {
    const what = moved(f, "read");
    const [i, j, { sink, rope }] = [sub(f.i), sub(f.j), f.problem];
    if (f.stage) return what;
    if (f.unseen)
      return [
        what,
        "",
        say("load.unseen", { mask: maskName(f.problem), starts: starts(f.problem), i }),
      ];
    if (f.step === 0)
      return [
        what,
        "",
        [
          rope && say("load.rope"),
          sink === null
            ? say("load.begin", { i, j })
            : say("load.begin.sink", { starts: starts(f.problem), i, j }),
        ]
          .filter(Boolean)
          .join(" "),
      ];
    if (algorithmOf(f).outer === "rows")
      return [
        what,
        "",
        f.first ? say("load.first", { starts: starts(f.problem), i }) : say("load.kept", { i }),
      ];
    return [what, "", say("load.round_trip", { algorithm: algorithmOf(f).label, i })];
  },
  scores: (f) => {
    const { lanes } = taken(f);
    const [i, j, { d }] = [sub(f.i), sub(f.j), f.problem];
    return [
      say("scores", { i, j, rows: f.rows.stop - f.rows.start, keys: f.cols.stop - f.cols.start }),
      [`S${tileOf(f)} = Q${i} K${j}ᵀ / √${d}`, ...changesOf(f.problem)].reduce((first, next) =>
        say("then", { first, next }),
      ),
      lanes > 1 ? say("scores.lanes", { lanes }) : lanes ? say("scores.lane") : "",
    ];
  },
  mask: masked,
  max: (f, row) => {
    if (!row) return say("max");
    const who = { row: rowWord(row) };
    if (f.stage === "softmax" && f.problem.sink !== null)
      return [
        say("max.whole.sink", who),
        `m = max(${number(row.row_max)}, ${number(f.problem.sink)}) = ${number(row.m_new)}`,
      ];
    if (f.stage === "softmax") return [say("max.whole", who), `m = ${number(row.m_new)}`];
    if (row.m_new === -Infinity) return [say("max.unseen", who), "m = −∞"];
    if (row.m_old === -Infinity) return [say("max.first", who), `m = ${number(row.m_new)}`];
    const formula = `m = max(${number(row.m_old)}, ${number(row.row_max)}) = ${number(row.m_new)}`;
    if (f.first) return [say(row.rose ? "max.sink.rises" : "max.sink.stays", who), formula];
    if (row.rose) return [say("max.rises", who), formula, theOthers(f, row)];
    if (row.row_max === -Infinity) return [say("max.blind", who), formula];
    return [say(f.stats.some((s) => s.rose) ? "max.stays" : "max.all_stay", who), formula];
  },
  exp: (f, row) => {
    if (f.stage === "softmax") return [say("exp.whole"), say("exp.weight")];
    const weights = `P${tileOf(f)} = exp(S − m)`;
    if (!row || row.alpha === undefined) return [say("exp"), weights];
    const who = { row: rowWord(row) };
    if (row.m_new === -Infinity) return [say("exp.unseen", who), weights];
    if (row.m_old === -Infinity) return [say("exp.first"), weights, say("exp.first.why")];
    const formula = `α = exp(${minus(row.m_old, row.m_new)}) = ${number(row.alpha)}`;
    if (row.rose && f.first) return [say("exp.sink", who), formula];
    if (row.rose)
      return [
        say("exp.rises", { row: rowWord(row), m: number(row.m_new) }),
        formula,
        theOthers(f, row, true),
      ];
    return [say("exp.stays", who), formula];
  },
  sum: (f, row) => {
    if (!row) return say("sum");
    const who = { row: rowWord(row) };
    if (f.stage && f.problem.sink !== null)
      return [
        say("sum.whole.sink", who),
        `ℓ = ${number(row.row_sum)} + exp(${minus(f.problem.sink, row.m_new)}) = ${number(row.l_new)}`,
      ];
    if (row.alpha === undefined || row.m_old === -Infinity)
      return [say("sum.first", who), `ℓ = ${number(row.l_new)}`];
    const words = say(f.first ? "sum.sink" : row.alpha === 1 ? "sum.stays" : "sum.rises", who);
    return [
      words,
      `ℓ = ${number(row.alpha)} × ${number(row.l_old)} + ${number(row.row_sum)} = ${number(row.l_new)}`,
      faint(f) ? say("sum.faint") : "",
    ];
  },
  output: (f) => {
    const [i, j] = [sub(f.i), sub(f.j)];
    const { dropout } = f.problem;
    if (dropout && !f.stage)
      return [
        say("output.drop", { i, j }),
        `O${i} ← ${algorithmOf(f).output === "normalized" ? `(ℓ·α·O${i} + drop(P) V${j}) / ℓ` : `α·O${i} + drop(P) V${j}`}`,
        say("output.drop.why", { p: dropout, kept: number(1 - dropout) }),
      ];
    if (f.stage) return [say("output.whole", { i }), `O${i} = P V`];
    if (algorithmOf(f).output === "normalized")
      return [say("output.normalized", { i, j }), `O${i} ← (ℓ·α·O${i} + P V${j}) / ℓ`];
    const end = say(faint(f) ? "output.faint" : "output.so_far");
    if (f.stats.length && (f.first || f.stats.every(({ m_old }) => m_old === -Infinity)))
      return [say("output.first", { i, j }), `O${i} ← P V${j}`, end];
    return [say("output", { i, j }), `O${i} ← α·O${i} + P V${j}`, end];
  },
  store: (f) => {
    const { n, dropout, sink } = f.problem;
    const [i, size] = [sub(f.i), bytes(sumBytes(f, "write"))];
    if (f.stage === "softmax")
      return [
        moved(f, "write"),
        dropout ? "P = drop(exp(S − m) / ℓ)" : "P = exp(S − m) / ℓ",
        say("store.whole", { n }),
      ];
    if (f.stage)
      return [moved(f, "write"), "", f.stage === "scores" ? say("store.whole", { n }) : ""];
    if (algorithmOf(f).output === "normalized") {
      const { what } = blocksOf(f, "write");
      return [say("store.round_trip", { what, size }), "", say("store.round_trip.S")];
    }
    const lse = sink === null ? "−∞" : number(sink);
    if (f.unseen)
      return [
        say(sink === null ? "store.unseen" : "store.unseen.sink", { i }),
        `lse${i} = ${lse}`,
        say("store.size", { size }),
      ];
    const rows = f.stats
      .filter((s) => s.l_new === 0 || (sink !== null && s.l_new === 1 && s.m_new === sink))
      .map((s) => String(s.row));
    const end = rows.length
      ? say(rows.length > 1 ? "store.blind.more" : "store.blind.one", { rows: listed(rows), lse })
      : say("store.lse", { size });
    return [say("store", { i }), `lse${i} = m + log ℓ`, end];
  },
};

/** The algorithm's own sentence, formula and remark of this phase, if it has any. @param {Frame} f @param {Row} [row] */
function ownWords(f, row) {
  const { sentences } = algorithmOf(f).texts;
  const found = sentences?.[f.unseen ? "unseen" : (f.stage ?? "tile")]?.[f.phase];
  /** @type {Record<string, string | number>} */
  const values = {
    i: sub(f.i),
    part: f.lane,
    of: f.lanes,
    moved: moved(f, "read"),
    size: bytes(sumBytes(f, "write")),
    row: row ? rowWord(row) : "",
    m: number(row?.m_new),
    l: number(row?.l_new),
  };
  return found?.map((text) =>
    text.replace(/\{(\w+)\}/g, (all, name) => String(values[name] ?? all)),
  );
}

/** What is said of a step; "" where there is no formula or nothing else worth knowing; `row` is the followed row.
 * @param {Frame} f @param {Row} [row] */
export function said(f, row) {
  const [words, formula = "", aside = ""] = [
    ownWords(f, row) ?? (f.pass === "backward" ? backward.said : SAID)[f.phase](f, row),
  ].flat();
  return { words, formula, aside };
}

/** The step in words: what the eye sees, for the ear. @param {Frame} f @param {Row} [row] */
export function sentence(f, row) {
  const { words, formula, aside } = said(f, row);
  const all = [words, formula && `${formula}.`, aside].filter(Boolean).join(" ");
  return f.j < 0
    ? say("said.block", { i: f.i, said: all })
    : say("said.tile", { i: f.i, j: f.j, said: all });
}
