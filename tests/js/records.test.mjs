// What the Run page says of the records: it is computed, so another record says something else.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import {
  callsOf,
  choiceFor,
  lengthsOf,
  nearestLength,
  rowsOf,
  finding,
  seriesOf,
} from "../../assets/js/run/records.js";
import { equal, fixtures } from "./load.mjs";

const [[, table]] = fixtures("records");
const rows = rowsOf(table);
const CHOICE = {
  quantity: "time",
  pass: "forward",
  mask: "causal",
  d: 128,
  dtype: "bf16",
  n: 8192,
};
const of = (method, more = {}) =>
  rows.find((row) =>
    Object.entries({
      record: 0,
      mask: "causal",
      d: 128,
      dtype: "bf16",
      n: 8192,
      method,
      ...more,
    }).every(([key, value]) => row[key] === value),
  );
/** The rows of a record's own file, which nothing of the page has touched. */
function recorded(name) {
  const file = new URL(`../../assets/recorded/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")).rows;
}

/** Amounts that a sentence names, in ms and bytes, in order. */
function amounts(sentence) {
  const unit = { µs: 1e-3, ms: 1, s: 1e3, B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
  return [...sentence.matchAll(/([\d.,]+) (µs|ms|s|KiB|MiB|GiB|B)\b/g)].map(
    ([, number, name]) => Number(number.replaceAll(",", "")) * unit[name],
  );
}

/** Refuse a figure that is further from a record than its digits explain. */
const close = (found, expected, share, why) =>
  assert.ok(Math.abs(found / expected - 1) <= share, `${why}: ${found}, not ${expected}`);

/** The measured rows of these methods at the place of another row. */
const beside = (file, place, methods) =>
  file.filter(
    (row) =>
      methods.includes(row.method) &&
      row.median_ms &&
      ["n", "d", "mask", "dtype", "batch", "heads"].every((key) => row[key] === place[key]),
  );
/** What the page says of the place of a row. */
const findingOf = ({ mask, d, dtype, n }, pass) =>
  finding(rows, { quantity: "time", pass, mask, d, dtype, n }, table.methods);

/** Refuse a sentence that names other amounts than these. */
function checkAmounts(sentence, values) {
  const named = amounts(sentence);
  assert.equal(named.length, values.length, sentence);
  named.forEach((amount, k) => close(amount, values[k], 0.005, sentence));
}

test("every headline and sentence says what the record's own file says", () => {
  const file = recorded("nvidia_h200");
  const all = file.filter((row) => row.method === "naive" && row.median_ms);
  for (const slow of all) {
    const [mine] = ["hopper", "fa2"].flatMap((method) => beside(file, slow, [method]));
    const { headline, sentence } = findingOf(slow, "forward");
    const [ratio, share] = headline.match(/[\d.,]+(?= times| of)/g).map(Number);
    close(ratio, slow.median_ms / mine.median_ms, 0.05, headline);
    close(share, slow.peak_bytes / mine.peak_bytes, 0.05, headline);
    checkAmounts(sentence, [slow, mine].map((row) => [row.median_ms, row.peak_bytes]).flat());
  }
  assert.ok(all.length >= 25, `${all.length} places`);
});

// A sweep with the backward pass plotted forward times (RP 2).
test("every backward sentence says what the record's own file says", () => {
  const file = recorded("backward_nvidia_h200").filter((row) => row.score === "none");
  for (const mine of file.filter((row) => row.method === "hopper" && !row.dropout)) {
    const others = beside(file, mine, ["sdpa_cudnn", "sdpa_flash", "fa4"]);
    const times = others.map((row) => row.median_ms).sort((a, b) => a - b);
    checkAmounts(
      findingOf(mine, "backward").sentence,
      times.length ? [mine.median_ms, ...times] : [],
    );
  }
});

test("where naive does not fit its matrices are named, and no ratio", () => {
  const { headline, ratio } = finding(rows, { ...CHOICE, n: 65536 });
  assert.equal(headline, "Naive PyTorch would need 256 GiB for S and P");
  assert.equal(ratio, "");
});

test("what was measured here stands in place of the record", () => {
  const live = { ...of("hopper"), record: null, median_ms: 1 };
  const series = seriesOf([...rows, live], CHOICE);
  const mine = series.find(({ method }) => method === "hopper");
  assert.equal(mine.points.filter(({ n }) => n === 8192).length, 1);
  assert.equal(mine.points.find(({ n }) => n === 8192).value, 1);
});

test("the choice begins at the Problem, and at a plain length where that is too short", () => {
  const values = { n: "4096", d: "64", mask: "full", dtype: "fp16", pass: "forward" };
  equal(choiceFor(values, rows), {
    quantity: "time",
    pass: "forward",
    mask: "full",
    d: 64,
    dtype: "fp16",
    n: 4096,
  });
  assert.equal(choiceFor({ ...values, n: "16" }, rows).n, 8192);
  const back = choiceFor({ ...values, pass: "backward" }, rows);
  assert.ok(lengthsOf(rows, back).includes(back.n));
  assert.equal(back.dtype, "bf16", "the only precision of that record");
  assert.equal(nearestLength([256, 512, 1024], 700), 512);
});

test("calls have as many tokens until one sequence is as long", () => {
  equal(callsOf(rows, CHOICE), [
    [256, 16384, 16384],
    [32768, 65536, 0],
  ]);
});
