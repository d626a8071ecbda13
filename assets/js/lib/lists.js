// Lists and records by a rule. Pure.

/** What `of` makes of each index below `count`. @template T @param {number} count @param {(k: number) => T} of @returns {T[]} */
export const times = (count, of) => Array.from({ length: count }, (_, k) => of(k));

/** @param {Iterable<number>} list */
export const sum = (list) => Array.from(list).reduce((a, x) => a + x, 0);

/** Is bit k set of these bytes, the highest of each first? @param {ArrayLike<number>} bits @param {number} k */
export const isBitSet = (bits, k) => ((bits[k >> 3] >> (7 - (k & 7))) & 1) === 1;

/** The bytes of a text in base64. @param {string} text */
export const bytesOfBase64 = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));

/** What `of` makes of each name, by the names. @template T @param {string[]} names @param {(name: string) => T} of
 * @returns {Record<string, T>} */
export const recordOf = (names, of) => Object.fromEntries(names.map((name) => [name, of(name)]));
