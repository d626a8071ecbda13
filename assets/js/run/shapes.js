// Shapes that several pictures of a run share: bars, a map of tiles, a sign, an axis of powers of ten.

import { raised } from "../lib/axis.js";
import { widthOf } from "../lib/chart.js";
import { svg } from "../lib/dom.js";
import { times } from "../lib/lists.js";
import { circle, group, ink, path, rect, stroke, text, tipped } from "../lib/svg_canvas.js";

/** @import { Drawn, Paper } from "../lib/svg_canvas.js" */
/** @typedef {{method: string, name: string, main: boolean, share: number, cut: string, short: string, text: string, loop?: number | null, more?: string}} Bar */

/** The hue of a method: ours blue, naive ink, the others gray. @param {{main: boolean, method: string}} of */
export const hueOf = ({ main, method }) =>
  main ? "accent" : method === "naive" ? "quiet" : "minus";

/** A check mark, or a cross of this hue, about (x, y). @param {number} x @param {number} y @param {boolean} right @param {number} size */
export const sign = (x, y, right, size = 6, hue = "risen-ink") =>
  right
    ? path(`M${x - size} ${y}l${size * 0.7} ${size * 0.7}l${size * 1.2} ${-size * 1.4}`, {
        ...stroke("ink-v", size / 3),
        "stroke-linecap": "round",
        "stroke-linejoin": "round",
      })
    : path(
        `M${x - size} ${y - size}l${2 * size} ${2 * size}m0 ${-2 * size}l${-2 * size} ${2 * size}`,
        {
          ...stroke(hue, size / 2.6),
          "stroke-linecap": "round",
        },
      );

/** A pattern of hatching, and its name for `fill`. @param {string} name */
export const hatching = (name) =>
  svg(
    "pattern",
    {
      id: name,
      width: 6,
      height: 6,
      patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)",
    },
    [rect(0, 0, 6, 6, "paper"), path("M0 0V6", { ...stroke("hatch", 1), opacity: 0.7 })],
  );

/** Bars, one below the other, from (0, top) on. @param {Bar[]} bars @param {Paper} paper @param {{top: number, row: number, loops?: boolean}} place
 * @returns {Drawn} */
export function barsOf(bars, paper, { top, row, loops = false }) {
  const size = paper.type;
  const left = Math.max(...bars.map(({ name }) => widthOf(name, size))) + 14;
  const beside =
    Math.max(...bars.map(({ text, more }) => widthOf(`${text}  ${(loops && more) || ""}`, size))) +
    12;
  const wide = Math.max(40, paper.width - left - beside);
  const high = Math.min(row * 0.6, size * 2.1);
  return bars.map((bar, k) => {
    const y = top + k * row;
    const long = Math.max(2, wide * bar.share);
    const look = bar.main ? "accent-ink bold" : "ink";
    const base = y + high / 2 + size * 0.36;
    const fill = hueOf(bar);
    const end = bar.loop ? Math.max(long, wide * bar.loop) : long;
    const shape = rect(
      left,
      y,
      long,
      high,
      fill,
      bar.cut ? { "mask-image": "linear-gradient(90deg, #000 70%, #0000)" } : {},
      3,
    );
    const fits = (/** @type {string} */ words) => widthOf(words, size - 1) < long * 0.75;
    const inside = bar.cut && ([bar.cut, bar.short].find(fits) ?? "");
    return tipped(
      group(0, 0, [
        text(0, base, bar.name, size, look),
        shape,
        inside && text(left + 10, base, inside, size - 1, "paper"),
        bar.loop ? rect(left + wide * bar.loop, y - 3, 2, high + 6, "ink") : null,
        text(left + end + 9, base, bar.text, size, look),
        loops &&
          bar.more &&
          text(left + end + 18 + widthOf(bar.text, size), base, bar.more, size - 1.5, "quiet"),
      ]),
      [bar.name, bar.text, bar.more, bar.cut].filter(Boolean).join(", "),
    );
  });
}

/** The dots of a log axis's decades, with their powers. @param {number} low @param {number} high @param {(x: number) => number} at @param {number} y @param {number} size */
export function decades(low, high, at, y, size) {
  const first = Math.ceil(low - 1e-9);
  const count = Math.floor(high + 1e-9) - first + 1;
  const every = Math.max(1, Math.ceil(count / 6));
  return times(Math.max(0, count), (k) => first + k)
    .filter((k) => (k - first) % every === 0)
    .map((k) => text(Math.max(at(k), size * 1.1), y, `10${raised(k)}`, size, "quiet middle"));
}

/** @param {number} x @param {number} y @param {boolean} main @param {string} hue */
export const dot = (x, y, main, hue) => circle(x, y, main ? 6.5 : 5.5, { fill: ink(hue) });
