// What the Run page says of the records: it is computed, so another record says something else.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  callsOf,
  choiceFor,
  lengthsOf,
  nearestLength,
  rowsOf,
  said,
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
const digits = (x) => String(x < 100 ? Number(x.toPrecision(2)) : Math.round(x));

test("the headline is the ratio of two recorded times and of two peaks", () => {
  const [slow, mine] = [of("naive"), of("hopper")];
  const times = digits(slow.median_ms / mine.median_ms);
  const share = digits(slow.peak_bytes / mine.peak_bytes);
  const { headline, ratio } = said(rows, CHOICE, table.methods);
  assert.equal(headline, `${times} times as fast, in 1/${share} of the memory`);
  assert.equal(ratio, `${times} ×`);
});

test("a record that is changed changes the headline, the sentence and the line", () => {
  const before = said(rows, CHOICE, table.methods);
  const changed = rows.map((row) =>
    row === of("hopper") ? { ...row, median_ms: row.median_ms / 2 } : row,
  );
  const after = said(changed, CHOICE, table.methods);
  for (const key of ["headline", "sentence", "ratio"]) assert.notEqual(after[key], before[key]);
  const at = (all) =>
    seriesOf(all, CHOICE, table.methods)
      .find(({ method }) => method === "hopper")
      .points.find(({ n }) => n === 8192).value;
  assert.equal(at(changed), at(rows) / 2);
});

test("where naive does not fit its matrices are named, and no ratio", () => {
  const { headline, ratio } = said(rows, { ...CHOICE, n: 65536 }, table.methods);
  assert.equal(headline, "Naive PyTorch would need 256 GiB for S and P");
  assert.equal(ratio, "");
});

test("the backward pass is compared with the best of the others, and never with naive", () => {
  for (const n of [1024, 4096, 16384]) {
    const choice = { ...CHOICE, pass: "backward", n };
    const { headline, sentence } = said(rows, choice, table.methods);
    const times = ["sdpa_cudnn", "sdpa_flash", "fa4"].flatMap((method) => {
      const row = rows.find(
        (one) =>
          one.record === 1 &&
          one.method === method &&
          one.n === n &&
          one.d === 128 &&
          one.mask === "causal",
      );
      return row ? [[row.median_ms, table.methods[method]]] : [];
    });
    const best = times.sort(([a], [b]) => a - b)[0][1];
    assert.ok(`${headline} ${sentence}`.includes(best), headline);
    assert.ok(!headline.includes("naive"));
  }
});

test("what was measured here stands in place of the record", () => {
  const live = { ...of("hopper"), record: null, median_ms: 1 };
  const series = seriesOf([...rows, live], CHOICE, table.methods);
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
