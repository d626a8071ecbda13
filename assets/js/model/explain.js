// What a thing of the picture is made of, in numbers: of a score its products, of an output what it was and what
// arrives, of a row its m, α and ℓ. Only what is known at this moment. Operands are summed here in double precision;
// the trace has them in its own, and where its digits differ it says ≈. Pure.

import { bytes, number, sub } from "../lib/format.js";
import { sum, times } from "../lib/lists.js";
import { bytesOf, frame, filterTransfers, weight } from "./frame.js";
import { linksAt, rowOf } from "./links.js";
import { explainBackward } from "./explain_backward.js";
import { algorithmOf, algorithmsOf } from "./passes.js";
import { codeText, describeStep } from "./phases.js";
import { KINDS } from "./predicates.js";
import { plus } from "./scores.js";
import {
  entryOf,
  equals,
  explainProducts,
  explanationOf,
  isOnTile,
  scoreProducts,
  termsOf,
  within,
} from "./sums.js";
import { t } from "./texts.js";
import { blockWords, whyOf } from "./tiles.js";
import { rowWord } from "./wording.js";

/** @import { Frame, Row, Trace } from "./types.js" */
/** @import { Explanation } from "./sums.js" */

/** A score: its products, their sum, what scaling, the Problem's changes, mask and exp make of it.
 * @param {Frame} f @param {number} row @param {number} key */
function score(f, row, key) {
  const { stage } = f;
  const name = `S[${row},${key}]`;
  const title = `q${sub(row)} · k${sub(key)}`;
  const absent = (/** @type {string} */ state) =>
    explanationOf(`${t("score.with", { name, row, key })}; ${state}`);
  if (!isOnTile(f, row, key) || !f.numbers || f.kind === "skipped") return absent(t("off"));
  const isStored = stage === "softmax" || stage === "output"; // by the kernel before
  if (!f.done(isStored ? "load" : "scores")) return absent(t("uncomputed"));
  const products = isStored ? null : scoreProducts(f, row, key);
  const lines = products?.lines ?? [];
  const S = Number(f.score(row - f.rows.start, key - f.cols.start));
  const { m_new } = f.stats[row - f.rows.start] ?? {};
  if (stage === "softmax") lines.push(`S = ${number(S)}`);
  if (f.done("exp") && S > -Infinity && m_new !== undefined)
    lines.push(`e^(S − m) = ${number(weight(S, m_new))}`);
  if (stage === "output" || (stage === "softmax" && f.done("store")))
    lines.push(`P = ${number(f.entries.P(row, key))}`);
  if (products) return explainProducts(f, title, { name, row, key, a: "Q", b: "K" }, products);
  return explanationOf(
    stage === "output" ? `P[${row},${key}]` : name,
    `${name}: ${lines.join("; ")}`,
    lines,
  );
}

/** An entry of O: α times what it was, and P·V. @param {Trace} trace @param {Frame} f @param {number} row @param {number} x */
function output(trace, f, row, x) {
  const { problem: p, step } = f;
  const name = `O[${row},${x}]`;
  const title = `O${sub(row)},${sub(x)}`;
  if (!within(f.rows, row) || !f.acc || f.kind === "skipped")
    return explanationOf(`${t("O.of", { name, x, row })}; ${t("off")}`);
  const at = (row - f.rows.start) * p.d + x;
  if (f.columns === "lanes") return combined(trace, f, row, x, title, name);
  const old = frame(trace, step, f.phases[0]).acc;
  const before = Number(old?.data[at] ?? 0);
  const past = old !== null && old.state !== "zero";
  const s = f.stats[row - f.rows.start];
  if (!f.done("output")) {
    const line =
      past && s?.alpha !== undefined
        ? `α · O = ${number(s.alpha)} × ${number(before)} = ${number(s.alpha * before)}`
        : number(before);
    return explanationOf(title, t("arrives", { name, line, what: "P·V", phase: "output" }), [line]);
  }
  const { V, P } = f.entries;
  const terms = termsOf(f.cols, (key) =>
    f.hides(row - f.rows.start, key - f.cols.start) ? 0 : P(row, key) * V(key, x),
  );
  const total = sum(terms);
  const after = Number(frame(trace, step, "output").acc?.data[at]);
  const [alpha, l_old, l_new] = [s?.alpha, s?.l_old, s?.l_new].map(Number);
  const shrunk = `${number(alpha)} × ${number(before)} ${plus(total)}`;
  let line = `P·V ${equals(total, after)}`;
  if (algorithmOf(f).output === "normalized")
    line = past
      ? `(${number(l_old)} × ${shrunk}) / ${number(l_new)} ${equals((l_old * alpha * before + total) / l_new, after)}`
      : `${number(total)} / ${number(l_new)} ${equals(total / l_new, after)}`;
  else if (past) line = `${shrunk} ${equals(alpha * before + total, after)}`;
  const lines = [line];
  if (f.acc.state === "final")
    lines.push(`/ ℓ: ${number(after)} / ${number(l_new)} ${equals(after / l_new, f.acc.data[at])}`);
  const sums = algorithmOf(f).running && past ? "α·O + P·V" : "P·V";
  return explanationOf(title, `${name} = ${sums}: ${lines.join("; ")}`, lines, terms);
}

/** An entry of O that is put together from the parts of the keys, each weighted. @param {Trace} trace @param {Frame} f @param {number} row
 * @param {number} x @param {string} title @param {string} name */
