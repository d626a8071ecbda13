// Three kernels and what each carries from HBM and back, on one scale; the sum behind it; how S grows with N.

import { HUES, ink, INKS, path, rect, stroke, svgCanvas, text } from "../../lib/svg_canvas.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_trips.json" with { type: "json" };

const t = textsOf(texts);

/** @import { Api, TripsData } from "../types.js" */
/** @import { Paper } from "../../lib/svg_canvas.js" */

/** Width of an arrow in px, in proportion to its bytes; a hair where that is less. @param {number} bytes @param {number} most @param {number} widest */
export const arrow = (bytes, most, widest) => Math.max(1.5, (bytes / most) * widest);

/** Where the arrows of one kernel stand in a column of this width: [{x, slot}, …]; S and P, the wide ones, have twice
 * the room of the others.
 * @param {string[]} tensors @param {number} column */
export function slots(tensors, column) {
  const shares = tensors.map((tensor) => ("SP".includes(tensor) ? 2 : 1));
  const one = column / shares.reduce((sum, share) => sum + share, 0);
  let left = 0;
  return shares.map((share) => {
    const slot = one * share;
    left += slot;
    return { x: left - (share > 1 ? 0.7 : 0.8) * slot, slot };
  });
}

/** Px of the widest arrow, so that every arrow of all kernels stays within its share of its slot, on one scale. @param {{bytes: number, slot: number}[]} arrows @param {number} most @param {number} limit */
export function widest(arrows, most, limit) {
  return Math.min(limit, ...arrows.map(({ bytes, slot }) => 0.45 * slot * (most / bytes)));
}

/** Where a size lies on a logarithmic axis from `least` to `most`, 0 to 1. @param {number} bytes @param {number} least @param {number} most */
export const along = (bytes, least, most) => Math.log(bytes / least) / Math.log(most / least);

/** @param {number} x @param {number} from @param {number} to @param {number} width @param {string} hue */
function flow(x, from, to, width, hue) {
  const [head, wing] = [Math.max(7, width * 0.5), Math.max(5, width * 0.75)];
  const end = to > from ? to - head : to + head;
  return [
    rect(x - width / 2, Math.min(from, end), width, Math.abs(end - from), hue, { opacity: 0.8 }),
    path(`M${x - wing} ${end}H${x + wing}L${x} ${to}Z`, { fill: ink(hue), opacity: 0.8 }),
  ];
}

/** HBM, the chip, and what each kernel carries between them. @param {TripsData} now @param {Paper} paper @param {number} high */
function carried({ kernels }, { width, narrow, big, type }, high) {
  const bar = type * 1.9;
  const chip = high - bar * 1.2;
  const column = width / 3;
  const moves = kernels.map(({ reads, writes }) => {
    const all = [...reads, ...writes];
    const at = slots(
      all.map(([tensor]) => tensor),
      column,
    );
    return all.map(([tensor, bytes, size], n) => {
      return { tensor, bytes, size, isRead: n < reads.length, ...at[n] };
    });
  });
  const most = Math.max(...moves.flat().map(({ bytes }) => bytes));
  const unit = widest(moves.flat(), most, 44);
  // On a phone only S and P have room for their amounts, the number above its unit
  const linesOf = (/** @type {string} */ tensor, /** @type {string} */ size) => {
    if (big) return [];
    if (!narrow) return [size];
    return "SP".includes(tensor) ? size.split(" ") : [];
  };
  const kernel = (/** @type {{name: string}} */ { name }, /** @type {number} */ k) => [
    text(
      (k + 0.5) * column,
      high - bar * 0.42,
      narrow ? name : `${k + 1}. ${name}`,
      type,
      "bold middle",
    ),
    moves[k].map(({ tensor, bytes, size, isRead, ...at }) => {
      const x = k * column + at.x;
      const ends = /** @type {[number, number]} */ ([bar + 2, chip - 2]);
      const [from, to] = isRead ? ends : ends.reverse();
      const wide = arrow(bytes, most, unit);
      const [left, y] = [x + wide / 2 + 5, (bar + chip) / 2];
      return [
        flow(x, from, to, wide, HUES[tensor]),
        text(left, y, tensor, type, `bold ${INKS[HUES[tensor]]} halo`),
        linesOf(tensor, size).map((words, n) =>
          text(left, y + type * (1.2 + n), words, type - 2.5, "quiet halo"),
        ),
      ];
    }),
    k > 0 &&
      path(
        `M${k * column} ${bar + 6}V${chip - 6}`,
        stroke("line", 1, { "stroke-dasharray": "3 4" }),
      ),
  ];
  return [
    rect(0, 0, width, bar, "line", {}, 6),
    text(12, bar * 0.68, t("hbm"), type, "bold"),
    rect(0, chip, width, bar * 1.2, "chip-paper", stroke("chip-line"), 6),
    !big && [
      text(
        narrow ? width - 6 : 12,
        high - bar * 0.42,
        t("chip"),
        type,
        narrow ? "bold end" : "bold",
      ),
      text(width - 12, bar * 0.66, narrow ? t("width.short") : t("width"), type - 2, "end quiet"),
    ],
    kernels.map(kernel),
  ];
}

