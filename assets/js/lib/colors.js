// Colour: perceptual ramps for scores, one hue a tensor for operands. The hues come from the
// stylesheet, so light and dark themes (and later palettes) need no code.

import { clamp } from "./format.js";
import { isNarrow, unit } from "./screen.js";

const VIRIDIS = [
  "440154",
  "472d7b",
  "3b528b",
  "2c728e",
  "21918c",
  "28ae80",
  "5ec962",
  "addc30",
  "fde725",
];
const CIVIDIS = [
  "00224e",
  "123570",
  "3b496c",
  "575d6d",
  "707173",
  "8a8678",
  "a59c74",
  "c3b369",
  "e1cc55",
  "fee838",
];

/** @param {string} hex */
const rgb = (hex) => [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16));

/** @param {string[]} stops */
function ramp(stops) {
  const points = stops.map(rgb);
  /** @type {string[]} */
  const css = [];
  const rgba = new Uint8ClampedArray(4 * 256);
  /** @type {boolean[]} */
  const dark = []; // is the colour dark enough for white digits?
  for (let k = 0; k < 256; k++) {
    const x = (k / 255) * (points.length - 1);
    const a = Math.min(points.length - 2, Math.floor(x));
    const mix = points[a].map((u, c) => Math.round(u + (points[a + 1][c] - u) * (x - a)));
    css.push(`rgb(${mix})`);
    rgba.set([...mix, 255], 4 * k);
    dark.push(luminance(mix) < 0.18);
  }
  return { css, rgba, dark };
}

/** WCAG relative luminance: 0.18 is where black and white text contrast alike. @param {number[]} color */
function luminance(color) {
  const [r, g, b] = color.map((u) => {
    const s = u / 255;
    return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export const viridis = ramp(VIRIDIS);
export const cividis = ramp(CIVIDIS);

/** @type {Record<string, string>} */
const HUES = { dQ: "q", dK: "k", dV: "v", dO: "o", D: "o", lse: "l", "O′": "o", "lse′": "l" };
/** The hue of a tensor, as the stylesheet calls it: a gradient's is that of its tensor. @param {string} tensor */
export const hueOf = (tensor) => HUES[tensor] ?? tensor.toLowerCase();

/** Index 0…255 of value x in [low, high]; a constant matrix sits in the middle.
 * @param {number} x @param {number} low @param {number} high */
export function level(x, low, high) {
  if (!(high > low)) return 128;
  return clamp(Math.round(((x - low) / (high - low)) * 255), 0, 255);
}

/** Smallest and largest finite value of an array. @param {Iterable<number>} values @returns {[number, number]} */
export function range(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const x of values) {
    if (x < low && x !== -Infinity) low = x;
    if (x > high && x !== Infinity) high = x;
  }
  return low <= high ? [low, high] : [0, 1];
}

/** The same number of colours on both sides of 0, where numbers of either sign are to be compared.
 * @param {...Iterable<number>} arrays @returns {[number, number]} */
export function aroundZero(...arrays) {
  const most = Math.max(...arrays.flatMap((values) => range(values).map(Math.abs)));
  return [-most, most];
}

/** The theme of this moment, read from CSS custom properties: {Q: ramp, …, ink, paper, …}. @param {Element} element */
export function palette(element) {
  const style = getComputedStyle(element);
  const read = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  const hue = (/** @type {string} */ name) =>
    ramp([read("--fa-minus"), read("--fa-zero"), read(`--fa-${name}`)].map((hex) => hex.slice(1)));
  const big = !isNarrow() && Boolean(element.closest(".fa-present")); // in presentation mode no digit is below 24 px
  const [Q, K, V, O, L] = ["q", "k", "v", "o", "l"].map(hue);
  return {
    Q,
    K,
    V,
    O,
    L,
    dQ: Q,
    dK: K,
    dV: V,
    dO: O,
    dS: L,
    M: hue("m"),
    S: viridis,
    P: cividis,
    empty: read("--fa-empty"),
    done: read("--fa-done"),
    hatch: read("--fa-hatch"),
    paper: read("--fa-paper"),
    big,
    unit: big ? Math.max(1, unit()) : unit(),
  };
}
