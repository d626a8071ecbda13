// What a thing of the picture is made of, in numbers: of a score its products, of an output what it was and what
// arrives, of a row its m, α and ℓ. Only what is known at this moment. Operands are summed here in double precision;
// the trace has them in its own, and where its digits differ it says ≈. Pure.

import { bytes, number, sub } from "../lib/format.js";
import { backward } from "./passes.js";
import { frame, KINDS, weight } from "./frame.js";
import { linksAt, rowOf } from "./links.js";
import { algorithmOf, algorithmsOf } from "./passes.js";
import { codeText } from "./phases.js";
import { changed } from "./scores.js";
import { equals, operands, plus, productsOf, sum, within } from "./sums.js";
import { say } from "./texts.js";
import { blockWords, whyOf } from "./tiles.js";
import { rowWord } from "./wording.js";

/** @import { Frame, Known, Row, Trace } from "./types.js" */
/** @import { Told } from "./sums.js" */

/** A score: its products, their sum, what scaling, the Problem's changes, mask and exp make of it.
 * @param {Trace} trace @param {Frame} f @param {number} row @param {number} key @returns {Told} */
function score(trace, f, row, key) {
  const { problem: p, stage } = f;
  const name = `S[${row},${key}]`;
  /** @type {Told} */
  const told = {
    title: `q${sub(row)} · k${sub(key)}`,
    terms: null,
    total: undefined,
    lines: [],
    said: say("score.with", { name, row, key }),
  };
  if (!within(f.rows, row) || !within(f.cols, key) || !f.numbers || f.kind === "skipped")
    return { ...told, said: `${told.said}; ${say("off")}` };
  const { Q, K, P } = operands(trace, f);
  const [r, c] = [row - f.rows.start, key - f.cols.start];
  const made = stage === "softmax" || stage === "output" ? f.done("load") : f.done("scores");
  if (!made) return { ...told, said: `${told.said}; ${say("uncomputed")}` };
  const { m_new } = f.stats[r] ?? {};
  const S = Number(f.score(r, c));
  if (stage !== "softmax" && stage !== "output") {
    told.terms = Array.from({ length: p.d }, (_, x) => Q(row, x) * K(key, x));
    told.total = sum(told.terms);
    const raw = (f.zoom ?? trace.arrays).S[
      f.zoom ? r * (f.cols.stop - f.cols.start) + c : row * p.n + key
    ];
    const steps = changed(p, told.total * p.scale, row, key);
    const scaled = steps.length
      ? `= ${number(told.total * p.scale)}`
      : equals(told.total * p.scale, raw);
    told.lines.push(`${number(told.total)} / √${p.d} ${scaled}`);
    steps.forEach(({ name, text, s }, k) =>
      told.lines.push(
        `${name}: ${text} ${k < steps.length - 1 ? `= ${number(s)}` : equals(s, raw)}`,
      ),
    );
    if (S === -Infinity) told.lines.push(say("hidden"));
  } else {
    told.title = stage === "output" ? `P[${row},${key}]` : name;
    if (stage === "softmax") told.lines.push(`S = ${number(S)}`);
  }
  if (f.done("exp") && S > -Infinity && m_new !== undefined)
    told.lines.push(`e^(S − m) = ${number(weight(S, m_new))}`);
  if (stage === "output" || (stage === "softmax" && f.done("store")))
    told.lines.push(`P = ${number(P(row, key))}`);
  const lines = told.lines.join("; ");
  return {
    ...told,
    said: told.terms
      ? productsOf({ name, row, key, a: "Q", b: "K", lines }, p.d)
      : `${name}: ${lines}`,
  };
}

