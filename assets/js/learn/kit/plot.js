// A plot of the kit: series over a pair of axes, and lines at named places.

import { axisOf, ticks } from "../../lib/axis.js";
import { set, svg } from "../../lib/dom.js";
import { clamp } from "../../lib/format.js";
import { hueClass } from "./parts.js";

/** @import { Mark } from "./parts.js" */
/** @typedef {{at: (value: number) => number, length: number, ticks: [place: number, text: string][]}} Axis */

/** @param {Mark} axis @param {number[]} values @param {number} count @returns {Axis} */
function axisFor({ low, high, log = false, ticks: named }, values, count) {
  const ends = [low ?? Math.min(...values), high ?? Math.max(...values)];
  const axis = axisOf(ends, log);
  const found =
    named ??
    ticks(axis.low, axis.high, count, log, axis.least).map((tick) => [tick, axis.label(tick)]);
  return {
    at: axis.at,
    length: axis.high - axis.low,
    ticks: found.map((/** @type {[number, string]} */ [value, text]) => [
      named ? axis.at(value) : axis.of(value),
      text,
    ]),
  };
}

const finite = (/** @type {any[]} */ values) => values.filter(Number.isFinite);

/** Draws the plot that its box names, at the size that this has. @param {HTMLElement} box */
export function layPlot(box) {
  const {
    series,
    x = {},
    y = {},
    places = [],
    square = false,
  } = JSON.parse(box.dataset.plot ?? "");
  const sheet = /** @type {Element} */ (box.firstElementChild);
  const { offsetWidth: width, offsetHeight: height } = box;
  const type = parseFloat(getComputedStyle(box).fontSize);
  const isLevel = (/** @type {Mark} */ { level }) => Boolean(level);
  const of = (/** @type {Mark[]} */ marks) => marks.map(({ value }) => value);
  const up = axisFor(
    y,
    finite([...series.flatMap((/** @type {Mark} */ s) => s.y), ...of(places.filter(isLevel))]),
    Math.max(2, height / (3.4 * type)),
  );
  const along = axisFor(
    x,
    finite(series.flatMap((/** @type {Mark} */ s) => s.x)),
    Math.max(2, width / (6 * type)),
  );
  const widest = Math.max(...up.ticks.map(([, text]) => text.length), 1);
  const [top, base] = [
    (y.label || places.length ? 1.7 : 0.6) * type,
    height - (x.label ? 2.9 : 1.6) * type,
  ];
  const left = widest * type * 0.64 + 8;
  const fitting = square ? ((base - top) / up.length) * along.length : Infinity;
  const right = Math.min(width - type, left + fitting);
  const px = (/** @type {number} */ value) => left + along.at(value) * (right - left);
  const py = (/** @type {number} */ value) =>
    base - clamp(up.at(value), -0.02, 1.02) * (base - top);
  const text = (
    /** @type {string} */ words,
    /** @type {number} */ x,
    /** @type {number} */ y,
    kind = "",
  ) => svg("text", { class: kind || null, x, y, text: words });
  set(sheet, { viewBox: `0 0 ${width} ${height}` });
  sheet.replaceChildren(
    ...up.ticks.flatMap(([part, words]) => {
      const at = base - part * (base - top);
      return [
        svg("path.fa-kit-rule", { d: `M${left} ${at}H${right}` }),
        text(words, left - 6, at + type * 0.33, "is-end"),
      ];
    }),
    ...along.ticks.map(([part, words]) => {
      const at = left + part * (right - left);
      const isCut = at + words.length * type * 0.3 > width; // a long label under the axis's end
      return text(words, isCut ? width : at, base + type * 1.3, isCut ? "is-end" : "is-middle");
    }),
    ...(y.label ? [text(y.label, 0, type, "is-label")] : []),
    ...(x.label ? [text(x.label, right, height - type * 0.3, "is-label is-end")] : []),
    ...series.map((/** @type {Mark} */ one) => lineOf(one, px, py)),
    ...places.map((/** @type {Mark} */ one) =>
      placeOf(one, { px, py, left, right, top, base, type }),
    ),
  );
}

/** One series: its line, broken where a value is missing, or its points. @param {Mark} one
 * @param {(value: number) => number} px @param {(value: number) => number} py */
function lineOf({ x, y, hue, points, dash }, px, py) {
  const spots = x.map(
    (/** @type {number} */ value, /** @type {number} */ k) =>
      Number.isFinite(y[k]) && [px(value), py(y[k])],
  );
  if (points)
    return svg(
      "g",
      { class: hueClass(hue) },
      spots
        .filter(Boolean)
        .map((/** @type {[number, number]} */ [cx, cy]) => svg("circle", { cx, cy, r: 4.5 })),
    );
  const d = spots
    .map(
      (/** @type {[number, number] | false} */ spot, /** @type {number} */ k) =>
        spot && `${spots[k - 1] ? "L" : "M"}${spot[0].toFixed(1)} ${spot[1].toFixed(1)}`,
    )
    .filter(Boolean)
    .join("");
  const look = `${hueClass(hue)}${dash ? " is-dashed" : ""}`;
  return svg("g", { class: look }, [svg("path.fa-kit-line", { d })]);
}

/** @param {Mark} one @param {{px: (value: number) => number, py: (value: number) => number, left: number, right: number, top: number, base: number, type: number}} room */
function placeOf({ value, text, level }, { px, py, left, right, top, base, type }) {
  const at = level ? py(value) : px(value);
  const isLate = !level && at > (left + right) / 2;
  return svg("g.fa-hue-plain.fa-kit-place", [
    svg("path", { d: level ? `M${left} ${at}H${right}` : `M${at} ${top}V${base}` }),
    text &&
      (level
        ? svg("text.is-end", { x: right, y: at - 5, text })
        : svg("text", {
            class: isLate ? "is-end" : null,
            x: at + (isLate ? -5 : 5),
            y: top - type * 0.4,
            text,
          })),
  ]);
}
