// A matrix product in three orders of its loops, side by side: the same sums, begun and finished at other times.

import { group, minus, path, rect, stroke, svgCanvas, text } from "../../lib/svg_canvas.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_loops.json" with { type: "json" };

const t = textsOf(texts);

/** @import { Api, LoopOrder, LoopsData } from "../types.js" */

/** One order of the loops: A below B's left, C in the corner between them.
 * @param {LoopOrder} order @param {LoopsData} loopsData @param {number} cell @param {number} type px */
function one(order, { A, B, depth }, cell, type) {
  const side = B.length * cell;
  const corner = side + 14;
  const [i, j, k] = order.last ?? [];
  const size = Math.min(type + 1, cell * 0.5);
  /** A matrix at (left, top), `share` of each cell in its colour; the one of this step is framed.
   * @param {number} left @param {number} top @param {(number | null)[][]} values @param {string} hue
   * @param {(r: number, c: number) => number} share @param {(r: number, c: number) => boolean} isNow */
  const matrix = (left, top, values, hue, share, isNow) =>
    values.map((row, r) =>
      row.map((value, c) => {
        const wide = cell - 2;
        const [part, isFramed] = [share(r, c), isNow(r, c)];
        const paint = { opacity: isFramed ? 0.5 : 0.28 };
        const words = value === null ? "" : minus(value);
        return group(left + c * cell + 1, top + r * cell + 1, [
          rect(0, 0, wide, wide, "empty", {}, 3),
          part > 0 && rect(0, wide * (1 - part), wide, wide * part, hue, paint, 3),
          isFramed && rect(0, 0, wide, wide, "", stroke("ink", 2.5), 3),
          text(wide / 2, wide / 2 + size * 0.36, words, size, isFramed ? "bold middle" : "middle"),
        ]);
      }),
    );
  const name = (
    /** @type {number} */ x,
    /** @type {number} */ y,
    /** @type {string} */ words,
    /** @type {string} */ hue,
  ) => text(x, y, words, type + 3, `bold middle ${hue}`);
  return [
    matrix(
      0,
      corner,
      A,
      "q",
      (r) => Number(r === i),
      (r, c) => r === i && c === k,
    ),
    matrix(
      corner,
      0,
      B,
      "k",
      (_, c) => Number(c === j),
      (r, c) => c === j && r === k,
    ),
    matrix(
      corner,
      corner,
      order.C.map((row, r) => row.map((x, c) => (order.counts[r][c] ? x : null))),
      "o",
      (r, c) => order.counts[r][c] / depth,
      (r, c) => r === i && c === j,
    ),
    name(side / 2, corner - 8, "A", "accent-ink"),
    name(side - type, side / 2, "B", "ink-k"),
    name(side - 2, corner - 6, "C", "ink-o"),
  ];
}

/** {A, B, depth, done, all, orders: [{title, C, counts, last, finished, open}]} at one step. @param {LoopsData} data @param {Api} api */
export function draw(data, api) {
  return svgCanvas(data, api, { share: 1.9, least: 220, most: 560 }, (now, paper) => {
    const { width, height, narrow, type } = paper;
    const tall = now.A.length + now.B.length;
    const wide = now.B.length + now.B[0].length;
    const [column, room] = narrow ? [width, height / 3] : [width / 3, height];
    const inCorner = paper.big; // above A, left of B
    const aside = !inCorner && (narrow || column > 380);
    const foot = aside || inCorner ? 0 : type * 4.6;
    const cell = Math.max(
      16,
      Math.min(
        60,
        (aside ? column * (narrow ? 0.5 : 0.6) : column - 34) / wide,
        (room - foot - type * 2 - 22) / tall,
      ),
    );
    const down = type * 0.9;
    /** Where the r-th of the two counts stands. @param {number} r @returns {[number, number]} */
    const placeOf = (r) => {
      if (aside) return [wide * cell + 26, down + cell * 2 + r * type * 1.5];
      return [0, down + type * (1 + 1.45 * r) + (inCorner ? 0 : tall * cell + 20)];
    };
    const all = now.A.length * now.B[0].length;
    return now.orders.map((order, k) => {
      const { title, finished, open } = order;
      const counts = inCorner
        ? [t("finished.short", { n: finished }), t("begun.short", { n: open })]
        : [t("finished", { n: finished, all }), t("begun", { n: open })];
      const looks = ["semi", open ? "bold ink-o" : "ink-o"];
      return group(narrow ? 0 : k * column + 6, (narrow ? k * room : 0) + type, [
        text(0, 0, inCorner ? title.replaceAll("for ", "") : title, type + 1, "bold"),
        group(0, down, one(order, now, cell, type)),
        counts.map((words, r) => text(...placeOf(r), words, narrow ? 13 : type, looks[r])),
        !narrow && k > 0 && path(`M-14 ${-type}V${down + tall * cell + 14}`, stroke("line")),
      ]);
    });
  });
}
