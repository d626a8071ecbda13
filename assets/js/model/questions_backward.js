// What to predict before a tile of the backward, by the rules of model/questions.js. Pure.

import { number, sub } from "../lib/format.js";
import { hasPhase, stageOf } from "./backward.js";
import { indicesOf, keysOfBlock } from "./spans.js";
import { YES_NO, t } from "./texts.js";
import { minus } from "./wording.js";

/** @import { Trace } from "./types.js" */
/** @import { Question } from "./questions.js" */

/** Is it a tile that is computed? @param {Trace} trace @param {number} v */
const isTile = (trace, v) => stageOf(trace, v) === null && hasPhase(trace, v, "dQ");

/** As the page counts it. @param {Trace} trace @param {number} v */
function tileOf({ arrays: a }, v) {
  const tiles = Array.from(a.v_stage).flatMap((stage, at) => (stage === a.v_stage[v] ? [at] : []));
  return t("ask.tile", {
    v: tiles.indexOf(v) + 1,
    of: tiles.length,
    i: sub(a.v_i[v]),
    j: sub(a.v_j[v]),
  });
}

/** "Do dK and dV leave the chip after it?" @param {Trace} trace @param {number} v @returns {Question} */
function addsOf(trace, v) {
  if (!isTile(trace, v)) return null;
  const j = sub(trace.arrays.v_j[v]);
  const stores = hasPhase(trace, v, "store");
  return {
    text: t("ask.stores", { tile: tileOf(trace, v), j }),
    options: YES_NO,
    answer: stores ? 0 : 1,
    because: t(stores ? "ask.stores.yes" : "ask.stores.no", { j }),
  };
}

/** "How many parts will dQ of its rows have?" @param {Trace} trace @param {number} v @returns {Question} */
function nextParts(trace, v) {
  const { arrays: a, adds } = trace;
  if (!isTile(trace, v)) return null;
  const visits = adds[a.v_i[v]];
  if (visits.length < 2 || visits.length > 5) return null;
  const i = sub(a.v_i[v]);
  const options = visits.map((_, k) => String(k + 1));
  const answer = visits.indexOf(v);
  return {
    text: t("ask.parts", { tile: tileOf(trace, v), i }),
    options,
    answer,
    because: t("ask.parts.why", { i, j: sub(a.v_j[v]), k: answer + 1, of: visits.length }),
  };
}

/** "Which sign has this dS?", of the entry of a row that is furthest from 0. @param {Trace} trace @param {number} v @returns {Question} */
function signOf(trace, v) {
  const { arrays: a, problem: p } = trace;
  if (!isTile(trace, v) || a.slope) return null;
  const row = Math.min(p.n - 1, a.v_i[v] * p.block_q + (v % p.block_q));
  const keys = indicesOf(keysOfBlock(p, a.v_j[v]));
  const size = (/** @type {number} */ key) => Math.abs(a.dS[row * p.n + key]);
  const key = keys.reduce((most, one) => (size(one) > size(most) ? one : most));
  const [P, dP, D, dS] = [
    a.P[row * p.n + key],
    a.dP[row * p.n + key],
    a.D[row],
    a.dS[row * p.n + key],
  ];
  if (!(Math.abs(dS) >= 0.005)) return null;
  const known = `P = ${number(P)}, dP = ${number(dP)}`;
  return {
    text: t("ask.sign", { tile: tileOf(trace, v), row, known, key, D: number(D) }),
    options: [t("ask.sign.above"), t("ask.sign.below")],
    answer: dS > 0 ? 0 : 1,
    because: `dS = ${number(P)} × (${minus(dP, D)}) = ${number(dS)}`,
    row,
  };
}

/** "Does its mask hide scores?" @param {Trace} trace @param {number} v @returns {Question} */
function maskedOrNot(trace, v) {
  const { full, partial: some } = trace.header.tile_counts;
  if (!isTile(trace, v) || !full || !some) return null;
  const partial = hasPhase(trace, v, "mask");
  return {
    text: t("ask.masked", { tile: tileOf(trace, v) }),
    options: YES_NO,
    answer: partial ? 0 : 1,
    because: t(partial ? "ask.masked.yes" : "ask.masked.no"),
  };
}

export const TURNS = [
  [signOf, nextParts, maskedOrNot],
  [addsOf, signOf, nextParts],
  [nextParts, addsOf, signOf],
  [maskedOrNot, signOf, addsOf],
];
