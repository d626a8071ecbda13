// Everything that the page says of every phase of the packed traces in a folder, as JSON, for test_sentences.py: of each
// phase of a trace by each row of its block in turn.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { decode, describeStep, exact, frame, phasesOf, prepare, soFar } from "./model.mjs";

const folder = process.argv[2];

function said(name) {
  const { buffer, byteOffset, byteLength } = readFileSync(join(folder, name));
  const trace = prepare(decode(buffer.slice(byteOffset, byteOffset + byteLength)));
  const places = [];
  for (let step = 0; step < trace.steps; step++)
    for (const phase of phasesOf(trace, step)) {
      const f = frame(trace, step, phase);
      const row = f.stats[places.length % (f.stats.length || 1)];
      places.push({
        step,
        phase,
        row: row?.row ?? null,
        ...describeStep(f, row),
        ...soFar(trace, f),
      });
    }
  const truth = Object.entries(exact(trace) ?? {}).map(([key, x]) => [key, [...x]]);
  return [name, { places, truth: Object.fromEntries(truth) }];
}

console.log(JSON.stringify(Object.fromEntries(readdirSync(folder).map(said))));
