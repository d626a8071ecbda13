// The pictures of the four claims: errors beside their limits, the map of tiles, bars of time and of memory.

import { scale, widthOf } from "../lib/chart.js";
import { clamp } from "../lib/format.js";
import { group, line, path, rect, stroke, text, tipped } from "../lib/svg_canvas.js";
import { barsOf, decades, dot, hatching, hueOf, sign } from "./shapes.js";
import { t } from "./result_texts.js";

/** @import { Paper, Pen } from "../lib/svg_canvas.js" */
/** @typedef {{name: string, columns: number, cells: string, down: number, across: number, texts: string[], worst: number, steps: (number | null)[]}} TileMap */

/** @typedef {{name: string, main: boolean, method: string, error: number, allowed: number, right: boolean, text: string}} Checked */

/** The largest error of each method on a log axis, and from where on none is allowed.
 * @param {{rows: Checked[], axis: [number, number], allowed: string}} claim @param {Paper} paper */
export function paintErrors({ rows, axis, allowed }, paper) {
  const { width, height, type: size } = paper;
  const left = Math.max(...rows.map(({ name }) => widthOf(name, size))) + 14;
  const right = width - 2;
  const top = size * 1.7;
  const row = Math.min(size * 3.4, (height - top - size * 2.2) / rows.length);
  const at = scale(axis, [left, right]);
  const place = (/** @type {number} */ x) => at(clamp(x > 0 ? Math.log10(x) : axis[0], ...axis));
  const limits = rows.map((one) => place(one.allowed));
  const edge = limits.map((x, k) => `${x} ${top + k * row}v${row}`).join("L");
  if (paper.narrow) paper.used = top + row * rows.length + size * 2.2;
  return [
    limits.map((x, k) => rect(x, top + k * row, right - x, row + 0.5, "risen")),
    rows.map((one, k) => {
      const y = top + (k + 0.5) * row;
      const x = place(one.error);
      return tipped(
        [
          text(0, y + size * 0.36, one.name, size, one.main ? "bold" : "quiet"),
          path(`M${left} ${y}H${limits[k]}`, stroke("line", 1.5)),
          one.right ? dot(x, y, one.main, hueOf(one)) : sign(x, y, false),
          rect(0, y - row / 2, width, row, "", { fill: "transparent" }),
        ],
        one.text,
      );
    }),
    path(`M${edge}`, stroke("risen-ink", 2)),
    text(limits[0] - 6, top - 7, allowed, size - 1, "risen-ink semi end"),
    decades(...axis, at, top + row * rows.length + size * 1.4, size - 1),
  ];
}

/** A map of tiles as squares; a tile can be chosen, and opens on the Step page when pressed.
 * @param {{map: TileMap, note: string, chosen: number, choose: (k: number) => void, open: (k: number) => void}} it
 * @param {Paper} paper @param {Pen<any>} pen */
