// Every tick and phase of every trace: what the model gives is what NumPy has.

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
  real,
  same,
  traceOf,
} from "./load.mjs";
import {
  ALGORITHMS,
  atPhase,
  finishedBlocks,
  frame,
  isRight,
  lit,
  movePhase,
  lacking,
  phasesOf,
  place,
  questionAt,
  tileState,
} from "./model.mjs";

function accumulator(trace, f, wanted, after, where) {
  assert.equal(f.acc?.state, wanted?.[0], `${where}: accumulator`);
  if (!wanted) return;
  const [state, visit] = wanted;
  const size = (f.rows.stop - f.rows.start) * f.problem.d;
  if (state === "zero") return same(f.acc.data, new Array(size).fill(0), `${where}: accumulator`);
  const { O } = trace.arrays;
  const { d } = f.problem;
  const isPart = f.lanes > 1 && f.columns === "keys"; // divided by its own ℓ
  const final = isPart
    ? flat(after[visit].O).map((x, k) => Math.fround(x / (f.stats[Math.floor(k / d)].l_new || 1)))
    : O.subarray(f.rows.start * d, f.rows.stop * d);
  same(f.acc.data, state === "final" ? [...final] : flat(after[visit].O), `${where}: accumulator`);
}

/** A part of the keys is weighted by its lse, as its last tile left it. */
function parts(trace, f, where) {
  const { arrays: a, lastOfLane } = trace;
  for (const { row, m_new } of f.stats)
    for (let lane = 0; lane < f.lanes && f.done("exp"); lane++) {
      const k = a.r_ptr[lastOfLane[f.i * f.lanes + lane]] + row - f.rows.start;
      const lse = a.r_m_new[k] + Math.log(a.r_l_new[k]);
      const [r, weight] = [row - f.rows.start, Math.exp(lse - (m_new === -Infinity ? 0 : m_new))];
      near(f.score(r, lane), lse, `${where}: lse of row ${row}`, 2e-6);
      near(f.weight(r, lane), weight, `${where}: weight of row ${row}`, 2e-6);
    }
}

/** `scores` shows what the product gives, `mask` what the mask takes away; lanes beyond the last key too. */
function scores(f, { hidden, arrays: { S } }, where) {
  const masked = !f.phases.includes("mask") || f.done("mask");
  for (let r = f.rows.start; r < f.rows.stop; r++)
    for (let k = 0; k < f.problem.block_k; k++) {
      const [row, c] = [r - f.rows.start, f.cols.start + k];
      const lane = c >= f.problem.n;
      if (c < f.cols.stop)
        assert.equal(f.hides(row, k), hidden[r][c], `${where}: hides ${r}, ${c}`);
      const taken = masked && (lane || hidden[r][c]);
      const wanted = taken ? -Infinity : lane ? 0 : real(S[r][c]);
      if (f.done("scores")) same([f.score(row, k)], [wanted], `${where}: score ${r}, ${c}`);
    }
}

function transfers(f, wanted, done, where) {
  const expected = wanted.map(([tensor, block, op, phase, bytes]) => ({
    tensor,
    block,
    op,
    phase,
    bytes,
    moved: done.includes(phase),
  }));
  equal(f.transfers, expected, `${where}: transfers`);
}

/** The code has a line for the moment. */
function code(f, where) {
  const lines = ALGORITHMS[f.problem.order].pseudocode.filter((line) => lit(line, f));
  assert.ok(lines.length, `${where}: no line of the code is lit`);
  assert.ok(
    lines.every(({ phase }) => phase === f.phase),
    where,
  );
}

function judge(trace, want, case_, where) {
  const f = frame(trace, want.step, want.phase);
  checkStated(f, want, "forward", where);
  equal(f.phases.filter(f.done), want.done, `${where}: phases over`);
  equal([f.cols.start, f.cols.stop], want.cols, `${where}: keys`);
  checkRows(f, want.rows, where);
  for (const { rose, m_old, m_new } of f.stats)
    assert.equal(rose, m_old > -Infinity && m_new > m_old, `${where}: rose`);
  accumulator(trace, f, want.acc, case_.after, where);
  transfers(f, case_.transfers[f.step], want.done, where);
  if (case_.hidden && f.columns !== "lanes") scores(f, case_, where);
  code(f, where);
  assert.equal(finishedBlocks(trace, f, "O"), want.finished, `${where}: finished row blocks`);
  return f;
}

