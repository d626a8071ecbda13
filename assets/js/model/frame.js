// (trace, step, phase) → everything a view shows. Pure: no DOM, no state, so that it can be
// tested on a trace that Python wrote. Views only read what `frame` returns.

import { clamp } from "../lib/format.js";
import { isBitSet, recordOf, sum, times } from "../lib/lists.js";
import { gradsOf, noVisits, rowsOf, stageOf, sumsOf, transfersIn } from "./backward.js";
import { BASELINE, DEFAULT } from "./algorithms.js";
import { algorithmOf, algorithmsOf, layoutOf } from "./passes.js";
import { entriesOf } from "./entries.js";
import { hiders, KINDS } from "./predicates.js";
import { indicesOf, keysOfBlock, rowsOfBlock, sizeOf } from "./spans.js";
import { makeStatistics, PENDING } from "./statistics.js";
import { isOfKeys } from "./tensors.js";
import { t } from "./texts.js";

/** @import { Accumulator, Decoded, Direction, Frame, Kind, Moved, Numbers, Op, Place, Row, Span, Trace, Transfer } from "./types.js" */

/** @type {Op[]} */
const OPS = ["read", "write", "add"];

/** Is this a tile that the loop only passes? @param {Decoded["arrays"]} arrays @param {number} v */
const isIdle = (arrays, v) => KINDS[arrays.v_kind[v]] === "skipped" && arrays.v_phases[v] === 0;

/** Which part of the keys a visit belongs to. @param {Decoded["arrays"]} arrays @param {number} v */
export const laneOf = ({ v_lane }, v) => v_lane?.[v] ?? 0;

/** Of each tensor and block the last transfer that writes it, −1 where none does. @param {Decoded} decoded */
function lastWrites({ header: { tensors, problem: p }, arrays: a }) {
  const found = recordOf(tensors, (name) => noVisits(isOfKeys(name) ? p.Tc : p.Tr));
  a.t_op.forEach((/** @type {number} */ op, /** @type {number} */ t) => {
    if (op) found[tensors[a.t_tensor[t]]][a.t_block[t]] = t;
  });
  return found;
}

/** Adds the indices that every frame needs; computed once for a trace. @param {Decoded} decoded @returns {Trace} */
export function prepare({ header, arrays }) {
  const { problem: p, tensors } = header;
  const steps = arrays.v_i.length;
  const moved = new Float64Array((steps + 1) * 2); // cumulative bytes, [visit][read|write]
  const visitsOfRow = times(p.Tr, () => /** @type {number[]} */ ([]));
  const { lanes } = algorithmOf({ problem: p, header });
  const lastOfLane = noVisits(p.Tr * lanes);
  const tileVisit = noVisits(p.Tr * p.Tc);
  const previous = noVisits(steps);
  const stages = header.stages.map(String);
  const strip = recordOf(stages, () => noVisits(p.Tr));
  const tilesOf = recordOf(stages, () => noVisits(p.Tr * p.Tc));
  for (let v = 0; v < steps; v++) {
    const at = (v + 1) * 2;
    moved.copyWithin(at, v * 2, at);
    for (const t of transfersIn(arrays, v))
      moved[at + Math.min(1, arrays.t_op[t])] += arrays.t_bytes[t];
    const i = arrays.v_i[v];
    const j = arrays.v_j[v];
    if (i < 0) continue;
    const stage = stages[arrays.v_stage[v]];
    const tile = i * p.Tc + j;
    if (j >= 0) tilesOf[stage][tile] = v;
    if (j >= 0 && tileVisit[tile] < 0) tileVisit[tile] = v;
    else if (j < 0 && arrays.v_stage[v]) strip[stage][i] = v;
    if (isIdle(arrays, v)) continue;
    const row = visitsOfRow[i];
    if (lanes > 1 && arrays.v_stage[v]) previous[v] = -1;
    else {
      const lane = i * lanes + laneOf(arrays, v);
      previous[v] = lastOfLane[lane];
      lastOfLane[lane] = v;
    }
    row.push(v);
  }
  return {
    header,
    arrays,
    problem: p,
    steps,
    tensors,
    moved,
    visitsOfRow,
    tileVisit,
    tilesOf,
    previous,
    lastOfLane,
    strip,
    written: lastWrites({ header, arrays }),
    moves: movesOf({ header, arrays }),
    ...sumsOf({ header, arrays }),
  };
}