/** The sum of the bytes, line by line; the last one below a stroke.
 * @param {TripsData["steps"]} steps @param {Paper} paper @param {number} top @param {number} wide */
function added(steps, { narrow, type }, top, wide) {
  return steps.map(([words, value], k) => {
    const y = top + k * type * (narrow ? 2.5 : 1.62);
    const isLast = k === steps.length - 1;
    const look = isLast ? "quiet" : "";
    return [
      isLast && path(`M0 ${y - type * (narrow ? 1.05 : 1.15)}H${wide}`, stroke("line")),
      text(0, y, words, type - (narrow ? 2 : 0.5), look),
      text(
        wide,
        y + (narrow ? type * 1.05 : 0),
        value,
        type,
        `bold end ${k === 3 ? "ink-o" : look}`,
      ),
    ];
  });
}

/** How S grows with N, beside the card's memory; and where that ends.
 * @param {TripsData} now @param {Paper} paper @param {number} left @param {number} top */
function ladder(now, { width, type }, left, top) {
  const [from, full] = [left + type * 4.4, width - left - type * 9.2];
  const line = from + full * along(now.room, now.least, now.most);
  const last = top + 14 + now.ladder.length * type * 1.62;
  const rungs = now.ladder.map(({ n, bytes, text: size, now: isNow }, k) => {
    const y = top + 12 + k * type * 1.62;
    const wide = full * Math.max(0.01, along(bytes, now.least, now.most));
    const bold = isNow ? "bold" : "";
    // What would lie across the line of the card's memory is set behind it
    const end = from + wide + 8;
    const isAcross = end < line + 6 && end + size.length * (type - 1) * 0.62 > line - 6;
    return [
      text(from - 8, y + 13, n, type - 1, `${bold} end`),
      rect(from, y, wide, 16, isNow ? "m" : "done"),
      text(isAcross ? line + 8 : end, y + 13, size, type - 1, `${bold} halo`),
    ];
  });
  const nodes = [
    text(left, top, now.heads === 1 ? t("s.one") : t("s", { n: now.heads }), type, "bold"),
    path(`M${line} ${top + 10}V${last}`, stroke("ink-o", 2, { "stroke-dasharray": "5 4" })),
    rungs,
    text(width, last + type, now.room_text, type - 2, "end ink-o"),
    text(left, last + type * 2.3, t("log"), type - 2.5, "quiet"),
  ];
  return { nodes, last };
}

/** @param {TripsData} data @param {Api} api */
export function draw(data, api) {
  return svgCanvas(data, api, { share: 2.2, least: 400, most: 580 }, (now, paper) => {
    const { width, height, narrow, big, type } = paper;
    const high = narrow ? 250 : Math.round(height * 0.5);
    const top = high + type * (narrow ? 2 : 2.3);
    const nodes = [
      carried(now, paper, high),
      added(now.steps, paper, top, narrow || big ? width : width * 0.52),
    ];
    if (big) return nodes;
    const found = ladder(now, paper, narrow ? 0 : width * 0.6, narrow ? high + type * 16 : top);
    if (narrow) paper.used = Math.ceil(found.last + type * 3);
    return [nodes, found.nodes];
  });
}
