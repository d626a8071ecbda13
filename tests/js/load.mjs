// The fixtures that fixtures.py wrote into the folder named by FIXTURES.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { decode, phasesOf, prepare, stated } from "./model.mjs";

const folder = process.env.FIXTURES;

/** The packed bytes `name.key`, decoded. */
export function packed(name, key) {
  const { buffer, byteOffset, byteLength } = readFileSync(join(folder, `${name}.${key}`));
  return decode(buffer.slice(byteOffset, byteOffset + byteLength));
}

export const traceOf = (name, key = "trace") => prepare(packed(name, key));

/** [name, what Python says] of every fixture of this kind; none at all is an error. */
export function fixtures(kind) {
  const names = readdirSync(folder).filter(
    (file) => file.startsWith(`${kind}-`) && file.endsWith(".json"),
  );
  assert.ok(names.length, `no fixture ${kind} in ${folder}`);
  return names.map((file) => [
    file.slice(0, -5),
    JSON.parse(readFileSync(join(folder, file), "utf8")),
  ]);
}

/** The wire's numbers are float32; what Python wrote as JSON gives the same ones back. */
export const real = (x) => (x === null ? undefined : Number(x));
export const flat = (x) => [x].flat(Infinity).map(real);

/** Equal to the last bit, NaN included. */
export function same(found, wanted, where) {
  assert.equal(found?.length, wanted.length, `${where}: how many`);
  for (let k = 0; k < wanted.length; k++)
    if (!Object.is(found[k], wanted[k]))
      assert.fail(`${where} [${k}]: ${found[k]}, not ${wanted[k]}`);
}

/** Equal, and if not, where. */
export const equal = (found, wanted, where) => assert.deepEqual(found, wanted, where);

/** Equal but for rounding. */
export function near(found, wanted, where, slack = 1e-5) {
  const right = real(wanted);
  const isNear = Math.abs(found - right) <= slack * Math.max(1, Math.abs(right));
  if (!Object.is(found, right)) assert.ok(isNear, `${where}: ${found}, not ${right}`);
}

/** Every phase of every visit, in order. */
export const placesOf = (trace) =>
  Array.from({ length: trace.steps }, (_, step) =>
    phasesOf(trace, step).map((phase) => ({ step, phase })),
  ).flat();

const STATED = ["order", "step", "steps", "phase", "i", "j", "kind", "reads", "writes"];

/** A player states where it is and how many bytes were moved until there. */
export function checkStated(f, want, pass, where) {
  const wanted = STATED.map((key) => [`data-${key}`, want[key]]);
  equal(stated(f), { "data-pass": pass, ...Object.fromEntries(wanted) }, where);
  assert.equal(f.stage, want.stage, where);
}

/** Each row of a tile has just these statistics. */
export function checkRows(f, wanted, where) {
  equal(
    f.stats.map(({ row }) => String(row)),
    Object.keys(wanted),
    `${where}: rows`,
  );
  for (const s of f.stats)
    for (const [name, value] of Object.entries(wanted[s.row]))
      same([s[name]], [real(value)], `${where}: row ${s.row} ${name}`);
}
