// How numbers and names are written, everywhere the same.

/** The nearest number to x from low to high. @param {number} x @param {number} low @param {number} high */
export const clamp = (x, low, high) => Math.max(low, Math.min(high, x));

const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

/** @param {number} k */
export const sub = (k) => String(k).replace(/\d/g, (digit) => SUBSCRIPTS[Number(digit)]);

/** A number with this many decimals; what rounds to zero has no sign. @param {number | undefined} x @param {number} decimals */
export function fixed(x, decimals) {
  const text = Math.abs(Number(x)).toFixed(decimals);
  return Number(x) < 0 && Number(text) ? `−${text}` : text;
}

/** Two decimals near 1, three significant digits elsewhere, or the given decimals; a true minus sign; "" for what is
 * not there yet, "NaN" for what fp16 made of it. @param {number | undefined} x @param {number} [decimals] */
export function number(x, decimals) {
  if (x === undefined) return "";
  if (Number.isNaN(x)) return "NaN";
  if (x === Infinity) return "∞";
  if (x === -Infinity) return "−∞";
  const size = Math.abs(x);
  if (decimals !== undefined && size < 1e4) return fixed(x, decimals);
  let text;
  if (x === 0) text = "0.00";
  else if (size >= 1e4 || size < 5e-4) text = x.toExponential(1);
  else if (size >= 100) text = x.toFixed(0);
  else if (size < 0.1) text = x.toFixed(3);
  else text = x.toFixed(2);
  return text.replace("e+", "e").replaceAll("-", "−");
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** To the nearest whole number, halves to the even one, as Python has it. @param {number} x */
export const rounded = (x) => (x % 1 === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));

/** Bytes in units of 1,024, three digits, as explainer/base/amounts.py writes them too.
 * @param {number} count */
export function bytes(count) {
  let power = 0;
  for (; count >= 1024 && power < 4; power++) count /= 1024;
  const parts = count >= 100 || !power ? 1 : count >= 10 ? 10 : 100;
  return `${integer(rounded(count * parts) / parts)} ${UNITS[power]}`;
}

/** @param {number} k */
export const integer = (k) => k.toLocaleString("en-US");

/** K₁, S₂₁, ℓ₂: a block by the name that the formulas use. @param {{tensor: string, block: number | number[]}} of */
export function blockName({ tensor, block }) {
  const letter = tensor === "l" ? "ℓ" : tensor;
  return Array.isArray(block) ? letter + block.map(sub).join("") : letter + sub(block);
}
