// The algorithms of either pass, and what only the backward says.

import { ALGORITHMS, BACKWARD } from "./algorithms.js";

/** @import { Frame, Pass, Row, Trace } from "./types.js" */
/** @import { Question } from "./questions.js" */
/** @import { Told } from "./sums.js" */

/** By their order. @param {Pass} pass */
export const algorithmsOf = (pass) => (pass === "backward" ? BACKWARD : ALGORITHMS);

/** Sentences of its phases, what its things come to and what is asked of it, once model/backward_says.js is there: it is in
 * a script of its own, since most visitors never turn to the backward.
 * @type {{said: Record<string, (f: Frame, row?: Row) => string | string[]>,
 *   explain: (trace: Trace, f: Frame, kind: string, at: number[]) => Told | null, turns: ((trace: Trace, v: number) => Question)[][]}} */
export const backward = { said: {}, explain: () => null, turns: [[]] };
