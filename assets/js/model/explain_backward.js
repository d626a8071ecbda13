// The same as model/explain.js for what only the backward has: P from lse, dP and dS, the gradients and what arrives in them,
// lse and D of a row. Pure.

import { number, sub } from "../lib/format.js";
import { sum } from "../lib/lists.js";
import { algorithmOf } from "./passes.js";
import { crossings } from "./phases_backward.js";
import { plus } from "./scores.js";
import {
  entryOf,
  equals,
  explainProducts,
  explanationOf,
  isOnTile,
  overDims,
  scoreProducts,
  termsOf,
  within,
} from "./sums.js";
import { t } from "./texts.js";
import { minus, rowWord } from "./wording.js";

/** @import { Frame } from "./types.js" */
/** @import { Explanation } from "./sums.js" */

/** What each gradient sums up: its operands, the axis that is summed over, its block and the phase in which that arrives.
 * @type {Record<"dQ" | "dK" | "dV", {made: string, left: "P" | "dS", right: "Q" | "K" | "dO", over: "rows" | "cols", of: "rows" | "cols"}>} */
const SUMS = {
  dV: { made: "Pᵀ·dO", left: "P", right: "dO", over: "rows", of: "cols" },
  dK: { made: "dSᵀ·Q", left: "dS", right: "Q", over: "rows", of: "cols" },
  dQ: { made: "dS·K", left: "dS", right: "K", over: "cols", of: "rows" },
};

/** Of an entry of a tile that is not there. @param {Frame} f @param {string} name @param {number} row @param {number} key @param {string} a
 * @param {string} b the tensors that it comes from */
const absent = (f, name, row, key, a, b) =>
  explanationOf(
    t("score.from", {
      name,
      row,
      key,
      a,
      b,
      state: t(isOnTile(f, row, key) && !f.stage ? "uncomputed" : "off"),
    }),
  );

/** P: S made again, and what lse makes of it. @param {Frame} f @param {number} row @param {number} key @returns {Explanation} */
function weight(f, row, key) {
  const name = `P[${row},${key}]`;
  const now = crossings(f).S;
  if (!now || !isOnTile(f, row, key)) return absent(f, name, row, key, "Q", "K");
  const { S, P } = f.entries;
  if (f.stage)
    return explanationOf(name, t("P.stored.sentence", { name, P: number(P(row, key)) }), [
      t("P.stored", { P: number(P(row, key)) }),
    ]);
  const products = scoreProducts(f, row, key);
  const of = { row, key, a: "Q", b: "K" };
  if (now === "S") {
    const title = `q${sub(row)} · k${sub(key)}`;
    return explainProducts(f, title, { ...of, name: `S[${row},${key}]` }, products);
  }
  const [r, c] = [row - f.rows.start, key - f.cols.start];
  const lse = f.stats[r]?.lse;
  const raw = S(row, key);
  products.lines.push(
    f.hides(r, c)
      ? "P = 0"
      : `e^(${minus(raw, lse)}) ${equals(Math.exp(raw - Number(lse)), P(row, key))}`,
  );
  return explainProducts(f, name, { ...of, name }, { ...products, terms: null });
}

/** dP, and dS as P times what dP differs from D. @param {Frame} f @param {number} row @param {number} key @returns {Explanation} */
function ofSlope(f, row, key) {
  const name = `dS[${row},${key}]`;
  const now = crossings(f).dS;
  if (!now || !isOnTile(f, row, key)) return absent(f, name, row, key, "dO", "V");
  const { V, P, dO, dP, dS, slope } = f.entries;
  if (f.stage === "dQ" || f.stage === "dK")
    return explanationOf(name, t("dS.stored", { name, dS: number(dS(row, key)) }), [
      `dS = ${number(dS(row, key))}`,
    ]);
  const terms = overDims(f, (x) => dO(row, x) * V(key, x));
  const total = sum(terms);
  const lines = [`dO · V ${equals(total, dP(row, key))}`];
  if (now === "dP") {
    const of = { name: `dP[${row},${key}]`, row, key, a: "dO", b: "V" };
    return explainProducts(f, of.name, of, { terms, lines });
  }
  const D = f.stats.find((s) => s.row === row)?.D;
  const found = P(row, key) * (dP(row, key) - Number(D)) * (slope?.(row, key) ?? 1);
  const by = slope ? ` · ${number(slope(row, key))}` : "";
  lines.push(
    `= P · (dP − D)${by && " · slope"}`,
    `= ${number(P(row, key))} · (${minus(dP(row, key), D)})${by} ${equals(found, dS(row, key))}`,
  );
  return explanationOf(name, `${name} ${lines[1]} ${lines[2]}; ${lines[0]}`, lines);
}

