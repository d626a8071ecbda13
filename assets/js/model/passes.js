// The algorithms of either pass.

import { ALGORITHMS, BACKWARD } from "./algorithms.js";

/** @import { Pass } from "./types.js" */

/** By their order. @param {Pass} pass */
export const algorithmsOf = (pass) => (pass === "backward" ? BACKWARD : ALGORITHMS);
