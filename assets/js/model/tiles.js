// The map of the score matrix and its strips: what each tile looks like, and what is said of it. Pure.

import { blockName, bytes } from "../lib/format.js";
import { hidersOf, KINDS } from "./frame.js";
import { sharing } from "./heads.js";

/** @import { Frame, Kind, Problem, Trace } from "./types.js" */
/** @typedef {{kind: Kind, layer: "S" | "P", state: "current" | "done" | "pending" | "skipped"}} Look */

/** What the tile (i, j) of the score matrix looks like at this moment.
 * @param {Trace} trace @param {number} step @param {number} i @param {number} j @returns {Look} */
export function tileState(trace, step, i, j) {
  const { problem: p, arrays } = trace;
  const kind = KINDS[arrays.tile_kind[i * p.Tc + j]];
  if (p.order === "standard") {
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

/** The same for who is to guess what becomes of the tiles: those still to come all look alike.
 * @param {Look} look @param {Trace} trace @param {number} step @param {number} i @param {number} j @returns {Look} */
export function veiled(look, trace, step, i, j) {
  const v = trace.tileVisit[i * trace.problem.Tc + j];
  const met = v >= 0 ? v : (trace.visitsOfRow[i].at(-1) ?? 0) + 1; // never visited: once its row block is done
  return met <= step ? look : { ...look, kind: "full", state: "pending" };
}

/** The same at this phase: what is in HBM is S until P is stored. @param {Look} look @param {Frame} f @returns {Look} */
export const atPhase = (look, f) =>
  look.state === "current" && f.stage === "softmax" && !f.done("store") ? { ...look, layer: "S" } : look;

/** Are the scores of the current tile there at this moment? @param {Frame} f */
export const scored = (f) => f.done("scores") || f.stage === "softmax" || f.stage === "output";

/** Tiles of one look need not be painted anew. @param {Pick<Look, "state" | "layer">} look @param {Frame} f */
export const lookOf = ({ state, layer }, f) =>
  state + layer + (state === "current" ? `${f.done("scores") || f.stage}${f.done("mask")}` : "");

/** Does the current tile still show the scores that its mask will hide? @param {Frame} f */
export const unmasked = (f) => f.done("scores") && f.phases.includes("mask") && !f.done("mask");

/** Row blocks, from the first, whose O is final in HBM. @param {Trace} trace @param {Frame} f */
export function finishedRows({ visitsOfRow, problem: p }, f) {
  let count = 0;
  while (count < p.Tr) {
    const visits = visitsOfRow[count];
    const last = visits[visits.length - 1];
    if (last > f.step || (last === f.step && !f.done("store"))) break;
    count++;
  }
  return count;
}

/** @param {Problem} p @param {number} k @param {number} size */
const part = (p, k, size) => Math.min(size, p.n - k * size);

/** A block of Q, K, V or O in HBM: its name, shape, bytes and place.
 * @param {Trace} trace @param {string} tensor @param {number} block */
export function blockWords({ problem: p, header }, tensor, block) {
  const rows = "KV".includes(tensor) ? part(p, block, p.block_k) : part(p, block, p.block_q);
  const group = "KV".includes(tensor) && p.heads ? sharing(p.heads) : 1;
  const shared = group > 1 ? `, for ${group} query heads` : "";
  return `${blockName({ tensor, block })}: ${rows} × ${p.d}, ${bytes(rows * p.d * header.itemsize[tensor])}, in HBM${shared}`;
}

/** Why scores of a tile are hidden; "" where none are. @param {Trace} trace @param {number} i @param {number} j */
export function whyOf(trace, i, j) {
  const kind = KINDS[trace.arrays.tile_kind[i * trace.problem.Tc + j]];
  if (kind === "full") return "";
  if (trace.problem.mask === "causal") return kind === "skipped" ? "every key comes after every query" : "";
  const who = hidersOf(trace, i, j);
  return who && `${who} ${kind === "skipped" ? "all of it" : "some of it"}`;
}

/** The same of a tile of S, which only standard attention stores. @param {Trace} trace @param {number} i @param {number} j */
export function tileWords(trace, i, j) {
  const { problem: p, header, arrays } = trace;
  const [rows, cols] = [part(p, i, p.block_q), part(p, j, p.block_k)];
  const where = p.order === "standard"
    ? `${bytes(rows * cols * header.itemsize.S)}, in HBM`
    : [KINDS[arrays.tile_kind[i * p.Tc + j]], whyOf(trace, i, j), "never stored"].filter(Boolean).join(", ");
  return `${blockName({ tensor: "S", block: [i, j] })}: ${rows} × ${cols}, ${where}`;
}
