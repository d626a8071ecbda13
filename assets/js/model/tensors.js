// What every view knows of a tensor by its name: its axes, and in whose place it stands. Pure.

import declared from "./tensors.json" with { type: "json" };

/** @typedef {"rows" | "keys" | "dims" | "outs"} Axis queries, keys, the dimensions of Q and K, those of V and O */

/** The axes of a tensor, that of its blocks first. "row" is a whole row. Without a prototype, since addresses name tensors.
 * @type {Record<string, Axis[]>} */
export const AXES = /** @type {any} */ ({ __proto__: null, ...declared.axes });
/** @type {Record<string, string>} */
const STANDS_FOR = declared.stands_for;

/** The tensor in whose place one is drawn: P stands where S stood. @param {string} name */
export const tensorOf = (name) => STANDS_FOR[name] ?? name;

/** Does a row have one number of it? @param {string} name */
export const isPerRow = (name) => AXES[name]?.length === 1;

/** Is it cut into key blocks? The others are cut into row blocks. @param {string} name */
export const isOfKeys = (name) => AXES[name]?.[0] === "keys";
