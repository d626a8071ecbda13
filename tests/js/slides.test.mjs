// What a slide's lines keep together.

import { test } from "node:test";
import { equal } from "./load.mjs";
import { unbroken } from "./model.mjs";

const parts = (words) => unbroken(words).split(" ");

test("a formula, a number with its unit, a name with its number stay on one line", () => {
  equal(parts("Parts: lse = 2, O = 1, and lse = 2 + log 3."), [
    "Parts:",
    "lse\u00a0=\u00a02,",
    "O\u00a0=\u00a01,",
    "and",
    "lse\u00a0=\u00a02\u00a0+\u00a0log\u00a03.",
  ]);
  equal(parts("FA-3 takes 60 MiB, 4 · 64 · 64 · 4 bytes"), [
    "FA\u20113",
    "takes",
    "60\u00a0MiB,",
    "4\u00a0·\u00a064\u00a0·\u00a064\u00a0·\u00a04\u00a0bytes",
  ]);
  equal(parts("A well-known word, 32 tokens").length, 5, "plain words break where they may");
});

test("what is too long for a line breaks, but not after a sign", () => {
  equal(parts("x = 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8").slice(0, 2), ["x", "=\u00a01"]);
});