/** The phases of visit v, by name; a skipped visit has the one pseudo-phase "skip". @param {Trace} trace @param {number} v */
export function phasesOf(trace, v) {
  const mask = trace.arrays.v_phases[v];
  const names = trace.header.phases.filter((_, k) => mask & (1 << k));
  return names.length ? names : ["skip"];
}

/** Where the phase `delta` positions on from (step, phase) is; stops at both ends.
 * @param {Trace} trace @param {Place} at @param {number} delta @returns {Place} */
export function movePhase(trace, { step, phase }, delta) {
  const phases = phasesOf(trace, step);
  const k = phases.indexOf(phase) + delta;
  if (k >= 0 && k < phases.length) return { step, phase: phases[k] };
  const next = step + Math.sign(delta);
  if (next < 0 || next >= trace.steps) return { step, phase };
  const there = phasesOf(trace, next);
  return { step: next, phase: there[delta > 0 ? 0 : there.length - 1] };
}

/** Clamps a wish from a URL or a key to a place that exists; no phase means the visit's last.
 * @param {Trace} trace @param {number} [step] @param {string} [phase] @returns {Place} */
export function place(trace, step, phase) {
  const v = Number.isInteger(step) ? clamp(Number(step), 0, trace.steps - 1) : 0;
  const phases = phasesOf(trace, v);
  return { step: v, phase: phases.find((name) => name === phase) ?? String(phases.at(-1)) };
}

/** HBM bytes up to this moment of visit v. @param {Trace} trace @param {number} v @param {Transfer[]} transfers of the visit */
function bytesSoFar({ moved }, v, transfers) {
  const over = transfers.filter((transfer) => transfer.moved);
  return {
    reads: moved[2 * v] + bytesOf(filterTransfers(over, "read")),
    writes: moved[2 * v + 1] + bytesOf(filterTransfers(over, "write")),
  };
}

/** Reads and writes of all tensors together. @param {Record<string, Moved>} perTensor */
export const sumOf = (perTensor) => sum(Object.values(perTensor).flat());

/** Requested bytes at this moment, and those of standard attention, in all and by now, in proportion to the tiles done; in
 * standard attention itself those of the usual algorithm. @param {Trace} trace @param {Frame} f */
export function soFar({ header: { totals, pass }, problem, steps }, f) {
  const key = problem.order === BASELINE ? DEFAULT : BASELINE;
  const all = sumOf(totals.requested[key]);
  const other = key === BASELINE ? t("progress.standard") : algorithmsOf(pass)[key].label;
  const share = (f.step + (f.position + 1) / f.phases.length) / steps;
  return { own: f.reads + f.writes, key, other, all, now: Math.round(all * share) };
}

/** The bytes of these transfers. @param {Pick<Transfer, "bytes">[]} transfers */
export const bytesOf = (transfers) => sum(transfers.map(({ bytes }) => bytes));

/** What goes this way; what is added counts as written. @param {Transfer[]} transfers @param {Direction} way */
export const filterTransfers = (transfers, way) =>
  transfers.filter(({ op }) => (op === "read") === (way === "read"));

/** The bytes that a skipped tile saves: what tiles of the inner loop move; the blocks of the outer one stay on chip.
 * @param {Frame} f */
export const savedBytes = (f) => f.moves * sizeOf(byKeys(f) ? f.cols : f.rows);

/** Does the inner loop go over key blocks? @param {Parameters<typeof algorithmOf>[0]} of */
const byKeys = (of) => algorithmOf(of).outer === "rows";

/** The bytes that a tile moves for each row or key of the inner loop's block. @param {Decoded} decoded */
function movesOf({ header, arrays: a }) {
  const { stages, tensors, problem: p } = header;
  const keys = byKeys({ problem: p, header });
  const v = a.v_i.findIndex(
    (i, at) => i >= 0 && a.v_j[at] >= 0 && a.v_phases[at] > 0 && !stages[a.v_stage[at]],
  );
  let sum = 0;
  for (const t of transfersIn(a, v))
    if (isOfKeys(tensors[a.t_tensor[t]]) === keys) sum += a.t_bytes[t];
  return v < 0 ? 0 : sum / sizeOf(keys ? keysOfBlock(p, a.v_j[v]) : rowsOfBlock(p, a.v_i[v]));
}

