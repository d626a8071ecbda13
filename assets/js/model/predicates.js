// What a mask is made of, in words: its predicates, and which of them hide the scores of a tile. Pure.

/** One predicate: `numbers` as they stand behind its colon, "" for none. @typedef {{name: string, numbers: string}} Piece */
/** A union of intersections. @typedef {Piece[][]} Draft */
/** Those that hide scores of a tile. @typedef {{names: string[], how: "one" | "more" | "together"}} Hiders */

export const KINDS = /** @type {const} */ (["full", "partial", "skipped"]);

/** The chips of a text, as the server writes it. @param {string} text @returns {Draft} */
export const pieces = (text) =>
  text.split("|").map((term) =>
    term.split("&").map((piece) => {
      const [name, numbers = ""] = piece.trim().split(":");
      return { name, numbers };
    }),
  );

/** A chip's words. @param {Piece} piece */
export function named({ name, numbers }) {
  if (name === "block") return `block ${numbers.split(",")[0].replace("x", " × ")}`;
  return numbers ? `${name} ${numbers.replaceAll(",", ", ")}` : name;
}

/** Which predicates hide scores of a tile: `parts`, what it is under each alone, as KINDS has them. One that
 * hides the whole tile says it for its term; where only all of a term together do, all are named.
 * @param {string} text @param {ArrayLike<number>} parts @param {boolean} whole is the tile skipped? @returns {Hiders} */
export function hiders(text, parts, whole) {
  let k = 0;
  const found = pieces(text).map((term) => {
    const each = term.map((piece) => ({ words: named(piece), kind: KINDS[parts[k++]] }));
    const alone = whole && each.find(({ kind }) => kind === "skipped");
    return alone
      ? [alone.words]
      : each.filter(({ kind }) => kind !== "full").map(({ words }) => words);
  });
  const names = [...new Set(found.flat())];
  return {
    names,
    how:
      names.length < 2
        ? "one"
        : whole && found.some((term) => term.length > 1)
          ? "together"
          : "more",
  };
}
