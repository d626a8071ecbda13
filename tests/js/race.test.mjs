// Three loop orders on one clock, at every tick of both clocks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { equal, fixtures, traceOf } from "./load.mjs";
import {
  ORDERS,
  bytesAfter,
  clockOf,
  finishOf,
  frame,
  phasesOf,
  placeAfter,
  raceQuestion,
  tickOf,
  verdictOf,
  visitsAfter,
} from "./model.mjs";

/** Lanes are shown where Python says that they are, and their ends come when it says so. */
function run(traces, lanes, byBytes, want, name) {
  const clock = clockOf(lanes, byBytes);
  const plan = want[byBytes ? "byte" : "tile"];
  assert.equal(clock.ticks, plan[ORDERS[0]].length, `${name}: ticks`);
  assert.equal(clock.quantum, want.quantum, `${name}: quantum`);
  ORDERS.forEach((order, k) => {
    const steps = want.work[order].length;
    const done = Array.from({ length: clock.ticks }, (_, tick) =>
      visitsAfter(clock, lanes[k], tick),
    );
    equal(done, plan[order], `${name}: visits of ${order}`);
    assert.equal(
      finishOf(clock, lanes[k]),
      byBytes ? want.finish[order] : Math.max(0, steps - 1),
      `${name}: end of ${order}`,
    );
    assert.equal(done.indexOf(steps), finishOf(clock, lanes[k]), `${name}: end of ${order}`);
    for (const visits of done)
      checkLane(traces[k], visits, want.work[order], want.bytes[order], `${name}: ${order}`);
    for (let v = 0; v < steps; v++)
      assert.equal(
        tickOf(clock, lanes[k], v),
        plan[order].findIndex((visits) => visits > v),
        name,
      );
  });
  const ends = lanes.map((lane) => finishOf(clock, lane));
  const question = raceQuestion(ORDERS, ends);
  const first = ORDERS.filter((_, k) => ends[k] === Math.min(...ends));
  assert.equal(question.options[question.answer], first.length > 1 ? "a tie" : first[0], name);
}

/** The verdict names the lanes that move the fewest bytes, and of each other one the share of its bytes. */
function verdict(lanes, want, name) {
  const totals = ORDERS.map((order) => want.bytes[order].at(-1));
  const { least, winners, shares } = verdictOf(lanes);
  assert.equal(least, Math.min(...totals), name);
  equal(
    winners,
    [...totals.keys()].filter((k) => totals[k] === least),
    name,
  );
  equal(
    shares,
    [...totals.keys()]
      .filter((k) => totals[k] > least)
      .map((k) => ({ lane: k, share: least / totals[k] })),
    name,
  );
}

/** The last visit that is over, whole, with all bytes until then; before it the first one's load. */
function checkLane(trace, visits, work, bytes, where) {
  const { step, phase } = placeAfter(trace, visits);
  assert.equal(step, work[Math.max(0, visits - 1)] ?? 0, where);
  assert.equal(phase, phasesOf(trace, step).at(visits ? -1 : 0), where);
  const f = frame(trace, step, phase);
  if (visits) assert.equal(f.reads + f.writes, bytes[visits], where);
}

for (const [name, want] of fixtures("race"))
  test(name, () => {
    equal(ORDERS, want.orders);
    const traces = ORDERS.map((order) => traceOf(name, order));
    const lanes = traces.map(bytesAfter);
    ORDERS.forEach((order, k) => equal(lanes[k], want.bytes[order], `${name}: bytes of ${order}`));
    verdict(lanes, want, name);
    for (const byBytes of [false, true]) run(traces, lanes, byBytes, want, name);
  });
