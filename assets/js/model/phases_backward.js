// What is said of each phase of the backward pass, by the same rules as model/phases.js.

import { bytes, integer, number, sub } from "../lib/format.js";
import { sharing } from "./heads.js";
import { bends, changesOf } from "./scores.js";
import { hiddenBy, masked, maskName, moved, rowWord, sumBytes, tileOf } from "./wording.js";

/** @import { Frame, Op, Row } from "./types.js" */

/** @param {Frame} f @param {string} tensor @param {Op} op */
const moves = (f, tensor, op) => f.transfers.some((t) => t.tensor === tensor && t.op === op);
/** The 2nd of 3 parts of dQ. @param {Frame} f */
const part = ({ grads, i }) => `part ${grads?.added[i]} of ${grads?.of[i]}`;
/** How much of these tensors is written here. @param {Frame} f @param {string[]} tensors */
const written = (f, ...tensors) => bytes(sumBytes({ ...f, transfers: f.transfers.filter((t) => tensors.includes(t.tensor)) }, "write"));
/** Does no query see a key of this block? @param {Frame} f */
const alone = (f) => f.i < 0;

/** What the loads of a tile are for. @param {Frame} f @param {string} what */
function loaded(f, what) {
  const [i, j] = [sub(f.i), sub(f.j)];
  const row = f.problem.order === "fa1" ? `Q${i}, O${i}, dO${i}, dQ${i}, m and ℓ` : `Q${i}, dO${i}, lse${i} and D${i}`;
  if (moves(f, "K", "read")) return [`K${j} and V${j} come on chip and stay. dK${j} and dV${j} begin at 0; rows stream past.`, "", what];
  return [`${row} stream past. K${j}, V${j}, dK${j} and dV${j} are still on chip.`, "", what];
}

