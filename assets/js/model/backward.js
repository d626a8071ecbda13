// What is known of the backward pass at (step, phase): the gradients on chip and in HBM, lse and D of the rows, and what stands
// in the two crossings of its tile. frame.js makes a frame of it. Pure.

/** @import { Accumulator, Decoded, Frame, Grads, Header, Numbers, Row, Span, Trace } from "./types.js" */
/** @typedef {"dQ" | "dK" | "dV"} Gradient */

/** @type {Gradient[]} */
export const GRADIENTS = ["dV", "dK", "dQ"];
const NO_ROW = {
  rose: false,
  m_old: undefined,
  l_old: undefined,
  row_max: undefined,
  m_new: undefined,
  alpha: undefined,
  row_sum: undefined,
  l_new: undefined,
};

/** Of each visit and gradient the one that left its sum, −1 where it begins at 0; and of each row block the visits that
 * add to its dQ. @param {Header} header @param {Decoded["arrays"]} arrays */
export function sumsOf({ phases, stages, problem: p }, { v_i, v_j, v_stage, v_phases }) {
  const steps = v_i.length;
  /** @type {Record<Gradient, Int32Array>} */
  const before = {
    dQ: new Int32Array(steps).fill(-1),
    dK: new Int32Array(steps).fill(-1),
    dV: new Int32Array(steps).fill(-1),
  };
  const adds = Array.from({ length: p.Tr }, () => /** @type {number[]} */ ([]));
  /** @type {Map<string, number>} */
  const last = new Map();
  for (let v = 0; v < steps; v++)
    for (const name of GRADIENTS) {
      if (!(v_phases[v] & (1 << phases.indexOf(name))) || !phases.includes(name)) continue;
      const key = `${name} ${name === "dQ" ? v_i[v] : v_j[v]}`;
      before[name][v] = last.get(key) ?? -1;
      last.set(key, v);
      if (name === "dQ" && stages[v_stage[v]] === null) adds[v_i[v]].push(v);
    }
  return { before, adds };
}

/** @param {Trace} trace @param {number} v @param {Frame["done"]} done @param {Frame["zoom"]} zoom @returns {Grads} */
export function gradsOf({ header, arrays, problem: p, before, adds }, v, done, zoom) {
  const stage = header.stages[arrays.v_stage[v]];
  const [i, j] = [arrays.v_i[v], arrays.v_j[v]];
  /** @type {Grads} */
  const found = {
    dQ: null,
    dK: null,
    dV: null,
    part: null,
    of: adds.map((visits) => visits.length),
    added: adds.map((visits) => visits.filter((at) => at < v || (at === v && done("dQ"))).length),
  };
  if (!header.numbers && !zoom) return found;
  /** @param {Gradient} name @param {number} at its sum after this visit */
  const sum = (name, at) => {
    if (zoom) return zoom[`${at === v ? "acc" : "before"}_${name}`];
    const ptr = name === "dQ" ? arrays.a_ptr : arrays.c_ptr;
    return arrays[`acc_${name}`].subarray(ptr[at], ptr[at + 1]);
  };
  /** @param {Gradient} name */
  const whole = (name) => {
    const [start, stop] = span(name);
    return zoom ? zoom[name] : arrays[name].subarray(start * p.d, stop * p.d);
  };
  /** @param {Gradient} name its rows or keys */
  const span = (name) => {
    const [block, size] = name === "dQ" ? [i, p.block_q] : [j, p.block_k];
    return [block * size, Math.min(p.n, (block + 1) * size)];
  };
  /** @param {Gradient} name @returns {Accumulator} */
  const zero = (name) => ({
    data: new Float32Array((span(name)[1] - span(name)[0]) * p.d),
    state: "zero",
  });
  const stored = transfersOf(header, arrays, v);
  for (const name of GRADIENTS) {
    const has = arrays.v_phases[v] & (1 << header.phases.indexOf(name));
    const from = before[name][v];
    if (has)
      found[name] = done(name)
        ? { data: sum(name, v), state: "after" }
        : from < 0
          ? zero(name)
          : { data: sum(name, from), state: "before" };
    if (done("store") && name !== "dQ" && stored.has(name))
      found[name] = { data: whole(name), state: "final" };
  }
  if (stage === "dQ" && done("store") && stored.has("dQ"))
    found.dQ = { data: whole("dQ"), state: "final" };
  if (stage === "D" && done("store")) found.dQ = zero("dQ");
  const last = adds[i]?.at(-1) ?? -1;
  if (stage === "scale")
    found.dQ = done("scale")
      ? { data: whole("dQ"), state: "final" }
      : last < 0
        ? zero("dQ")
        : { data: sum("dQ", last), state: "after" };
  if (stage === null && found.dQ)
    found.part = zoom
      ? zoom.part_dQ
      : arrays.part_dQ.subarray(arrays.a_ptr[v], arrays.a_ptr[v + 1]);
  return found;
}

/** What is written or added in this visit. @param {Header} header @param {Decoded["arrays"]} arrays @param {number} v */
function transfersOf({ tensors }, { t_ptr, t_tensor, t_op }, v) {
  const found = new Set();
  for (let t = t_ptr[v]; t < t_ptr[v + 1]; t++) if (t_op[t]) found.add(tensors[t_tensor[t]]);
  return found;
}

/** lse and D of the rows as far as they are known; nothing where no row block is at work. @param {Trace} trace @param {number} v
 * @param {Span} rows @param {Frame["done"]} done @param {Frame["zoom"]} zoom @returns {Row[]} */
export function rowsOf({ header, arrays }, v, { start, stop }, done, zoom) {
  const stage = header.stages[arrays.v_stage[v]];
  const has = (/** @type {string} */ phase) =>
    (arrays.v_phases[v] & (1 << header.phases.indexOf(phase))) > 0;
  if ((!header.numbers && !zoom) || arrays.v_i[v] < 0 || !(has("D") || has("exp"))) return [];
  const lse = has("exp") && done("load");
  const D = done(has("D") ? "D" : "load"); // elsewhere it comes from HBM
  return Array.from({ length: stop - start }, (_, r) => ({
    ...NO_ROW,
    row: start + r,
    name: header.row_names?.[start + r] ?? null,
    lse: lse ? (zoom ? zoom.lse[r] : arrays.lse[start + r]) : undefined,
    D: D ? (zoom ? zoom.D[r] : arrays.D[start + r]) : undefined,
  }));
}
