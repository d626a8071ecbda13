// How bytes and an axis are written, where names beside lines stand, and where keys move a chart's slider.

import assert from "node:assert/strict";
import { test } from "node:test";

import { axisOf } from "../../assets/js/lib/axis.js";
import { apart, slider } from "../../assets/js/lib/chart.js";
import { strideOf } from "../../assets/js/lib/keys.js";
import { fixtures } from "./load.mjs";
import { bytes } from "./model.mjs";

test("bytes are written as Python writes them", () => {
  for (const [, amounts] of fixtures("amounts"))
    for (const [count, wanted] of amounts) assert.equal(bytes(count), wanted, String(count));
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

test("arrows to the right and up move a slider on, the others back", () => {
  const wanted = { ArrowRight: 4, ArrowUp: 4, ArrowLeft: 2, ArrowDown: 2, Home: 0, End: 9 };
  for (const [key, to] of Object.entries(wanted)) {
    const moved = [];
    const places = Array.from({ length: 10 }, (_, k) => 20 * k);
    const knob = slider({ knob: (one) => one }, { at: 3, places, go: (at) => moved.push(at) }, []);
    knob.keys(...strideOf({ key, shiftKey: false }));
    assert.deepEqual(moved, [to], key);
  }
});

test("an axis's figures have commas, a minus sign and no digits that say nothing", () => {
  const [even, log] = [axisOf([0, 1], false), axisOf([1, 1e5], true)];
  assert.deepEqual([0.25, -3, 999, 1000, -1500, 12345].map(even.label), [
    "0.25",
    "−3",
    "999",
    "1,000",
    "−1,500",
    "12,350",
  ]);
  assert.deepEqual([-3, -2, 0, 3, 4, 5, Math.log10(2000)].map(log.label), [
    "10⁻³",
    "0.01",
    "1",
    "1,000",
    "10,000",
    "10⁵",
    "2,000",
  ]);
});
