// What the pages' controls show and what follows from it, as {key: value} with the keys of a Problem. Pure.

import { clamp } from "../lib/format.js";
import { recordOf } from "../lib/lists.js";
import { DEFAULT } from "./algorithms.js";
import { NUMBERS, OPTIONAL, PROBLEM_KEYS } from "./query.js";

/** @typedef {Record<string, any>} Values */

const TYPED = ["sentence", "own"]; // inputs that come with a text
/** The Run page's, as text: there H has a place of its own, and as many key heads are "each". @type {Record<string, string>} */
export const RUN_DEFAULTS = {
  ...recordOf(Object.keys(OPTIONAL), (key) => String(OPTIONAL[key])),
  hk: "each",
  pass: "forward",
};
const EXAMPLE = "1, 0\n0, 1\n1, 1\n\n2, 0\n0, 2\n1, 1\n\n1, 2\n3, 4\n5, 6";

/** @param {unknown} a @param {unknown} b */
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
/** @param {Values} a @param {Values} b */
const agree = (a, b) => Object.keys(b).every((key) => same(a[key], b[key]));

/** The lines of each block of a CSV; three blocks are Q, K and V. @param {string} text */
const blocksOf = (text) =>
  text
    .trim()
    .split(/\n\s*\n/)
    .map((part) => part.trim().split("\n"));
/** @param {string[][]} blocks */
const columnsOf = (blocks) => blocks[0][0].split(/[,;]/).length;

/** @param {Values} values */
function queryOf(values) {
  const isWritten = (/** @type {string} */ key) =>
    values[key] !== undefined &&
    (key === "text"
      ? TYPED.includes(values.data)
      : key === "gain" || values[key] !== OPTIONAL[key]);
  const keys = PROBLEM_KEYS.filter(isWritten);
  return new URLSearchParams(keys.map((key) => [key, String(values[key])])).toString();
}

/** The server answers what the controls were to show; who was quicker and has already changed one keeps that.
 * `plain`: what they showed when it was asked. @param {Values} given */
function merged({ answer, ...now }) {
  const { requested, plain } = JSON.parse(answer);
  return recordOf(Object.keys(now), (key) =>
    same(now[key], plain[key]) ? requested[key] : now[key],
  );
}

/** As many key heads as divide the query heads, at most those asked for, and a head that there is. @param {Values} values */
function headsOf({ hq, hk, head }) {
  if (!Number.isInteger(hq) || hq < 1) return {};
  let fitting = clamp(Math.floor(hk), 1, hq) || 1;
  while (hq % fitting) fitting--;
  return { hk: fitting, head: Math.min(head, hq - 1) };
}

/** The player's query; a block larger than the sequence shrinks with it, heads fit each other. @param {Values} values */
export function ask(values) {
  const block = (/** @type {number} */ size) => clamp(size, 1, values.n);
  const fitted = { ...values, br: block(values.br), bc: block(values.bc), ...headsOf(values) };
  return { ...fitted, player: queryOf(fitted) };
}

/** The player shows what the controls did not ask for, a chapter of the tour: they follow. @param {Values} given
 * @param {{sizes: number[]}} large the lengths that have a menu of their own */
export function follow({ player }, { sizes }) {
  const fields = { ...OPTIONAL, ...Object.fromEntries(new URLSearchParams(player)) };
  /** @type {Values} */
  const values = recordOf(Object.keys(fields), (key) =>
    NUMBERS.includes(key) ? Number(fields[key]) : fields[key],
  );
  return { ...values, large: sizes.includes(values.n) ? values.n : 0 };
}

const ROOM = 14; // characters of a choice

/** The same, and the mask is one of its control's choices: as Gradio is told of both at once. @param {Values} values
 * @param {{masks: [string, string][]}} plain labels and values that are always there */
export function offered({ mask, ...values }, { masks }) {
  if (mask === undefined) return { mask, ...values }; // of an address that says nothing
  const own = masks.some(([, name]) => name === mask)
    ? []
    : [[mask.length > ROOM ? `${mask.slice(0, ROOM - 1)}…` : mask, mask]];
  return { ...values, mask: { __type__: "update", choices: [...masks, ...own], value: mask } };
}

