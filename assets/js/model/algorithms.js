// The algorithms of either pass, as explainer/algorithms/registry.py declares them.

import declared from "./algorithms.json" with { type: "json" };

/** @import { Algorithm } from "./types.js" */

/** @type {{forward: Record<string, any>, backward: Record<string, any>}} */
const passes = declared; // JSON has no literal types

/** @type {Record<string, Algorithm>} */
export const ALGORITHMS = passes.forward;
/** @type {Record<string, Algorithm>} */
export const BACKWARD = passes.backward;
export const BASELINE = declared.baseline;
export const DEFAULT = declared.default;
export const CONVENTIONS = declared.conventions;