/** Tiles change their look only where the views repaint: at the visits stepped over. */
function map(trace, f, case_, where) {
  const { Tr, Tc } = trace.problem;
  let letters = "";
  for (let i = 0; i < Tr; i++)
    for (let j = 0; j < Tc; j++) {
      const { kind, state, layer } = tileState(trace, f.step, i, j);
      assert.equal(kind, case_.kinds[i][j], `${where}: tile ${i}, ${j}`);
      letters += layer === "P" ? state[0].toUpperCase() : state[0];
      const making = f.stage === "softmax" && state === "current" && !f.done("store");
      assert.equal(
        atPhase({ kind, state, layer }, f).layer,
        making ? "S" : layer,
        `${where}: P before it is stored`,
      );
    }
  assert.equal(letters, case_.tiles[f.step], `${where}: the map`);
}

for (const [name, case_] of fixtures("walk")) {
  const trace = traceOf(name);
  const where = (want) => `${name}: step ${want.step} ${want.phase}`;

  test(`${name}: every place`, () => {
    for (const want of case_.places) {
      const f = judge(trace, want, case_, where(want));
      if (case_.tiles) map(trace, f, case_, where(want));
      if (case_.numbers && f.columns === "lanes") parts(trace, f, where(want));
    }
    for (const [key, values] of Object.entries(case_.arrays ?? {}))
      same(trace.arrays[key], flat(values), key);
  });

  test(`${name}: phase by phase forwards and back, and tile by tile`, () => {
    const all = placesOf(trace);
    if (case_.every === 1)
      equal(
        all,
        case_.places.map(({ step, phase }) => ({ step, phase })),
        name,
      );
    for (const [by, list] of [
      [1, all],
      [-1, all.toReversed()],
    ]) {
      let at = list[0];
      for (const want of list) {
        equal(at, want, `${name}: ${by}`);
        at = movePhase(trace, at, by);
      }
      equal(at, list.at(-1), `${name}: beyond the end`);
    }
    for (const step of [-1, 1.5, undefined, 1e9]) {
      const clamped = step === 1e9 ? trace.steps - 1 : 0;
      equal(place(trace, step, "x"), { step: clamped, phase: phasesOf(trace, clamped).at(-1) });
    }
  });

  test(`${name}: every question is answered by what comes`, () => {
    const later = new Map(case_.places.map((want) => [want.step, want]));
    let count = 0;
    for (let step = 0; case_.numbers && step < trace.steps; step++) {
      const question = questionAt(trace, step);
      if (!question) continue;
      count += 1;
      const next = later.get(step + 1);
      const { text, slider, options, answer } = question;
      const row = /row (\d+)/i.exec(text)?.[1];
      assert.equal(row, question.row?.toString(), text);
      if (/tile /.test(text))
        assert.ok(text.includes(`tile ${step + 2} of ${trace.steps} `), "as the page counts them");
      const stats = next.rows[row];
      let wanted = next.kind;
      if (/how many/.test(text))
        wanted = String(case_.kinds.flat().filter((kind) => kind === "skipped").length);
      else if (/maximum change/.test(text))
        wanted = real(stats.m_new) > real(stats.m_old) ? "Yes" : "No";
      else if (slider) wanted = real(/What is ℓ/.test(text) ? stats.l_new : stats.alpha);
      assert.equal(slider ? answer : options[answer], wanted, `${name}: after ${step}`);
      if (slider) {
        assert.ok(answer >= slider.min && answer <= slider.max, text);
        assert.ok(isRight(question, answer) && !isRight(question, answer + 2 * slider.tolerance));
      }
      assert.equal(new Set(options).size, options.length);
      assert.match(question.because, /above|hidden|hides|sees|α = exp|ℓ =/, "it says why");
    }
    if (case_.numbers && trace.problem.order !== "standard" && trace.steps > 2)
      assert.ok(count, name);
  });

  test(`${name}: what fits on which card`, () => {
    const { sram } = trace.header;
    for (const [card, [fits, largest]] of Object.entries(case_.sram)) {
      const warning = lacking(sram, card, trace.problem.n);
      assert.equal(warning === "", fits, card);
      const most = largest ? `Br = Bc = ${largest} would` : "no tile would";
      if (!fits) assert.ok(warning.includes(most), warning);
    }
  });
}
