// What belongs together: the same both ways, as changing it shows; cells and blocks found at once are those found one by
// one; and what a cell is said to be made of adds up to it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { equal, fixtures, near, placesOf, real, traceOf } from "./load.mjs";
import { ALGORITHMS, AXES, changed, explain, frame, linksAt, number, phasesOf } from "./model.mjs";

const range = (count) => Array.from({ length: count }, (_, k) => k);

/** Names of all kinds: of the first, a middle and the last of each axis, and every word. */
function names(trace, f) {
  const { n, d, Tr, Tc, order } = trace.problem;
  const some = (count) => [...new Set([0, Math.floor(count / 2), count - 1])];
  const sizes = { rows: n, keys: n, dims: d, outs: d };
  const cells = Object.entries(AXES)
    .filter(([tensor]) => !/^(d|lse|D)/.test(tensor))
    .flatMap(([tensor, [a, b]]) =>
      some(sizes[a]).flatMap((k) =>
        b ? some(sizes[b]).map((x) => `${tensor}.${k}.${x}`) : [`${tensor}.${k}`],
      ),
    );
  const blocks = some(Tr)
    .flatMap((i) => [`Q.${i}`, `O.${i}`, ...some(Tc).map((j) => `tile.${i}.${j}`)])
    .concat(some(Tc).flatMap((j) => [`K.${j}`, `V.${j}`]));
  const lines = ALGORITHMS[order].pseudocode.flatMap(({ phase }, k) =>
    phase && phase !== "skip" ? [`line.${k}`] : [],
  );
  const bars = ["moved", "visit"]
    .flatMap((kind) => [`${kind}.read`, `${kind}.write`])
    .concat(Object.keys(trace.header.totals.requested).map((key) => `bytes.${key}.requested`));
  return [
    ...cells,
    ...blocks,
    ...lines,
    ...trace.header.phases.map((name) => `phase.${name}`),
    ...bars,
    "m",
    "l",
    "alpha",
  ];
}

/** Found at once, and one by one. */
function regions(links, f, of, where) {
  const { d, Tr, Tc } = f.problem;
  const spans = {
    rows: f.rows,
    keys: f.cols,
    dims: { start: 0, stop: d },
    outs: { start: 0, stop: d },
  };
  const all = ({ start, stop }) => range(stop - start).map((k) => start + k);
  for (const tensor of "QKVOS") {
    const [a, b] = AXES[tensor].map((axis) => all(spans[axis]));
    const one = a.flatMap((r) =>
      b
        .filter((c) => links.belongs(of, links.thing(`${tensor}.${r}.${c}`)))
        .map((c) => `${r} ${c}`),
    );
    const box = links.cells(of, tensor, { rows: f.rows, keys: f.cols });
    const [x, y] = box ? AXES[tensor].map((axis) => all(box[axis])) : [[], []];
    equal(
      x.flatMap((r) => y.map((c) => `${r} ${c}`)),
      one,
      `${where}: cells of ${tensor} with ${of.name}`,
    );
  }
  for (const tensor of "QKVO") {
    const one = range("QO".includes(tensor) ? Tr : Tc).filter((k) =>
      links.belongs(of, links.thing(`${tensor}.${k}`)),
    );
    equal(
      links.runs(of, tensor).flatMap(all),
      one,
      `${where}: blocks of ${tensor} with ${of.name}`,
    );
  }
  const every = range(Tr).flatMap((i) => range(Tc).map((j) => `tile.${i}.${j}`));
  const tiles = every.filter((name) => links.belongs(of, links.thing(name)));
  const areas = links.areas(of).map((box) => ({ name: "", tensor: "S", box }));
  const drawn = every.filter((name) =>
    areas.some((area) => links.belongs(area, links.thing(name))),
  );
  equal(drawn, tiles, `${where}: tiles with ${of.name}`);
}

/** A score is the sum of its products, an entry of O what it was and what arrives. ST 2: the page explained ALiBi of head 0 of 8
 * by the slope of head 0 of 1. */