export function paintMap({ map, note, chosen, choose, open }, paper, pen) {
  const { cells, columns, texts, steps } = map;
  const size = paper.type;
  const rows = cells.length / columns;
  const side = Math.min(
    (paper.height - size * 1.8) / rows,
    (paper.width * (columns > 12 ? 1 : 0.62)) / columns,
  );
  const gap = side > 12 ? 2 : side > 6 ? 1 : 0.5;
  const [i, j] = [Math.floor(chosen / columns), chosen % columns];
  const signs = side > 16;
  const centre = (side - gap) / 2;
  const isKnob = cells.length <= 256;
  const drawn = [...cells].map((cell, k) => {
    const [y, x] = [Math.floor(k / columns) * side, (k % columns) * side];
    const fill =
      cell === "." ? "url(#fa-run-hatch)" : cell === "x" ? "var(--fa-risen-ink)" : "var(--fa-done)";
    const shape = group(0, 0, [
      rect(x, y, side - gap, side - gap, "", { fill }, Math.min(3, side / 6)),
      signs && cell === "=" && sign(x + centre, y + centre, true, side / 6.5),
      signs && cell === "x" && sign(x + centre, y + centre, false, side / 5.5, "paper"),
    ]);
    if (cell === ".") return shape;
    const name = nameOf(map, k);
    tipped(shape, `${name}\n${texts[k] || t("differs")}`);
    if (!isKnob) return shape;
    return pen.knob(
      {
        key: `tile ${k}`,
        label: name,
        text: texts[k].replace("\n", ", ") || t("differs"),
        group: "tiles",
        chosen: k === chosen,
        keys: (dx, dy) => choose(step(cells, columns, k, dx, dy)),
        press: () => (k === chosen && steps[k] !== null ? open(k) : choose(k)),
      },
      shape,
    );
  });
  const frame =
    chosen >= 0 &&
    rect(
      j * side - gap - 1,
      i * side - gap - 1,
      side + gap + 2,
      side + gap + 2,
      "",
      { ...stroke("ink", 2.5), "pointer-events": "none" },
      4,
    );
  const beside = columns * side + 16;
  if (paper.narrow) paper.used = rows * side + size * 2;
  const [first = "", second = ""] = (texts[chosen] ?? "").split("\n");
  const low = Math.max(size, Math.min(rows * side - size * 4.4, i * side - size));
  const can = steps[chosen] !== null && steps[chosen] !== undefined;
  return [
    hatching("fa-run-hatch"),
    group(2, 0, [drawn, frame]), // room for the frame of a tile at the left
    chosen >= 0 &&
      paper.width - beside > 90 && [
        text(beside, low, nameOf(map, chosen), size - 1, "bold"),
        text(beside, low + size * 1.45, first || t("differs"), size - 1),
        text(beside, low + size * 2.75, second, size - 1),
        can &&
          pen.knob({ key: "open", label: t("open"), text: "", press: () => open(chosen) }, [
            text(beside, low + size * 4.2, t("open"), size - 1, "accent-ink semi"),
          ]),
      ],
    text(0, rows * side + size * 1.5, note, size - 1, "quiet"),
  ];
}

/** @param {TileMap} map @param {number} k */
function nameOf({ columns, down, across }, k) {
  const at = { i: Math.floor(k / columns) * down, j: (k % columns) * across };
  return t(down * across > 1 ? "tiles_of" : "tile", at);
}

/** The next tile in this direction that is not skipped, or this one.
 * @param {string} cells @param {number} columns @param {number} k @param {number} dx @param {number} dy up */
function step(cells, columns, k, dx, dy) {
  let [i, j] = [Math.floor(k / columns) - dy, (k % columns) + dx];
  for (; i >= 0 && j >= 0 && j < columns && i * columns + j < cells.length; i -= dy, j += dx)
    if (cells[i * columns + j] !== ".") return i * columns + j;
  return k;
}

/** Bars of time, or of memory with a note below. @param {any} claim @param {Paper} paper @param {boolean} isLarge alone on the page */
export function paintBars({ key, bars, note }, paper, isLarge) {
  if (!bars.length) return null;
  const size = paper.type;
  const isTime = key === "fast";
  const room = paper.height - (isTime ? 0 : size * 1.6);
  const row = Math.min(size * (isLarge ? 4.1 : 2.9), room / bars.length);
  if (paper.narrow) paper.used = row * bars.length + (isTime ? 8 : size * 2);
  return [
    barsOf(bars, paper, { top: 4, row, loops: isTime && isLarge && !paper.narrow }),
    !isTime && text(0, row * bars.length + size * 1.4, note, size - 1, "quiet"),
  ];
}

/** The gradients' largest differences, as lines. @param {any} claim @param {Paper} paper */
export function paintRows({ rows }, paper) {
  const size = paper.type;
  return rows.map((/** @type {string[]} */ [name, value], /** @type {number} */ k) =>
    line(
      0,
      size * 1.4 + k * size * 2.1,
      [
        [`|Δ${name}| ≤ `, "quiet"],
        [value, "semi"],
      ],
      size + 1,
    ),
  );
}