/** @param {Trace} trace @param {number} v @param {Frame["done"]} phaseDone @returns {Transfer[]} */
export function transfersOf(trace, v, phaseDone) {
  const { arrays, tensors, header, problem } = trace;
  const width = Math.max(problem.Tc, algorithmOf(trace).lanes); // of the index of a pair: wire.py's columns_of_pairs
  return transfersIn(arrays, v).map((t) => {
    const tensor = tensors[arrays.t_tensor[t]];
    const block = arrays.t_block[t];
    const phase = header.phases[arrays.t_phase[t]];
    return {
      tensor,
      block: header.pairs.includes(tensor) ? [Math.floor(block / width), block % width] : block,
      op: OPS[arrays.t_op[t]],
      phase,
      bytes: arrays.t_bytes[t],
      moved: phaseDone(phase),
    };
  });
}

const PAST = ["m_old", "alpha", "l_old"]; // of a row that may have met keys before

/** @param {Trace} trace @param {number} v @param {Span} rows @param {Frame["done"]} done @returns {Row[]} */
export function statsOf(trace, v, rows, done) {
  const { header } = trace;
  const zoom = zoomAt(trace, v);
  if ((!header.numbers && !zoom) || rows.stop === rows.start) return [];
  /** @type {Record<string, Numbers>} */
  const arrays = zoom?.arrays ?? trace.arrays;
  const base = zoom ? 0 : arrays.r_ptr[v];
  const has = zoom ? Boolean(arrays.r_m_new) : arrays.r_ptr[v + 1] > base;
  const running = has && algorithmOf(trace).running && !stageOf(trace, v); // else no m, l and alpha from before
  return indicesOf(rows).map((row, r) => {
    const stats = makeStatistics((name, phase) => {
      const isThere = PAST.includes(name) ? running : has;
      return isThere && (!phase || done(phase)) ? arrays[`r_${name}`]?.[base + r] : PENDING;
    });
    const { m_old, m_new } = stats;
    return {
      row,
      name: header.row_names?.[row] ?? null,
      rose: m_old !== PENDING && m_old > -Infinity && Number(m_new) > m_old, // over an earlier one
      ...stats,
    };
  });
}

/** exp(S − m), as the softmax kernel has it before ℓ is known; nothing of a row that sees no key.
 * @param {number} score @param {number} m */
export const weight = (score, m) => Math.exp(score - (m === -Infinity ? 0 : m));

/** Does the mask hide this score? A bit per score, as the wire has them, none if it hides none.
 * @param {Record<string, Numbers>} arrays @param {number} k */
export const hidden = ({ hidden: bits }, k) => bits.length > 0 && isBitSet(bits, k);

/** The numbers of one visit that came by themselves, if they are this visit's. @param {Trace} trace @param {number} v */
const zoomAt = (trace, v) => (trace.zoom?.header.step === v ? trace.zoom : null);

/** The accumulator to draw: the state before this visit until "output", then after it.
 * @param {Trace} trace @param {number} v @param {Frame["done"]} done @param {Span} rows @returns {Accumulator | null} */
function accumulatorOf(trace, v, done, rows) {
  const { output } = algorithmOf(trace);
  const zoom = zoomAt(trace, v)?.arrays;
  if (isIdle(trace.arrays, v) || !(zoom || trace.header.numbers)) return null;
  const { O, acc, acc_before } = zoom ?? numbersOf(trace, v, rows);
  if (output === "unnormalized" && done("store")) return { data: O, state: "final" };
  if (done("output")) return acc ? { data: acc, state: "after" } : null;
  if (acc_before) return { data: acc_before, state: "before" };
  if (output === "final" && (zoom || !acc)) return null;
  return { data: new Float32Array(sizeOf(rows) * trace.problem.d), state: "zero" };
}

/** O of a visit of a whole trace, by the names that it has where it comes by itself: final, after and before the visit. A part of
 * the keys is divided by its own ℓ. @param {Trace} trace @param {number} v @param {Span} rows */
function numbersOf(trace, v, rows) {
  const { arrays, previous, problem: p } = trace;
  const { O, acc, a_ptr, r_ptr, r_l_new } = arrays;
  /** @returns {Numbers | null} */
  const left = (/** @type {number} */ at) =>
    a_ptr[at + 1] > a_ptr[at] ? acc.subarray(a_ptr[at], a_ptr[at + 1]) : null;
  const own = left(v);
  const isPart = stageOf(trace, v) === null && arrays.v_lane;
  const divided = (/** @type {number} */ x, /** @type {number} */ k) =>
    x / (r_l_new[r_ptr[v] + Math.floor(k / p.d)] || 1);
  return {
    O: isPart && own ? own.map(divided) : O.subarray(rows.start * p.d, rows.stop * p.d),
    acc: own,
    acc_before: left(previous[v]),
  };
}

