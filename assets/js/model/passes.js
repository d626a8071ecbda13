// The algorithms of either pass.

import { ALGORITHMS, BACKWARD } from "./algorithms.js";

/** @import { Algorithm, Pass, Problem, Stage, StageLayout } from "./types.js" */

/** By their order. @param {Pass} pass @returns {Record<string, Algorithm>} */
export const algorithmsOf = (pass) => (pass === "backward" ? BACKWARD : ALGORITHMS);

/** What the algorithm of a trace or frame declares, in its pass.
 * @param {{problem: Problem, pass?: Pass, header?: {pass: Pass}}} of @returns {Algorithm} */
export const algorithmOf = ({ problem, pass, header }) =>
  algorithmsOf(pass ?? header?.pass ?? "forward")[problem.order];

/** Of a kernel that declares nothing else. @type {StageLayout} */
const WHOLE = { on_chip: "QKSVOml", wide: false, columns: "keys" };

/** What a kernel has on chip. @param {Parameters<typeof algorithmOf>[0]} of @param {Stage} stage */
export const layoutOf = (of, stage) => algorithmOf(of).stages[String(stage)] ?? WHOLE;

/** Are m and ℓ saved for the backward pass, not lse? @param {Problem} problem */
export const savesL = ({ order }) => ALGORITHMS[order].saved_for_backward.includes("l");
