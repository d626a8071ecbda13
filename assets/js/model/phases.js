// One record per phase: its code line and its sentence with live numbers. The rail, the code card
// and the spoken text all read these, so they cannot disagree.

import { bytes, number, sub } from "../lib/format.js";
import { algorithmOf, backward } from "./passes.js";
import { bends, changesOf } from "./scores.js";
import { t } from "./texts.js";
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
        ? t("code.or", { a: hides[0], b: hides[1] })
        : (hides[0] ?? t("code.nowhere")),
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
  const stayed = row.rose ? f.stats.filter((s) => !s.rose).map((s) => String(s.row)) : [];
  if (!stayed.length) return "";
  if (stayed.length > 4)
    return t(alpha ? "others.many.alpha" : "others.many", {
      count: stayed.length,
      of: f.stats.length,
    });
  if (stayed.length > 1)
    return t(alpha ? "others.more.alpha" : "others.more", { rows: listed(stayed) });
  return t(alpha ? "others.one.alpha" : "others.one", { rows: stayed[0] });
}

/** Where m and ℓ of a row begin. @param {Problem} problem */
const starts = ({ sink }) =>
  sink === null ? t("starts") : t("starts.sink", { sink: number(sink) });

/** A sentence; or with it a formula with its numbers, and what else is worth knowing.
 * @type {Record<string, (f: Frame, row?: Row) => string | string[]>} */
