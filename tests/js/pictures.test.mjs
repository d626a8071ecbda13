// What the Learn page's pictures measure by themselves, against Python; what they lay out, against what it must be.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fixtures } from "./load.mjs";
import { measure, plane, scales } from "./model.mjs";

const [[, told]] = fixtures("pictures");
const near = (a, b, where) =>
  assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)), `${where}: ${a}, not ${b}`);

test("two arrows are measured as NumPy measures them", () => {
  for (const { q, k, ...wanted } of told.arrows) {
    const found = measure(q, k);
    for (const name of ["dot", "length", "on"])
      near(found[name], wanted[name], `${q} · ${k}: ${name}`);
    if (wanted.angle === null) assert.equal(found.angle, null);
    else
      assert.ok(Math.abs(found.angle - wanted.angle) < 1e-5, `${q} · ${k}: angle ${found.angle}`);
  }
});

test("a tip lies where it is put, on a step and inside the plane", () => {
  const on = plane(told.plane, 490, 350);
  for (const { q } of told.arrows)
    assert.deepEqual(
      on.back(...on.at(q)).map((x) => x + 0),
      q,
    );
  assert.deepEqual(on.back(-500, -500), [told.plane.low[0], told.plane.high[1]]);
  assert.deepEqual(on.move([1, 3], 1, -1), [1.5, 2.5]);
  assert.deepEqual(on.move(told.plane.high, 1, 1), told.plane.high);
});

test("areas are as the bytes, pipes as the rates, on one scale each", () => {
  for (const [card, data] of Object.entries(told.pyramid)) {
    const on = scales(data, 100_000, 500);
    const [hbm, ...others] = data.levels;
    near(on.side(hbm.bytes) ** 2, 100_000, card);
    for (const level of others) {
      near(on.side(level.bytes) ** 2 / 100_000, level.bytes / hbm.bytes, `${card} ${level.name}`);
      near(
        on.pipe(level.per_s) / 500,
        level.per_s / Math.max(...data.levels.map((x) => x.per_s)),
        level.name,
      );
    }
    near(on.square ** 2 / on.matrix ** 2, data.square / data.matrix, card);
  }
});
