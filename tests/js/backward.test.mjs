// Every phase of every visit of backward traces: what the model gives is what NumPy has, and what it says adds up.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  checkRows,
  checkStated,
  equal,
  fixtures,
  flat,
  near,
  placesOf,
  same,
  traceOf,
} from "./load.mjs";
import {
  BACKWARD,
  crossings,
  explain,
  finishedBlocks,
  frame,
  lit,
  number,
  phasesOf,
  questionAt,
} from "./model.mjs";

const GRADIENTS = ["dQ", "dK", "dV"];

/** P, dP, dS of the tile as they are shown, against plain matrices. */
function tile(trace, f, { dense, exact }, where) {
  const { S, dS } = crossings(f);
  const slack = exact ? 2e-4 : 0.1;
  for (let r = f.rows.start; r < f.rows.stop; r++)
    for (let c = f.cols.start; c < f.cols.stop; c++) {
      const at = r * trace.problem.n + c;
      if (S === "P") near(trace.arrays.P[at], dense.P[r][c], `${where}: P ${r} ${c}`, slack);
      if (dS && dense.seen[r][c])
        near(trace.arrays[dS][at], dense[dS][r][c], `${where}: ${dS} ${r} ${c}`, slack);
    }
}

function code(f, where) {
  const lines = BACKWARD[f.problem.order].pseudocode.filter((line) => lit(line, f));
  const silent = f.phase === "load" && f.i < 0;
  assert.ok(lines.length || silent || f.phase === "skip", `${where}: no line of the code is lit`);
}

/** What a cell is said to be made of is what the trace has there. */
function checkSentences(trace, f, where) {
  if (f.kind === "skipped" || f.i < 0) return;
  const [r, c] = [f.rows.start, f.cols.start];
  const { n, d } = f.problem;
  const { S, dS } = crossings(f);
  const told = {};
  if (S === "P" && !f.hides(0, 0)) told[`S.${r}.${c}`] = trace.arrays.P[r * n + c];
  if (dS === "dS") told[`dS.${r}.${c}`] = trace.arrays.dS[r * n + c];
  for (const kind of GRADIENTS)
    if (f.grads[kind] && f.stage !== "D")
      told[`${kind}.${kind === "dQ" ? r : c}.${d - 1}`] = f.grads[kind].data[d - 1];
  for (const { row, D, lse } of f.stats)
    Object.assign(told, { [`D.${row}`]: D, [`lse.${row}`]: lse });
  for (const [cell, value] of Object.entries(told))
    if (value !== undefined) {
      const words = explain(trace, f, cell).sentence;
      assert.ok(words.includes(number(value)), `${where}: ${cell}: ${words}`);
    }
}

for (const [name, case_] of fixtures("backward")) {
  const trace = traceOf(name);
  const { order } = trace.problem;

  test(`${name}: every place`, () => {
    equal(
      placesOf(trace),
      case_.places.map(({ step, phase }) => ({ step, phase })),
      name,
    );
    for (const want of case_.places) {
      const where = `${name}: ${want.step} ${want.phase}`;
      const f = frame(trace, want.step, want.phase);
      checkStated(f, want, "backward", where);
      equal([f.grads.added, f.grads.of], [want.added, want.of], where);
      checkRows(f, want.stats, where);
      for (const kind_ of GRADIENTS) {
        const [state, data] = want.grads[kind_] ?? [];
        assert.equal(f.grads[kind_]?.state, state, `${where}: ${kind_}`);
        if (data) same(f.grads[kind_].data, flat(data), `${where}: ${kind_}`);
      }
      if (f.kind !== "skipped") tile(trace, f, case_, where);
      code(f, where);
      checkSentences(trace, f, where);
    }
  });

  test(`${name}: what is final stays`, () => {
    let before = { dQ: 0, dK: 0, dV: 0 };
    for (const { step, phase } of case_.places) {
      const f = frame(trace, step, phase);
      const now = Object.fromEntries(
        GRADIENTS.map((kind) => [kind, finishedBlocks(trace, f, kind)]),
      );
      for (const kind of GRADIENTS)
        assert.ok(now[kind] >= before[kind], `${name}: ${kind} at ${step} ${phase}`);
      before = now;
    }
    equal(before, { dQ: trace.problem.Tr, dK: trace.problem.Tc, dV: trace.problem.Tc }, name);
  });

  test(`${name}: every question is answered by what comes`, () => {
    const at = new Map(case_.places.map((want) => [want.step, want])); // the last of each visit
    let [count, answers] = [0, new Set()];
    for (let step = 0; step < trace.steps; step++) {
      const question = questionAt(trace, step);
      if (!question) continue;
      count += 1;
      const { text, options, row } = question;
      const next = at.get(step + 1);
      const answer = options[question.answer];
      answers.add(text.split(". ")[1] + answer);
      const [, of, key] = /row (\d+) .* at key (\d+)/.exec(text) ?? [];
      let wanted = case_.dense.dS[of]?.[key] > 0 ? "above 0" : "below 0";
      if (/leave the chip/.test(text))
        wanted = phasesOf(trace, step + 1).includes("store") ? "Yes" : "No";
      else if (/hide any/.test(text)) wanted = next.kind === "partial" ? "Yes" : "No";
      else if (/parts/.test(text)) wanted = String(next.added[next.i]);
      else assert.equal(row, Number(of));
      assert.equal(answer, wanted, text);
      assert.doesNotMatch(text + question.because, /undefined|NaN/);
    }
    if (order !== "standard" && trace.steps > 6) assert.ok(count > 2 && answers.size > 2, name);
  });
}
