// A Problem that came as tiles only: no numbers, but for the visit that was asked for.

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkRows, equal, fixtures, flat, packed, same, traceOf } from "./load.mjs";
import { frame, phasesOf, describeStep } from "./model.mjs";

function judge(trace, want, phase, where) {
  const f = frame(trace, want.step, phase);
  assert.equal(f.numbers, true, where);
  checkRows(f, want.rows[phase], where);
  want.hidden.forEach((row, r) =>
    row.forEach((is, c) => assert.equal(f.hides(r, c), is, `${where}: score ${r}, ${c} hidden`)),
  );
  if (!want.after) return;
  const before = want.before ? flat(want.before) : new Array(flat(want.after).length).fill(0);
  const kept = trace.problem.order === "standard" ? null : before;
  const now = f.done("store") && want.final ? want.final : f.done("output") ? want.after : kept;
  if (now) same(f.acc.data, flat(now), `${where}: accumulator`);
  else assert.equal(f.acc, null, where);
}

for (const [name, { visits }] of fixtures("zoom"))
  test(`${name}: the numbers of one visit`, () => {
    const trace = traceOf(name);
    assert.equal(trace.header.numbers, false);
    for (const want of visits) {
      for (const phase of phasesOf(trace, want.step))
        assert.doesNotMatch(
          describeStep(frame(trace, want.step, phase)).aside ?? "",
          /weights are too small/,
          "of numbers that did not come nothing is said",
        );
      assert.equal(frame(trace, want.step, "load").numbers, false);
      trace.zoom = packed(name, `visit${want.step}`);
      for (const phase of phasesOf(trace, want.step))
        judge(trace, want, phase, `${name}: step ${want.step} ${phase}`);
      for (const key of ["S", "P"])
        if (want[key]) same(trace.zoom.arrays[key], flat(want[key]), `${name}: ${key}`);
      const other = want.step ? want.step - 1 : 1;
      equal(
        frame(trace, other, phasesOf(trace, other)[0]).stats,
        [],
        "another visit has no numbers",
      );
      trace.zoom = undefined;
    }
  });
