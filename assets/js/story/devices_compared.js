// The last picture of Devices: both layouts as computed, on one axis of time, beside the recorded times of a call.

import { scale, widthOf } from "../lib/chart.js";
import { group, line, path, rect, stroke, text, titled } from "../lib/svg_canvas.js";
import { gain, timeline, title } from "./devices_timeline.js";
import { t, texts } from "./parallel_texts.js";

/** @import { Drawn, Paper } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @import { Run } from "./devices_timeline.js" */
/** `problem`: the computed one.
 * @typedef {{both: (Run & {name: string})[], titles: [string, string], problem: string}} Picture */
/** The recorded problem, and of each call its time and its share of all GPUs' speed. @typedef {{problem: string, ms: number[], shares: string[]}} Beat */

const HUES = ["minus", "w1", "accent", "hatch"];

/** @param {Scene<Picture, Beat>} scene @param {Paper} paper @returns {Drawn} */
export function compared({ picture, beat }, paper) {
  const { width, height, narrow, big, type: size, small } = paper;
  const top = size * (big ? 2.2 : 3.8); // below a title and its problem
  const rows = size * 1.9; // a layout's name
  const count = picture.both[0].gpus;
  const room = (height - top - 2 * rows - size) / (2 * count);
  const lane = narrow ? size * 1.7 : Math.min(size * 2.8, room);
  const part = rows + count * lane + size * 0.6;
  const [left, right] = narrow ? [width, width] : [width * 0.56, width * 0.39];
  const below = narrow ? top + 2 * part + size * 2 : 0;
  const high = narrow ? size * 19 : height;
  if (narrow) paper.used = below + high;
  /** @param {number} k @param {string} problem @param {number} wide */
  const head = (k, problem, wide) => [
    title(paper, wide, picture.titles[k]),
    !big && text(0, size * 2.5, problem, small(0.9), "quiet"),
  ];
  return [
    head(0, picture.problem, left),
    picture.both.map((run, k) => {
      const box = { x: 0, y: rows, wide: left, high: count * lane };
      return group(0, top + k * part, [
        titled(0, size, run.name, gain(run), size),
        timeline(run, Infinity, box, lane, paper).drawn,
      ]);
    }),
    group(width - right, below, [
      head(1, beat.problem, right),
      group(0, top, calls(beat, right, high, paper)),
    ]),
  ];
}

/** A bar for each recorded call, and where half of one GPU's ends.
 * @param {Beat} beat @param {number} wide @param {number} high @param {Paper} paper @returns {Drawn} */
function calls({ ms, shares }, wide, high, { type: size, small, big }) {
  const pitch = Math.min((high - size * 7) / ms.length, size * 5);
  const thick = Math.min(pitch - size * 2, size * 1.8);
  const at = scale([0, Math.max(...ms)], [0, wide]);
  const middle = at(ms[0] / 2);
  const half = t("devices.both.half");
  return [
    ms.map((time, k) =>
      group(0, size + k * pitch, [
        rect(0, size * 0.5, at(time), thick, HUES[k], {}, 3),
        line(
          0,
          0,
          [
            [texts["devices.both.names"][k], "semi"],
            [big ? "" : `  ${texts["devices.both.kernels"][k]}`, "quiet"],
            [`  ${time.toPrecision(3)} ms`, ""],
            [shares[k] && `  ${shares[k]}`, "bold accent-ink"],
          ],
          size,
          "halo",
        ),
        path(
          `M${middle} ${size * 0.3}v${thick + size * 0.4}`,
          stroke("ink", 1.6, { "stroke-dasharray": "4 3" }),
        ),
      ]),
    ),
    text(
      Math.max(middle, widthOf(half, size) / 2),
      size * 2.9 + pitch * (ms.length - 1) + thick,
      half,
      small(0.9),
      "middle quiet halo",
    ),
  ];
}
