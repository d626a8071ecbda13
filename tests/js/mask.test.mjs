// The mask builder's model: chips and text, what is said of a score, what the bars teach.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fixtures } from "./load.mjs";
import texts from "../../assets/texts/masks.json" with { type: "json" };
import { because, firstCell, insight, pieces, scoreSentence, unpacked, written } from "./model.mjs";

const equal = assert.deepEqual;
const [[, { answers, predicates }]] = fixtures("masks");
const plainText = (words) => words.map(({ text }) => text).join("");

test("the server's masks are chips and the same text again", () => {
  for (const { mask } of answers) equal(written(pieces(mask)), mask);
});

// What a sentence prints is true: its comparisons are computed.
const computed = (text) => {
  const sum = (side) =>
    Function(
      `return ${side
        .replaceAll("−", "-")
        .replace(/\((.+)\) mod (\d+)/, "(($1) % $2 + $2) % $2")
        .replace(/⌊(\d+)\/(\d+)⌋/g, "Math.floor($1/$2)")}`,
    )();
  for (const part of text.split(/ and |, /)) {
    const [, a, sign, b] = /^(.+?) (≤|<|>|≥|=) (.+)$/.exec(part) ?? assert.fail(part);
    const sides = `${a}=${b}`.split("=").map((side) => sum(side.trim()));
    const holds = {
      "≤": (x, y) => x <= y,
      "<": (x, y) => x < y,
      ">": (x, y) => x > y,
      "≥": (x, y) => x >= y,
      "=": (...all) => new Set(all).size === 1,
    }[sign];
    assert.ok(holds(...sides), part);
  }
};

test("why a predicate keeps or hides a score is true, and no predicate has no words", () => {
  for (const { text, keep, n } of predicates)
    for (let at = 0; at < n * n; at++) {
      const [[piece]] = pieces(text);
      const { name } = piece;
      assert.ok(`because.${name}` in texts, `masks.json has no because.${name}`);
      const [i, j] = [Math.floor(at / n), at % n];
      const words = because(piece, keep[at] === "1", i, j);
      if (!["full", "document", "block"].includes(name))
        computed(
          name === "chunk" && keep[at] === "0"
            ? words.replace(/⌊(\d+)\/(\d+)⌋ = /g, "⌊$1/$2⌋ = ")
            : words,
        );
      else if (name !== "full") assert.equal(!/not|the key/.test(words), keep[at] === "1", words);
    }
});

test("a sentence names the term that keeps a score, or what hides it in each", () => {
  const unpackedAnswer = unpacked(answers[0]);
  equal(unpackedAnswer.mask, "causal&window:6,0|prefix:2");
  equal(
    plainText(scoreSentence(unpackedAnswer, 12, 1)),
    "Query 12 sees key 1 because of prefix 2: 1 < 2.",
  );
  equal(scoreSentence(unpackedAnswer, 12, 1)[1], { text: "prefix 2", term: 1 });
  equal(
    plainText(scoreSentence(unpackedAnswer, 12, 8)),
    "Query 12 sees key 8 because of causal and window 6, 0: 8 ≤ 12 and 12 − 8 ≤ 6.",
  );
  equal(
    plainText(scoreSentence(unpackedAnswer, 12, 4)),
    "Query 12 does not see key 4: window 6, 0 hides it (12 − 4 > 6); prefix 2 hides it (4 ≥ 2).",
  );
  equal(
    plainText(scoreSentence(unpacked(answers[1]), 3, 9)),
    "Query 3 sees key 9: no key is hidden.",
  );
  equal(firstCell(unpackedAnswer), [12, 1]);
  const i = 12 * 16 + 1;
  const other = { ...unpackedAnswer, keepingTerm: unpackedAnswer.keepingTerm.with(i, -1) };
  assert.match(
    plainText(scoreSentence(other, 12, 1)),
    /does not see/,
    "the sentence follows the wire",
  );
});

test("the bars teach by the numbers of the server", () => {
  const of = (mask) => answers.find((answer) => answer.mask === mask);
  assert.match(insight(of("causal&window:6,0|prefix:2")), /no more tiles than causal/);
  assert.match(insight(of("full")), /no tile is skipped/);
  assert.match(insight(of("causal")), /Smaller tiles/);
  assert.match(insight(of("chunk:4")), /as closely as smaller ones/);
});
