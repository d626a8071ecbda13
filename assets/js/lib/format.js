// How numbers and names are written, everywhere the same.

const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

/** @param {number} k */
export const sub = (k) => String(k).replace(/\d/g, (c) => SUBSCRIPTS[c]);

/** Two decimals near 1, three significant digits elsewhere; a true minus sign; "" for what is
 * not there yet, "NaN" for what fp16 made of it.
 * `short` keeps one decimal, for narrow cells. @param {number | undefined} x */
export function number(x, short = false) {
  if (x === undefined) return "";
  if (Number.isNaN(x)) return "NaN";
  if (x === Infinity) return "∞";
  if (x === -Infinity) return "−∞";
  const size = Math.abs(x);
  let text;
  if (x === 0) text = short ? "0" : "0.00";
  else if (short && size < 100) text = x.toFixed(1);
  else if (size >= 1e4 || size < 5e-4) text = x.toExponential(1);
  else if (size >= 100) text = x.toFixed(0);
  else if (size < 0.1) text = x.toFixed(3);
  else text = x.toFixed(2);
  return text.replace("e+", "e").replaceAll("-", "−");
}

/** @param {number} count */
export function bytes(count) {
  if (count < 1000) return `${count} B`;
  if (count < 1e6) return `${(count / 1e3).toFixed(count < 1e4 ? 2 : 1)} kB`;
  if (count < 1e9) return `${(count / 1e6).toFixed(count < 1e7 ? 2 : 1)} MB`;
  return `${(count / 1e9).toFixed(2)} GB`;
}

/** @param {number} k */
export const integer = (k) => k.toLocaleString("en-US");

/** K₁, S₂₁, ℓ₂: a block by the name that the formulas use. @param {{tensor: string, block: number | number[]}} of */
export function blockName({ tensor, block }) {
  const letter = tensor === "l" ? "ℓ" : tensor;
  return Array.isArray(block) ? letter + block.map(sub).join("") : letter + sub(block);
}
