// Warps: one tile in the colours of its warps, split by its keys and by its rows. Dark cells are the maxima that a warp can see; below, what
// goes through shared memory.

import { widthOf } from "../lib/chart.js";
import { times } from "../lib/lists.js";
import { circle, ink, line, rect, text, wrapped } from "../lib/svg_canvas.js";

/** @import { Drawn, Paper } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{split: "k" | "q", name: string, kernel: string, slices: [number, number][], total: string, unit: string, remark: string}} Lane */
/** @typedef {{warp: number, tensor: string, size: string}} Written */
/** @typedef {{matrix: string[][], marked: [number, number][], stat: {name: string, values: string[]} | null, shared: Written[], sentence: string, remark: string}} State */
/** @typedef {{side: number, lanes: Lane[], shared: string}} Picture */

const GAP = 7; // px between the parts of two warps
/** @param {number} warp */
const hue = (warp) => `w${warp}`;

/** @param {Scene<Picture, {lanes: State[]}>} scene @param {Paper} paper @returns {Drawn} */
export function warps({ picture, beat }, paper) {
  const { side, lanes, shared } = picture;
  const states = beat.lanes;
  const { width, narrow, big } = paper;
  const wide = narrow ? width : width * (big ? 0.485 : 0.47);
  const high = narrow ? 470 : paper.height;
  if (narrow) paper.used = lanes.length * high;
  return lanes.map((lane, k) => {
    const [x, y] = narrow ? [0, k * high] : [k * (width - wide), 0];
    return paintLane(
      lane,
      states[k],
      side,
      shared,
      { x, y, wide, high: high - (narrow ? 22 : 0) },
      paper,
    );
  });
}

/** @param {Lane} lane @param {State} state @param {number} side @param {string} shared the name of shared memory
 * @param {{x: number, y: number, wide: number, high: number}} box @param {Paper} paper @returns {Drawn} */
function paintLane(lane, state, side, shared, { x, y, wide, high }, paper) {
  const { type: size, small, narrow, big } = paper;
  const byKeys = lane.split === "k";
  const strong = `bold ${byKeys ? "ink-o" : "accent-ink"}`;
  const box = size * (big ? 5 : 5.4); // the height of shared memory
  const head = y + size * (big ? 3.2 : 4);
  const aside = narrow || big ? 0 : size * 9.4;
  const gaps = (lane.slices.length - 1) * GAP;
  const badges = byKeys && big ? 0 : size * (big ? 1.7 : 2);
  const left = x + badges;
  const cx = (wide - aside - badges - size * (big ? 2.8 : 4.2) - (byKeys ? gaps : 0)) / side;
  const room = y + high - head - box - size * 1.4 - (byKeys ? 0 : gaps);
  const cy = Math.min(big ? size * 1.42 : 34, room / side);
  /** Which warp has this row or key. @param {number} index */
  const ownerOf = (index) =>
    lane.slices.findIndex(([first, past]) => first <= index && index < past);
  const across = (/** @type {number} */ k) => left + k * cx + (byKeys ? ownerOf(k) * GAP : 0);
  const down = (/** @type {number} */ k) => head + k * cy + (byKeys ? 0 : ownerOf(k) * GAP);
  const marked = new Set(state.marked.map(([row, column]) => row * side + column));
  const cells = times(side * side, (k) => {
    const [row, column] = [Math.floor(k / side), k % side];
    return { row, column, px: across(column), py: down(row), isMarked: marked.has(k) };
  });
  const end = across(side - 1) + cx;
  const letter = big ? size : Math.min(size * 0.9, cx * 0.36);
  const foot = y + high - box;
  const right = narrow ? x : end + size * 4.3;
  const beside = aside - size * 0.4;
  return [
    text(x, y + size * 1.1, lane.name, size * 1.25, "bold"),
    !narrow && !big && text(x + size * 5, y + size * 1.1, lane.kernel, size, "quiet"),
    lane.slices.map(([first, past], warp) => {
      if (first === past) return null;
      const middle = (/** @type {(k: number) => number} */ of, /** @type {number} */ one) =>
        (of(first) + of(past - 1) + one) / 2;
      const [bx, by] = byKeys
        ? [middle(across, cx), head - size * 0.95]
        : [x + size * 0.7, middle(down, cy)];
      return [
        circle(bx, by, size * 0.72, { fill: ink(hue(warp)) }),
        text(bx, by + size * 0.3, warp, small(0.86), "middle bold w-badge"),
      ];
    }),
    cells.map(({ px, py, row, column, isMarked }) =>
      rect(
        px,
        py,
        cx - 2,
        cy - 2,
        hue(ownerOf(byKeys ? column : row)),
        { opacity: isMarked ? 1 : 0.24 },
        2,
      ),
    ),
    state.matrix.length > 0 &&
      cells.map(({ px, py, row, column, isMarked }) =>
        text(
          px + cx / 2 - 1,
          py + cy / 2 + letter * 0.34,
          state.matrix[row][column],
          letter,
          `middle ${isMarked ? "bold w-badge" : "ink"}`,
        ),
      ),
    state.stat && [
      text(
        end + size * (big ? 1.4 : 2),
        head - size * 0.7,
        state.stat.name,
        size,
        "middle bold accent-ink",
      ),
      state.stat.values.map((value, row) =>
        text(
          end + size * (big ? 2.7 : 3.3),
          down(row) + cy * 0.5 + size * 0.3,
          value,
          small(0.86),
          "end semi",
        ),
      ),
    ],
    aside
      ? [
          wrapped(right, head + size, state.sentence, beside, size * 0.9, "quiet"),
          text(right, foot - size * 5, lane.total, size * 1.6, strong),
          wrapped(right, foot - size * 3.6, lane.remark, beside, size * 0.86, "quiet"),
        ]
      : line(
          x + wide,
          y + size * 1.1,
          [
            [lane.total, strong],
            [big ? `  ${lane.unit}` : "", "quiet"],
          ],
          small(1.1),
          "end",
        ),
    rect(x, foot, wide, box, "accent-pale", {}, 8),
    text(x + size, foot + size * 1.35, shared, small(0.95), "semi accent-ink"),
    paintShared(state, x + size, foot + size * 2, wide - size * 2, paper),
  ];
}

/** What lies in shared memory, a packet for each warp that wrote. @param {State} state @param {number} x @param {number} y @param {number} wide @param {Paper} paper @returns {Drawn} */
function paintShared({ shared, remark }, x, y, wide, { type: size, small, big }) {
  if (!shared.length) return text(x, y + size * 1.6, remark, size, "quiet");
  const pitch = Math.min(size * 5.4, (wide * (big ? 0.56 : 0.7)) / shared.length);
  return [
    shared.map(({ warp, tensor, size: bytes }, k) => {
      const middle = x + k * pitch + pitch * 0.43;
      return [
        rect(x + k * pitch, y, pitch * 0.86, size * 1.3, hue(warp), {}, 3),
        text(middle, y + size * 0.98, tensor, small(0.86), "middle bold w-badge"),
        (!k || pitch > widthOf(bytes, small(0.8))) &&
          text(middle, y + size * 2.5, bytes, small(0.8), "middle quiet"),
      ];
    }),
    big
      ? wrapped(x + wide * 0.6, y - size * 0.6, remark, wide * 0.44, size, "semi ink-o")
      : wrapped(x + wide * 0.74, y + size * 0.4, remark, wide * 0.3, size * 0.8, "semi ink-o"),
  ];
}
