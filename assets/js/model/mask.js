// A mask as its builder edits it: chips, their text, and what is said of a score. What is kept, and by what, the server
// says (explainer/web/mask_map.py); here it is only put into words. Pure.

import { clamp } from "../lib/format.js";
import { bytesOfBase64, isBitSet, times } from "../lib/lists.js";
import { phrasesOf, textsOf } from "../lib/texts.js";
import texts from "../../texts/masks.json" with { type: "json" };
import { named, pieces, KINDS } from "./predicates.js";

/** @import { Draft, Piece } from "./predicates.js" */
/** Of `text`, the part in the hue of a term if it has one. @typedef {{text: string, term?: number}} Words */
/** The server's answer. @typedef {{n: number, br: number, bc: number, mask: string, score: string, sink: number | null, hides: boolean,
 * cells: {kept_by: string, keeps: string[][]} | null, tiles: {Tr: number, Tc: number, kinds: string | null, counts: Record<string, number>},
 * half: {br: number, bc: number, computed: number, of: number} | null, causal: number, scores: {kept: number, of: number}}} Answer */
/** The same with its cells unpacked: the term that keeps each, −1 for none; what each predicate keeps, a bit a cell.
 * @typedef {Answer & {draft: Draft, keepingTerm: Int8Array | null, keeps: Uint8Array[][], kinds: Uint8Array | null}} Unpacked */

const t = textsOf(texts);
const phrase = phrasesOf(texts);
const WHOLE = { name: "full", numbers: "" };

/** @param {Piece} piece */
export const textOf = ({ name, numbers }) => (numbers ? `${name}:${numbers}` : name);

/** @param {Draft} draft */
export const written = (draft) => draft.map((term) => term.map(textOf).join("&")).join("|");

/** With one more predicate in a term, or as a term of its own behind the last. @param {Draft} draft @param {number} term @param {Piece} piece */
export function added(draft, term, piece) {
  const others = (draft[term] ?? []).filter(({ name }) => name !== "full");
  return draft.toSpliced(term, 1, [...others, piece]);
}

/** Without one; a term of none goes, and a mask of none hides nothing. @param {Draft} draft @param {number} term @param {number} k */
export function removed(draft, term, k) {
  const rest = draft[term].toSpliced(k, 1);
  const left = rest.length ? draft.with(term, rest) : draft.toSpliced(term, 1);
  return left.length ? left : [[WHOLE]];
}

/** @param {Draft} draft @param {number} term @param {number} k @param {string} numbers */
export const renumbered = (draft, term, k, numbers) =>
  draft.with(term, draft[term].with(k, { ...draft[term][k], numbers }));

/** A number moved by a key, within what is allowed; what is no number becomes the least. @param {string} value
 * @param {number} by @param {{low: number, high: number}} range */
function nudged(value, by, { low, high }) {
  const now = /^\s*-?\d+\s*$/.test(value) ? Number(value) + by : low;
  return String(clamp(now, low, high));
}

/** In a list, the number that the caret stands in or behind. @param {string} list @param {number} caret @param {number} by
 * @param {{low: number, high: number}} range */
export function nudgedAt(list, caret, by, range) {
  const parts = list.split(",");
  const at = list.slice(0, caret).split(",").length - 1;
  return parts.with(at, nudged(parts[at], by, range)).join(",");
}

/** The fields of a chip: one for each of these names of numbers, or all numbers in one where there may be any.
 * @param {Piece} piece @param {string[] | null} names */
export const fieldsOf = ({ numbers }, names) =>
  names?.map((_, k) => numbers.split(",")[k] ?? "") ?? [numbers];

/** The kept tiles of `block:4x4,0.0,1.0-1` as rows of [i, j], and their size. @param {string} numbers */
export function blocksOf(numbers) {
  const [size, ...listed] = numbers.split(",");
  const [br, bc] = size.split("x").map(Number);
  const blocks = listed.flatMap((entry) => {
    const [i, keys] = entry.split(".");
    const [first, last = first] = keys.split("-").map(Number);
    return times(last - first + 1, (k) => [Number(i), first + k]);
  });
  return { br, bc, blocks };
}

