// The texts of each phase of the backward pass, by the same rules as model/phases.js.

import { sharing } from "./heads.js";
import { algorithmOf, savesL } from "./passes.js";
import { bends } from "./scores.js";
import { phrase } from "./texts.js";

/** @import { Frame, Problem, Row } from "./types.js" */

/** Of the phases whose text depends on the moment. @type {Record<string, (f: Frame, row?: Row) => string[]>} */
const PHRASES = {
  load: (f) => {
    if (f.i < 0) return phrase("b.load.unseen");
    if (f.transfers.some(({ tensor, op }) => tensor === "K" && op === "read"))
      return phrase("b.load.keys");
    return phrase(algorithmOf(f).scales_dQ ? "b.load.rows.round_trip" : "b.load.rows");
  },
  exp: (f, row) => {
    const isUnseen = row?.lse === -Infinity;
    if (savesL(f.problem))
      return phrase("b.exp.statistics", isUnseen ? "b.exp.unseen" : "b.exp.known.statistics");
    return phrase("b.exp", isUnseen ? "b.exp.unseen" : "b.exp.known");
  },
  D: (f, row) => {
    if (f.stage === "dS") return phrase(row ? "b.D.dS.row" : "b.D.dS");
    return phrase(row ? "b.D.row" : "b.D", f.stage ? "b.D.whole" : "b.D.once");
  },
  dS: (f, row) => {
    const words = f.stage ? "b.dS.whole" : "b.dS";
    if (row?.D === undefined) return phrase(words);
    const sums = bends(f.problem) ? "b.dS.slope" : "b.dS.sum";
    return phrase(words, f.problem.sink === null ? sums : `${sums}.sink`);
  },
  dQ: (f) => phrase(algorithmOf(f).scales_dQ ? "b.dQ.round_trip" : "b.dQ"),
  store: (f) => {
    const { heads } = f.problem;
    if (f.i < 0) return phrase("b.store.unseen");
    return phrase("b.store", heads && sharing(heads) > 1 ? "b.store.shared" : "b.store.size");
  },
};

/** The parts of a phase's text. @param {Frame} f @param {Row} [row] */
export const partsOfBackward = (f, row) =>
  PHRASES[f.phase]?.(f, row) ?? phrase(/** @type {"b.skip"} */ (`b.${f.phase}`));

/** The five products of FA-2, in the order of their phases: what is computed, and where it goes.
 * each [phase, formula, where]. */
export const PRODUCTS = /** @type {const} */ (["scores", "dV", "dP", "dQ", "dK"]).map((phase) => [
  phase,
  ...phrase(`product.${phase}`),
]);

/** What the backward is for, and why it does what it does: [question, answer] of its first screen. @param {Problem} problem */
export function purposes(problem) {
  const P = algorithmOf({ problem, pass: "backward" }).stores_scores ? "why.P.stored" : "why.P";
  return /** @type {const} */ (["why.dO", P, "why.D", "why.dQ"]).map((key) => phrase(key));
}

/** What stands in the two crossings at this moment: S or P where Q meets K, dP or dS where dO meets V.
 * @param {Frame} f @returns {{S: "S" | "P" | null, dS: "dP" | "dS" | null}} */
export function crossings({ kind, stage, done }) {
  if (kind === "skipped") return { S: null, dS: null };
  if (stage === null)
    return {
      S: done("exp") ? "P" : done("scores") ? "S" : null,
      dS: done("dS") ? "dS" : done("dP") ? "dP" : null,
    };
  if (stage === "dP") return { S: null, dS: done("dP") ? "dP" : null };
  if (stage === "dS") return { S: "P", dS: done("dS") ? "dS" : "dP" };
  return { S: stage === "dV" ? "P" : null, dS: stage === "dQ" || stage === "dK" ? "dS" : null };
}
