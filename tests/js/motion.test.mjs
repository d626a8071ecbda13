// What moves between two places: how long, which bytes, along which way.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fixtures, traceOf } from "./load.mjs";
import {
  TILE_MS,
  acts,
  flights,
  frame,
  lengthOfAll,
  movePhase,
  phasesOf,
  place,
} from "./model.mjs";

const bytesOf = (f) => f.reads + f.writes;
const phasesIn = (list) => list.map(({ phase }) => phase);

for (const [name, { every = 1 }] of [...fixtures("walk"), ...fixtures("backward")]) {
  const trace = traceOf(name);
  const steps = Array.from({ length: Math.ceil(trace.steps / every) }, (_, k) => k * every);

  test(`${name}: every phase moves for 150 to 400 ms, with just its bytes`, () => {
    for (const step of steps)
      for (const phase of phasesOf(trace, step)) {
        const to = { step, phase };
        const from = movePhase(trace, to, -1);
        const [now, before] = [to, from].map((at) => frame(trace, at.step, at.phase));
        const moves = flights(now, phase);
        const fresh =
          step === 0 && phase === "load" ? bytesOf(now) : bytesOf(now) - bytesOf(before);
        const moved = moves.reduce((sum, { bytes }) => sum + bytes, 0);
        assert.equal(moved, fresh, `${step} ${phase}: bytes`);
        if (from.step === step && from.phase === phase) continue;
        const list = acts(trace, from, to);
        assert.deepEqual(phasesIn(list), [phase]);
        assert.ok(
          lengthOfAll(list) >= 150 && lengthOfAll(list) <= 400,
          `${step} ${phase}: ${lengthOfAll(list)} ms`,
        );
        assert.deepEqual(acts(trace, to, from), [], "nothing moves on the way back");
        for (const { tensor } of moves)
          if ("SP".includes(tensor)) assert.equal(trace.problem.order, "standard");
      }
  });

  test(`${name}: a tile in one go shows all of its phases, a jump none`, () => {
    for (const step of steps.filter((step) => step > 0)) {
      const list = acts(trace, place(trace, step - 1), place(trace, step));
      assert.deepEqual(phasesIn(list), phasesOf(trace, step));
      assert.ok(lengthOfAll(list) <= TILE_MS + 1e-6, `${step}: ${lengthOfAll(list)} ms`);
      if (step > 1) assert.deepEqual(acts(trace, place(trace, step - 2), place(trace, step)), []);
    }
  });
}
