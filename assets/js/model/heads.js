// Query heads that share key heads: which of them a row of chips shows, and what is said of them. Pure.

import { bytes } from "../lib/format.js";
import { t } from "./texts.js";

/** @import { Heads } from "./types.js" */

const MOST = 8; // chips in a row

/** How many query heads share a key head. @param {Heads} heads */
export const sharing = ({ q_heads, kv_heads }) => q_heads / kv_heads;

/** The heads in the row, which holds the one shown, by the key head that they read; and what is left out on either side.
 * @param {Heads} heads */
export function groupsOf(heads) {
  const first = heads.head - (heads.head % MOST);
  const stop = Math.min(heads.q_heads, first + MOST);
  /** @type {{kv: number, heads: number[]}[]} */
  const groups = [];
  for (let h = first; h < stop; h++) {
    const kv = Math.floor(h / sharing(heads));
    if (groups.at(-1)?.kv !== kv) groups.push({ kv, heads: [] });
    groups[groups.length - 1].heads.push(h);
  }
  return {
    groups,
    before: first > 0 ? first - 1 : null,
    after: stop < heads.q_heads ? stop : null,
  };
}

/** Who reads the K and V on screen. @param {Heads} heads */
export function readers(heads) {
  const group = sharing(heads);
  const first = heads.kv_head * group;
  const kv = heads.kv_head;
  if (group === 1) return t("heads.own", { h: first });
  if (group === heads.q_heads) return t("heads.all", { n: group, kv });
  return t(group === 2 ? "heads.two" : "heads.more", { first, last: first + group - 1, kv });
}

/** What the cache of all heads holds of a token. @param {Heads} heads */
export function cached(heads) {
  const group = sharing(heads);
  const size = bytes(heads.kv_bytes);
  return group === 1
    ? t("cache", { size })
    : t("cache.shared", { size, all: bytes(heads.kv_bytes * group) });
}
