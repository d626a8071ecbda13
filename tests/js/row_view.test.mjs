// A row view: its weights so far, the softmax they come to, and what forgetting or sparing α makes of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { equal, fixtures, near, real, traceOf } from "./load.mjs";
import {
  changes,
  distance,
  frame,
  outcome,
  phasesOf,
  questionAt,
  rescales,
  slotsOf,
  verdict,
  visitsOf,
} from "./model.mjs";

/** At each place: nothing is known before its phase, and the bars fit their outline after the last tile. */
function checkRow(trace, row, want, hidden, where) {
  const i = Math.floor(row / trace.problem.block_q);
  const visits = visitsOf(trace, row, "alpha");
  for (const { v } of visits)
    for (const phase of phasesOf(trace, v)) {
      const f = frame(trace, v, phase);
      const known = visits.filter((visit) => visit.v < v || (visit.v === v && f.done("exp")));
      const slots = slotsOf(trace, f, row, "alpha");
      slots.forEach((slot, c) => {
        near(slot.exact, want.exact[c], `${where} ${c}`);
        const seen = known.some(({ keys }) => c >= keys.start && c < keys.stop);
        assert.equal(
          slot.state,
          hidden[c] ? "hidden" : seen ? "seen" : "ahead",
          `${where} ${v} ${phase} ${c}`,
        );
        assert.equal(slot.weight === undefined, slot.state !== "seen", where);
        if (slot.before !== undefined)
          assert.ok(phase === "exp" && slot.before >= slot.weight, `${where}: shrinks`);
        if (v === visits.at(-1).v && f.done("exp") && seen && !hidden[c])
          near(slot.weight, slot.exact, `${where}: the bar meets its outline`);
      });
      const past = slots.some(
        ({ state }, c) => state === "seen" && !(c >= f.cols.start && c < f.cols.stop),
      );
      const shrinks = past && phase === "exp" && known.at(-1).alpha < 1;
      assert.equal(
        slots.some(({ before }) => before !== undefined),
        shrinks,
        `${where} ${v} ${phase}`,
      );
      for (const words of changes(f, f.stats[row - i * trace.problem.block_q]).flat())
        assert.doesNotMatch(words, /undefined|NaN/, where);
    }
}

for (const [name, case_] of fixtures("row_view")) {
  const trace = traceOf(name);

  test(`${name}: the bars meet the exact softmax`, () => {
    case_.rows.forEach((want, row) =>
      checkRow(trace, row, want, case_.hidden[row], `${name}: row ${row}`),
    );
  });

  test(`${name}: with α, without it, and only when needed`, () => {
    case_.rows.forEach((want, row) => {
      const where = `${name}: row ${row}`;
      const right = outcome(trace, row, "alpha");
      near(right.l, want.l, where);
      assert.ok(distance(right.O, want.O.map(real)) < 1e-5, where);
      const forgotten = outcome(trace, row, "forget");
      near(forgotten.l, want.forgotten_l, where);
      assert.ok(distance(forgotten.O, want.forgotten_O.map(real)) < 1e-5, where);
      const lazy = outcome(trace, row, "lazy");
      assert.ok(distance(lazy.O, right.O) < 1e-12, `${where}: the same O`);
      equal(
        visitsOf(trace, row, "lazy").map(({ m }) => m),
        want.kept.map(real),
        where,
      );
      const { wrong, text } = verdict(trace, row, "forget");
      assert.equal(wrong, distance(forgotten.O, right.O) > 0, where);
      assert.equal(/^Wrong answer/.test(text), wrong, text);
      if (wrong) assert.ok(want.rises, where);
      assert.equal(verdict(trace, row, "lazy").wrong, false);
    });
    const sum = (key) => case_.rows.reduce((a, row) => a + row[key], 0);
    equal(
      [rescales(trace, "alpha"), rescales(trace, "lazy")],
      [sum("rises"), sum("rescaled")],
      name,
    );
    if (trace.problem.order === "standard") equal(sum("rises"), 0);
    const saved = /(\d+) of (\d+) rescales/.exec(verdict(trace, 0, "lazy").text);
    if (sum("rises"))
      equal(saved.slice(1).map(Number), [sum("rises") - sum("rescaled"), sum("rises")]);
  });
}

test("no answer is a safe bet", () => {
  const tally = {};
  for (const [name] of fixtures("row_view")) {
    const trace = traceOf(name);
    const answers = {};
    for (let step = 0; step < trace.steps; step++) {
      const question = questionAt(trace, step);
      if (!question?.options.length) continue;
      const kind = question.options.join();
      (answers[kind] ??= []).push(question.answer);
    }
    for (const [kind, given] of Object.entries(answers)) {
      const most = Math.max(
        ...given.map((answer) => given.filter((other) => other === answer).length),
      );
      if (given.length >= 4) assert.ok(most <= 0.75 * given.length, `${name}: ${kind}: ${given}`);
      tally[kind] = (tally[kind] ?? 0) + given.length;
    }
  }
  assert.ok(tally["Yes,No"] >= 2, JSON.stringify(tally));
});
