// What is said of each phase of the backward pass, by the same rules as model/phases.js.

import { bytes, number, sub } from "../lib/format.js";
import { sharing } from "./heads.js";
import { algorithmOf, savesL } from "./passes.js";
import { bends, changesOf } from "./scores.js";
import { t } from "./texts.js";
import { tBackward } from "./texts_backward.js";
import { masked, maskName, moved, rowWord, sumBytes, tileOf, whySkipped } from "./wording.js";

/** @import { Frame, Op, Row } from "./types.js" */

/** @param {Frame} f @param {string} tensor @param {Op} op */
const moves = (f, tensor, op) => f.transfers.some((t) => t.tensor === tensor && t.op === op);
/** How much of these tensors is written here. @param {Frame} f @param {string[]} tensors */
const written = (f, ...tensors) =>
  bytes(
    sumBytes({ ...f, transfers: f.transfers.filter((t) => tensors.includes(t.tensor)) }, "write"),
  );
/** Does no query see a key of this block? @param {Frame} f */
const alone = (f) => f.i < 0;

/** What the loads of a tile are for. @param {Frame} f @param {string} what */
function loaded(f, what) {
  const [i, j] = [sub(f.i), sub(f.j)];
  if (moves(f, "K", "read")) return [tBackward("b.load.keys", { j }), "", what];
  return [
    tBackward(algorithmOf(f).scales_dQ ? "b.load.rows.round_trip" : "b.load.rows", { i, j }),
    "",
    what,
  ];
}

