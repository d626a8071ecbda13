// The words that sentences of both passes are made of: rows, tiles, what the mask hides, what is moved. Pure.

import { blockName, bytes, number, sub } from "../lib/format.js";
import { bytesOf } from "./frame.js";
import { sizeOf } from "./spans.js";
import { t } from "./texts.js";

/** @import { Hiders } from "./predicates.js" */
/** @import { Frame, Op, Problem, Row } from "./types.js" */

const NAMED = 36; // characters of a mask that a sentence takes
/** What a sentence calls the mask. @param {Problem} problem */
export const maskName = ({ mask }) =>
  mask.length > NAMED ? t("mask.long") : t("mask.name", { mask });

/** Of a plain mask, when a score is hidden. @type {Record<string, string>} */
const PLAIN = { full: "", causal: "key > query" };
/** The same of any, as code. @param {Problem} problem */
export const hiddenCode = ({ mask }) =>
  PLAIN[mask] ?? (mask.length > NAMED ? t("code.hides") : t("code.not", { mask }));

/** @typedef {`hides.${"one" | "more"}.${"key" | "some" | "tile" | "all"}` | `hides.together.${"tile" | "all"}`} HidesKey */
/** Which predicates hide the scores of a tile, which `hides` names: "key" and "some" of a part of it, "tile" and "all" of all.
 * @param {Hiders} hiders @param {"key" | "some" | "tile" | "all"} what */
export const whoHides = ({ how, names }, what) =>
  t(/** @type {HidesKey} */ (`hides.${how}.${what}`), { who: listed(names) });

/** Why scores of a tile are hidden: by all of the mask where it is not known by what of it. @param {Frame} f */
function whyHidden({ problem, hiders }) {
  if (problem.mask === "causal") return t("after.key");
  if (!hiders) return t("hides.one.key", { who: maskName(problem) });
  const how = hiders.how === "together" ? "more" : hiders.how; // standard attention masks whole tiles too
  return whoHides({ ...hiders, how }, "key");
}

/** Why a tile is skipped. @param {Frame} f */
export function whySkipped({ problem, hiders }) {
  if (problem.mask === "causal") return t("after.tile");
  if (!hiders) return t("skip.mask", { mask: maskName(problem) });
  const why = whoHides(hiders, "tile");
  return why[0].toUpperCase() + why.slice(1);
}

/** How many lanes of this tile have no key. @param {Frame} f */
export const unusedLanes = ({ j, cols, problem }) => (j < 0 ? 0 : problem.block_k - sizeOf(cols));

/** The blocks that are read or written here. @param {Frame} f @param {Op} op */
export function blocksOf(f, op) {
  const transfers = f.transfers.filter((transfer) => transfer.op === op);
  const names = transfers.map(blockName);
  return {
    size: bytes(bytesOf(transfers)),
    what: names.length > 6 ? `${names.slice(0, 2).join(", ")} … ${names.at(-1)}` : listed(names),
    many: names.length > 1,
  };
}
/** The same in words. @param {Frame} f @param {import("./types.js").Direction} op */
export function moved(f, op) {
  const { what, many, size } = blocksOf(f, op);
  return t(`moved.${op}.${many ? "more" : "one"}`, { what, size });
}

/** @param {Pick<Row, "row" | "name">} row */
export const rowWord = ({ row, name }) =>
  name ? t("row.named", { row, name }) : t("row", { row });
/** @param {string[]} words */
export const listed = (words) =>
  words.length > 1
    ? t("list", { most: words.slice(0, -1).join(", "), last: words[words.length - 1] })
    : words.join("");
/** What is negative stands in brackets. @param {number | undefined} a @param {number | undefined} b @param {number} [decimals] */
export function minus(a, b, decimals) {
  const [first, second] = [number(a, decimals), number(b, decimals)];
  return `${first} − ${second.startsWith("−") ? `(${second})` : second}`;
}
/** @param {Pick<Frame, "i" | "j">} f */
export const tileOf = (f) =>
  f.j < 0 ? sub(f.i) : f.i > 9 || f.j > 9 ? `${sub(f.i)},${sub(f.j)}` : sub(f.i) + sub(f.j);

/** What the mask takes away of this tile. @param {Frame} f */
export function masked(f) {
  const { mask, n } = f.problem;
  const [rows, cols] = [sizeOf(f.rows), sizeOf(f.cols)];
  const [of, lanes, key] = [rows * cols, unusedLanes(f), n - 1];
  let scores = 0;
  for (let k = 0; f.numbers && k < of; k++) if (f.hides(Math.floor(k / cols), k % cols)) scores++;
  const parts = [];
  if (!f.numbers && mask !== "full") parts.push(t("mask.unknown"));
  else if (scores) parts.push(t("mask.some", { scores, of, why: whyHidden(f) }));
  if (lanes > 1) parts.push(t("mask.lanes", { lanes, key }));
  else if (lanes) parts.push(t(parts.length ? "mask.lane.too" : "mask.lane", { key }));
  return parts.length ? `${parts.join("; ")}.` : t("mask.none", { row: key });
}
