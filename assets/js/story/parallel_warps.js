// Warps: one tile in the colours of its warps, split by its keys and by its rows. Dark cells are the maxima that a warp can see; below, what
// goes through shared memory.

import { widthOf } from "../lib/chart.js";
import { times } from "../lib/lists.js";
import { circle, group, ink, line, rect, text, titled, wrapped } from "../lib/svg_canvas.js";
import { t } from "./parallel_texts.js";

/** @import { Drawn, Paper } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{split: "k" | "q", name: string, kernel: string, slices: [number, number][], total: string, unit: string, remark: string}} Lane */
/** @typedef {{warp: number, tensor: string, size: string}} Written */
/** @typedef {{matrix: string[][], marked: [number, number][], stat: {name: string, values: string[]} | null, shared: Written[], sentence: string, remark: string}} State */
/** @typedef {{side: number, lanes: Lane[]}} Picture */

const GAP = 7; // px between the parts of two warps
/** @param {number} warp */
const hue = (warp) => `w${warp}`;

/** @param {Scene<Picture, {lanes: State[]}>} scene @param {Paper} paper @returns {Drawn} */
export function warps({ picture, beat }, paper) {
  const { width, height, narrow, big } = paper;
  const wide = narrow ? width : width * (big ? 0.485 : 0.47);
  const high = narrow ? 470 : height;
  if (narrow) paper.used = 2 * high;
  return picture.lanes.map((lane, k) =>
    group(
      narrow ? 0 : k * (width - wide),
      narrow ? k * high : 0,
      paintLane(lane, beat.lanes[k], picture, wide, high - (narrow ? 22 : 0), paper),
    ),
  );
}

/** @param {Lane} lane @param {State} state @param {Picture} picture @param {number} wide @param {number} high @param {Paper} paper @returns {Drawn} */
function paintLane(lane, state, { side }, wide, high, paper) {
  const { type: size, small, narrow, big } = paper;
  const byKeys = lane.split === "k";
  const foot = high - size * (big ? 5 : 5.4); // above shared memory
  const head = size * (big ? 3.2 : 4);
  const aside = narrow || big ? 0 : size * 9.4;
  const gaps = (lane.slices.length - 1) * GAP;
  const left = byKeys && big ? 0 : size * (big ? 1.7 : 2); // of the badges of rows
  const cx = (wide - aside - left - size * (big ? 2.8 : 4.2) - (byKeys ? gaps : 0)) / side;
  const room = foot - head - size * 1.4 - (byKeys ? 0 : gaps);
  const cy = Math.min(size * (big ? 1.42 : 2.4), room / side);
  /** Which warp has this row or key. @param {number} index */
  const ownerOf = (index) =>
    lane.slices.findIndex(([first, past]) => first <= index && index < past);
  const across = (/** @type {number} */ k) => left + k * cx + (byKeys ? ownerOf(k) * GAP : 0);
  const down = (/** @type {number} */ k) => head + k * cy + (byKeys ? 0 : ownerOf(k) * GAP);
  const marked = new Set(state.marked.map(([row, column]) => row * side + column));
  const end = across(side - 1) + cx;
  const letter = big ? size : Math.min(size * 0.9, cx * 0.36);
  const beside = end + size * 4.3;
  const fits = aside - size * 0.4;
  const total = `bold ${byKeys ? "ink-o" : "accent-ink"}`;
  return [
    titled(0, size * 1.1, lane.name, aside ? lane.kernel : "", size * 1.1),
    lane.slices.map(([first, past], warp) => {
      if (first === past) return null;
      const x = byKeys ? (across(first) + across(past - 1) + cx) / 2 : size * 0.7;
      const y = byKeys ? head - size * 0.95 : (down(first) + down(past - 1) + cy) / 2;
      return [
        circle(x, y, size * 0.72, { fill: ink(hue(warp)) }),
        text(x, y + size * 0.3, warp, small(0.86), "middle bold w-badge"),
      ];
    }),
    times(side * side, (k) => {
      const [row, column] = [Math.floor(k / side), k % side];
      const [x, y, fill] = [across(column), down(row), hue(ownerOf(byKeys ? column : row))];
      const [opacity, look] = marked.has(k) ? [1, "middle bold w-badge"] : [0.24, "middle"];
      return [
        rect(x, y, cx - 2, cy - 2, fill, { opacity }, 2),
        state.matrix.length > 0 &&
          text(x + cx / 2 - 1, y + cy / 2 + letter * 0.34, state.matrix[row][column], letter, look),
      ];
    }),
    state.stat && [
      text(end + size * 2, head - size * 0.7, state.stat.name, size, "middle bold accent-ink"),
      state.stat.values.map((value, row) => {
        const x = end + size * (big ? 2.7 : 3.3);
        return text(x, down(row) + cy * 0.5 + size * 0.3, value, small(0.86), "end semi");
      }),
    ],
    aside
      ? [
          wrapped(beside, head + size, state.sentence, fits, size * 0.9, "quiet"),
          text(beside, foot - size * 5, lane.total, size * 1.6, total),
          wrapped(beside, foot - size * 3.6, lane.remark, fits, size * 0.86, "quiet"),
        ]
      : line(
          wide,
          size * 1.1,
          [
            [lane.total, total],
            [big ? `  ${lane.unit}` : "", "quiet"],
          ],
          small(1.1),
          "end",
        ),
    rect(0, foot, wide, high - foot, "accent-pale", {}, 8),
    text(size, foot + size * 1.35, t("warps.shared"), small(0.95), "semi accent-ink"),
    group(size, foot + size * 2, paintShared(state, wide - size * 2, paper)),
  ];
}

/** What lies in shared memory, a packet for each warp that wrote. @param {State} state @param {number} wide @param {Paper} paper @returns {Drawn} */
function paintShared({ shared, remark }, wide, { type: size, small, big }) {
  if (!shared.length) return text(0, size * 1.6, remark, size, "quiet");
  const pitch = Math.min(size * 5.4, (wide * (big ? 0.56 : 0.7)) / shared.length);
  const [at, room] = big ? [0.6, 0.44] : [0.74, 0.3];
  return [
    shared.map(({ warp, tensor, size: bytes }, k) => {
      const x = k * pitch;
      const middle = x + pitch * 0.43;
      return [
        rect(x, 0, pitch * 0.86, size * 1.3, hue(warp), {}, 3),
        text(middle, size * 0.98, tensor, small(0.86), "middle bold w-badge"),
        (!k || pitch > widthOf(bytes, small(0.8))) &&
          text(middle, size * 2.5, bytes, small(0.8), "middle quiet"),
      ];
    }),
    wrapped(wide * at, size * (big ? -0.6 : 0.4), remark, wide * room, small(0.8), "semi ink-o"),
  ];
}
