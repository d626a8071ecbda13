// A matrix product in three orders of its loops, side by side: the same sums, begun and finished at other times.

import { svgCanvas, path, rect, stroke, text } from "../svg_canvas.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_loops.json" with { type: "json" };

const t = textsOf(texts);

/** @import { Api, LoopOrder, LoopsData } from "../types.js" */
/** @import { Paper, Drawn } from "../svg_canvas.js" @param {number} x */

const short = (x) => String(x).replace("-", "−");

/** One order of the loops at (left, top): A below B's left, C in the corner between them.
 * @param {LoopOrder} order @param {LoopsData} loopsData @param {number} left @param {number} top @param {number} cell @param {Paper} paper */
function one(order, { A, B, depth }, left, top, cell, paper) {
  const [rows, inner, cols] = [A.length, B.length, B[0].length];
  const [cx, cy] = [left + inner * cell + 14, top + inner * cell + 14];
  /** @type {Drawn[]} */
  const nodes = [];
  const [i, j, k] = order.last ?? [];
  const size = Math.min(paper.type + 1, cell * 0.5);
  const box = (
    /** @type {number} */ x,
    /** @type {number} */ y,
    /** @type {number | null} */ value,
    /** @type {string} */ hue,
    /** @type {number} */ share,
    /** @type {boolean} */ isNow,
  ) => [
    rect(x + 1, y + 1, cell - 2, cell - 2, "empty", {}, 3),
    share > 0 &&
      rect(
        x + 1,
        y + 1 + (cell - 2) * (1 - share),
        cell - 2,
        (cell - 2) * share,
        hue,
        { opacity: isNow ? 0.5 : 0.28 },
        3,
      ),
    isNow && rect(x + 1, y + 1, cell - 2, cell - 2, "", stroke("ink", 2.5), 3),
    text(
      x + cell / 2,
      y + cell / 2 + size * 0.36,
      value === null ? "" : short(value),
      size,
      `${isNow ? "bold" : ""} middle`,
    ),
  ];
  A.forEach((row, r) =>
    row.forEach((x, c) =>
      nodes.push(box(left + c * cell, cy + r * cell, x, "q", r === i ? 1 : 0, r === i && c === k)),
    ),
  );
  B.forEach((row, r) =>
    row.forEach((x, c) =>
      nodes.push(box(cx + c * cell, top + r * cell, x, "k", c === j ? 1 : 0, c === j && r === k)),
    ),
  );
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < cols; c++) {
      const count = order.counts[r][c];
      nodes.push(
        box(
          cx + c * cell,
          cy + r * cell,
          count ? order.C[r][c] : null,
          "o",
          count / depth,
          r === i && c === j,
        ),
      );
    }
  const name = (
    /** @type {number} */ x,
    /** @type {number} */ y,
    /** @type {string} */ words,
    /** @type {string} */ hue,
  ) => text(x, y, words, paper.type + 3, `bold middle ${hue}`);
  nodes.push(
    name(left + (inner * cell) / 2, cy - 8, "A", "accent-ink"),
    name(cx - 14 - paper.type, top + (inner * cell) / 2, "B", "ink-k"),
    name(cx - 16, cy - 6, "C", "ink-o"),
  );
  return nodes;
}

/** {A, B, depth, done, all, orders: [{title, C, counts, last, finished, open}]} at one step. @param {LoopsData} data @param {Api} api */
export function draw(data, api) {
  return svgCanvas(data, api, { share: 1.9, least: 220, most: 560 }, (now, paper) => {
    const { width, height, narrow, type } = paper;
    const tall = now.A.length + now.B.length;
    const wide = now.B.length + now.B[0].length;
    const across = narrow ? 1 : 3;
    const [column, room] = [width / across, narrow ? height / 3 : height];
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
    return now.orders.map((/** @type {LoopOrder} */ order, k) => {
      const left = narrow ? 0 : k * column + 6;
      const top = (narrow ? k * room : 0) + type;
      const down = top + type * 0.9;
      /** @type {Drawn[]} */
      const nodes = [
        text(
          left,
          top,
          inCorner ? order.title.replaceAll("for ", "") : order.title,
          type + 1,
          "bold",
        ),
        one(order, now, left, down, cell, paper),
      ];
      const side = /** @type {[string, string][]} */ ([
        [
          inCorner
            ? t("finished.short", { n: order.finished })
            : t("finished", { n: order.finished, all: now.A.length * now.B[0].length }),
          "semi",
        ],
        [
          inCorner ? t("begun.short", { n: order.open }) : t("begun", { n: order.open }),
          order.open ? "bold ink-o" : "ink-o",
        ],
      ]);
      side.forEach(([words, look], r) =>
        nodes.push(
          inCorner
            ? text(left, down + type * (1 + 1.45 * r), words, type, look)
            : aside
              ? text(
                  left + wide * cell + 26,
                  down + cell * 2 + r * type * 1.5,
                  words,
                  narrow ? 13 : type,
                  look,
                )
              : text(left, down + tall * cell + 20 + type * (1 + 1.45 * r), words, type, look),
        ),
      );
      if (!narrow && k)
        nodes.push(path(`M${left - 14} 0V${down + tall * cell + 14}`, stroke("line", 1)));
      return nodes;
    });
  });
}
