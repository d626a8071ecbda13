// TFLOP/s of each method over FLOPs per byte, under the measured ceilings of the card.

import { circle, group, ink, path, rect, stroke, text } from "../lib/svg_canvas.js";
import { hueOf, tipped, typeOf, widthOf } from "./shapes.js";

/** @import { Paper } from "../lib/svg_canvas.js" */
/** @typedef {{method: string, name: string, main: boolean, x: number, y: number, value: string, text: string}} Point */
/** @typedef {{points: Point[], peak: number, hbm: number, l2: number, labels: string[], axis: string}} Roofline */

/** @param {Roofline} data @param {Paper} paper */
export function paintRoofline({ points, peak, hbm, labels, axis }, paper) {
  const size = typeOf(paper) - (paper.big ? 0 : 1);
  const names =
    Math.max(...points.map(({ name, value }) => widthOf(`${name} ${value}`, size))) + 46;
  const [left, right] = [size * 3.4, Math.max(size * 12, paper.width - names)];
  const [top, bottom] = [size * 2.2, paper.height - size * 3.6];
  const xs = [...points.map(({ x }) => x), peak / hbm];
  const [low, high] = [Math.log10(Math.min(...xs) / 2.4), Math.log10(Math.max(...xs) * 2.4)];
  const ys = points.map(({ y }) => y);
  const [floor, roof] = [
    Math.log10(Math.min(...ys, peak / 20) / 1.8),
    Math.log10(Math.max(...ys, peak) * 1.15),
  ];
  const x = (/** @type {number} */ v) =>
    left + ((right - left) * (Math.log10(v) - low)) / (high - low);
  const y = (/** @type {number} */ v) =>
    bottom - ((bottom - top) * (Math.log10(v) - floor)) / (roof - floor);
  const foot = 10 ** floor / hbm; // FLOPs per byte at which HBM's line leaves the picture below
  const start = Math.max(foot, 10 ** low);
  const knee = peak / hbm;
  const marks = [1, 3, 10, 30, 100, 300, 1000, 3000];
  const grid = marks
    .filter((v) => Math.log10(v) > floor && Math.log10(v) < roof)
    .map((v) => [
      path(`M${left} ${y(v)}H${right}`, stroke("line")),
      text(left - 8, y(v) + size * 0.35, v.toLocaleString("en"), size, "quiet end"),
    ]);
  const under = [1, 10, 100, 1000, 10000]
    .filter((v) => Math.log10(v) > low && Math.log10(v) < high)
    .map((v) => text(x(v), bottom + size * 1.5, v.toLocaleString("en"), size, "quiet middle"));
  const sorted = [...points].sort((a, b) => b.y - a.y);
  const heights = sorted.map((point) => y(point.y));
  for (let k = 1; k < heights.length; k++)
    heights[k] = Math.max(heights[k], heights[k - 1] + size * 1.5);
  const over = (heights.at(-1) ?? 0) - bottom;
  const angle = (-Math.atan2(y(start * hbm) - y(peak), x(knee) - x(start)) * 180) / Math.PI;
  const [mx, my] = [(x(start) + x(knee)) / 2, (y(start * hbm) + y(peak)) / 2];
  return [
    path(`M${x(start)} ${y(start * hbm)}L${x(knee)} ${y(peak)}H${right}V${bottom}H${x(start)}z`, {
      fill: ink("accent-pale"),
      opacity: 0.5,
    }),
    grid,
    under,
    path(`M${left} ${bottom}H${right}`, stroke("hatch")),
    path(`M${x(start)} ${y(start * hbm)}L${x(knee)} ${y(peak)}H${right}`, stroke("ink", 2.5)),
    text(right, y(peak) - 8, labels[0], size, "semi end"),
    text(mx - 8, my - 8, labels[1], size, "semi middle", angle),
    text((left + right) / 2, bottom + size * 3, axis, size, "quiet middle"),
    sorted.map((point, k) => {
      const at = heights[k] - Math.max(0, over);
      const [px, py] = [x(point.x), y(point.y)];
      const look = point.main ? "bold accent-ink" : "";
      const node = group(0, 0, [
        path(`M${px + 6} ${py}L${right + 12} ${at}`, stroke("line")),
        circle(px, py, point.main ? 7 : 5.5, { fill: ink(hueOf(point)) }),
        text(right + 16, at + size * 0.35, point.name, size, look),
        text(paper.width, at + size * 0.35, point.value, size, `${look} end`),
        rect(px - 12, py - 12, 24, 24, "", { fill: "transparent" }),
      ]);
      return tipped(node, point.text);
    }),
  ];
}