/** The controls follow the address; the player, which reads it too, only where they differ from it.
 * @param {Values} given */
export function followAddress({ answer, player, ...now }) {
  const values = merged({ answer, ...now });
  return agree(values, JSON.parse(answer).requested) ? { ...values, player } : ask(values);
}

/** A length beyond the slider comes with a head and with tiles as they are used. @param {Values} given */
export function enlarge({ large, ...values }) {
  const sizes = large ? { n: large, d: 64, br: 128, bc: 64 } : { n: 16, d: 8, br: 4, bc: 4 };
  const data = TYPED.includes(values.data) ? "random" : values.data;
  return { ...sizes, player: queryOf({ ...values, ...sizes, data }) };
}

/** Whether a text is meant as numbers in CSV. @param {string} text */
const isCsv = (text) => /\d\s*[,;\n]\s*[-+.\d]/.test(text);

/** A sentence has as many rows as words, a CSV the N and d of its blocks: the sizes follow the data, and text that
 * is typed is used. `chosen` from the menu, else typed: then nothing is put in its place. @param {Values} values @param {{chosen: boolean}} by */
export function start(values, { chosen }) {
  let { data, n, d, br, bc, text } = values;
  const blocks = blocksOf(text);
  if (!chosen && text.trim()) data = isCsv(text) ? "own" : "sentence";
  if (data === "own" && chosen && blocks.length !== 3) [text, n, d] = [EXAMPLE, 3, 2];
  else if (data === "own") [n, d] = [blocks[0].length, columnsOf(blocks)];
  if (data === "sentence" && chosen && blocks.length === 3) text = "";
  if (data === "sentence") n = text.trim() ? text.trim().split(/\s+/).length : 6;
  else if (data !== "own" && n === 6) [n, br, bc] = [16, 4, 4];
  if (TYPED.includes(data)) [br, bc] = [Math.min(n, 2), Math.min(n, 2)];
  const all = { ...values, data, n, d, br, bc, text };
  return { ...all, player: queryOf(all) };
}

/** The Run page's values after a change. Text that was typed is used: CSV as Q, K and V, else as a sentence; no other data keeps a CSV.
 * @param {Values} all sizes as text @param {Partial<Values>} change @returns {Values} */
export function changeValues(all, change) {
  /** @type {Values} */
  const values = { text: "", ...all, ...change };
  if ("text" in change && values.text.trim()) values.data = isCsv(values.text) ? "own" : "sentence";
  else if ("text" in change && values.data === "own") values.data = "random";
  else if (change.data === "own" && blocksOf(values.text).length !== 3) values.text = EXAMPLE;
  else if ("data" in change && isCsv(values.text)) values.text = "";
  if (values.data !== "own" || !("text" in change || "data" in change)) return values;
  const blocks = blocksOf(values.text);
  const n = blocks[0].length;
  const block = (/** @type {number} */ size) => (Number(size) > n ? String(n) : size); // “auto” stays
  const [br, bc] = [block(values.br), block(values.bc)];
  return { ...values, n: String(n), d: String(columnsOf(blocks)), br, bc };
}

/** Whether the Run page runs what the Step page shows at `address`: then its own need not be in the address.
 * @param {Values} query what it runs, as text @param {string} address */
export function isStepProblem(query, address) {
  const step = new URLSearchParams(address);
  const methods = ["naive", step.get("order") ?? DEFAULT].sort();
  const alone = query.b === "1" && same(query.methods.split(",").sort(), methods);
  const one = (/** @type {string} */ heads) => (heads === "1" ? null : heads); // which an address does not say
  /** @type {Values} */
  const run = { ...query, hq: one(query.h), hk: one(query.hk ?? query.h) };
  const keys = [...PROBLEM_KEYS, "pass"];
  return (
    alone &&
    keys
      .filter((key) => !["order", "kv"].includes(key))
      .every((key) => step.get(key) === (run[key] ?? null))
  );
}
