// A run on its way: a map of tiles for each method, which fills as its kernel reports.

import { cellPath, cellsOf, widthOf } from "../lib/chart.js";
import { ink, path, rect, stroke, text } from "../lib/svg_canvas.js";
import { hatching, sign } from "./shapes.js";

/** @import { Paper } from "../lib/svg_canvas.js" */
/** @typedef {{name: string, state: "waiting" | "running" | "done" | "refused", status: string, cells: string, columns: number,
 *   frame: [number, number] | null, label: string, arrow: string, notes: string[]}} Lane */

/** @type {Record<string, [look: string, opacity: number]>} */
const FILLS = { d: ["done", 1], n: ["accent", 0.45], o: ["empty", 1] };
const HEAD = 44;

/** @param {{lanes: Lane[]}} state @param {Paper} paper */
export function paintLanes({ lanes }, paper) {
  const size = paper.type;
  const across = paper.narrow ? 2 : Math.max(4, lanes.length);
  const gap = paper.narrow ? 24 : Math.min(64, paper.width / 20);
  const wide = (paper.width - gap * (across - 1)) / across;
  const below = size * 3.6;
  const side = Math.min(wide, paper.narrow ? wide : paper.height - HEAD - below);
  const rows = Math.ceil(lanes.length / across);
  if (paper.narrow) paper.used = rows * (HEAD + side + below);
  return [
    hatching("fa-lane-hatch"),
    lanes.map((lane, k) => {
      const x = (k % across) * (wide + gap);
      const y = Math.floor(k / across) * (HEAD + side + below);
      return drawLane(lane, x, y, side, size);
    }),
  ];
}

/** @param {Lane} lane @param {number} x @param {number} y @param {number} side @param {number} size */
function drawLane(lane, x, y, side, size) {
  const { state, cells, status, notes } = lane;
  const isNow = state === "running";
  const right = x + side;
  const top = y + HEAD;
  return [
    text(x, y + 18, lane.name, size + 2, state === "waiting" ? "bold quiet" : "bold"),
    text(right, y + 18, status, size, isNow ? "accent-ink bold end" : "quiet end"),
    state === "done" && sign(right - widthOf(status, size) - 12, y + 14, true, 5),
    state === "refused" && sign(right - 8, y + 14, false, 5),
    cells
      ? drawCells(lane, x, top, side, size)
      : rect(x, top, side, side, state === "done" ? "done" : "empty", {}, 3),
    !cells && isNow && rect(x, top, side, side, "", { ...stroke("ink", 2.5) }, 3),
    drawArrow(lane, x, top, side),
    notes.map((note, k) => text(x, top + side + size * (1.6 + 1.5 * k), note, size, "quiet")),
  ];
}

/** @param {Lane} lane @param {number} x @param {number} y @param {number} side @param {number} size */
function drawCells({ cells, columns, frame, label, state }, x, y, side, size) {
  const rows = cells.length / columns;
  const cell = side / Math.max(rows, columns);
  const gap = cell > 10 ? 2 : cell > 5 ? 1 : 0.4;
  const of = (/** @type {string} */ kind) =>
    cellPath(cellsOf(cells, columns, kind), { x, y, wide: cell, high: cell, gap });
  const shapes = Object.entries(FILLS).map(([kind, [fill, opacity]]) =>
    path(of(kind), { fill: ink(fill), opacity }),
  );
  const last = frame
    ? cells.slice(frame[1] * columns, (frame[1] + 1) * columns).lastIndexOf("n")
    : -1;
  const isRight = last > columns / 2;
  return [
    path(of("."), { fill: "url(#fa-lane-hatch)" }),
    shapes,
    frame &&
      last >= 0 && [
        rect(
          x - 2,
          y + frame[0] * cell - 2,
          (last + 1) * cell + 3,
          (frame[1] - frame[0] + 1) * cell + 3,
          "",
          stroke("ink", 2.5),
          4,
        ),
        text(
          isRight ? x + side - 2 : x + (last + 1) * cell + 10,
          y + frame[0] * cell - (isRight ? 8 : -cell / 2 - size * 0.3),
          label,
          size - 1,
          isRight ? "semi halo end" : "semi halo",
        ),
      ],
    !frame &&
      state === "running" &&
      cells.includes("n") &&
      rect(x - 2, y - 2, columns * cell + 3, rows * cell + 3, "", stroke("ink", 2.5), 4),
  ];
}

/** How the loop goes: along the keys, or along the queries. @param {Lane} lane @param {number} x @param {number} y @param {number} side */
function drawArrow({ arrow }, x, y, side) {
  if (!arrow) return null;
  const line = { ...stroke("quiet", 1.5), "stroke-linecap": "round" };
  if (arrow === "keys") return path(`M${x} ${y - 9}h${side}m-6 -4l6 4l-6 4`, line);
  return arrow === "rows"
    ? path(`M${x - 9} ${y}v${side}m-4 -6l4 6l4 -6`, line)
    : path(`M${x - 9} ${y + side}v${-side}m-4 6l4 -6l4 6`, line);
}
