// The recorded times of every method over N: which of them a choice of words shows, and what they say. Pure.

import { bytes } from "../lib/format.js";
import { t, texts } from "./texts.js";

/** A time of a method at a length, by the columns of explainer/engine/record_rows.py. @typedef {Record<string, any>} Row */
/** @typedef {{records: {device: string, date: string, versions: Record<string, string | number>, method: string}[], methods: Record<string, string>, tokens: number, columns: string[], rows: any[][]}} Table */
/** @typedef {"time" | "memory" | "tflops"} Quantity */
/** @typedef {{quantity: Quantity, pass: string, mask: string, d: number, dtype: string, n: number}} Choice */
/** A method's line: its points from short to long, and the first length that does not fit. @typedef {{method: string, name: string, points: Point[], refused: Row | null}} Series */
/** @typedef {{n: number, value: number, row: Row}} Point */

/** @type {Record<Quantity, string>} */
const COLUMN = { time: "median_ms", memory: "peak_bytes", tflops: "tflops" };
export const NAIVE = "naive";
const OURS = ["hopper", "fa2"]; // the first that was measured is the one in blue
const OTHERS = ["sdpa_cudnn", "fa4", "sdpa_flash"];
export const DRAWN = [NAIVE, "sdpa_flash", "sdpa_cudnn", "fa4", "fa2", "hopper"];
const LEVEL = 1.05; // times within which two methods are level
const OF_MASKS = 2; // the record that is another view's
/** Which record a pass is in. @param {string} pass */
export const recordOf = (pass) => (pass === "backward" ? 1 : 0);

/** With the `name` of each row's method. @param {Pick<Table, "columns" | "rows" | "methods">} table @returns {Row[]} */
export const rowsOf = ({ columns, rows, methods }) =>
  rows.map((values) => {
    /** @type {Row} */
    const row = Object.fromEntries(columns.map((column, k) => [column, values[k]]));
    return { ...row, name: methods[row.method] };
  });

/** The choice that comes nearest to a run. @param {Record<string, string>} values of the run @param {Row[]} rows @returns {Choice} */
export function choiceFor(values, rows) {
  const d = Number(values.d);
  const choice = {
    quantity: /** @type {Quantity} */ ("time"),
    pass: values.pass === "backward" ? "backward" : "forward",
    mask: values.mask === "full" ? "full" : "causal",
    d: d >= 32 && d <= 90 ? 64 : 128,
    dtype: values.dtype === "fp16" && values.pass !== "backward" ? "fp16" : "bf16",
    n: Number(values.n),
  };
  return { ...choice, n: nearestLength(lengthsOf(rows, choice), choice.n) };
}

/** A length that was measured; of one shorter than all of them, where the difference is plain. @param {number[]} lengths @param {number} n */
export function nearestLength(lengths, n) {
  if (n < lengths[0]) n = 8192;
  const far = (/** @type {number} */ one) => Math.abs(Math.log2(one / n));
  return lengths.reduce((best, one) => (far(one) < far(best) ? one : best), lengths[0]);
}

/** Rows of a choice, by their lengths; what was measured here stands in place of a record. @param {Row[]} rows @param {Omit<Choice, "n" | "quantity">} choice */
export function chosen(rows, { pass, mask, d, dtype }) {
  const found = rows.filter(
    (row) =>
      row.record !== OF_MASKS &&
      row.pass === pass &&
      row.mask === mask &&
      row.d === d &&
      row.dtype === dtype &&
      row.score === "none",
  );
  const live = new Set(found.filter((row) => row.record === null).map((row) => keyOf(row)));
  return found
    .filter((row) => row.record === null || !live.has(keyOf(row)))
    .sort((a, b) => a.n - b.n);
}

/** @param {Row} row */
const keyOf = ({ method, n }) => `${method} ${n}`;

/** @param {Row[]} rows @param {Omit<Choice, "n" | "quantity">} choice */
export const lengthsOf = (rows, choice) => [...new Set(chosen(rows, choice).map(({ n }) => n))];

/** @param {Row[]} rows @param {Choice} choice @returns {Series[]} */
export function seriesOf(rows, choice) {
  const column = COLUMN[choice.quantity];
  const found = chosen(rows, choice);
  return DRAWN.flatMap((method) => {
    const mine = found.filter((row) => row.method === method);
    const points = mine
      .filter((row) => row[column])
      .map((row) => ({ n: row.n, value: row[column], row }));
    const refused = mine.find((row) => row.needs_bytes) ?? null;
    return points.length ? [{ method, name: mine[0].name, points, refused }] : [];
  });
}

/** The row of a method at this length. @param {Row[]} rows @param {Choice} choice @param {string[]} methods */
function rowAt(rows, choice, methods) {
  const here = chosen(rows, choice).filter(({ n }) => n === choice.n);
  for (const method of methods) {
    const row = here.find((one) => one.method === method && one.median_ms);
    if (row) return row;
  }
  return null;
}