/** With the block of this score kept, or no longer. @param {string} numbers @param {number} i @param {number} j */
export function toggled(numbers, i, j) {
  const { br, bc, blocks } = blocksOf(numbers);
  const [r, c] = [Math.floor(i / br), Math.floor(j / bc)];
  const rest = blocks.filter(([a, b]) => a !== r || b !== c);
  const now = rest.length < blocks.length ? rest : [...blocks, [r, c]];
  return [
    `${br}x${bc}`,
    ...now.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]).map((place) => place.join(".")),
  ].join(",");
}

/** @param {Answer} answer @returns {Unpacked} */
export const unpacked = (answer) => ({
  ...answer,
  draft: pieces(answer.mask),
  keepingTerm: answer.cells && new Int8Array(bytesOfBase64(answer.cells.kept_by).buffer),
  keeps: answer.cells?.keeps.map((term) => term.map(bytesOfBase64)) ?? [],
  kinds: answer.tiles.kinds === null ? null : bytesOfBase64(answer.tiles.kinds),
});

/** Which of the segments that begin at these numbers. @param {number[]} starts @param {number} k */
const segment = (starts, k) => starts.filter((start) => start <= k).length;

/** In which document, chunk or tile a query and a key lie. @param {Piece} piece @param {number} i @param {number} j */
function partsOf({ name, numbers }, i, j) {
  const starts = numbers.split(",").map(Number);
  if (name === "document") return [segment(starts, i), segment(starts, j)];
  const { br, bc } = name === "block" ? blocksOf(numbers) : { br: starts[0], bc: starts[0] };
  return [Math.floor(i / br), Math.floor(j / bc)];
}

/** Why a predicate keeps a score, or hides it, with its numbers: the server has said which. @param {Piece} piece
 * @param {boolean} isVisible @param {number} i @param {number} j */
