// TFLOP/s of each method over FLOPs per byte, under the measured ceilings of the card.

import { ends, scale, widthOf } from "../lib/chart.js";
import { circle, ink, path, stroke, text, tipped } from "../lib/svg_canvas.js";

/** @import { Words } from "../lib/chart.js" */
/** @import { Paper } from "../lib/svg_canvas.js" */
/** @typedef {{method: string, name: string, main: boolean, x: number, y: number, value: string, stores: string, text: string}} Point */
/** @typedef {{points: Point[], peak: number, hbm: number, labels: string[], axes: [x: string, y: string]}} Roofline */

/** The hue of a method: ours blue, naive ink, the others gray. @param {Point} point */
const hueOf = ({ main, method }) => (main ? "accent" : method === "naive" ? "quiet" : "minus");

const MARKS = [1, 3, 10, 30, 100, 300, 1000, 3000];

/** @param {Roofline} data @param {Paper} paper */
export function paintRoofline({ points, peak, hbm, labels, axes }, paper) {
  const size = paper.type - (paper.big ? 0 : 1);
  const names = points.map(({ name, value }) => widthOf(`${name} ${value}`, size));
  const [left, right] = [size * 3.4, Math.max(size * 12, paper.width - Math.max(...names) - 46)];
  const [top, bottom] = [size * 2.6, paper.height - size * 3.6];
  const knee = peak / hbm;
  const xs = [...points.map((point) => point.x), knee];
  const ys = [...points.map((point) => point.y), peak];
  const [low, high] = [Math.min(...xs) / 2.4, Math.max(...xs) * 2.4];
  const [floor, roof] = [Math.min(...ys, peak / 20) / 1.8, Math.max(...ys) * 1.15];
  const x = scale([low, high], [left, right], true);
  const y = scale([floor, roof], [bottom, top], true);
  const start = Math.max(floor / hbm, low); // where HBM's line comes into the picture
  const slope = `M${x(start)} ${y(start * hbm)}L${x(knee)} ${y(peak)}H${right}`;
  const angle = (-Math.atan2(y(start * hbm) - y(peak), x(knee) - x(start)) * 180) / Math.PI;
  const figure = (/** @type {number} */ v) => v.toLocaleString("en");
  return [
    path(`${slope}V${bottom}H${x(start)}z`, { fill: ink("accent-pale"), opacity: 0.5 }),
    MARKS.filter((v) => v > floor && v < roof).map((v) => [
      path(`M${left} ${y(v)}H${right}`, stroke("line")),
      text(left - 8, y(v) + size * 0.35, figure(v), size, "quiet end"),
    ]),
    [1, 10, 100, 1000, 10000]
      .filter((v) => v > low && v < high)
      .map((v) => text(x(v), bottom + size * 1.5, figure(v), size, "quiet middle")),
    path(`M${left} ${bottom}H${right}`, stroke("hatch")),
    path(slope, stroke("ink", 2.5)),
    text(right, y(peak) - 8, labels[0], size, "semi end"),
    text(
      (x(start) + x(knee)) / 2 - 8,
      (y(start * hbm) + y(peak)) / 2 - 8,
      labels[1],
      size,
      "semi middle",
      angle,
    ),
    text((left + right) / 2, bottom + size * 3, axes[0], size, "quiet middle"),
    text(0, size, axes[1], size, "quiet"),
    ends(
      points.map(({ name, value, main, stores, ...at }) => ({
        y: y(at.y),
        rows: /** @type {Words[]} */ ([
          [name, main ? "bold accent-ink" : ""],
          [stores, "quiet"],
        ]).filter(([words]) => words),
        value,
        from: [x(at.x) + 6, y(at.y)],
      })),
      right + 16,
      size,
      [0, bottom + size],
      paper.width,
    ),
    points.map((point) =>
      tipped(
        circle(x(point.x), y(point.y), point.main ? 7 : 5.5, { fill: ink(hueOf(point)) }),
        point.text,
      ),
    ),
  ];
}
