// Axes: where values stand, where ticks stand, and how the ticks' figures are written. Pure.
//
// By hand, since d3-scale would add 11 kB to the first view of every page and still leave us the choice of a log axis's ticks, the
// counts that no tick may part, and the labels.

import { integer, number } from "./format.js";
import { times } from "./lists.js";

/** Round places on an axis from low to high: about `count`, at least `least` apart, or each decade.
 * @param {number} low @param {number} high @param {number} count @param {boolean} log */
export function ticks(low, high, count, log, least = 0) {
  if (log) {
    const [first, last] = [Math.ceil(low - 1e-9), Math.floor(high + 1e-9)];
    const fine = [1, 2, 5, 10, 20, 50, 100, 200, 500]
      .map((k) => Math.log10(k) + first - 1)
      .filter((t) => t >= low - 1e-9 && t <= high + 1e-9);
    if (high - low < 2.5 && fine.length <= count + 1) return fine;
    const every = Math.max(1, Math.ceil((last - first + 1) / count));
    return times(Math.floor((last - first) / every) + 1, (k) => first + k * every);
  }
  const rough = Math.max(least, (high - low) / count);
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((k) => k * ten >= rough * 0.999) ?? 10) * ten;
  const first = Math.ceil(low / step - 1e-9);
  return times(Math.floor(high / step - first + 1e-9) + 1, (k) => (first + k) * step);
}

/** A number as superscript. @param {number | string} k */
export const raised = (k) =>
  String(k).replace(/[-−\d]/g, (sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)] ?? "⁻");

/** A power of ten. @param {number} k */
const power = (k) => (k >= -2 && k <= 4 ? figureOf(10 ** k) : `10${raised(k)}`);

/** A figure on an axis, with no digits that say nothing. @param {number} x */
function figureOf(x) {
  const size = Math.abs(x);
  if (size >= 1e5 || (size && size < 1e-3)) return number(x);
  const short = Number(x.toPrecision(4));
  return (size >= 1000 ? integer(short) : String(short)).replace("-", "−");
}

/** An axis: its two ends, where a value or a tick lies between them (0 to 1, NaN for a gap), and the label of a tick.
 * @param {number[]} values @param {boolean} log */
export function axisOf(values, log) {
  const place = (/** @type {number} */ v) =>
    Number.isFinite(v) ? (log ? (v > 0 ? Math.log10(v) : NaN) : v) : NaN;
  const known = values.map(place).filter(Number.isFinite);
  let [low, high] = known.length ? [Math.min(...known), Math.max(...known)] : [0, 1];
  if (low === high)
    [low, high] = [
      low - (log ? 1 : Math.abs(low) || 1) / 2,
      high + (log ? 1 : Math.abs(high) || 1) / 2,
    ];
  // Blocks are counted: no tick between two
  const least = !log && values.every(Number.isInteger) ? 1 : 0;
  return {
    low,
    high,
    log,
    least,
    at: (/** @type {number} */ v) => (place(v) - low) / (high - low),
    of: (/** @type {number} */ tick) => (tick - low) / (high - low),
    label: (/** @type {number} */ tick) =>
      !log ? figureOf(tick) : Number.isInteger(tick) ? power(tick) : figureOf(10 ** tick),
  };
}
