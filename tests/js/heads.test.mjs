// Query heads that share key heads: the row of chips, and what is said of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { groupsOf } from "./model.mjs";

const equal = assert.deepEqual;
const of = (head, q_heads, kv_heads) => ({
  head,
  q_heads,
  kv_heads,
  kv_head: Math.floor(head / (q_heads / kv_heads)),
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
