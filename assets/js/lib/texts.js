// What a page says lies apart from the code that says it, in assets/texts/<page>.json, as explainer/base/texts.py reads it too. Pure.

import libTexts from "../../texts/lib.json" with { type: "json" };
import { integer } from "./format.js";

const PLACE = /\{(\w+)(?::([^}]*))?\}/g;

/** @param {string | number} value @param {string} format "", "," or "# tile": 1 tile, 2 tiles */
function formatValue(value, format) {
  if (!format) return String(value);
  if (format === ",") return integer(Number(value));
  if (!format.startsWith("# ")) throw new RangeError(`a text writes a value as ${format}`);
  return `${integer(Number(value))} ${format.slice(2)}${Number(value) === 1 ? "" : "s"}`;
}

/** Returns t(key, values), which writes a text of these: it takes a value for each name in the text's braces, and no other.
 * Raises RangeError for a key, a name or a value that the texts do not have.
 * @template {Record<string, unknown>} T
 * @param {T} stored
 * @returns {(key: keyof T & string, values?: Record<string, string | number>) => string} */
export const textsOf =
  (stored) =>
  (key, values = {}) => {
    if (!(key in stored)) throw new RangeError(`no text ${key}`);
    const names = new Set();
    const text = String(stored[key]).replace(
      PLACE,
      (_, /** @type {string} */ name, /** @type {string} */ format) => {
        if (!(name in values)) throw new RangeError(`the text ${key} has no ${name}`);
        names.add(name);
        return formatValue(values[name], format);
      },
    );
    for (const name in values)
      if (!names.has(name)) throw new RangeError(`the text ${key} has no place for ${name}`);
    return text;
  };

/** Returns phrase(…keys), the parts of these texts in a row, as they stand: a sentence, a formula, a remark.
 * @template {Record<string, unknown>} T @param {T} stored
 * @returns {(...keys: (keyof T & string)[]) => string[]} */
export const phrasesOf =
  (stored) =>
  (...keys) =>
    keys.flatMap((key) => /** @type {string[]} */ (stored[key]));

/** The texts of lib itself. */
export const t = textsOf(libTexts);
