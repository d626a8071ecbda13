// Scenes of the Learn page: where a knob stands, and what value a place on its track has.

import assert from "node:assert/strict";
import { test } from "node:test";
import { placeOf, valueAt } from "./model.mjs";

const knob = { kind: "knob", low: 1, high: 32, step: 1, span: 310 };

test("a knob's place and value are each other's inverse", () => {
  assert.equal(placeOf(knob, 1), 0);
  assert.equal(placeOf(knob, 32), 310);
  for (let value = 1; value <= 32; value++)
    assert.equal(valueAt(knob, placeOf(knob, value)), value);
});

test("a hand beyond the track stays at its end, and between two values the nearer one counts", () => {
  assert.equal(valueAt(knob, -50), 1);
  assert.equal(valueAt(knob, 1000), 32);
  assert.equal(valueAt(knob, 4.9), 1);
  assert.equal(valueAt(knob, 5.1), 2);
  assert.equal(placeOf(knob, 99), 310);
  assert.equal(valueAt({ ...knob, low: 0, high: 1, step: 0.25 }, 100), 0.25);
  assert.equal(placeOf({ ...knob, high: 1 }, 1), 0);
});