function combined(trace, f, row, x, title, name) {
  const { arrays, problem: p, lastOfLane } = trace;
  const r = row - f.rows.start;
  const { l_new } = f.stats[r] ?? {};
  if (!f.done("output") || !f.acc || f.zoom) return explanationOf(t("O.of", { name, x, row }));
  const parts = times(f.lanes, (lane) => {
    const v = lastOfLane[f.i * f.lanes + lane];
    const l = arrays.r_l_new[arrays.r_ptr[v] + r] || 1;
    return {
      weight: Number(f.weight(r, lane)),
      own: arrays.acc[arrays.a_ptr[v] + r * p.d + x] / l,
    };
  });
  const total = sum(parts.map(({ weight, own }) => weight * own));
  const terms = parts.map(({ weight, own }) => `${number(weight)} × ${number(own)}`).join(" + ");
  const found = equals(total / Number(l_new || 1), f.acc.data[r * p.d + x]);
  const lines = [`(${terms}) / ${number(l_new)} ${found}`];
  return explanationOf(title, `${name} = ${lines[0]}`, lines);
}

/** @type {Record<string, string>} */
const SYMBOLS = { m: "m", alpha: "α", l: "ℓ" };
/** The phase that gives each. @type {Record<string, string>} */
const GIVEN_IN = { m: "max", alpha: "exp", l: "sum" };

/** How m, α and ℓ of a row come about, as far as they have, as the sentence of their phase says it. @param {Frame} f @param {Row} s */
function formulas(f, s) {
  const values = { m: s.m_new ?? s.m_old, alpha: s.alpha, l: s.l_new ?? s.l_old };
  const known = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    known.map(([key, value]) => {
      const phase = GIVEN_IN[key];
      const formula = f.done(phase) ? describeStep({ ...f, phase }, s).formula : "";
      const begins = `${SYMBOLS[key]} = `;
      return [key, formula.startsWith(begins) ? formula : begins + number(value)];
    }),
  );
}

/** m, α and ℓ of a row, or one of them. @param {Frame} f @param {string} kind @param {number} row */
function ofRow(f, kind, row) {
  const s = f.stats.find((stats) => stats.row === row);
  const all = s ? formulas(f, s) : {};
  const lines = Object.keys(all).flatMap((key) => ([key, "row"].includes(kind) ? [all[key]] : []));
  const title =
    kind === "row" ? rowWord(s ?? { row, name: null }) : t("of_row", { what: SYMBOLS[kind], row });
  const sentence = `${title}: ${lines.join("; ") || t(s ? "unknown" : "off")}`;
  if (kind !== "row" || !s) return explanationOf(title, sentence, lines);
  const m = number(s.m_new ?? s.m_old);
  const brief = {
    ...all,
    ...(all.m && { m: `m = ${s.rose ? `${number(s.m_old)} → ${m}` : m}` }),
    ...(all.alpha && { alpha: `α = ${number(s.alpha)}` }),
  };
  return explanationOf(title, sentence, Object.values(brief));
}

/** What there is to say of a thing; null for a name that nothing has.
 * @param {Trace} trace @param {Frame} f @param {string} name @returns {Explanation | null} */
export function explain(trace, f, name) {
  const thing = linksAt(trace, f).thing(name);
  if (!thing) return null;
  const [kind, ...at] = name.split(".");
  const [a, b] = at.map(Number);
  const row = rowOf(name);
  const explanation = f.pass === "backward" && explainBackward(f, kind, at.map(Number));
  if (explanation) return explanation;
  if (kind === "S") return score(f, a, b);
  if (kind === "O" && at.length === 2) return output(trace, f, a, b);
  if (row !== null && "m l alpha row".includes(kind)) return ofRow(f, kind, row);
  if (at.length === 2 && (kind === "Q" || kind === "K" || kind === "V"))
    return entryOf(f, kind, a, b);
  if (thing.tensor && thing.tensor !== "S") return explanationOf(blockWords(trace, kind, a));
  if (kind === "tile") {
    const { rows, keys } = thing.box;
    const why = whyOf(trace, a, b);
    const lines = why
      ? [`${t(`kind.${KINDS[trace.arrays.tile_kind[a * f.problem.Tc + b]]}`)}: ${why}`]
      : [];
    if (rows && keys)
      return explanationOf(
        t("tile", { i: a, j: b }),
        [
          t("tile.spans", {
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
    return explanationOf(codeText(algorithmOf(f).pseudocode[a].text, f.problem).trim());
  if (kind === "phase") return explanationOf(t("phase", { phase: at[0] }));
  const reads = at[0] === "read";
  const size = bytes(bytesOf(filterTransfers(f.transfers, reads ? "read" : "write")));
  if (kind === "visit") return explanationOf(t(reads ? "visit.read" : "visit.write", { size }));
  if (kind === "moved")
    return explanationOf(
      t(reads ? "so_far.read" : "so_far.write", {
        size: bytes(reads ? f.reads : f.writes),
        blocks: thing.blocks?.size ?? 0,
      }),
    );
  if (kind === "bytes")
    return explanationOf(
      t("bytes.of", {
        order: algorithmsOf(f.pass)[at[0]].label,
        kind: at[1],
        tensors: [...(thing.names ?? [])].map((tensor) => SYMBOLS[tensor] ?? tensor).join(", "),
      }),
    );
  return explanationOf(SYMBOLS[kind] ?? at[0]);
}