const SENTENCES = {
  skip: (f) => t("skip", { why: whySkipped(f) }),
  load: (f) => {
    const what = moved(f, "read");
    const [i, j, { sink, rope }] = [sub(f.i), sub(f.j), f.problem];
    if (f.stage) return what;
    if (f.unseen)
      return [
        what,
        "",
        t("load.unseen", { mask: maskName(f.problem), starts: starts(f.problem), i }),
      ];
    if (f.step === 0)
      return [
        what,
        "",
        [
          rope && t("load.rope"),
          sink === null
            ? t("load.begin", { i, j })
            : t("load.begin.sink", { starts: starts(f.problem), i, j }),
        ]
          .filter(Boolean)
          .join(" "),
      ];
    if (algorithmOf(f).outer === "rows")
      return [
        what,
        "",
        f.first ? t("load.first", { starts: starts(f.problem), i }) : t("load.on_chip", { i }),
      ];
    return [what, "", t("load.round_trip", { algorithm: algorithmOf(f).label, i })];
  },
  scores: (f) => {
    const { lanes } = taken(f);
    const [i, j, { d }] = [sub(f.i), sub(f.j), f.problem];
    return [
      t("scores", { i, j, rows: f.rows.stop - f.rows.start, keys: f.cols.stop - f.cols.start }),
      [`S${tileOf(f)} = Q${i} K${j}ᵀ / √${d}`, ...changesOf(f.problem)].reduce((first, next) =>
        t("then", { first, next }),
      ),
      lanes > 1 ? t("scores.lanes", { lanes }) : lanes ? t("scores.lane") : "",
    ];
  },
  mask: masked,
  max: (f, row) => {
    if (!row) return t("max");
    const who = { row: rowWord(row) };
    if (f.stage === "softmax" && f.problem.sink !== null)
      return [
        t("max.whole.sink", who),
        `m = max(${number(row.row_max)}, ${number(f.problem.sink)}) = ${number(row.m_new)}`,
      ];
    if (f.stage === "softmax") return [t("max.whole", who), `m = ${number(row.m_new)}`];
    if (row.m_new === -Infinity) return [t("max.unseen", who), "m = −∞"];
    if (row.m_old === -Infinity) return [t("max.first", who), `m = ${number(row.m_new)}`];
    const formula = `m = max(${number(row.m_old)}, ${number(row.row_max)}) = ${number(row.m_new)}`;
    if (f.first) return [t(row.rose ? "max.sink.rises" : "max.sink.stays", who), formula];
    if (row.rose) return [t("max.rises", who), formula, theOthers(f, row)];
    if (row.row_max === -Infinity) return [t("max.blind", who), formula];
    return [t(f.stats.some((s) => s.rose) ? "max.stays" : "max.all_stay", who), formula];
  },
  exp: (f, row) => {
    if (f.stage === "softmax") return [t("exp.whole"), t("exp.weight")];
    const weights = `P${tileOf(f)} = exp(S − m)`;
    if (!row || row.alpha === undefined) return [t("exp"), weights];
    const who = { row: rowWord(row) };
    if (row.m_new === -Infinity) return [t("exp.unseen", who), weights];
    if (row.m_old === -Infinity) return [t("exp.first"), weights, t("exp.first.why")];
    const formula = `α = exp(${minus(row.m_old, row.m_new)}) = ${number(row.alpha)}`;
    if (row.rose && f.first) return [t("exp.sink", who), formula];
    if (row.rose)
      return [
        t("exp.rises", { row: rowWord(row), m: number(row.m_new) }),
        formula,
        theOthers(f, row, true),
      ];
    return [t("exp.stays", who), formula];
  },
  sum: (f, row) => {
    if (!row) return t("sum");
    const who = { row: rowWord(row) };
    if (f.stage && f.problem.sink !== null)
      return [
        t("sum.whole.sink", who),
        `ℓ = ${number(row.row_sum)} + exp(${minus(f.problem.sink, row.m_new)}) = ${number(row.l_new)}`,
      ];
    if (row.alpha === undefined || row.m_old === -Infinity)
      return [t("sum.first", who), `ℓ = ${number(row.l_new)}`];
    const words = t(f.first ? "sum.sink" : row.alpha === 1 ? "sum.stays" : "sum.rises", who);
    return [
      words,
      `ℓ = ${number(row.alpha)} × ${number(row.l_old)} + ${number(row.row_sum)} = ${number(row.l_new)}`,
      faint(f) ? t("sum.faint") : "",
    ];
  },
  output: (f) => {
    const [i, j] = [sub(f.i), sub(f.j)];
    const { dropout } = f.problem;
    if (dropout && !f.stage)
      return [
        t("output.drop", { i, j }),
        `O${i} ← ${algorithmOf(f).output === "normalized" ? `(ℓ·α·O${i} + drop(P) V${j}) / ℓ` : `α·O${i} + drop(P) V${j}`}`,
        t("output.drop.why", { p: dropout, rest: number(1 - dropout) }),
      ];
    if (f.stage) return [t("output.whole", { i }), `O${i} = P V`];
    if (algorithmOf(f).output === "normalized")
      return [t("output.normalized", { i, j }), `O${i} ← (ℓ·α·O${i} + P V${j}) / ℓ`];
    const end = t(faint(f) ? "output.faint" : "output.so_far");
    if (f.stats.length && (f.first || f.stats.every(({ m_old }) => m_old === -Infinity)))
      return [t("output.first", { i, j }), `O${i} ← P V${j}`, end];
    return [t("output", { i, j }), `O${i} ← α·O${i} + P V${j}`, end];
  },
  store: (f) => {
    const { n, dropout, sink } = f.problem;
    const [i, size] = [sub(f.i), bytes(sumBytes(f, "write"))];
    if (f.stage === "softmax")
      return [
        moved(f, "write"),
        dropout ? "P = drop(exp(S − m) / ℓ)" : "P = exp(S − m) / ℓ",
        t("store.whole", { n }),
      ];
    if (f.stage)
      return [moved(f, "write"), "", f.stage === "scores" ? t("store.whole", { n }) : ""];
    if (algorithmOf(f).output === "normalized") {
      const { what } = blocksOf(f, "write");
      return [t("store.round_trip", { what, size }), "", t("store.round_trip.S")];
    }
    const lse = sink === null ? "−∞" : number(sink);
    if (f.unseen)
      return [
        t(sink === null ? "store.unseen" : "store.unseen.sink", { i }),
        `lse${i} = ${lse}`,
        t("store.size", { size }),
      ];
    const rows = f.stats
      .filter((s) => s.l_new === 0 || (sink !== null && s.l_new === 1 && s.m_new === sink))
      .map((s) => String(s.row));
    const end = rows.length
      ? t(rows.length > 1 ? "store.blind.more" : "store.blind.one", { rows: listed(rows), lse })
      : t("store.lse", { size });
    return [t("store", { i }), `lse${i} = m + log ℓ`, end];
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
export function describeStep(f, row) {
  const [words, formula = "", aside = ""] = [
    ownWords(f, row) ?? (f.pass === "backward" ? backward.sentences : SENTENCES)[f.phase](f, row),
  ].flat();
  return { words, formula, aside };
}

/** The step in words: what the eye sees, for the ear. @param {Frame} f @param {Row} [row] */
export function sentence(f, row) {
  const { words, formula, aside } = describeStep(f, row);
  const all = [words, formula && `${formula}.`, aside].filter(Boolean).join(" ");
  return f.j < 0
    ? t("spoken.block", { i: f.i, sentence: all })
    : t("spoken.tile", { i: f.i, j: f.j, sentence: all });
}
