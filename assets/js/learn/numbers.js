// Numbers as readers type them: fractions, thousands, a unit behind, a rounding.

import { t } from "./texts.js";

const FINEST = 1e-9; // relative: two doubles that mean the same
const DIGITS = 2; // the fewest significant digits of a rounding that counts
const COARSE = 4; // a rounding may be this much coarser than the tolerance; where that is narrower, near misses are wrong answers
const SPACES = /[\s_'’]/g;
const SIGNED = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** @typedef {{value: number, half: number, digits: number}} Reading what a text means: half a unit of its last place, its significant digits; a fraction is exact */

/** @param {string} text a number with a point, or a fraction; @returns {Reading | null} */
function read(text) {
  const [top, below, more] = text.split("/");
  if (more !== undefined) return null;
  if (below !== undefined) {
    const [a, b] = [read(top), read(below)];
    return a && b && b.value ? { value: a.value / b.value, half: 0, digits: Infinity } : null;
  }
  if (!SIGNED.test(text)) return null;
  const [mantissa, power] = text.toLowerCase().replace(/^[+-]/, "").split("e");
  const decimals = (mantissa.split(".")[1] ?? "").length;
  return {
    value: Number(text),
    half: 0.5 * 10 ** (Number(power ?? 0) - decimals),
    digits: mantissa.replace(".", "").replace(/^0+/, "").length,
  };
}

/**
 * All that a text can mean ("1,024" is a thousand, or one and a bit), none if it is no number.
 * @param {string} text @returns {Reading[]}
 */
export function readings(text) {
  const plain = text.trim().replaceAll("−", "-").replaceAll("⁄", "/").replace(SPACES, "");
  const meant = [plain.replace(/^([+-]?)(\d+),(\d+)$/, "$1$2.$3")];
  if (/^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?(\/.*)?$/.test(plain))
    meant.push(plain.replaceAll(",", ""));
  return meant.flatMap((one) => read(one) ?? []);
}

/**
 * What was typed, without the unit behind it: [number, unit].
 * @param {string} text @returns {[string, string]}
 */
export function split(text) {
  const [, number, unit] = /** @type {RegExpMatchArray} */ (
    text.trim().match(/^(.*?[\d.]?)\s*((?:[a-zµ%][^\d]*)?)$/is)
  );
  return [number, unit.trim()];
}

/**
 * Whether a unit typed behind a number is the one asked for; where none is named, any word of the question is.
 * @param {string} unit @param {string} wanted @param {string} words
 */
export function isUnitOf(unit, wanted, words) {
  const same = (/** @type {string} */ one) => one.toLowerCase() === unit.toLowerCase();
  return !unit || (wanted ? same(wanted) : words.split(/[^\w%/]+/).some(same));
}

/** The coarsest rounding of `answer` that counts: half of its unit. */
const coarsest = (/** @type {number} */ answer) =>
  0.5 * 10 ** (Math.floor(Math.log10(Math.abs(answer))) + 1 - DIGITS);

/**
 * Within the tolerance, or a right rounding to what was typed, of two significant digits at least.
 * @param {Reading} typed @param {number} answer @param {number} tolerance
 */
export function meets({ value, half, digits }, answer, tolerance) {
  const off = Math.abs(value - answer);
  const slack = Math.abs(answer) * FINEST;
  if (off <= tolerance + slack) return true;
  return digits >= DIGITS && half <= COARSE * tolerance && off <= half + slack;
}

/**
 * What to say of the precision: nothing of a whole number, and of one that is to be exact.
 * @param {number} answer @param {number} tolerance
 */
export function precision(answer, tolerance) {
  if (Number.isInteger(Number(answer.toFixed(9))) || coarsest(answer) > COARSE * tolerance)
    return "";
  return t("number.digits");
}

const SLACK = 0.005; // of a mistake's own value: so far off may be what is typed
/**
 * What a mistake says whose values were typed, the nearest one's; "" if there is none. It has a tolerance of its own.
 * @param {Reading[][]} typed all that each box can mean @param {[number | number[], string, number?][]} mistakes
 */
export function madeMistake(typed, mistakes) {
  const found = mistakes.map(([made, text, tolerance]) => {
    const values = [made].flat();
    const near = typed.every(([one], k) =>
      meets(one, values[k], tolerance ?? Math.abs(values[k]) * SLACK),
    );
    const off = typed.map(([{ value }], k) => Math.abs(value - values[k]));
    return { text, by: near ? Math.max(...off) : Infinity };
  });
  found.sort((a, b) => a.by - b.by);
  return found[0]?.by < Infinity ? found[0].text : "";
}
