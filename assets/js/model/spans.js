// Which rows and keys a block has. Pure.

import { times } from "../lib/lists.js";

/** @import { Problem, Span } from "./types.js" */

/** Block k of so many indices each, the last one cut off at n; all n where there is no such block.
 * @param {number} k @param {number} size @param {number} n @returns {Span} */
export const spanOf = (k, size, n) =>
  k < 0 ? { start: 0, stop: n } : { start: k * size, stop: Math.min(n, (k + 1) * size) };

/** The rows of row block i. @param {Problem} problem @param {number} i */
export const rowsOfBlock = ({ n, block_q }, i) => spanOf(i, block_q, n);

/** The keys of key block j. @param {Problem} problem @param {number} j */
export const keysOfBlock = ({ n, block_k }, j) => spanOf(j, block_k, n);

/** Every index of a span. @param {Span} span */
export const indicesOf = ({ start, stop }) => times(stop - start, (k) => start + k);

/** How many indices a span has. @param {Span} span */
export const sizeOf = ({ start, stop }) => stop - start;
