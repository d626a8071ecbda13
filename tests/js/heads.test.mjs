// Query heads that share key heads: the row of chips, and what is said of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cached, groupsOf, readers } from "./model.mjs";

const equal = assert.deepEqual;
const of = (head, q_heads, kv_heads, kv_bytes = 0) => ({
  head,
  q_heads,
  kv_heads,
  kv_head: Math.floor(head / (q_heads / kv_heads)),
  kv_bytes,
});

test("chips stand by the key head that they read", () => {
  equal(groupsOf(of(3, 4, 2)), {
    groups: [
      { kv: 0, heads: [0, 1] },
      { kv: 1, heads: [2, 3] },
    ],
    before: null,
    after: null,
  });
  equal(groupsOf(of(0, 3, 1)).groups, [{ kv: 0, heads: [0, 1, 2] }]);
  const far = groupsOf(of(40, 128, 8));
  equal(
    [far.groups, far.before, far.after],
    [[{ kv: 2, heads: [40, 41, 42, 43, 44, 45, 46, 47] }], 39, 48],
  );
  const last = groupsOf(of(17, 18, 18));
  equal([last.groups.map(({ kv }) => kv), last.before, last.after], [[16, 17], 15, null]);
});

test("who reads the K and V on screen, and what a token leaves in the cache", () => {
  equal(readers(of(3, 4, 2)), "Query heads 2 and 3 read key head 1: one K, one V.");
  equal(readers(of(5, 8, 2)), "Query heads 4 to 7 read key head 1: one K, one V.");
  equal(readers(of(5, 8, 1)), "All 8 query heads read key head 0: one K, one V.");
  equal(readers(of(5, 8, 8)), "Query head 5 has K and V of its own.");
  equal(cached(of(5, 8, 2, 2 * 2 * 64 * 2)), "KV cache: 512 B per token, not 2 KiB.");
  equal(cached(of(5, 8, 8, 2048)), "KV cache: 2 KiB per token.");
});
