// Warps: one tile in the colours of its warps, split by its keys and by its rows. Dark cells are the maxima that a warp can see; below, what
// goes through shared memory.

import { circle, rect, text, wrapped } from "../lib/svg_canvas.js";

/** @import { Drawn, Paper } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{split: "k" | "q", name: string, kernel: string, slices: [number, number][], total: string, barriers: string, remark: string}} Lane */
/** @typedef {{warp: number, tensor: string, size: string}} Written */
/** @typedef {{name: string, matrix: string[][], marked: [number, number][], stat: {name: string, values: string[]} | null, shared: Written[], sentence: string, moved: string, barrier: boolean}} State */
/** @typedef {{side: number, lanes: Lane[], texts: Record<string, string>}} Picture */
/** @typedef {{lanes: State[], is_written: boolean}} Beat */

export const height = { share: 2.7, least: 340, most: 640 };

const GAP = 7; // px between the parts of two warps
/** @param {number} warp */
const hue = (warp) => `w${warp}`;

/** @param {Scene} scene @param {Paper} paper @returns {Drawn} */
export function paint({ data, at }, paper) {
  /** @type {Picture} */
  const { side, lanes, texts } = data.picture;
  const beat = /** @type {Beat} */ (/** @type {unknown} */ (data.beats[at]));
  const { width, narrow, big, type } = paper;
  const size = big ? type : 15;
  const wide = narrow ? width : width * 0.47;
  const high = narrow ? 470 : paper.height;
  if (narrow) paper.used = lanes.length * high;
  return lanes.map((lane, k) =>
    paintLane(lane, beat.lanes[k], {
      side,
      texts,
      x: narrow ? 0 : k * (width - wide),
      y: narrow ? k * high : 0,
      wide,
      high: high - (narrow ? 22 : 0),
      size,
      narrow,
      big,
      isWritten: beat.is_written,
    }),
  );
}

/** @param {Lane} lane @param {State} state
 * @param {{side: number, texts: Record<string, string>, x: number, y: number, wide: number, high: number, size: number, narrow: boolean, big: boolean, isWritten: boolean}} at
 * @returns {Drawn} */
