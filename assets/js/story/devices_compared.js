// The last picture of Devices: both layouts as computed, on one axis of time, beside the recorded times of a call.

import { scale, widthOf } from "../lib/chart.js";
import { line, path, rect, stroke, text, titled } from "../lib/svg_canvas.js";
import { timeline, title } from "./devices_timeline.js";

/** @import { Drawn, Paper } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @import { Box, Run } from "./devices_timeline.js" */
/** `names` of the recorded calls and their `kernels`, one GPU's first; `problem`: the computed one.
 * @typedef {{both: (Run & {name: string})[], titles: [string, string], problem: string, names: string[], kernels: string[], half: string}} Picture */
/** The recorded problem, and of each call its time and its share of all GPUs' speed. @typedef {{problem: string, ms: number[], shares: string[]}} Beat */

const HUES = ["minus", "w1", "accent", "hatch"];

/** @param {Scene<Picture, Beat>} scene @param {Paper} paper @returns {Drawn} */
export function compared({ picture, beat }, paper) {
  const { width, height, narrow, big, type: size, small } = paper;
  const top = size * (big ? 2.2 : 3.8); // below a title and its problem
  const rows = size * 1.9; // a layout's name
  const count = picture.both[0].devices.length;
  const room = (height - top - 2 * rows - size) / (2 * count);
  const lane = narrow ? size * 1.7 : Math.min(size * 2.4, room);
  const part = rows + count * lane + size * 0.6;
  const left = { x: 0, y: 0, wide: narrow ? width : width * 0.56, high: top + 2 * part };
  const right = narrow
    ? { x: 0, y: left.high + size * 2, wide: width, high: size * 19 }
    : { x: width * 0.61, y: 0, wide: width * 0.39, high: height };
  if (narrow) paper.used = right.y + right.high;
  const problems = [picture.problem, beat.problem];
  return [
    [left, right].map((box, k) => [
      title(paper, box, picture.titles[k], ""),
      !big && text(box.x, box.y + size * 2.5, problems[k], small(0.9), "quiet"),
    ]),
    picture.both.map((run, k) => {
      const y = top + k * part;
      const box = { x: 0, y: y + rows, wide: left.wide, high: count * lane };
      return [
        titled(0, y + size, run.name, run.other?.rows[1] ?? "", size),
        timeline(run, Infinity, box, lane, paper).drawn,
      ];
    }),
    calls(picture, beat, { ...right, y: right.y + top }, paper),
  ];
}

/** A bar for each recorded call, and where half of one GPU's ends.
 * @param {Picture} picture @param {Beat} beat @param {Box} box @param {Paper} paper @returns {Drawn} */
function calls({ names, kernels, half }, { ms, shares }, box, { type: size, small, big }) {
  const { x, y, wide, high } = box;
  const pitch = Math.min((high - size * 7) / ms.length, size * 5);
  const [top, thick] = [y + size, Math.min(pitch - size * 2, size * 1.8)];
  const at = scale([0, Math.max(...ms)], [x, x + wide]);
  const middle = at(ms[0] / 2);
  const bottom = top + pitch * ms.length;
  return [
    ms.map((time, k) => [
      rect(x, top + k * pitch + size * 0.5, at(time) - x, thick, HUES[k], {}, 3),
      line(
        x,
        top + k * pitch,
        [
          [names[k], "semi"],
          [big ? "" : `  ${kernels[k]}`, "quiet"],
          [`  ${time.toPrecision(3)} ms`, ""],
          [shares[k] && `  ${shares[k]}`, "bold accent-ink"],
        ],
        size,
        "halo",
      ),
    ]),
    path(
      ms.map((_, k) => `M${middle} ${top + k * pitch + size * 0.3}v${thick + size * 0.4}`).join(""),
      stroke("ink", 1.6, { "stroke-dasharray": "4 3" }),
    ),
    text(
      Math.max(middle, x + widthOf(half, size) / 2),
      bottom - pitch + thick + size * 1.9,
      half,
      small(0.9),
      "middle quiet halo",
    ),
  ];
}