/** What of a mask hides scores of this tile; null of a plain one, and where the trace does not say.
 * @param {Decoded} trace @param {number} i @param {number} j */
export function hidersOf(
  { header: { problem: p }, arrays: { tile_parts: parts, tile_kind } },
  i,
  j,
) {
  const [size, at] = [p.Tr * p.Tc, i * p.Tc + j];
  if (!parts?.length || KINDS[tile_kind[at]] === "full") return null;
  return hiders(
    p.mask,
    times(parts.length / size, (k) => parts[k * size + at]),
    KINDS[tile_kind[at]] === "skipped",
  );
}

/** Everything on screen at (step, phase), which must exist: see `place`.
 * @param {Trace} trace @param {number} step @param {string} phase @returns {Frame} */
export function frame(trace, step, phase) {
  const { problem: p, arrays, header } = trace;
  const phases = phasesOf(trace, step);
  const position = phases.indexOf(phase);
  const done = (/** @type {string} */ name) =>
    phases.indexOf(name) >= 0 && phases.indexOf(name) <= position;
  const i = arrays.v_i[step];
  const j = arrays.v_j[step];
  const [rows, cols] = [rowsOfBlock(p, i), keysOfBlock(p, j)];
  const zoom = zoomAt(trace, step)?.arrays ?? null;
  const stage = stageOf(trace, step);
  const backward = header.pass === "backward";
  const { lanes } = algorithmOf(trace);
  const { columns } = layoutOf(trace, stage);
  const isLanes = columns === "lanes";
  const source = zoom ?? arrays;
  const width = isLanes ? lanes : sizeOf(cols);
  const [across, top, left] = zoom
    ? [width, 0, 0]
    : [isLanes ? lanes : p.n, rows.start, cols.start];
  const at = (/** @type {number} */ r, /** @type {number} */ c) => (top + r) * across + left + c;
  const [S, P] = isLanes && !zoom ? [arrays.lane_S, arrays.lane_P] : [source.S, source.P];
  /** @type {Frame["hides"]} */
  const hides = (r, c) => !isLanes && (c >= width || hidden(source, at(r, c)));
  const isMasked = !phases.includes("mask") || done("mask");
  const transfers = transfersOf(trace, step, done);
  return {
    problem: p,
    pass: header.pass,
    step,
    steps: trace.steps,
    phase,
    phases,
    position,
    done,
    i,
    j,
    rows,
    cols,
    kind: KINDS[arrays.v_kind[step]],
    stage,
    first: trace.previous[step] < 0,
    unseen: j < 0 && !stage,
    moves: trace.moves,
    hiders: j < 0 ? null : hidersOf(trace, i, j),
    stats: backward ? rowsOf(trace, step, rows, done, zoom) : statsOf(trace, step, rows, done),
    acc: backward ? null : accumulatorOf(trace, step, done, rows),
    grads: backward ? gradsOf(trace, step, done, zoom) : null,
    transfers,
    numbers: header.numbers || Boolean(zoom),
    zoom,
    hides,
    lane: laneOf(arrays, step),
    lanes,
    columns,
    weight: (r, c) => P?.[at(r, c)],
    // A lane beyond the last key is filled with zeros, so its product is 0, until the mask takes it away too.
    score: (r, c) => (isMasked && hides(r, c) ? -Infinity : c < width ? S?.[at(r, c)] : 0),
    entries: entriesOf(source, p, zoom ? { rows: rows.start, keys: cols.start, across } : null),
    ...bytesSoFar(trace, step, transfers),
    get decimals() {
      return trace.decimals; // known once the tile is laid out
    },
  };
}

/** What a player states about itself, for tests, assistive technology and embedding pages. @param {Frame} f */
export function stated(f) {
  return {
    "data-pass": f.pass,
    "data-order": f.problem.order,
    "data-step": f.step,
    "data-steps": f.steps,
    "data-phase": f.phase,
    "data-i": f.i,
    "data-j": f.j,
    "data-kind": f.kind,
    "data-reads": f.reads,
    "data-writes": f.writes,
  };
}
