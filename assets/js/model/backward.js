// What is known of the backward pass at (step, phase): the gradients on chip and in HBM, lse and D of the rows, and what stands
// in the two crossings of its tile. frame.js makes a frame of it. Pure.

import { times } from "../lib/lists.js";
import { indicesOf, keysOfBlock, rowsOfBlock, sizeOf } from "./spans.js";
import { makeStatistics } from "./statistics.js";

/** @import { Accumulator, Decoded, Frame, Grads, Header, Numbers, Row, Span, Trace } from "./types.js" */
/** @typedef {"dQ" | "dK" | "dV"} Gradient */

/** @type {Gradient[]} */
export const GRADIENTS = ["dV", "dK", "dQ"];
/** The kernel of a visit, where a pass has several. @param {Decoded} trace @param {number} v */
export const stageOf = ({ header: { stages }, arrays: { v_stage } }, v) => stages[v_stage[v]];

/** So many visits, none of which is known. @param {number} count */
export const noVisits = (count) => new Int32Array(count).fill(-1);

/** The indices of a visit's transfers. @param {Decoded["arrays"]} arrays @param {number} v */
export const transfersIn = ({ t_ptr }, v) => indicesOf({ start: t_ptr[v], stop: t_ptr[v + 1] });

/** Does a visit have this phase? @param {Decoded} trace @param {number} v @param {string} phase */
export const hasPhase = ({ header: { phases }, arrays: { v_phases } }, v, phase) =>
  phases.includes(phase) && (v_phases[v] & (1 << phases.indexOf(phase))) > 0;

/** Of each visit and gradient the one that left its sum, −1 where it begins at 0; and of each row block the visits that
 * add to its dQ. @param {Decoded} decoded */
export function sumsOf(decoded) {
  const { problem: p } = decoded.header;
  const { v_i, v_j } = decoded.arrays;
  const steps = v_i.length;
  const before = { dQ: noVisits(steps), dK: noVisits(steps), dV: noVisits(steps) };
  const adds = times(p.Tr, () => /** @type {number[]} */ ([]));
  /** @type {Map<string, number>} */
  const last = new Map();
  for (let v = 0; v < steps; v++)
    for (const name of GRADIENTS) {
      if (!hasPhase(decoded, v, name)) continue;
      const key = `${name} ${name === "dQ" ? v_i[v] : v_j[v]}`;
      before[name][v] = last.get(key) ?? -1;
      last.set(key, v);
      if (name === "dQ" && stageOf(decoded, v) === null) adds[v_i[v]].push(v);
    }
  return { before, adds };
}

/** The rows or keys of a gradient on which a visit works. @param {Trace} trace @param {number} v @param {Gradient} name */
const spanOfGradient = ({ problem, arrays: { v_i, v_j } }, v, name) =>
  name === "dQ" ? rowsOfBlock(problem, v_i[v]) : keysOfBlock(problem, v_j[v]);

/** The numbers of a visit of a whole trace, by the names that they have where it comes by itself: of its rows or keys the
 * gradients, and their sums before and after it. @param {Trace} trace @param {number} v @returns {Record<string, Numbers>} */
function numbersOf(trace, v) {
  const { arrays, problem: p, before, adds } = trace;
  const isScale = stageOf(trace, v) === "scale"; // which adds nothing to the last sum
  /** @type {Record<string, Numbers>} */
  const found = { part_dQ: arrays.part_dQ.subarray(arrays.a_ptr[v], arrays.a_ptr[v + 1]) };
  for (const name of GRADIENTS) {
    const ptr = name === "dQ" ? arrays.a_ptr : arrays.c_ptr;
    const { start, stop } = spanOfGradient(trace, v, name);
    const sum = (/** @type {number} */ at) =>
      arrays[`acc_${name}`].subarray(ptr[at] ?? 0, ptr[at + 1] ?? 0);
    const from = isScale ? (adds[arrays.v_i[v]].at(-1) ?? -1) : before[name][v];
    found[name] = arrays[name].subarray(start * p.d, stop * p.d);
    found[`before_${name}`] = sum(from);
    found[`acc_${name}`] = sum(v);
  }
  return found;
}

/** @param {Trace} trace @param {number} v @param {Frame["done"]} done @param {Frame["zoom"]} zoom @returns {Grads} */
export function gradsOf(trace, v, done, zoom) {
  const { header, arrays, problem: p, before, adds } = trace;
  const stage = stageOf(trace, v);
  const numbers = zoom ?? (header.numbers ? numbersOf(trace, v) : null);
  /** @type {Grads} */
  const found = {
    dQ: null,
    dK: null,
    dV: null,
    part: null,
    numbers: numbers ?? {},
    of: adds.map((visits) => visits.length),
    added: adds.map((visits) => visits.filter((at) => at < v || (at === v && done("dQ"))).length),
  };
  if (!numbers) return found;
  /** @param {Gradient} name @param {string} key @param {Accumulator["state"]} state @returns {Accumulator} */
  const sum = (name, key, state) => ({ data: numbers[`${key}${name}`], state });
  /** @param {Gradient} name @returns {Accumulator} */
  const zero = (name) => {
    const size = sizeOf(spanOfGradient(trace, v, name));
    return { data: new Float32Array(size * p.d), state: "zero" };
  };
  const stores = (/** @type {Gradient} */ name) =>
    transfersIn(arrays, v).some(
      (at) => arrays.t_op[at] && header.tensors[arrays.t_tensor[at]] === name,
    );
  for (const name of GRADIENTS) {
    if (hasPhase(trace, v, name)) {
      if (done(name)) found[name] = sum(name, "acc_", "after");
      else found[name] = before[name][v] < 0 ? zero(name) : sum(name, "before_", "before");
    }
    if (done("store") && stores(name) && (name !== "dQ" || stage === "dQ"))
      found[name] = sum(name, "", "final");
  }
  if (stage === "D" && done("store")) found.dQ = zero("dQ");
  if (stage === "scale") {
    if (done("scale")) found.dQ = sum("dQ", "", "final");
    else found.dQ = adds[arrays.v_i[v]].length ? sum("dQ", "before_", "after") : zero("dQ");
  }
  if (stage === null && found.dQ) found.part = numbers.part_dQ;
  return found;
}

/** lse and D of the rows as far as they are known; nothing where no row block is at work. @param {Trace} trace @param {number} v
 * @param {Span} rows @param {Frame["done"]} done @param {Frame["zoom"]} zoom @returns {Row[]} */
export function rowsOf(trace, v, rows, done, zoom) {
  const { header, arrays } = trace;
  const [computesD, hasExp] = [hasPhase(trace, v, "D"), hasPhase(trace, v, "exp")];
  if ((!header.numbers && !zoom) || arrays.v_i[v] < 0 || !(computesD || hasExp)) return [];
  const lse = hasExp && done("load");
  const D = done(computesD ? "D" : "load"); // elsewhere it comes from HBM
  const [source, base] = zoom ? [zoom, 0] : [arrays, rows.start];
  return indicesOf(rows).map((row, r) => ({
    ...makeStatistics(() => undefined),
    rose: false,
    row,
    name: header.row_names?.[row] ?? null,
    lse: lse ? source.lse[base + r] : undefined,
    D: D ? source.D[base + r] : undefined,
  }));
}
