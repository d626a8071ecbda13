// The map of the score matrix and its strips: what each tile looks like, and what is said of it. Pure.

import { blockName, bytes } from "../lib/format.js";
import { hidersOf } from "./frame.js";
import { sharing } from "./heads.js";
import { algorithmOf } from "./passes.js";
import { keysOfBlock, rowsOfBlock, sizeOf } from "./spans.js";
import { KINDS } from "./predicates.js";
import { isOfKeys, isPerRow } from "./tensors.js";
import { t } from "./texts.js";
import { whoHides } from "./wording.js";

/** @import { Frame, Kind, Trace } from "./types.js" */
/** @typedef {{kind: Kind, layer: "S" | "P" | "dP" | "dS", state: "current" | "done" | "pending" | "skipped"}} Look */

/** What the tile (i, j) of the score matrix looks like at this moment.
 * @param {Trace} trace @param {number} step @param {number} i @param {number} j @returns {Look} */
export function tileState(trace, step, i, j) {
  const { problem: p, arrays } = trace;
  const kind = KINDS[arrays.tile_kind[i * p.Tc + j]];
  const { stores_scores } = algorithmOf(trace);
  if (stores_scores && trace.header.pass === "backward")
    return { kind, ...storedState(trace, step, i, j) };
  if (stores_scores) {
    const scores = trace.tileVisit[i * p.Tc + j];
    const softmax = trace.strip.softmax[i];
    const current = step === scores || step === softmax || step === trace.strip.output[i];
    const layer = step >= softmax ? "P" : "S";
    return { kind, layer, state: current ? "current" : step > scores ? "done" : "pending" };
  }
  const v = trace.tileVisit[i * p.Tc + j];
  if (kind === "skipped") return { kind, layer: "S", state: v === step ? "current" : "skipped" };
  return { kind, layer: "S", state: v === step ? "current" : v < step ? "done" : "pending" };
}

/** In standard attention's backward: P, which the forward kept, until dP takes its place in the picture, and then dS.
 * @param {Trace} trace @param {number} step @param {number} i @param {number} j @returns {Omit<Look, "kind">} */
function storedState({ problem: p, tilesOf, strip, arrays }, step, i, j) {
  const [now, made] = [
    arrays.v_i[step] === i && (arrays.v_j[step] === j || arrays.v_j[step] < 0),
    tilesOf.dP[i * p.Tc + j],
  ];
  const layer = step >= strip.dS[i] ? "dS" : step >= made ? "dP" : "P";
  return { layer, state: now ? "current" : "done" };
}

/** The same while they are to be predicted: those still to come all look alike.
 * @param {Look} look @param {Trace} trace @param {number} step @param {number} i @param {number} j @returns {Look} */
export function veiled(look, trace, step, i, j) {
  const v = trace.tileVisit[i * trace.problem.Tc + j];
  const met = v >= 0 ? v : (trace.visitsOfRow[i].at(-1) ?? 0) + 1; // never visited: once its row block is done
  return met <= step ? look : { ...look, kind: "full", state: "pending" };
}

/** @type {Record<string, Look["layer"]>} */
const UNTIL_STORED = { softmax: "S", dP: "P", dS: "dP" };

/** The same at this phase: what a kernel makes of a tile is in HBM once it is stored. @param {Look} look @param {Frame} f @returns {Look} */
export const atPhase = (look, f) =>
  look.state === "current" && f.stage && UNTIL_STORED[f.stage] && !f.done("store")
    ? { ...look, layer: UNTIL_STORED[f.stage] }
    : look;

/** Are the scores of the current tile there at this moment? @param {Frame} f */
export const scored = (f) => f.done("scores") || (f.stage !== null && f.stage !== "scores");

/** Tiles of one look need not be painted anew. @param {Pick<Look, "state" | "layer">} look @param {Frame} f */
export const lookOf = ({ state, layer }, f) =>
  state + layer + (state === "current" ? `${f.done("scores") || f.stage}${f.done("mask")}` : "");

/** Does the current tile still show the scores that its mask will hide? @param {Frame} f */
export const unmasked = (f) => f.done("scores") && f.phases.includes("mask") && !f.done("mask");

/** Blocks of this tensor, from the first, that no later write changes. @param {Trace} trace @param {Frame} f @param {string} tensor */
export function finishedBlocks(trace, f, tensor) {
  const last = trace.written[tensor];
  const { t_ptr, t_phase } = trace.arrays;
  const open = last.findIndex(
    (t) =>
      t >= t_ptr[f.step + 1] || (t >= t_ptr[f.step] && !f.done(trace.header.phases[t_phase[t]])),
  );
  return open < 0 ? last.length : open;
}

/** Row blocks, from the first, of which this part of the keys is final in HBM. @param {Trace} trace @param {Frame} f @param {number} lane */
export function finishedParts({ lastOfLane, problem: p }, f, lane) {
  let count = 0;
  while (count < p.Tr && isOver(f, lastOfLane[count * f.lanes + lane])) count++;
  return count;
}

/** Is a visit over, what it stores included? @param {Frame} f @param {number} v */
const isOver = (f, v) => v < f.step || (v === f.step && f.done("store"));

/** A block of Q, K, V, O or a gradient in HBM: its name, shape, bytes and place.
 * @param {Trace} trace @param {string} tensor @param {number} block */
export function blockWords({ problem: p, header }, tensor, block) {
  const rows = sizeOf(isOfKeys(tensor) ? keysOfBlock(p, block) : rowsOfBlock(p, block));
  const name = blockName({ tensor, block });
  if (isPerRow(tensor)) return t("block.rows", { name, rows, size: bytes(rows * 4) });
  const group = "KV".includes(tensor) && p.heads ? sharing(p.heads) : 1;
  const what = { name, rows, cols: p.d, size: bytes(rows * p.d * header.itemsize[tensor]) };
  const words = group > 1 ? t("block.shared", { ...what, heads: group }) : t("block", what);
  const page = isOfKeys(tensor) ? p.block_table?.[block] : undefined;
  return page === undefined ? words : t("block.paged", { block: words, page });
}

/** Why scores of a tile are hidden; "" where none are. @param {Trace} trace @param {number} i @param {number} j */
export function whyOf(trace, i, j) {
  const kind = KINDS[trace.arrays.tile_kind[i * trace.problem.Tc + j]];
  if (kind === "full") return "";
  if (trace.problem.mask === "causal") return kind === "skipped" ? t("after.all") : "";
  const hiders = hidersOf(trace, i, j);
  if (!hiders) return "";
  return whoHides(hiders, kind === "skipped" ? "all" : "some");
}