/** @type {Record<string, (f: Frame, row?: Row) => string | string[]>} */
export const SENTENCES = {
  skip: (f) => tBackward("b.skip", { why: whySkipped(f) }),
  load: (f) => {
    const what = moved(f, "read");
    const [i, j] = [sub(f.i), sub(f.j)];
    if (alone(f)) return [tBackward("b.load.unseen", { j, mask: maskName(f.problem) }), "", what];
    if (f.stage === null) return loaded(f, what);
    if (f.stage === "D") return [tBackward("b.load.D", { i }), "", what];
    if (f.stage === "scale") return [tBackward("b.load.scale", { i }), "", what];
    return what;
  },
  scores: (f) => {
    const [tile, i, j] = [tileOf(f), sub(f.i), sub(f.j)];
    return [
      tBackward("b.scores", { tile, i, j }),
      [`S${tile} = Q${i} K${j}ᵀ / √${f.problem.d}`, ...changesOf(f.problem)].reduce((first, next) =>
        t("then", { first, next }),
      ),
    ];
  },
  mask: masked,
  exp: (f, row) => {
    const [tile, i] = [tileOf(f), sub(f.i)];
    const by_l = savesL(f.problem);
    const end =
      row?.lse === -Infinity
        ? tBackward("b.exp.unseen", { row: rowWord(row) })
        : tBackward(by_l ? "b.exp.known.statistics" : "b.exp.known");
    return [
      by_l ? tBackward("b.exp.statistics", { tile }) : tBackward("b.exp", { tile, i }),
      `P${tile} = ${by_l ? `exp(S − m) / ℓ` : `exp(S − lse${i})`}`,
      end,
    ];
  },
  dV: (f) => {
    const [i, j] = [sub(f.i), sub(f.j)];
    return [
      tBackward(f.stage ? "b.dV.whole" : "b.dV", { i, j }),
      `dV${j} += P${tileOf(f)}ᵀ dO${i}`,
    ];
  },
  dP: (f) => {
    const [i, j] = [sub(f.i), sub(f.j)];
    return [tBackward("b.dP", { i, j }), `dP${tileOf(f)} = dO${i} V${j}ᵀ`];
  },
  D: (f, row) => {
    const [i, D] = [sub(f.i), number(row?.D)];
    if (f.stage === "dS")
      return [
        row ? tBackward("b.D.dS.row", { row: rowWord(row) }) : tBackward("b.D.dS"),
        D && `D = rowsum(P ∘ dP) = ${D}`,
      ];
    return [
      row ? tBackward("b.D.row", { row: rowWord(row), i }) : tBackward("b.D", { i }),
      D && `D = rowsum(O ∘ dO) = ${D}`,
      tBackward(f.stage ? "b.D.whole" : "b.D.once"),
    ];
  },
  dS: (f, row) => {
    const [tile, i, bent] = [tileOf(f), f.stage ? "" : sub(f.i), bends(f.problem)];
    const sums =
      f.problem.sink === null
        ? bent
          ? "b.dS.slope"
          : "b.dS.sum"
        : bent
          ? "b.dS.slope.sink"
          : "b.dS.sum.sink";
    return [
      tBackward("b.dS", { i }),
      `dS${tile} = P ∘ (dP − D)${bent ? " ∘ slope" : ""}`,
      row?.D === undefined ? "" : tBackward(sums, { row: rowWord(row), D: number(row.D) }),
    ];
  },
  dQ: (f) => {
    const [tile, i, j] = [tileOf(f), sub(f.i), sub(f.j)];
    if (f.stage) return [tBackward("b.dQ.whole", { i, j }), `dQ${i} += dS${tile} K${j}`];
    const [part, of] = [Number(f.grads?.added[f.i]), Number(f.grads?.of[f.i])];
    if (algorithmOf(f).scales_dQ)
      return [
        tBackward("b.dQ.round_trip", { i, part, of }),
        `dQ${i} ← dQ${i} + dS${tile} K${j} / √${f.problem.d}`,
        t("store.size", { size: written(f, "dQ") }),
      ];
    return [tBackward("b.dQ", { i, part, of }), `dQ${i} += dS${tile} K${j}`, tBackward("b.dQ.why")];
  },
  dK: (f) => {
    const [i, j] = [sub(f.i), sub(f.j)];
    return [
      tBackward(f.stage ? "b.dK.whole" : "b.dK", { i, j }),
      `dK${j} += dS${tileOf(f)}ᵀ Q${i}`,
    ];
  },
  scale: (f) => {
    const i = sub(f.i);
    return [
      tBackward("b.scale", { i }),
      `dQ${i} = dQ${i} / √${f.problem.d}`,
      tBackward("b.scale.dtype", { dtype: f.problem.dtype }),
    ];
  },
  store: (f) => {
    const [i, j, { n, d }] = [sub(f.i), sub(f.j), f.problem];
    const size = t("store.size", { size: bytes(sumBytes(f, "write")) });
    if (f.stage === "D") return [tBackward("b.store.D", { i }), "", size];
    if (f.stage === "scale") return [tBackward("b.store.scale", { i }), "", size];
    if (f.stage === "dP" || f.stage === "dS")
      return [moved(f, "write"), "", t("store.whole", { n })];
    if (f.stage === "dV") return [tBackward("b.store.dV", { j }), "", size];
    if (f.stage)
      return [
        tBackward("b.store.one", { gradient: `d${f.stage[1]}${f.stage === "dQ" ? i : j}` }),
        `d${f.stage[1]} / √${d}`,
        size,
      ];
    if (alone(f)) return [tBackward("b.store.unseen", { j }), "", size];
    const both = written(f, "dK", "dV");
    const shared = f.problem.heads && sharing(f.problem.heads) > 1;
    return [
      tBackward("b.store", { j }),
      `dK${j} = dK${j} / √${d}`,
      shared
        ? tBackward("b.store.shared", { size: both, j })
        : tBackward("b.store.size", { size: both }),
    ];
  },
};

/** The five products of FA-2, in the order of their phases: what is computed, and where it goes.
 * @type {[phase: string, formula: string, where: string][]} */
export const PRODUCTS = [
  ["scores", "S = Q Kᵀ / √d", tBackward("product.scores")],
  ["dV", "dV += Pᵀ dO", tBackward("product.dV")],
  ["dP", "dP = dO Vᵀ", tBackward("product.dP")],
  ["dK", "dK += dSᵀ Q", tBackward("product.dK")],
  ["dQ", "dQ += dS K", tBackward("product.dQ")],
];

/** What stands in the two crossings at this moment: S or P where Q meets K, dP or dS where dO meets V.
 * @param {Frame} f @returns {{S: "S" | "P" | null, dS: "dP" | "dS" | null}} */
export function crossings({ kind, stage, done }) {
  if (kind === "skipped") return { S: null, dS: null };
  if (stage === null)
    return {
      S: done("exp") ? "P" : done("scores") ? "S" : null,
      dS: done("dS") ? "dS" : done("dP") ? "dP" : null,
    };
  if (stage === "dP") return { S: null, dS: done("dP") ? "dP" : null };
  if (stage === "dS") return { S: "P", dS: done("dS") ? "dS" : "dP" };
  return { S: stage === "dV" ? "P" : null, dS: stage === "dQ" || stage === "dK" ? "dS" : null };
}