/** An entry of a gradient: what it was, and what arrives. @param {Frame} f @param {"dQ" | "dK" | "dV"} kind
 * @param {number} a its row or key @param {number} x @returns {Explanation} */
function gradient(f, kind, a, x) {
  const { made, left, right, over, of } = SUMS[kind];
  const name = `${kind}[${a},${x}]`;
  const { problem: p, grads } = f;
  const acc = grads?.[kind];
  const span = f[of];
  const title = `${kind}${sub(a)},${sub(x)}`;
  if (!acc || !grads || !within(span, a))
    return explanationOf(kind === "dQ" ? t("dQ.off", { name }) : `${name}; ${t("off")}`);
  const at = (a - span.start) * p.d + x;
  const now = acc.data[at];
  if (f.stage === "D")
    return explanationOf(title, t("dQ.begins.sentence", { name }), [t("dQ.begins")]);
  const { numbers } = grads;
  if (f.stage === "scale") {
    const sums = numbers.before_dQ?.[at] ?? 0;
    const line =
      acc.state === "final"
        ? `${number(sums)} / √${p.d} ${equals(sums * p.scale, now)}`
        : number(now);
    return explanationOf(title, `${name}: ${line}`, [line]);
  }
  if (!f.done(kind))
    return explanationOf(
      title,
      t("arrives", { name, line: number(now), what: made, phase: kind }),
      [number(now)],
    );
  const { entries } = f;
  const terms = termsOf(
    f[over],
    (k) => (over === "rows" ? entries[left](k, a) : entries[left](a, k)) * entries[right](k, x),
  );
  const scaled = kind === "dQ" && algorithmOf(f).scales_dQ ? p.scale : 1; // by which each of its visits multiplies
  const total = sum(terms) * scaled;
  const before = numbers[`before_${kind}`]?.[at] ?? 0;
  const after = numbers[`acc_${kind}`][at];
  const lines = [`${number(before)} ${plus(total)} ${equals(before + total, after)}`];
  if (acc.state === "final" && kind !== "dV")
    lines.push(`/ √${p.d}: ${number(after)} / √${p.d} ${equals(after * p.scale, now)}`);
  return explanationOf(title, `${name} += ${made}: ${lines.join("; ")}`, lines, terms);
}

/** lse and D of a row, as far as they are known. @param {Frame} f @param {string} kind @param {number} row @returns {Explanation} */
function ofRow(f, kind, row) {
  const s = f.stats.find((stats) => stats.row === row);
  const { O, dO } = f.entries;
  const lines = [];
  const terms =
    kind === "D" && s?.D !== undefined && f.stage !== "dS"
      ? overDims(f, (x) => O(row, x) * dO(row, x))
      : null;
  if (kind !== "D" && s?.lse !== undefined) lines.push(`lse = ${number(s.lse)}`);
  if (kind !== "lse" && s?.D !== undefined)
    lines.push(terms ? `O · dO ${equals(sum(terms), s.D)}` : `D = ${number(s.D)}`);
  const title =
    kind === "row" ? rowWord({ row, name: s?.name ?? null }) : t("of_row", { what: kind, row });
  const what =
    kind === "row"
      ? title
      : kind === "lse"
        ? t("lse.of_row", { row })
        : t("D.of_row", { row, sum: f.stage === "dS" ? "Σ P·dP" : "Σ O·dO" });
  return explanationOf(
    title,
    `${what}: ${lines.join("; ") || t(s ? "unknown" : "off")}`,
    lines,
    terms,
  );
}

/** What there is to say of a thing that has another meaning in the backward, or only one there; null of others.
 * @param {Frame} f @param {string} kind @param {number[]} at @returns {Explanation | null} */
export function explainBackward(f, kind, at) {
  const [a, b] = at;
  if (!f.numbers) return null;
  if (kind === "S") return weight(f, a, b);
  if (kind === "dS") return ofSlope(f, a, b);
  if ((kind === "dQ" || kind === "dK" || kind === "dV") && at.length === 2)
    return gradient(f, kind, a, b);
  if (["lse", "D", "row"].includes(kind) && at.length === 1) return ofRow(f, kind, a);
  if ((kind === "dO" || kind === "O") && at.length === 2) return entryOf(f, kind, a, b);
  return null;
}