/** An entry of O: α times what it was, and P·V. @param {Trace} trace @param {Frame} f @param {number} row @param {number} x @returns {Told} */
function output(trace, f, row, x) {
  const { problem: p, step } = f;
  const name = `O[${row},${x}]`;
  /** @type {Told} */
  const told = {
    title: `O${sub(row)},${sub(x)}`,
    terms: null,
    total: undefined,
    lines: [],
    said: say("O.of", { name, x, row }),
  };
  const at = (row - f.rows.start) * p.d + x;
  if (!within(f.rows, row) || !f.acc || f.kind === "skipped")
    return { ...told, said: `${told.said}; ${say("off")}` };
  if (f.columns === "lanes") return combined(trace, f, row, x, told);
  const old = frame(trace, step, f.phases[0]).acc;
  const before = Number(old?.data[at] ?? 0);
  const past = old !== null && old.state !== "zero";
  const s = f.stats[row - f.rows.start];
  if (!f.done("output")) {
    if (past && s?.alpha !== undefined)
      told.lines.push(
        `α · O = ${number(s.alpha)} × ${number(before)} = ${number(s.alpha * before)}`,
      );
    else told.lines.push(number(before));
    return {
      ...told,
      said: say("arrives", { name, line: told.lines[0], what: "P·V", phase: "output" }),
    };
  }
  const { V, P } = operands(trace, f);
  told.terms = Array.from({ length: f.cols.stop - f.cols.start }, (_, k) => {
    const [r, key] = [row - f.rows.start, f.cols.start + k];
    return f.hides(r, k) ? 0 : P(row, key) * V(key, x);
  });
  told.total = sum(told.terms);
  const after = Number(frame(trace, step, "output").acc?.data[at]);
  const alpha = Number(s?.alpha);
  const normalized = algorithmOf(f).output === "normalized";
  if (normalized && past) {
    const [l_old, l_new] = [Number(s.l_old), Number(s.l_new)];
    told.lines.push(
      `(${number(l_old)} × ${number(alpha)} × ${number(before)} ${plus(told.total)}) / ${number(l_new)} ${equals((l_old * alpha * before + told.total) / l_new, after)}`,
    );
  } else if (normalized)
    told.lines.push(
      `${number(told.total)} / ${number(s.l_new)} ${equals(told.total / Number(s.l_new), after)}`,
    );
  else if (past)
    told.lines.push(
      `${number(alpha)} × ${number(before)} ${plus(told.total)} ${equals(alpha * before + told.total, after)}`,
    );
  else told.lines.push(`P·V ${equals(told.total, after)}`);
  if (f.acc.state === "final")
    told.lines.push(
      `/ ℓ: ${number(after)} / ${number(s.l_new)} ${equals(after / Number(s.l_new), f.acc.data[at])}`,
    );
  return {
    ...told,
    said: `${name} = ${algorithmOf(f).running && past ? "α·O + P·V" : "P·V"}: ${told.lines.join("; ")}`,
  };
}

/** An entry of O that is put together from the parts of the keys, each weighted. @param {Trace} trace @param {Frame} f @param {number} row
 * @param {number} x @param {Told} told @returns {Told} */
function combined(trace, f, row, x, told) {
  const { arrays, problem: p, lastOfLane } = trace;
  const r = row - f.rows.start;
  const { l_new } = f.stats[r] ?? {};
  if (!f.done("output") || !f.acc || f.zoom) return { ...told, said: told.said };
  const terms = Array.from({ length: f.lanes }, (_, lane) => {
    const v = lastOfLane[f.i * f.lanes + lane];
    const own =
      arrays.acc[arrays.a_ptr[v] + r * p.d + x] / (arrays.r_l_new[arrays.r_ptr[v] + r] || 1);
    return [Number(f.weight(r, lane)), own];
  });
  const total = sum(terms.map(([weight, own]) => weight * own));
  const parts = terms.map(([weight, own]) => `${number(weight)} × ${number(own)}`).join(" + ");
  const lines = [
    `(${parts}) / ${number(l_new)} ${equals(total / Number(l_new || 1), f.acc.data[r * p.d + x])}`,
  ];
  return { ...told, lines, said: `${told.title} = ${lines[0]}` };
}

/** The maximum that a row brings, said to be its sink where it is. @param {Frame} f @param {Row} s */
const startsAt = (f, s) =>
  f.first && f.problem.sink !== null ? say("sink", { sink: number(s.m_old) }) : number(s.m_old);

/** How m, α and ℓ of a row come about, as far as they have: {symbol: formula}. @param {Frame} f @param {Row} s */
export function formulas(f, s) {
  const past = s.m_old !== undefined && s.m_old > -Infinity;
  /** @type {Record<string, string>} */
  const found = {};
  const { sink } = f.problem;
  if (f.stage && sink !== null && s.l_new !== undefined)
    found.l = `${number(s.row_sum)} + e^(${number(sink)} − ${number(s.m_new)}) = ${number(s.l_new)}`;
  if (s.m_new !== undefined && s.m_old === undefined && sink !== null)
    found.m = `max(${number(s.row_max)}, ${say("sink", { sink: number(sink) })}) = ${number(s.m_new)}`;
  else if (s.m_new !== undefined)
    found.m =
      s.m_old === undefined
        ? `max S = ${number(s.m_new)}`
        : `max(${startsAt(f, s)}, ${number(s.row_max)}) = ${number(s.m_new)}`;
  else if (s.m_old !== undefined) found.m = startsAt(f, s);
  if (s.alpha !== undefined)
    found.alpha = past
      ? `e^(${number(s.m_old)} − ${number(s.m_new)}) = ${number(s.alpha)}`
      : say("alpha.one", { alpha: number(s.alpha) });
  if (s.l_new !== undefined)
    found.l ??= past
      ? `${number(s.alpha)} × ${number(s.l_old)} + ${number(s.row_sum)} = ${number(s.l_new)}`
      : `Σ ${f.stage ? "e^(S − m)" : "P"} = ${number(s.l_new)}`;
  else if (s.l_old !== undefined) found.l = number(s.l_old);
  return found;
}

