// Tables as text. Pure.

/** @typedef {Record<string, string | number | null>} Line */

/** All that some line has, in the order of first sight. @param {Line[]} lines */
export const columns = (lines) => [...new Set(lines.flatMap(Object.keys))];

/** A number as a person reads it, a dash for nothing. @param {string | number | null | undefined} value */
export const shown = (value) => (typeof value === "number" ? value.toLocaleString("en", { maximumFractionDigits: 5 }) : String(value ?? "–"));

/** As a spreadsheet takes it: of a table's own lines, each of which can be read alone, where it has them.
 * @param {{rows: Line[], table?: Line[]}} figures */
export function csv({ table, rows }) {
  const lines = table ?? rows;
  const keys = columns(lines);
  const cell = (value) => (/[",\n]/.test(value ?? "") ? `"${String(value).replaceAll('"', '""')}"` : (value ?? ""));
  return [keys, ...lines.map((line) => keys.map((key) => line[key]))].map((line) => line.map(cell).join(",")).join("\n") + "\n";
}
