// What a slide's lines keep together.

import assert from "node:assert/strict";
import { test } from "node:test";
import { equal } from "./load.mjs";
import { wholes } from "./model.mjs";

const whole = (words) =>
  wholes(words)
    .filter(([, isWhole]) => isWhole)
    .map(([text]) => text);

test("a formula, a number with its unit, a name with its number stay on one line", () => {
  equal(whole("Two parts: lse = 2, O = 1, and lse = 2 + log 3."), [
    "lse = 2,",
    "O = 1,",
    "lse = 2 + log 3.",
  ]);
  equal(whole("FA-3 on an H100 takes 60 MiB, FlashAttention-2 more."), [
    "FA-3",
    "60 MiB,",
    "FlashAttention-2",
  ]);
  equal(whole("exp2(S − m) of 4 · 64 · 64 · 4 bytes"), ["exp2(S − m)", "4 · 64 · 64 · 4 bytes"]);
  equal(
    whole("A well-known word, and 32 different tokens."),
    [],
    "plain words break where they may",
  );
});

test("no text is lost, and what is too long for a line breaks", () => {
  for (const words of [
    "",
    "one",
    "a = b",
    "dS = P ∘ (dP − ?) What stands in the gap?",
    "x = 1 ".repeat(20),
  ]) {
    assert.equal(
      wholes(words)
        .map(([text]) => text)
        .join(""),
      words,
    );
    assert.ok(Math.max(0, ...whole(words).map((text) => text.length)) <= 28, words);
  }
});
