// What the sentences of a phase may name, of a frame and the row that is followed, by the names that stand in their braces in
// assets/texts. Pure.

import { bytes, integer, number, sub } from "../lib/format.js";
import { factorOfP } from "./fp8.js";
import { bytesOf, savedBytes } from "./frame.js";
import { algorithmOf } from "./passes.js";
import { bends, changesOf } from "./scores.js";
import { sizeOf } from "./spans.js";
import { STATS } from "./statistics.js";
import { t } from "./texts.js";
import { failure } from "./why.js";
import {
  blocksOf,
  listed,
  masked,
  maskName,
  minus,
  moved,
  rowWord,
  tileOf,
  unusedLanes,
  whySkipped,
} from "./wording.js";

/** @import { Stat } from "./statistics.js" */
/** @import { Frame, Row } from "./types.js" */

/** Bytes that are written of these tensors. @param {Frame} f @param {string[]} tensors */
const writtenOf = (f, ...tensors) =>
  bytes(
    bytesOf(f.transfers.filter(({ tensor, op }) => op === "write" && tensors.includes(tensor))),
  );

/** The rows whose maximum stayed: a row that meets its first scores, or none yet, has no maximum to keep. @param {Frame} f */
export const unraisedRows = (f) =>
  f.stats.filter((s) => !s.rose && Number(s.m_old) > -Infinity).map((s) => String(s.row));

/** The rows that sum up nothing but, where there is one, a sink. @param {Frame} f */
export const blindRows = ({ stats, problem: { sink } }) =>
  stats
    .filter((s) => s.l_new === 0 || (sink !== null && s.l_new === 1 && s.m_new === sink))
    .map((s) => String(s.row));

/** @type {(Stat | "D")[]} */
const OF_ROWS = [...STATS.map(([name]) => name), "D"];

/** @type {Record<string, (f: Frame, row?: Row) => string | number>} */
export const VALUES = {
  i: (f) => sub(f.i),
  j: (f) => sub(f.j),
  tile: tileOf,
  n: ({ problem }) => integer(problem.n),
  d: ({ problem }) => problem.d,
  rows: ({ rows }) => sizeOf(rows),
  keys: ({ cols }) => sizeOf(cols),
  unused_lanes: unusedLanes,
  lane: (f) => f.lane,
  lanes: (f) => f.lanes,
  algorithm: (f) => algorithmOf(f).label,
  dtype: ({ problem }) => problem.dtype,
  mask: ({ problem }) => maskName(problem),
  masked,
  why: whySkipped,
  starts: ({ lane, problem: { sink } }) =>
    sink === null || lane ? t("starts") : t("starts.sink", { sink: number(sink) }), // which one part of the keys has
  sink: ({ problem }) => number(problem.sink ?? undefined),
  lse: ({ problem }) => number(problem.sink ?? -Infinity),
  score: (f) =>
    [
      `S${tileOf(f)} = Q${sub(f.i)} K${sub(f.j)}ᵀ / √${f.problem.d}`,
      ...changesOf(f.problem),
    ].reduce((first, next) => t("then", { first, next })),
  slope: ({ problem }) => (bends(problem) ? " ∘ slope" : ""),
  p_scale: factorOfP,
  key_block: ({ j }) => j,
  page: ({ j, problem }) => Number(problem.block_table?.[j]),
  dropout: ({ problem }) => Number(problem.dropout),
  stored_P: ({ problem }) => t(problem.dropout ? "P.dropped" : "P.divided"),
  rest: ({ problem }) => number(1 - Number(problem.dropout)),
  read: (f) => moved(f, "read"),
  written: (f) => moved(f, "write"),
  blocks: (f) => blocksOf(f, "write").what,
  size: (f) => blocksOf(f, "write").size,
  saved: (f) => bytes(savedBytes(f)),
  scores: ({ rows, cols }) => integer(sizeOf(rows) * sizeOf(cols)),
  factor: (_, row) => integer(failure(row?.m_new)?.factor ?? 0),
  power: (_, row) => number(failure(row?.m_new)?.power),
  dKV_size: (f) => writtenOf(f, "dK", "dV"),
  dQ_size: (f) => writtenOf(f, "dQ"),
  added: (f) => Number(f.grads?.added[f.i]),
  parts: (f) => Number(f.grads?.of[f.i]),
  row: (_, row) => (row ? rowWord(row) : ""),
  others: (f) => listed(unraisedRows(f)),
  other_count: (f) => unraisedRows(f).length,
  row_count: (f) => f.stats.length,
  blind: (f) => listed(blindRows(f)),
  difference: (f, row) => minus(row?.m_old ?? f.problem.sink ?? undefined, row?.m_new, f.decimals),
  ...Object.fromEntries(
    OF_ROWS.map((name) => [
      name,
      (/** @type {Frame} */ f, /** @type {Row | undefined} */ row) =>
        number(row?.[name], name === "alpha" ? undefined : f.decimals),
    ]),
  ),
};

/** Write the values into the braces of a part. Raises RangeError for a name that no value has.
 * @param {string} part @param {Frame} f @param {Row} [row] */
export const fill = (part, f, row) =>
  part.replace(/\{(\w+)\}/g, (_, name) => {
    if (!(name in VALUES)) throw new RangeError(`no value ${name}`);
    return String(VALUES[name](f, row));
  });