function sums(trace, f, want, where) {
  const {
    arrays: { S },
    problem: p,
  } = trace;
  const half = p.dtype === "fp32" ? 1 : 100;
  for (let r = f.rows.start; r < f.rows.stop; r++)
    for (let c = f.cols.start; c < f.cols.stop; c++) {
      const explanation = explain(trace, f, `S.${r}.${c}`);
      const made =
        f.kind !== "skipped" && f.stage !== "softmax" && f.stage !== "output" && f.done("scores");
      assert.equal(explanation.terms !== null, made, `${where}: S ${r} ${c}`);
      if (!made) continue;
      assert.equal(explanation.terms.length, p.d);
      const total = explanation.terms.reduce((sum, term) => sum + term, 0);
      near(total, want.products[r][c], `${where}: the products of ${r}, ${c}`, 2e-5);
      const steps = changed(p, total * p.scale, r, c);
      near(
        steps.at(-1)?.s ?? total * p.scale,
        S[r * p.n + c],
        `${where}: the score ${r}, ${c}`,
        1e-5 * half,
      );
      assert.ok(
        explanation.lines[steps.length].endsWith(` ${number(S[r * p.n + c])}`),
        explanation.lines.join("; "),
      );
      assert.equal(steps.length, p.score === "none" ? 0 : p.score.split("&").length);
      assert.equal(
        explanation.lines.includes("masked: −∞"),
        f.score(r - f.rows.start, c - f.cols.start) === -Infinity,
        `${where}: ${explanation.lines}`,
      );
    }
  const arriving = f.done("output") && want.arriving[f.step];
  for (let r = f.rows.start; r < f.rows.stop; r++)
    for (let x = 0; x < p.d; x++) {
      const explanation = explain(trace, f, `O.${r}.${x}`);
      assert.equal(explanation.terms !== null, Boolean(arriving), `${where}: O ${r} ${x}`);
      if (!arriving) continue;
      near(
        explanation.terms.reduce((sum, term) => sum + term, 0),
        arriving.total[r - f.rows.start][x],
        `${where}: P·V at ${r}, ${x}`,
        1e-5 * half,
      );
      assert.ok(
        explanation.lines[0].endsWith(` ${number(real(arriving.after[r - f.rows.start][x]))}`),
        `${where}: ${explanation.lines[0]}`,
      );
    }
}

for (const [name, case_] of fixtures("links")) {
  const trace = traceOf(name);

  test(`${name}: both ways, at every place`, () => {
    placesOf(trace).forEach(({ step, phase }, k) => {
      const where = `${name} ${step} ${phase}`;
      const f = frame(trace, step, phase);
      const links = linksAt(trace, f);
      const things = names(trace, f).map(
        (it) => links.thing(it) ?? assert.fail(`${where}: ${it} is nothing`),
      );
      for (const a of things) {
        assert.ok(links.belongs(a, a), `${where}: ${a.name} with itself`);
        for (const b of things)
          if (links.belongs(a, b) !== links.belongs(b, a))
            assert.fail(`${where}: ${a.name}, ${b.name}`);
        if (k % 11 === 0) regions(links, f, a, where);
        const { sentence, lines, title } = explain(trace, f, a.name);
        assert.doesNotMatch(
          [sentence, title, ...lines].join(),
          /undefined|null|object/,
          `${where}: ${a.name}`,
        );
      }
    });
  });

  test(`${name}: a cell reaches its row or column of a product`, () => {
    const links = linksAt(trace, frame(trace, 0, phasesOf(trace, 0)[0]));
    const { n, d } = trace.problem;
    const ends = (size) => [0, Math.floor(size / 2), size - 1];
    for (const r of ends(n))
      for (const x of ends(d))
        for (const [from, to, size, isReached] of [
          ["Q", "S", n, (i) => i === r],
          ["K", "S", n, (_, j) => j === r],
          ["V", "O", d, (_, j) => j === x],
        ])
          for (const i of range(n))
            for (const j of range(size)) {
              const things = [`${from}.${r}.${x}`, `${to}.${i}.${j}`];
              const belongs = links.belongs(...things.map((cell) => links.thing(cell)));
              assert.equal(belongs, isReached(i, j), `${name}: ${things}`);
            }
  });

  test(`${name}: a bar counts the blocks that were moved`, () => {
    const moved = { read: new Set(), write: new Set() };
    for (const { step, phase } of placesOf(trace)) {
      const f = frame(trace, step, phase);
      for (const { tensor, block, op, moved: is } of f.transfers)
        // judged in walk.test.mjs
        if (is) moved[op].add([tensor === "P" ? "S" : tensor, block].flat().join("."));
      for (const [op, blocks] of Object.entries(moved)) {
        const found = linksAt(trace, f).thing(`moved.${op}`).blocks;
        equal([...found].sort(), [...blocks].sort(), `${name}: ${op} until ${step} ${phase}`);
      }
    }
  });

  test(`${name}: it adds up`, () => {
    for (const { step, phase } of placesOf(trace))
      sums(trace, frame(trace, step, phase), case_, `${name} ${step} ${phase}`);
  });
}

test("an address may say anything", () => {
  const trace = traceOf("links-default");
  const links = linksAt(trace, frame(trace, 4, "exp"));
  const bad = [
    "",
    "S",
    "S.1",
    "S.16.0",
    "S.0.16",
    "S.-1.0",
    "Q.4",
    "tile.4.0",
    "row.16",
    "x",
    "S.1e1.0",
    "__proto__.1",
    "constructor.1",
    "line.99",
    "phase.x",
    "bytes.fa2",
    "bytes.toString.requested",
    "visit.x",
    "S.９.5",
    "S.9.5 ",
    "dS.9.5",
    "D.9",
  ];
  for (const name of bad) assert.equal(links.thing(name), null, name);
  for (const name of bad) assert.equal(explain(trace, frame(trace, 4, "exp"), name), null, name);
});
