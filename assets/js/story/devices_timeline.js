// A lane for each GPU over time: its tiles, and where it waits. What the pictures of Devices share.

import { scale, widthOf } from "../lib/chart.js";
import { times } from "../lib/lists.js";
import { hatch, path, rect, stroke, text } from "../lib/svg_canvas.js";
import { t } from "./parallel_texts.js";

/** @import { Drawn, Paper } from "../lib/svg_canvas.js" */
/** @typedef {[i: number, j: number, device: number, tick: number, step: number]} Tile */
/** `other`: when contiguous rows end, where this is not theirs. @typedef {{gpus: number, tiles: Tile[], starts: number[], other: number | null}} Run */
/** @typedef {{x: number, y: number, wide: number, high: number}} Box */

export const PALE = 0.24; // opacity of a tile that is not computed yet
/** @param {number} device */
export const hue = (device) => `w${device}`;
/** @param {number} device */
export const gpuName = (device) => t("devices.name", { device });
/** @param {number} step */
export const stepName = (step) => t("devices.step", { step: step + 1 });

/** A name, and what it is, if there is room. @param {Paper} paper @param {number} wide @param {string} name @param {string} [note] */
export function title({ type: size, big }, wide, name, note = "") {
  const beside = widthOf(name, size * 1.15) + size * 0.9;
  const fits = !big && beside + widthOf(note, size * 0.9) < wide + size;
  return [
    text(0, size * 1.1, name, size * 1.15, "bold"),
    fits && text(beside, size * 1.1, note, size * 0.9, "quiet"),
  ];
}

/** Slanted lines over a box, or over this shape in it. @param {number} x @param {number} y @param {number} wide @param {number} high */
export const hatched = (x, y, wide, high, shape = "none") =>
  path(hatch(x, y, wide, high, 7, 5), { ...stroke("hatch", 1), opacity: 0.55, "clip-path": shape });

/** How many times sooner it ends than contiguous rows do. @param {Run} run */
export const gain = ({ starts, other }) =>
  other ? t("devices.gain", { gain: (other / starts[starts.length - 1]).toFixed(2) }) : "";

/** All tiles over time, a lane for each GPU; the names of the steps where one is under way.
 * @param {Run} run @param {number} at @param {Box} box @param {number} lane px of one @param {Paper} paper @param {number} [step]
 * @returns {{drawn: Drawn, places: number[]}} */
export function timeline(run, at, { x: from, y: top, wide, high }, lane, paper, step) {
  const { gpus, tiles, starts, other } = run;
  const isMoving = step !== undefined;
  const { type: size, small, narrow, big } = paper;
  const left = from + size * 3.9;
  const right = from + wide - size * (narrow ? 1 : big ? 6 : 5.2);
  const span = Math.max(starts[starts.length - 1], other ?? 0);
  const x = scale([0, span], [left, right]);
  const last = starts[starts.length - 1];
  const waits = t("devices.waits");
  const steps = isMoving ? starts.slice(0, -1).map((_, k) => stepName(k)) : [];
  const y = (/** @type {number} */ device) => top + size * (isMoving ? 2.1 : 0) + device * lane;
  const thick = lane - size * 0.32;
  const arrow = y(0.7 * gpus);
  const bottom = top + high;
  const places = times(last + 1, (tick) => x(tick));
  return {
    places,
    drawn: [
      steps.map((name, k) => [
        (k === step || x(starts[k + 1]) - x(starts[k]) > widthOf(name, size)) &&
          text(x(starts[k]) + 3, top + size * 1.6, name, small(0.9), k === step ? "bold" : "quiet"),
        k > 0 &&
          path(
            `M${x(starts[k])} ${top + size * 0.8}V${bottom}`,
            stroke("hatch", 1, { "stroke-dasharray": "2 3" }),
          ),
      ]),
      times(gpus, (device) => {
        const own = tiles.filter((tile) => tile[2] === device).map((tile) => tile[3]);
        const base = y(device) + thick * 0.72;
        return [
          text(from, base, gpuName(device), small(0.95), `bold ${hue(device)}`),
          // Before each tile, and after the last one
          [...own, last].map((to, k) => {
            const start = x(k ? own[k - 1] + 1 : 0);
            const room = x(to) - start - 2;
            return (
              room > 0 && [
                rect(start, y(device), room, thick, "", stroke("line"), 2),
                hatched(start, y(device), room, thick),
                room > widthOf(waits, size) + size &&
                  text(start + size * 0.35, base, waits, small(0.9), "semi halo"),
              ]
            );
          }),
        ];
      }),
      tiles.map(([, , device, tick]) =>
        rect(
          x(tick),
          y(device),
          x(1) - x(0) - 2,
          thick,
          hue(device),
          { opacity: tick < at ? 1 : PALE },
          2,
        ),
      ),
      !narrow && [
        text(x(last) + size * 0.7, y(0) + size * 1.1, last, size * 1.25, "bold"),
        text(x(last) + size * 0.7, y(0) + size * 2.4, t("devices.unit"), small(0.9), "quiet"),
      ],
      other && [
        path(
          `M${x(other)} ${top + size}V${bottom}`,
          stroke("quiet", 1.4, { "stroke-dasharray": "3 4" }),
        ),
        isMoving && [
          !narrow &&
            path(`M${x(other) - 6} ${arrow}H${x(last) + 8}m8 -5l-8 5l8 5`, stroke("quiet", 1.2)),
          [t("devices.other"), gain(run)].map(
            (words, k) =>
              (!narrow || k) &&
              text(
                x(other) - 10,
                narrow ? top + size * 0.5 : arrow + size * (k ? 1.3 : -0.5),
                words,
                small(k ? 1.05 : 0.9),
                `end ${k ? "bold halo" : "quiet"}`,
              ),
          ),
        ],
      ],
    ],
  };
}