export function because(piece, isVisible, i, j) {
  const [a, b] = piece.numbers.split(",").map(Number);
  const [row, key] = partsOf(piece, i, j);
  const least = j < a ? j : i;
  /** @type {Record<string, number>} */
  const values = { i, j, a, b, row, key, least, rest: (((i - j) % a) + a) % a };
  const name = piece.name === "window" && j > i ? "window.later" : piece.name;
  const reasons = phrase(
    /** @type {keyof typeof texts & `because.${string}`} */ (`because.${name}`),
  );
  return reasons[Number(isVisible)].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/** @param {Words[][]} parts @param {string} between */
const listed = (parts, between) =>
  parts.flatMap((words, k) => (k ? [{ text: between }, ...words] : words));

const PLACE = "[]"; // in a text, of words that have a hue
/** A text around them. @param {string} text @param {Words[]} words @returns {Words[]} */
const around = (text, words) =>
  text.split(PLACE).flatMap((part, k) => [...(k ? words : []), ...(part ? [{ text: part }] : [])]);

/** Why query i sees key j, or why it does not. @param {Unpacked} shown @param {number} i @param {number} j @returns {Words[]} */
export function scoreSentence({ n, draft, keepingTerm, keeps, hides }, i, j) {
  if (!keepingTerm) return [];
  const at = i * n + j;
  const term = keepingTerm[at];
  if (!hides) return [{ text: t("sees.all", { i, j }) }];
  if (term >= 0) {
    const names = listed(
      draft[term].map((piece) => [{ text: named(piece), term }]),
      t("and"),
    );
    const why = draft[term].map((piece) => because(piece, true, i, j)).join(t("and"));
    return around(t("sees", { i, j, names: PLACE, why }), names);
  }
  const hiding = draft.map((pieces, index) => {
    const piece = pieces.find((_, k) => !isBitSet(keeps[index][k], at)) ?? pieces[0];
    return around(t("hides", { name: PLACE, why: because(piece, false, i, j) }), [
      { text: named(piece), term: index },
    ]);
  });
  return around(t("blind", { i, j, names: PLACE }), listed(hiding, "; "));
}

/** The tiles of the map with their kinds and places, in scores; none where they are too many to be sent. @param {Unpacked} answer */
export const tilesOf = ({ n, br, bc, tiles: { Tc }, kinds }) =>
  Array.from(kinds ?? [], (kind, at) => {
    const [i, j] = [Math.floor(at / Tc), at % Tc];
    return { i, j, kind: KINDS[kind], ...tileBox({ n, br, bc }, i, j) };
  });

/** Where a tile lies, in scores. @param {{n: number, br: number, bc: number}} sizes @param {number} i @param {number} j */
export function tileBox({ n, br, bc }, i, j) {
  const [top, left] = [i * br, j * bc];
  return { top, left, height: Math.min(br, n - top), width: Math.min(bc, n - left) };
}

/** What is said of a tile, where single scores are too small to see. @param {Unpacked} shown @param {number} i @param {number} j */
export function tileSentence({ n, br, bc, tiles, kinds }, i, j) {
  if (!kinds) return "";
  const kind = KINDS[kinds[i * tiles.Tc + j]];
  const span = (/** @type {number} */ k, /** @type {number} */ size) =>
    t("span", { from: k * size, to: Math.min(n, (k + 1) * size) - 1 });
  return t(`tile.${kind}`, { i, j, rows: span(i, br), keys: span(j, bc) });
}

/** The score that is lit at first: three quarters down, the last key that the last term keeps there. @param {Unpacked} shown
 * @returns {[number, number]} */
export function firstCell({ n, draft, keepingTerm }) {
  const i = Math.floor((3 * n) / 4);
  const row = keepingTerm?.subarray(i * n, (i + 1) * n) ?? new Int8Array(0);
  for (let term = draft.length - 1; term >= 0; term--)
    if (row.includes(term)) return [i, row.lastIndexOf(term)];
  return [i, 0];
}

/** @param {number} part @param {number} whole */
export const share = (part, whole) => `${Math.round((100 * part) / whole)} %`;

/** How many tiles are computed. @param {Answer} answer */
export const computed = ({ tiles }) => tiles.counts.full + tiles.counts.partial;

/** What the three bars teach, in a sentence. @param {Answer} answer */
export function insight(answer) {
  const { br, bc, half, mask, hides, scores, tiles, causal } = answer;
  const size = `${br} × ${bc}`;
  if (!hides) return t("insight.full");
  const all = tiles.Tr * tiles.Tc;
  if (mask !== "causal" && computed(answer) === causal && causal < all)
    return t("insight.causal", { size });
  if (half && half.computed / half.of < computed(answer) / all - 0.005) return t("insight.smaller");
  if (scores.kept === scores.of) return t("insight.all");
  return t("insight.same", { size });
}

/** Where one document ends and the next begins, of the first predicate that says so. @param {Draft} draft @param {number} n */
export function documents(draft, n) {
  const found = draft.flat().find(({ name }) => name === "document");
  const starts = (found?.numbers.split(",").map(Number) ?? []).filter((start) => start < n);
  return starts.map((start, k) => ({
    name: t("document", { k: k + 1 }),
    start,
    stop: starts[k + 1] ?? n,
  }));
}

/** The kept scores of n tokens, a bit each, as runs within a row: [row, first key, key behind the last].
 * @param {string} bits @param {number} n @returns {[number, number, number][]} */
export function runs(bits, n) {
  const isVisible = bytesOfBase64(bits);
  /** @type {[number, number, number][]} */
  const found = [];
  for (let at = 0; at < n * n; at++) {
    if (!isBitSet(isVisible, at)) continue;
    const [i, j] = [Math.floor(at / n), at % n];
    const last = found.at(-1);
    if (last && last[0] === i && last[2] === j) last[2] = j + 1;
    else found.push([i, j, j + 1]);
  }
  return found;
}

/** What a score's text says, as far as one control can say it: one of these kinds and its number, else "other".
 * @param {string} text @param {string[]} kinds */
export function scoreOf(text, kinds) {
  const [kind, number = ""] = text.split(":");
  return kinds.includes(kind) && !/[,&]/.test(number)
    ? { kind, number }
    : { kind: "other", number: "" };
}
