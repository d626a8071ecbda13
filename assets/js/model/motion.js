// How what is shown at a place came to be, as acts with their times: a phase each, its bytes on their way, its cells one
// after the other. What moves is only planned here; views/motion draws it. Pure.

import { blockName, clamp } from "../lib/format.js";
import { sum, times } from "../lib/lists.js";
import { frame, phasesOf } from "./frame.js";

/** @import { Frame, Op, Place, Trace } from "./types.js" */
/** @typedef {{phase: string, start: number, ms: number, before: Frame | null, after: Frame}} Act `before` in the same visit */
/** @typedef {{tensor: string, op: Op, bytes: number, blocks: (number | number[])[], start: number, ms: number}} Flight */
/** @typedef {{x: number, y: number, width: number, height: number}} Box */
/** @typedef {[number, number]} Point */

const ACT = 360; // ms of an act, but for these
/** @type {Record<string, number>} */
const ACT_MS = {
  skip: 160,
  load: 400,
  mask: 240,
  max: 320,
  sum: 320,
  store: 400,
  D: 320,
  scale: 280,
};
export const TILE_MS = 1200; // the longest that a tile in one go takes
const FLIGHT_MS = { read: 280, write: 320, add: 280 };
const APART_MS = 40; // of what is loaded, one after the other
const SPENT_MS = 80; // until what is no longer needed has faded, before what is stored leaves
const FIRST = ["K", "V"]; // then the rest as it comes
const READ_MS = { least: 500, word: 160 }; // a place stays, when playing, once its motion is over
const [BYTES_PER_PX, WIDEST, THINNEST] = [8, 48, 1.5]; // of a ribbon
const FILLS = ["scores", "output", "dP", "dV", "dK", "dQ"]; // cell by cell
const GROWTH = 2.2;
const SAMPLES = 24; // of a flight

/** Of what flies from its home to its seat. */
export const EASING = "cubic-bezier(0.3, 0, 0.1, 1)";

/** What this phase moves, a flight per tensor and direction; `start` from the act's own start.
 * @param {Frame} f @param {string} phase @returns {Flight[]} */
export function flights(f, phase) {
  /** @type {Map<string, Flight>} */
  const found = new Map();
  for (const { tensor, op, block, bytes } of f.transfers.filter((t) => t.phase === phase)) {
    /** @type {Flight} */
    const one = found.get(tensor + op) ?? {
      tensor,
      op,
      bytes: 0,
      blocks: [],
      start: 0,
      ms: FLIGHT_MS[op],
    };
    one.bytes += bytes;
    one.blocks.push(block);
    found.set(tensor + op, one);
  }
  const rank = (/** @type {{tensor: string}} */ { tensor }) =>
    FIRST.includes(tensor) ? FIRST.indexOf(tensor) : FIRST.length;
  const list = [...found.values()].sort((a, b) => rank(a) - rank(b));
  const apart = Math.min(APART_MS, (ACT_MS.load - FLIGHT_MS.read) / Math.max(1, list.length - 1));
  list.forEach(
    (one, k) => (one.start = one.op === "write" ? SPENT_MS : one.op === "add" ? 0 : k * apart),
  );
  return list;
}

/** What flies: a block by its name, several by that of their tensor. @param {Flight} flight */
export const flightName = ({ tensor, blocks }) =>
  blocks.length > 1 ? tensor : blockName({ tensor, block: blocks[0] });

/** px of the ribbon that these bytes fly along. @param {number} size */
export const ribbon = (size, most = WIDEST) => clamp(size / BYTES_PER_PX, THINNEST, most);

/** @param {Frame} f @param {string} phase */
function lengthOf(f, phase) {
  const moves = flights(f, phase);
  return moves.length
    ? Math.max(...moves.map(({ start, ms }) => start + ms))
    : (ACT_MS[phase] ?? ACT);
}

/** What is shown on the way from one place to another: the phases between, if it is the same visit or the next one; of
 * several each in less time, all of them in TILE_MS. Nothing on a way back, or on a longer one.
 * @param {Trace} trace @param {Place} from @param {Place} to @returns {Act[]} */