/** @type {Record<string, (f: Frame, row?: Row) => string | string[]>} */
export const SAID = {
  skip: (f) => `${hiddenBy(f.problem, f.hiders).skip}: P = 0, so no gradient flows, and nothing is loaded.`,
  load: (f) => {
    const what = `${moved(f, "read")}.`;
    const [i, j] = [sub(f.i), sub(f.j)];
    if (alone(f)) return [`No query sees a key of K${j} under ${maskName(f.problem)}: dK${j} = dV${j} = 0.`, "", what];
    if (f.stage === null) return loaded(f, what);
    if (f.stage === "D") return [`First, a small kernel: O${i} and dO${i} are read once, for a number per row.`, "", what];
    if (f.stage === "scale") return [`Last, a small kernel: dQ${i} has all its parts and is read once more.`, "", what];
    return what;
  },
  scores: (f) => {
    const [i, j] = [sub(f.i), sub(f.j)];
    const formula = [`S${tileOf(f)} = Q${i} K${j}ᵀ / √${f.problem.d}`, ...changesOf(f.problem)].join(", then ");
    return [`No score was kept: S${tileOf(f)} is computed again, from Q${i} and K${j}.`, formula];
  },
  mask: masked,
  exp: (f, row) => {
    const [ij, i] = [tileOf(f), sub(f.i)];
    const by = f.problem.order === "fa1" ? `exp(S − m) / ℓ` : `exp(S − lse${i})`;
    const end = row?.lse === -Infinity ? `${rowWord(row)} sees no key: its P is 0.` : f.problem.order === "fa1" ? "No maximum, no sum: both are known. m + log ℓ is shown as lse." : "Already divided by ℓ: no maximum, no sum.";
    return [`P${ij} is computed again too, from ${f.problem.order === "fa1" ? "m and ℓ" : `lse${i}`}.`, `P${ij} = ${by}`, end];
  },
  dV: (f) => {
    const [i, j] = [sub(f.i), sub(f.j)];
    if (f.stage) return [`dV${j} takes in dO${i}, weighed by P, which comes from HBM.`, `dV${j} += P${tileOf(f)}ᵀ dO${i}`];
    return [`dV${j} takes in dO${i}, weighed by P, and stays on chip.`, `dV${j} += P${tileOf(f)}ᵀ dO${i}`];
  },
  dP: (f) => {
    const [i, j] = [sub(f.i), sub(f.j)];
    return [`What if a weight were larger? dO${i} meets V${j} as Q met K.`, `dP${tileOf(f)} = dO${i} V${j}ᵀ`];
  },
  D: (f, row) => {
    const i = sub(f.i);
    const formula = row?.D === undefined ? "" : `D = ${number(row.D)}`;
    if (f.stage === "dS") return [`D is the mean of dP in each row, weighed by P. ${row ? `${rowWord(row)}:` : ""}`, formula && `D = rowsum(P ∘ dP) = ${number(row?.D)}`];
    const again = f.stage ? "It is the mean of dP in its row, weighed by P, before either is there." : "FA-2 does this once, before all tiles.";
    return [`${row ? `${rowWord(row)}: one` : "One"} number, O${i} times dO${i}, summed.`, formula && `D = rowsum(O ∘ dO) = ${number(row?.D)}`, again];
  },
  dS: (f, row) => {
    const [ij, i] = [tileOf(f), sub(f.i)];
    const mean = row?.D === undefined ? "" : `${rowWord(row)}: D = ${number(row.D)}. ${bends(f.problem) ? "Before the slope each" : "Each"} row of dS sums to ${f.problem.sink === null ? "0" : "D times its sink's weight"}, over all its keys.`;
    return [`dP turns into dS in place: a score counts by how far its dP is from D${f.stage ? "" : i}.`, `dS${ij} = P ∘ (dP − D)${bends(f.problem) ? " ∘ slope" : ""}`, mean];
  },
  dQ: (f) => {
    const [ij, i, j] = [tileOf(f), sub(f.i), sub(f.j)];
    if (f.stage) return [`dQ${i} takes in K${j}, weighed by dS, which comes from HBM.`, `dQ${i} += dS${ij} K${j}`];
    if (f.problem.order === "fa1") return [`dQ${i}, read from HBM, takes in its part and goes back: ${part(f)}.`, `dQ${i} ← dQ${i} + dS${ij} K${j} / √${f.problem.d}`, `${written(f, "dQ")} written.`];
    return [`dQ${i} goes out and is added in HBM: ${part(f)}.`, `dQ${i} += dS${ij} K${j}`, "Every key block adds to these rows, atomically, so no block can keep them on chip."];
  },
  dK: (f) => {
    const [i, j] = [sub(f.i), sub(f.j)];
    if (f.stage) return [`dK${j} takes in Q${i}, weighed by dS, which comes from HBM.`, `dK${j} += dS${tileOf(f)}ᵀ Q${i}`];
    return [`dK${j} takes in Q${i}, weighed by dS, and stays on chip.`, `dK${j} += dS${tileOf(f)}ᵀ Q${i}`];
  },
  scale: (f) => [`dQ${sub(f.i)} was added up without the scale of the scores: it is applied here.`, `dQ${sub(f.i)} = dQ${sub(f.i)} / √${f.problem.d}`, `In fp32 until now, then ${f.problem.dtype}.`],
  store: (f) => {
    const [i, j, { n, d }] = [sub(f.i), sub(f.j), f.problem];
    const what = moved(f, "write");
    const size = `${bytes(sumBytes(f, "write"))} written.`;
    if (f.stage === "D") return [`D${i} goes home, and dQ${i} begins at 0: parts will be added to it.`, "", size];
    if (f.stage === "scale") return [`dQ${i} goes home: these gradients are done.`, "", size];
    if (f.stage === "dP" || f.stage === "dS") return [`${what}.`, "", `All ${integer(n)} × ${integer(n)} of them will cross.`];
    if (f.stage === "dV") return [`dV${j} goes home.`, "", size];
    if (f.stage) return [`d${f.stage[1]}${f.stage === "dQ" ? i : j}, scaled, goes home.`, `d${f.stage[1]} / √${d}`, size];
    if (alone(f)) return [`dK${j} = 0 and dV${j} = 0 go home: nothing was summed.`, "", size];
    const group = f.problem.heads ? sharing(f.problem.heads) : 1;
    const others = group > 1 ? ` The other heads that share K${j} and V${j} add theirs.` : "";
    return [`dK${j}, scaled once, and dV${j} go home: this column is done.`, `dK${j} = dK${j} / √${d}`, `Both together: ${written(f, "dK", "dV")}. S, P and dS never cross.${others}`];
  },
};

/** The five products of FA-2, in the order of their phases: what is computed, and where it goes.
 * @type {[phase: string, formula: string, where: string][]} */
export const PRODUCTS = [
  ["scores", "S = Q Kᵀ / √d", "again, as in the forward"],
  ["dV", "dV += Pᵀ dO", "stays on chip"],
  ["dP", "dP = dO Vᵀ", "then dS, in place"],
  ["dK", "dK += dSᵀ Q", "stays on chip, / √d last"],
  ["dQ", "dQ += dS K", "to HBM every tile, / √d last"],
];
