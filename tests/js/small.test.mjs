// The smaller modules: addresses, axes, warps.

import assert from "node:assert/strict";
import { test } from "node:test";
import step from "../../assets/texts/step.json" with { type: "json" };
import stepBackward from "../../assets/texts/step_backward.json" with { type: "json" };
import { equal, fixtures, flat, same } from "./load.mjs";
import {
  ALGORITHMS,
  axisOf,
  bytes,
  codeText,
  isUnitOf,
  meets,
  noteOf,
  position,
  precision,
  problemOf,
  readings,
  readWarpSteps,
  textsOf,
  split,
  ticks,
  VALUES,
} from "./model.mjs";

test("a Problem and a place are read from the address", () => {
  assert.equal(
    problemOf("?step=3&order=fa1&n=16&mode=present&page=learn&d=8"),
    "n=16&d=8&order=fa1",
  );
  assert.equal(problemOf("?text=a%26b c&data=sentence"), "data=sentence&text=a%26b+c");
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

test("ticks are round, inside, and as many as asked for", () => {
  for (const [low, high, count] of [
    [0, 1, 5],
    [-3.2, 17, 6],
    [0, 4096, 4],
    [0.001, 0.002, 3],
  ]) {
    const found = ticks(low, high, count, false);
    assert.ok(found.length >= 2 && found.length <= count + 1, String(found));
    for (const t of found) assert.ok(t >= low - 1e-9 && t <= high * (1 + 1e-9), String(found));
  }
  equal(ticks(0, 4, 9, false, 1), [0, 1, 2, 3, 4]);
  equal(ticks(1, 4, 4, true), [1, 2, 3, 4]);
});

test("values stand on their axis, and gaps on none", () => {
  const log = axisOf([1, 10, 1000], true);
  equal(
    [log.at(1), log.at(1000), log.at(0), log.label(2), log.label(5)],
    [0, 1, NaN, "100", "10⁵"],
  );
  const flat_ = axisOf([3, 3], false);
  equal([flat_.at(3), flat_.label(3.25)], [0.5, "3.25"]);
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

for (const [name, { sent, told }] of fixtures("warps"))
  test(name, () => {
    for (const [split, wanted] of Object.entries(told)) {
      const steps = readWarpSteps(sent[split]);
      equal(
        steps.map((step) => [step.moved, step.total]),
        wanted.map((want) => [want.moved, want.barriers]),
        `${name} ${split}`,
      );
      steps.forEach((step, at) => {
        equal(
          Object.keys(step.pieces).sort(),
          Object.keys(wanted[at].held),
          `${name} ${split} ${at}`,
        );
        for (const [tensor, pieces] of Object.entries(step.pieces))
          pieces.forEach((piece, k) => {
            const values = wanted[at].held[tensor][k];
            const found = values.map((row, r) =>
              [row].flat().map((_, c) => piece.at(piece.first + r, c)),
            );
            same(flat(found).map(Math.fround), flat(values), `${name} ${split} ${at} ${tensor}`);
          });
      });
    }
  });

test("a number is read as readers type it", () => {
  const values = (text) => readings(text).map(({ value }) => value);
  for (const [text, wanted] of [
    ["7/3", [7 / 3]],
    ["0.5", [0.5]],
    ["0,786", [0.786]],
    ["−2", [-2]],
    ["1,024", [1.024, 1024]],
    ["1,048,576", [1048576]],
    ["131 072", [131072]],
    ["2e3", [2000]],
    [".25", [0.25]],
    ["3.", [3]],
  ])
    equal(values(text), wanted, text);
  for (const wrong of [
    "",
    "seven",
    "1/0",
    "1/2/3",
    "1..2",
    "--1",
    "1,02,4",
    "/3",
    "0x10",
    "Infinity",
  ])
    equal(values(wrong), [], wrong);
  for (const [text, wanted] of [
    ["192 GiB", ["192", "GiB"]],
    ["0.5ms", ["0.5", "ms"]],
    ["50 %", ["50", "%"]],
    ["7/3", ["7/3", ""]],
    ["2e3", ["2e3", ""]],
    ["434 TFLOP/s", ["434", "TFLOP/s"]],
    ["", ["", ""]],
  ])
    equal(split(text), wanted, text);
  assert.ok(
    isUnitOf("gib", "GiB", "How many GiB?") &&
      isUnitOf("sectors", "", "How many sectors must come?") &&
      isUnitOf("", "GiB", ""),
  );
  assert.ok(
    !isUnitOf("MiB", "GiB", "How many GiB?") &&
      !isUnitOf("apples", "", "How many sectors must come?"),
  );
});

test("a right rounding is right, a wrong one is not, nor a near miss where an exact number is asked", () => {
  const right = (text, answer, tolerance) =>
    readings(text).some((one) => meets(one, answer, tolerance));
  for (const text of ["7/3", "2.3", "2.33", "2.35", "2.333"])
    assert.ok(right(text, 7 / 3, 0.02), text);
  for (const text of ["2", "2.4", "2.2", "2.36", "2.300"])
    assert.ok(!right(text, 7 / 3, 0.02), text);
  assert.ok(right("0.79", 0.787, 0.006) && !right("0.8", 0.787, 0.006));
  assert.ok(right("1,024", 1024, 0.01) && !right("1,023", 1024, 0.01));
  for (const text of ["1", "1.0", "1.01"]) assert.ok(!right(text, 1.0078125, 0.0005), text);
  equal(
    [precision(7 / 3, 0.02), precision(434.7, 8.7)].map(Boolean),
    [true, true],
    "two digits are enough",
  );
  equal(
    [precision(8, 0.01), precision(3.9999999999999987, 0.01), precision(1.0078125, 0.0005)],
    ["", "", ""],
    "nothing to say",
  );
});

test("a text names its values, and takes no others", () => {
  const say = textsOf({
    plain: "As it is.",
    value: "{a} of {b:,}, again {a}",
    counted: "{n:# tile}",
    odd: "{n:.2f}",
  });
  equal(
    [
      say("plain"),
      say("value", { a: "S", b: 1024 }),
      say("counted", { n: 1 }),
      say("counted", { n: 4096 }),
    ],
    ["As it is.", "S of 1,024, again S", "1 tile", "4,096 tiles"],
  );
  assert.throws(() => say("none"), /no text none/);
  assert.throws(() => say("counted"), /has no n/);
  assert.throws(() => say("plain", { n: 1 }), /no place for n/);
  assert.throws(() => say("odd", { n: 1 }), /\.2f/);
});

test("every name in a phrase is one of a frame's values", () => {
  const own = Object.values(ALGORITHMS).map(({ texts }) => texts.sentences ?? {});
  const phrases = [step, stepBackward].flatMap((texts) =>
    Object.values(texts).filter(Array.isArray),
  );
  const parts = [...phrases, ...own.flatMap(Object.values).flatMap(Object.values)].flat();
  assert.ok(parts.length > 150);
  const names = parts.flatMap((part) => [...part.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name));
  equal([...new Set(names)].toSorted(), Object.keys(VALUES).toSorted());
});