const SYMBOLS = { m: "m", alpha: "α", l: "ℓ" };

/** The same in a few digits. @param {Row} s @param {Record<string, string>} all */
function brief(s, all) {
  const m = s.m_new ?? s.m_old;
  /** @type {Record<string, string>} */
  const lines = {
    m: s.rose ? `${number(s.m_old)} → ${number(m)}` : number(m),
    alpha: number(s.alpha),
    l: all.l,
  };
  return Object.keys(lines)
    .filter((key) => all[key])
    .map((key) => `${SYMBOLS[key]} = ${lines[key]}`);
}

/** @param {Frame} f @param {string} kind @param {number} row @returns {Told} */
function ofRow(f, kind, row) {
  const s = f.stats.find((stats) => stats.row === row);
  const all = s ? formulas(f, s) : {};
  const full = Object.keys(SYMBOLS)
    .filter((key) => all[key] && (kind === "row" || key === kind))
    .map((key) => `${SYMBOLS[key]} = ${all[key]}`);
  const title =
    kind === "row"
      ? rowWord({ row, name: s?.name ?? null })
      : say("of_row", { what: SYMBOLS[kind], row });
  const short = kind === "row" && s ? brief(s, all) : full;
  return {
    title,
    terms: null,
    total: undefined,
    lines: short,
    said: `${title}: ${full.join("; ") || say(s ? "unknown" : "off")}`,
  };
}

/** What there is to say of a thing; null for a name that nothing has.
 * @param {Trace} trace @param {Frame} f @param {string} name @returns {Told | null} */
export function explain(trace, f, name) {
  const thing = linksAt(trace, f).thing(name);
  if (!thing) return null;
  const [kind, ...at] = name.split(".");
  const [a, b] = at.map(Number);
  const row = rowOf(name);
  const told = f.pass === "backward" && backward.explain(trace, f, kind, at.map(Number));
  if (told) return told;
  if (kind === "S") return score(trace, f, a, b);
  if (kind === "O" && at.length === 2) return output(trace, f, a, b);
  if (row !== null && "m l alpha row".includes(kind)) return ofRow(f, kind, row);
  /** @type {(title: string, said?: string, lines?: string[]) => Told} */
  const only = (title, said = title, lines = []) => ({
    title,
    terms: null,
    total: undefined,
    lines,
    said,
  });
  if (at.length === 2 && "QKV".includes(kind)) {
    const span = kind === "Q" ? f.rows : f.cols;
    const x =
      within(span, a) && f.done("load") && f.numbers && f.kind !== "skipped"
        ? operands(trace, f)[kind](a, b)
        : undefined;
    return only(
      `${kind}[${a},${b}]`,
      `${kind}[${a},${b}], ${x === undefined ? say("off") : number(x)}`,
      x === undefined ? [] : [number(x)],
    );
  }
  if (thing.tensor && thing.tensor !== "S") return only(blockWords(trace, kind, a));
  if (kind === "tile") {
    const { rows, keys } = thing.box;
    const why = whyOf(trace, a, b);
    const lines = why
      ? [`${say(`kind.${KINDS[trace.arrays.tile_kind[a * f.problem.Tc + b]]}`)}: ${why}`]
      : [];
    if (rows && keys)
      return only(
        say("tile", { i: a, j: b }),
        [
          say("tile.spans", {
            i: a,
            j: b,
            r: rows.start,
            r2: rows.stop - 1,
            k: keys.start,
            k2: keys.stop - 1,
          }),
          ...lines,
        ].join("; "),
        lines,
      );
  }
  if (kind === "line")
    return only(
      codeText(algorithmsOf(f.pass)[f.problem.order].pseudocode[a].text, f.problem).trim(),
    );
  if (kind === "phase") return only(say("phase", { phase: at[0] }));
  const reads = at[0] === "read";
  const size = bytes(
    sum(f.transfers.filter((t) => (t.op === "read") === reads).map((t) => t.bytes)),
  );
  if (kind === "visit")
    return only(
      say(reads ? "visit.read" : "visit.write"),
      say(reads ? "visit.read.size" : "visit.write.size", { size }),
    );
  if (kind === "moved")
    return only(
      "",
      say(reads ? "so_far.read" : "so_far.write", {
        size: bytes(reads ? f.reads : f.writes),
        blocks: thing.blocks?.size ?? 0,
      }),
    );
  if (kind === "bytes")
    return only(
      "",
      say("bytes.of", {
        order: algorithmsOf(f.pass)[at[0]].label,
        kind: at[1],
        tensors: [...(thing.names ?? [])].map((tensor) => SYMBOLS[tensor] ?? tensor).join(", "),
      }),
    );
  return only(SYMBOLS[kind] ?? at[0]);
}
