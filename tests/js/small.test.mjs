// The smaller modules: addresses, axes.

import assert from "node:assert/strict";
import { test } from "node:test";

import { apart } from "../../assets/js/lib/chart.js";
import { equal, fixtures } from "./load.mjs";
import { bytes, codeText, noteOf, position, problemOf } from "./model.mjs";

test("a Problem and a place are read from the address", () => {
  assert.equal(
    problemOf("?step=3&order=fa1&n=16&mode=present&page=learn&d=8"),
    "n=16&d=8&order=fa1",
  );
  assert.equal(
    problemOf("?sink=1.5&score=softcap:30%26alibi&mask=causal%26window:256,0"),
    "mask=causal%26window%3A256%2C0&score=softcap%3A30%26alibi&sink=1.5",
  );
  equal(position("?step=12&phase=exp"), { step: 12, phase: "exp", pass: "forward" }, "a place");
  equal(
    position("?step=12&phase=dS&pass=backward"),
    { step: 12, phase: "dS", pass: "backward" },
    "of the backward",
  );
  assert.equal(position("?pass=sideways").pass, "forward");
  for (const wrong of ["", "?step=-1", "?step=1e3", "?step=1234567890", "?step=x"])
    equal(position(wrong), { step: undefined, phase: undefined, pass: "forward" }, wrong);
});

test("bytes are written as Python writes them", () => {
  for (const [, amounts] of fixtures("amounts"))
    for (const [count, wanted] of amounts) assert.equal(bytes(count), wanted, String(count));
});

test("the code says what this Problem's mask and edge hide", () => {
  const code = (mask, n, block_k) => codeText("S = −∞ where {hidden}", { mask, n, block_k });
  for (const [mask, n, block_k, hides] of [
    ["causal", 16, 4, "key > query"],
    ["full", 14, 5, "key ≥ 14"],
    ["causal", 14, 5, "key > query or key ≥ 14"],
    ["causal&window:3,0", 16, 4, "not causal&window:3,0"],
    ["causal&document:0,40,96|global:2|prefix:64", 16, 4, "the mask hides a key"],
  ])
    assert.equal(code(mask, n, block_k), `S = −∞ where ${hides}`);
  const plain = { mask: "full", n: 4, block_k: 2, sink: null, changes: [] };
  const changes = [{ code: "30 · tanh(S / 30)" }, { code: "S + (key − query) / 2" }];
  const line = "S = QK{score}; m = {m}, ℓ = {l}; m = {top}; ℓ = Σ{more}";
  assert.equal(codeText(line, plain), "S = QK; m = −∞, ℓ = 0; m = rowmax S; ℓ = Σ");
  assert.equal(
    codeText(line, { ...plain, sink: 1.5 }),
    "S = QK; m = 1.5, ℓ = 1; m = max(rowmax S, 1.5); ℓ = Σ + exp(1.5 − m)",
  );
  assert.equal(
    codeText("S{score}", { ...plain, changes }),
    "S;  S = 30 · tanh(S / 30);  S = S + (key − query) / 2",
  );
  equal(
    [true, false].map((simple) =>
      noteOf({ text: "", note: "a", general: "b" }, { ...plain, plain: simple }),
    ),
    ["a", "b"],
  );
});

test("names at the ends of lines keep their order, their heights and the picture's edges", () => {
  const heights = [20, 10, 30, 10];
  for (const wanted of [
    [50, 52, 51, 90],
    [-9, -9, -9, -9],
    [200, 150, 199, 0],
  ]) {
    const found = apart(wanted, heights, [0, 100]);
    const order = wanted.map((_, k) => k).sort((a, b) => wanted[a] - wanted[b]);
    assert.ok(found[order[0]] >= 0 && found[order[3]] + heights[order[3]] <= 100);
    for (let k = 1; k < 4; k++)
      assert.ok(found[order[k]] >= found[order[k - 1]] + heights[order[k - 1]]);
  }
  assert.deepEqual(apart([10, 60], [20, 20], [0, 100]), [10, 60]);
});
