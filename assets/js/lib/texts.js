// What a page says lies apart from the code that says it, in assets/texts/<page>.json, as explainer/base/texts.py reads it too. Pure.

import { integer } from "./format.js";

const PLACE = /\{(\w+)(?::([^}]*))?\}/g;

/** @param {string | number} value @param {string} how "", "," or "# tile": 1 tile, 2 tiles */
function written(value, how) {
  if (!how) return String(value);
  if (how === ",") return integer(Number(value));
  if (!how.startsWith("# ")) throw new RangeError(`a text writes a value as ${how}`);
  return `${integer(Number(value))} ${how.slice(2)}${Number(value) === 1 ? "" : "s"}`;
}

/** Who says a page's texts: a value for each name in the text's braces, and no other.
 * @param {Record<string, string>} stored */
export const sayer =
  (stored) =>
  /** @param {string} key @param {Record<string, string | number>} [values] */ (
    key,
    values = {},
  ) => {
    if (!(key in stored)) throw new RangeError(`no text ${key}`);
    const named = new Set();
    const text = stored[key].replace(
      PLACE,
      (_, /** @type {string} */ name, /** @type {string} */ how) => {
        if (!(name in values)) throw new RangeError(`the text ${key} has no ${name}`);
        named.add(name);
        return written(values[name], how);
      },
    );
    for (const name in values)
      if (!named.has(name)) throw new RangeError(`the text ${key} has no place for ${name}`);
    return text;
  };
