// One record per phase: its code line and its sentence with live numbers. The rail, the code card
// and the spoken text all read these, so they cannot disagree.

import { algorithmOf } from "./passes.js";
import { partsOfBackward } from "./phases_backward.js";
import { blindRows, fill, unraisedRows } from "./phrases.js";
import { isFp8 } from "./fp8.js";
import { bends, changesOf } from "./scores.js";
import { isOfKeys } from "./tensors.js";
import { phrase, phraseOfStage, t } from "./texts.js";
import { failure } from "./why.js";
import { hiddenCode, unusedLanes } from "./wording.js";

/** @import { Frame, Problem, Row } from "./types.js" */

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

/** The phrases about the rows whose maximum stayed, where that of the followed one rose. @template {"" | ".alpha"} E
 * @param {Frame} f @param {E} [end] @returns {`others.${"many" | "more" | "one"}${E}`[]} */
function othersOf(f, end = /** @type {E} */ ("")) {
  const { length } = unraisedRows(f);
  if (!length) return [];
  return [`others.${length > 4 ? "many" : length > 1 ? "more" : "one"}${end}`];
}

const FAR = 9999; // a factor that says nothing any more
/** The phrase about what exp would do without m. @param {Row} row @returns {("why.over" | "why.over.now" | "why.under" | "why.under.now")[]} */
function whyOf({ m_new }) {
  const found = failure(m_new);
  if (!found || found.factor > FAR) return [];
  const key = found.overflows ? "why.over" : "why.under";
  return [found.factor > 1 ? key : `${key}.now`];
}

/** The parts of a phase's text: a sentence, a formula, remarks.
 * @type {Record<string, (f: Frame, row?: Row) => string[]>} */
const PHRASES = {
  skip: () => phrase("skip", "skip.saves"),
  load: (f) => {
    const { sink, rope } = f.problem;
    if (f.unseen) return phrase("load.tile", "load.unseen");
    if (f.step === 0)
      return [
        ...phrase("load.tile"),
        ...(rope ? phrase("load.rope") : []),
        ...(isFp8(f) ? phrase("load.fp8") : []),
        ...phrase(sink === null ? "load.begin" : "load.begin.sink"),
      ];
    if (algorithmOf(f).outer !== "rows") return phrase("load.tile", "load.round_trip");
    return phrase("load.tile", f.first ? "load.first" : "load.on_chip");
  },
  scores: (f) => {
    const lanes = unusedLanes(f);
    if (!lanes) return isFp8(f) ? phrase("scores", "scores.fp8") : phrase("scores");
    return phrase("scores", lanes > 1 ? "scores.lanes" : "scores.lane");
  },
  mask: (f) =>
    f.stage || f.problem.mask === "full" ? phrase("mask") : phrase("mask", "mask.skips"),
  max: (f, row) => {
    if (!row) return phrase("max");
    const why = whyOf(row);
    if (f.stage) return phrase(f.problem.sink === null ? "max.whole" : "max.whole.sink", ...why);
    if (row.m_new === -Infinity) return phrase("max.unseen");
    if (row.m_old === -Infinity) return phrase("max.first", ...why);
    if (f.first) return phrase(row.rose ? "max.sink.rises" : "max.sink.stays", ...why);
    if (row.rose) return phrase("max.rises", ...othersOf(f), ...why);
    if (row.row_max === -Infinity) return phrase("max.blind");
    const all = unraisedRows(f).length === f.stats.length;
    return phrase(all ? "max.all_stay" : "max.stays", ...why);
  },
  exp: (f, row) => {
    if (!row || row.alpha === undefined) return phrase("exp");
    if (row.m_new === -Infinity) return phrase("exp.unseen");
    if (row.m_old === -Infinity) return phrase("exp.first");
    if (!row.rose) return phrase("exp.stays");
    if (f.first) return phrase("exp.sink");
    return phrase("exp.rises", ...othersOf(f, ".alpha"));
  },
  sum: (f, row) => {
    if (!row) return phrase("sum");
    if (f.stage && f.problem.sink !== null) return phrase("sum.whole.sink");
    if (row.alpha === undefined || row.m_old === -Infinity) return phrase("sum.first");
    const sum = f.first ? "sum.sink" : row.alpha === 1 ? "sum.stays" : "sum.rises";
    return faint(f) ? phrase(sum, "sum.faint") : phrase(sum);
  },
  output: (f) => {
    const isNormalized = algorithmOf(f).output === "normalized";
    if (f.problem.dropout)
      return phrase(isNormalized ? "output.drop.normalized" : "output.drop", "output.drop.why");
    if (isNormalized) return phrase("output.normalized");
    const isFirst =
      f.stats.length && (f.first || f.stats.every(({ m_old }) => m_old === -Infinity));
    const said = phrase(isFirst ? "output.first" : "output");
    if (isFp8(f)) return said; // of which there is more to say
    return [...said, ...phrase(faint(f) ? "output.faint" : "output.so_far")];
  },
  store: (f) => {
    const { sink } = f.problem;
    if (algorithmOf(f).output === "normalized") return phrase("store.round_trip");
    if (f.unseen) return phrase(sink === null ? "store.unseen" : "store.unseen.sink");
    const { length } = blindRows(f);
    return phrase(
      "store",
      length > 1 ? "store.blind.more" : length ? "store.blind.one" : "store.lse",
    );
  },
};

/** The parts of this phase's text: the algorithm's own or its kernel's, if there are any. @param {Frame} f @param {Row} [row] */
function partsOf(f, row) {
  const { sentences } = algorithmOf(f).texts;
  const own = sentences?.[f.unseen ? "unseen" : (f.stage ?? "tile")]?.[f.phase];
  const parts =
    own ?? phraseOfStage(f) ?? (f.pass === "backward" ? partsOfBackward : PHRASES[f.phase])(f, row);
  const more = [
    ...(readsPages(f)
      ? phrase(f.j < 0 ? "load.paged.all" : f.step === 0 ? "load.paged.begin" : "load.paged")
      : []),
    ...(isFp8(f) && f.phase === "output" && f.columns === "keys" ? phrase("output.fp8") : []),
  ];
  if (!more.length) return parts;
  const [words, formula = "", ...remarks] = parts;
  return [words, formula, ...remarks, ...more];
}

/** Are key blocks loaded from pages now? @param {Frame} f */
const readsPages = ({ problem, phase, transfers }) =>
  Boolean(problem.block_table) &&
  phase === "load" &&
  transfers.some(({ tensor, op }) => op === "read" && isOfKeys(tensor));

/** What is said of a step; "" where there is no formula or nothing else worth knowing; `row` is the followed row.
 * @param {Frame} f @param {Row} [row] */
export function describeStep(f, row) {
  const [words, formula = "", ...remarks] = partsOf(f, row).map((part) => fill(part, f, row));
  return { words, formula, remarks, aside: remarks.join(" ") };
}

/** The step in words: what the eye sees, for the ear. @param {Frame} f @param {Row} [row] */
export function sentence(f, row) {
  const { words, formula, aside } = describeStep(f, row);
  const all = [words, formula && `${formula}.`, aside].filter(Boolean).join(" ");
  return f.j < 0
    ? t("spoken.block", { i: f.i, sentence: all })
    : t("spoken.tile", { i: f.i, j: f.j, sentence: all });
}
