// Lists and records by a rule. Pure.

/** What `of` makes of each index below `count`. @template T @param {number} count @param {(k: number) => T} of @returns {T[]} */
export const times = (count, of) => Array.from({ length: count }, (_, k) => of(k));

/** What `of` makes of each name, by the names. @template T @param {string[]} names @param {(name: string) => T} of
 * @returns {Record<string, T>} */
export const recordOf = (names, of) => Object.fromEntries(names.map((name) => [name, of(name)]));
