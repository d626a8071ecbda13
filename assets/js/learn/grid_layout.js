// Where the matrices of a picture stand, and how large their cells are.

const PHONE = 7; // columns side by side
export const LABEL = 1.9; // lines above a grid: its name, its columns' names
const OPERATOR = 0.62; // px of a letter's width, by size

/** px that an item takes beside its cells: names of rows, sums, an operator's words. */
export function fixed(item, type) {
  if (item.kind === "sign") return item.words.length * type * OPERATOR + 18;
  if (item.kind === "note") return 0;
  const longest = Math.max(0, ...(item.rows ?? []).map((name) => name.length));
  return (longest ? longest * type * 0.55 + 12 : 0) + (item.sums?.rows ? type * 3.1 : 0) + 10;
}

/** The size of all cells [width, height]: one size for the whole picture, so that shapes can be compared.
 * @returns {[number, number]} */
export function cellOf(lines, width, height, type, most = [76, 48]) {
  const lead = type * 1.35;
  const across = Math.min(...lines.map((line) => {
    const columns = line.reduce((sum, item) => sum + (item.cells?.[0].length ?? 0), 0);
    const rest = line.reduce((sum, item) => sum + fixed(item, type), 0);
    return columns ? (width - rest) / columns : Infinity;
  }));
  const rows = lines.reduce((sum, line) => sum + Math.max(0, ...line.map((item) => item.cells?.length ?? 0)), 0);
  const extra = lines.reduce((sum, line) => sum + (line.some((x) => x.kind === "words") ? 110 : lead * (LABEL + (line.some((item) => item.sums?.cols) ? 1 : 0)) + 14), 0);
  return [Math.min(most[0], across), Math.max(20, Math.min(most[1], (height - extra) / rows))];
}

/** On a phone a line of matrices is broken where it would be too small to read: each lands on a line of its own. */
export function broken(lines, narrow) {
  if (!narrow) return lines;
  return lines.flatMap((line) => {
    const all = line.reduce((sum, item) => sum + (item.cells?.[0].length ?? 0), 0);
    if (all <= PHONE) return [line];
    /** @type {any[][]} */
    const out = [];
    let now = Infinity;
    for (const item of line) {
      const columns = item.cells?.[0].length ?? 0;
      if (now + columns > PHONE) {
        out.push([]);
        now = 0;
      }
      out[out.length - 1].push(item);
      now += columns;
    }
    return out;
  });
}