function paintLane(lane, state, { side, texts, x, y, wide, high, size, narrow, big, isWritten }) {
  const byKeys = lane.split === "k";
  const box = size * (big ? 5 : 5.4); // the height of shared memory
  const head = size * (big ? 3.2 : 4);
  const aside = narrow || big ? 0 : size * 9.4;
  const gaps = (lane.slices.length - 1) * GAP;
  const left = x + size * 2;
  const room = [wide - aside - size * 6.2, high - head - box - size * 1.4];
  const cell = [
    (room[0] - (byKeys ? gaps : 0)) / side,
    Math.min(34, (room[1] - (byKeys ? 0 : gaps)) / side),
  ];
  /** Which warp has this row or key, and how many gaps lie before it. @param {number} index */
  const ownerOf = (index) =>
    lane.slices.findIndex(([first, past]) => first <= index && index < past);
  const shift = (/** @type {number} */ index) => Math.max(0, ownerOf(index)) * GAP;
  const cx = (/** @type {number} */ column) =>
    left + column * cell[0] + (byKeys ? shift(column) : 0);
  const cy = (/** @type {number} */ row) => y + head + row * cell[1] + (byKeys ? 0 : shift(row));
  const marked = new Set(state.marked.map(([row, column]) => row * side + column));
  const end = cx(side - 1) + cell[0];
  const letter = Math.min(size * 0.9, cell[0] * 0.36);
  const cells = Array.from({ length: side * side }, (_, k) => {
    const [row, column] = [Math.floor(k / side), k % side];
    const warp = ownerOf(byKeys ? column : row);
    const isMarked = marked.has(k);
    const place = /** @type {const} */ ([cx(column), cy(row), cell[0] - 2, cell[1] - 2]);
    return [
      rect(...place, hue(warp), { opacity: isMarked ? 1 : 0.24 }, 2),
      state.matrix.length > 0 &&
        text(
          cx(column) + cell[0] / 2 - 1,
          cy(row) + cell[1] / 2 + letter * 0.34,
          state.matrix[row][column],
          letter,
          `middle ${isMarked ? "bold w-badge" : "ink"}`,
        ),
    ];
  });
  const badges = lane.slices.map(([first, past], warp) => {
    if (first === past) return null;
    const middle = byKeys
      ? [(cx(first) + cx(past - 1) + cell[0]) / 2, y + head - size * 0.95]
      : [x + size * 0.7, (cy(first) + cy(past - 1) + cell[1]) / 2];
    return [
      circle(middle[0], middle[1], size * 0.72, { fill: `var(--fa-${hue(warp)})` }),
      text(middle[0], middle[1] + size * 0.3, warp, size * 0.86, "middle bold w-badge"),
    ];
  });
  const { stat } = state;
  const foot = y + high - box;
  const right = narrow ? x : end + size * 4.3;
  const said = narrow ? foot - size * 1.2 : y + head + size;
  return [
    text(x, y + size * 1.1, lane.name, size * 1.25, "bold"),
    !narrow && !big && text(x + size * 5, y + size * 1.1, lane.kernel, size, "quiet"),
    badges,
    cells,
    stat && [
      text(end + size * 2, y + head - size * 0.7, stat.name, size, "middle bold accent-ink"),
      stat.values.map((value, row) =>
        text(
          end + size * 3.3,
          cy(row) + cell[1] * 0.5 + size * 0.3,
          value,
          size * 0.86,
          "end semi",
        ),
      ),
    ],
    aside > 0 && [wrapped(right, said, state.sentence, aside - size * 0.4, size * 0.9, "quiet")],
    !aside
      ? text(
          x + wide,
          y + size * 1.1,
          lane.total,
          size * 1.2,
          `end bold ${byKeys ? "ink-o" : "accent-ink"}`,
        )
      : [
          text(
            right,
            foot - size * 4.2,
            lane.total,
            size * 1.6,
            `bold ${byKeys ? "ink-o" : "accent-ink"}`,
          ),
          wrapped(
            right,
            foot - size * 2.8,
            `${lane.remark}, ${lane.barriers}`,
            aside - size * 0.4,
            size * 0.86,
            "quiet",
          ),
        ],
    rect(x, foot, wide, box, "accent-pale", {}, 8),
    text(x + size, foot + size * 1.35, texts.shared, size * 0.95, "semi accent-ink"),
    paintShared(state, texts, byKeys, isWritten, x + size, foot + size * 2, wide - size * 2, size),
  ];
}

/** What lies in shared memory, a packet for each warp that wrote. @param {State} state @param {Record<string, string>} texts
 * @param {boolean} byKeys @param {boolean} isWritten @param {number} x @param {number} y @param {number} wide @param {number} size @returns {Drawn} */
function paintShared({ shared, barrier }, texts, byKeys, isWritten, x, y, wide, size) {
  if (!shared.length)
    return text(
      x,
      y + size * 1.6,
      byKeys || !isWritten ? texts.empty : texts.nothing,
      size,
      "quiet",
    );
  const pitch = Math.min(size * 5.4, (wide * 0.7) / shared.length);
  return [
    shared.map(({ warp, tensor, size: bytes }, k) => [
      rect(x + k * pitch, y, pitch * 0.86, size * 1.3, hue(warp), {}, 3),
      text(
        x + k * pitch + pitch * 0.43,
        y + size * 0.98,
        tensor,
        size * 0.86,
        "middle bold w-badge",
      ),
      text(x + k * pitch + pitch * 0.43, y + size * 2.5, bytes, size * 0.8, "middle quiet"),
    ]),
    (isWritten || barrier) &&
      wrapped(x + wide * 0.74, y + size * 0.4, texts.barrier, wide * 0.3, size * 0.8, "semi ink-o"),
  ];
}
