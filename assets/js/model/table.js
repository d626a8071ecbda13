// Tables as text. Pure.

/** @typedef {Record<string, string | number | null>} Line */

/** All that some line has, in the order of first sight. @param {Line[]} lines */
export const columns = (lines) => [...new Set(lines.flatMap(Object.keys))];

/** A number as a person reads it, a dash for nothing. @param {string | number | null | undefined} value */
export const formatValue = (value) =>
  typeof value === "number"
    ? value.toLocaleString("en", { maximumFractionDigits: 5 })
    : String(value ?? "–");

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

/** One cell: what a spreadsheet would take for a formula begins with an apostrophe, which it takes for text.
 * @param {string | number | null | undefined} value */
function cell(value) {
  const text = String(value ?? "");
  const formula = typeof value === "string" && /^[=+\-@\t\r]/.test(text) && !NUMBER.test(text);
  const plain = formula ? `'${text}` : text;
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** As a spreadsheet takes it: of a table's own lines, each of which can be read alone, where it has them.
 * @param {{rows: Line[], table?: Line[]}} figures */
export function csv({ table, rows }) {
  const lines = table ?? rows;
  const keys = columns(lines);
  return (
    [keys, ...lines.map((line) => keys.map((key) => line[key]))]
      .map((line) => line.map(cell).join(","))
      .join("\n") + "\n"
  );
}
