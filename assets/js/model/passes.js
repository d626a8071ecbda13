// The algorithms of either pass, and what only the backward says.

import { ALGORITHMS, BACKWARD } from "./algorithms.js";

/** @import { Frame, Pass, Row, Trace } from "./types.js" */
/** @import { Explanation } from "./sums.js" */

/** By their order. @param {Pass} pass */
export const algorithmsOf = (pass) => (pass === "backward" ? BACKWARD : ALGORITHMS);

/** Sentences of its phases and what its things come to, once model/backward_texts.js is there: it is in
 * a script of its own, since most visitors never turn to the backward.
 * @type {{sentences: Record<string, (f: Frame, row?: Row) => string | string[]>,
 *   explain: (trace: Trace, f: Frame, kind: string, at: number[]) => Explanation | null}} */
export const backward = { sentences: {}, explain: () => null };