export function acts(trace, from, to) {
  const names = phasesOf(trace, to.step);
  const seen =
    to.step === from.step
      ? names.indexOf(from.phase) + 1
      : to.step === from.step + 1
        ? 0
        : names.length;
  const between = names.slice(seen, names.indexOf(to.phase) + 1);
  const after = between.map((phase) => frame(trace, to.step, phase));
  const before = seen ? frame(trace, from.step, from.phase) : null;
  const lengths = after.map((f) => lengthOf(f, f.phase));
  const whole = sum(lengths);
  const scale = Math.min(1, TILE_MS / whole);
  let start = 0;
  return after.map((f, k) => {
    const ms = lengths[k] * scale;
    start += ms;
    return { phase: f.phase, start: start - ms, ms, before: k ? after[k - 1] : before, after: f };
  });
}

/** @param {Act[]} list */
export const lengthOfAll = (list) => Math.max(0, ...list.map(({ start, ms }) => start + ms));

/** How far the cell in row r, column c of a matrix is when its act is at `t`, 0 to 1: row by row and column by column
 * what fills, the rows a little apart what turns. @param {string} phase @param {number} r @param {number} c @param {number} rows @param {number} cols @param {number} t */
export function cellAt(phase, r, c, rows, cols, t) {
  const fills = FILLS.includes(phase);
  const one = fills ? 0.2 : 0.36; // of the act
  const along = fills
    ? (r * cols + c) / Math.max(1, rows * cols - 1)
    : (r * 0.6) / Math.max(1, rows - 1) + (c * 0.4) / Math.max(1, cols - 1);
  return clamp((t - Math.min(1, along) * (1 - one)) / one, 0, 1);
}

/** @param {Box} box @returns {Point} */
const middle = ({ x, y, width, height }) => [x + width / 2, y + height / 2];

/** The way of a block's middle, as four points: what lies in the strip above S enters its frame from above, Kᵀ from the
 * left; all else goes along the foot of the stage, below the words. @param {string} tensor @param {Box} home @param {Box} seat @param {number} unit
 * @param {number} foot the lowest y that a block's middle may have
 * @returns {Point[]} */
export function wayOf(tensor, home, seat, unit, foot) {
  const [a, b] = [middle(home), middle(seat)];
  const across = b[0] - a[0];
  if (tensor === "V") return [a, [a[0] + across * 0.85, a[1]], [b[0], a[1] - 16 * unit], b];
  if (tensor === "K") return [a, [a[0] + across * 0.45, a[1]], [b[0] - across * 0.35, b[1]], b];
  const low = (8 * foot - a[1] - b[1]) / 6; // so that the middle of the way is at the foot
  return [a, [a[0] + across * 0.3, low], [b[0] - across * 0.35, low], b];
}

/** @param {Point[]} points @param {number} t @returns {Point} */
function on([a, b, c, d], t) {
  const mix = (/** @type {number} */ k) =>
    a[k] * (1 - t) ** 3 + 3 * b[k] * t * (1 - t) ** 2 + 3 * c[k] * t * t * (1 - t) + d[k] * t ** 3;
  return [mix(0), mix(1)];
}

/** A block on its way, as places at even parts of it, which EASING spreads over time: small at home, late to grow.
 * @param {Point[]} points from home to seat @param {Box} home @param {Box} seat @param {boolean} back @returns {Box[]} */
export function passage(points, home, seat, back = false) {
  const boxes = times(SAMPLES + 1, (k) => {
    const t = k / SAMPLES;
    const grown = t ** GROWTH;
    const [x, y] = on(points, t);
    const width = home.width + (seat.width - home.width) * grown;
    const height = home.height + (seat.height - home.height) * grown;
    return { x: x - width / 2, y: y - height / 2, width, height };
  });
  return back ? boxes.reverse() : boxes;
}

/** How long a place stays when playing: its motion, and then time to read its text. @param {Trace} trace @param {Place} from
 * @param {Place} to @param {string} text */
export const beatOf = (trace, from, to, text) =>
  lengthOfAll(acts(trace, from, to)) + READ_MS.least + READ_MS.word * text.split(/\s+/).length;