/** Our kernel at this length. @param {Row[]} rows @param {Choice} choice */
export const ours = (rows, choice) => rowAt(rows, choice, OURS);
/** @param {Row[]} rows @param {Choice} choice */
export const naive = (rows, choice) => rowAt(rows, choice, [NAIVE]);

/** Two digits of a ratio below a hundred. @param {number} x */
export const times = (x) =>
  (x < 100 ? Number(x.toPrecision(2)) : Math.round(x)).toLocaleString("en");

/** Three digits, zeros too, in µs below a tenth of a millisecond, as explainer/base/amounts.py writes them too. @param {number} ms */
export function milliseconds(ms) {
  if (ms < 0.1) return `${(ms * 1000).toFixed(1)} µs`;
  return ms < 999.5 ? `${ms.toPrecision(3)} ms` : `${(ms / 1000).toPrecision(3)} s`;
}

/** @param {Quantity} quantity @param {number} value */
export function figure(quantity, value) {
  if (quantity === "time") return milliseconds(value);
  return quantity === "memory" ? bytes(value) : `${value.toPrecision(3)} TFLOP/s`;
}

/** What the picture says at this length. @param {Row[]} rows @param {Choice} choice
 * @returns {{headline: string, sentence: string, ratio: string}} `ratio`: how many times as fast, or "" */
export function finding(rows, choice) {
  const mine = ours(rows, choice);
  if (!mine) return { headline: "", sentence: "", ratio: "" };
  const slow = naive(rows, choice);
  const of = { mask: texts.masks[choice.mask], n: choice.n };
  const { name } = mine;
  const time = milliseconds(mine.median_ms);
  if (choice.pass === "backward") return findingBackward(rows, choice, mine, { ...of, name, time });
  if (!slow) {
    const refused = chosen(rows, choice).find(
      (row) => row.method === NAIVE && row.n === choice.n && row.needs_bytes,
    );
    const memory = bytes(mine.peak_bytes);
    const needs = refused ? bytes(refused.needs_bytes) : "";
    return {
      headline: needs ? t("said.refused", { needs }) : t("said.alone", { name, time }),
      sentence: t("said.refused.why", { ...of, name, time, memory }),
      ratio: "",
    };
  }
  const ratio = slow.median_ms / mine.median_ms;
  const share = slow.peak_bytes / mine.peak_bytes;
  const values = { ...of, name, time, slow: milliseconds(slow.median_ms) };
  const memories = { memory: bytes(mine.peak_bytes), most: bytes(slow.peak_bytes) };
  return {
    headline: t("said", { ratio: times(ratio), share: times(share) }),
    sentence: t("said.why", { ...values, ...memories }),
    ratio: t("times", { ratio: times(ratio) }),
  };
}

/** The backward pass beside the best of the others: no record of naive attention has it.
 * @param {Row[]} rows @param {Choice} choice @param {Row} mine @param {{mask: string, n: number, name: string, time: string}} values */
function findingBackward(rows, choice, mine, values) {
  const others = OTHERS.flatMap((method) => rowAt(rows, choice, [method]) ?? []);
  const best = others.sort((a, b) => a.median_ms - b.median_ms)[0];
  const { name, time, ...of } = values;
  if (!best)
    return {
      headline: t("said.alone", { name, time }),
      sentence: t("backward.alone", of),
      ratio: "",
    };
  const ratio = best.median_ms / mine.median_ms;
  const other = best.name;
  const headline =
    ratio > LEVEL
      ? t("backward.faster", { ratio: ratio.toFixed(2), other })
      : ratio < 1 / LEVEL
        ? t("backward.slower", { ratio: (1 / ratio).toFixed(2), other, name })
        : t("backward.level", { other });
  const all = others.map((row) => `${row.name} ${milliseconds(row.median_ms)}`);
  return {
    headline,
    sentence: t("backward.why", { ...values, others: all.join(", ") }),
    ratio: "",
  };
}

/** Runs of lengths that have as many tokens in a call: [first, last, tokens], 0 tokens for one sequence. @param {Row[]} rows @param {Choice} choice
 * @returns {[number, number, number][]} */
export function callsOf(rows, choice) {
  /** @type {[number, number, number][]} */
  const calls = [];
  const found = chosen(rows, choice);
  for (const n of lengthsOf(rows, choice)) {
    const { batch } = /** @type {Row} */ (found.find((row) => row.n === n));
    const last = calls.at(-1);
    const tokens = batch * n;
    if (last && (last[2] === tokens || (last[2] === 0 && batch === 1))) last[1] = n;
    else calls.push([n, n, batch === 1 && last ? 0 : tokens]);
  }
  return calls;
}
