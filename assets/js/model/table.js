// Tables as text. Pure.

/** @typedef {Record<string, string | number | null>} Line */

/** All that some line has, in the order of first sight. @param {Line[]} lines */
export const columns = (lines) => [...new Set(lines.flatMap(Object.keys))];

const MOST = 5; // decimals

/** How many decimals a number has when it is written out. @param {number} x */
const decimalsOf = (x) => (x.toFixed(MOST).replace(/0+$/, "").split(".")[1] ?? "").length;

/** A column as a person reads it: its numbers with as many decimals each, so that the smallest has three digits where it
 * has as many; a dash for nothing. @param {(string | number | null | undefined)[]} values */
export function formatColumn(values) {
  const numbers = values.filter((value) => typeof value === "number");
  const least = Math.min(...numbers.map(Math.abs).filter(Boolean));
  const wanted = Number.isFinite(least) ? Math.max(0, 2 - Math.floor(Math.log10(least))) : 0;
  const digits = Math.min(wanted, Math.max(0, ...numbers.map(decimalsOf)));
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return values.map((value) =>
    typeof value === "number"
      ? value.toLocaleString("en", format).replace("-", "−")
      : String(value ?? "–"),
  );
}

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
