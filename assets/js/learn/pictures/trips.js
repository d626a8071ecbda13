// Three kernels and what each carries from HBM and back, on one scale; the sum behind it; how S grows with N.

import { svgCanvas, path, rect, stroke, text } from "../svg_canvas.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_trips.json" with { type: "json" };

const t = textsOf(texts);

/** @import { Api, TripsData } from "../types.js" */
/** @import { Paper, Drawn } from "../svg_canvas.js" */

/** @type {Record<string, string>} */
const HUES = { Q: "q", K: "k", V: "v", O: "o", S: "m", P: "l" };
/** @type {Record<string, string>} */
const INKS = { Q: "accent-ink", K: "ink-k", V: "ink-v", O: "ink-o", S: "ink-m", P: "l" };

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
    path(`M${x - wing} ${end}H${x + wing}L${x} ${to}Z`, { fill: `var(--fa-${hue})`, opacity: 0.8 }),
  ];
}

/** @param {TripsData} data @param {Api} api */
export function draw(data, api) {
  return svgCanvas(data, api, { share: 2.2, least: 400, most: 580 }, (now, paper) => {
    const { width, height, narrow, type } = paper;
    const high = narrow ? 250 : Math.round(height * 0.5);
    const bar = type * 1.9;
    const most = Math.max(
      ...now.kernels.flatMap(({ reads, writes }) =>
        [...reads, ...writes].map(([, bytes]) => bytes),
      ),
    );
    const column = width / 3;
    /** @type {Drawn[]} */
    const nodes = [
      rect(0, 0, width, bar, "line", {}, 6),
      text(12, bar * 0.68, t("hbm"), type, "bold"),
      rect(0, high - bar * 1.2, width, bar * 1.2, "chip-paper", stroke("chip-line", 1), 6),
      text(
        narrow ? width - 6 : 12,
        high - bar * 0.42,
        paper.big ? "" : t("chip"),
        type,
        `bold ${narrow ? "end" : ""}`,
      ),
    ];
    if (!paper.big)
      nodes.push(
        text(width - 12, bar * 0.66, narrow ? t("width.short") : t("width"), type - 2, "end quiet"),
      );
    const all = now.kernels.map(({ reads, writes }) => {
      const moves = [
        ...reads.map((move) => ({ move, isRead: true })),
        ...writes.map((move) => ({ move, isRead: false })),
      ];
      const at = slots(
        moves.map(({ move: [tensor] }) => tensor),
        column,
      );
      return moves.map(({ move: [tensor, bytes, size], isRead }, n) => ({
        tensor,
        bytes,
        size,
        isRead,
        ...at[n],
      }));
    });
    const unit = widest(all.flat(), most, 44);
    now.kernels.forEach(({ name }, k) => {
      const left = k * column;
      nodes.push(
        text(
          left + column / 2,
          high - bar * 0.42,
          narrow ? name : `${k + 1}. ${name}`,
          type,
          "bold middle",
        ),
      );
      all[k].forEach(({ tensor, bytes, size, isRead, ...at }) => {
        const x = left + at.x;
        const [from, to] = isRead
          ? [bar + 2, high - bar * 1.2 - 2]
          : [high - bar * 1.2 - 2, bar + 2];
        const wide = arrow(bytes, most, unit);
        nodes.push(flow(x, from, to, wide, HUES[tensor]));
        const y = (bar + high - bar * 1.2) / 2;
        const tx = x + wide / 2 + 5;
        nodes.push(text(tx, y, tensor, type, `bold ${INKS[tensor]} halo`));
        // On a phone only S and P have room for their amounts, the number above its unit
        const lines = paper.big
          ? []
          : !narrow
            ? [size]
            : "SP".includes(tensor)
              ? size.split(" ")
              : [];
        nodes.push(
          lines.map((words, n) => text(tx, y + type * (1.2 + n), words, type - 2.5, "quiet halo")),
        );
      });
      if (k)
        nodes.push(
          path(
            `M${left} ${bar + 6}V${high - bar * 1.2 - 6}`,
            stroke("line", 1, { "stroke-dasharray": "3 4" }),
          ),
        );
    });
    // The sum, and the ladder
    const [at, ladder] = narrow
      ? [high + type * 2, high + type * 16]
      : [high + type * 2.3, high + type * 2.3];
    const wide = narrow || paper.big ? width : width * 0.52;
    now.steps.forEach(([words, value], k) => {
      const y = at + k * type * (narrow ? 2.5 : 1.62);
      const isLast = k === now.steps.length - 1;
      if (isLast)
        nodes.push(path(`M0 ${y - type * (narrow ? 1.05 : 1.15)}H${wide}`, stroke("line", 1)));
      nodes.push(
        text(0, y, words, type - (narrow ? 2 : 0.5), isLast ? "quiet" : ""),
        text(
          wide,
          y + (narrow ? type * 1.05 : 0),
          value,
          type,
          `bold end ${k === 3 ? "ink-o" : isLast ? "quiet" : ""}`,
        ),
      );
    });
    if (paper.big) return nodes;
    const x0 = narrow ? 0 : width * 0.6;
    const room = width - x0;
    nodes.push(
      text(x0, ladder, now.heads === 1 ? t("s.one") : t("s", { n: now.heads }), type, "bold"),
    );
    const [from, full] = [x0 + type * 4.4, room - type * 9.2];
    const line = from + full * along(now.room, now.least, now.most);
    const last = ladder + 14 + now.ladder.length * type * 1.62;
    nodes.push(
      path(`M${line} ${ladder + 10}V${last}`, stroke("ink-o", 2, { "stroke-dasharray": "5 4" })),
    );
    now.ladder.forEach(({ n, bytes, text: size, now: isNow }, k) => {
      const y = ladder + 12 + k * type * 1.62;
      const share = Math.max(0.01, along(bytes, now.least, now.most));
      // What would lie across the line of the card's memory is set behind it
      const end = from + full * share + 8;
      const isAcross = end < line + 6 && end + size.length * (type - 1) * 0.62 > line - 6;
      nodes.push(
        text(from - 8, y + 13, n, type - 1, `${isNow ? "bold" : ""} end`),
        rect(from, y, full * share, 16, isNow ? "m" : "done"),
        text(isAcross ? line + 8 : end, y + 13, size, type - 1, `${isNow ? "bold" : ""} halo`),
      );
    });
    nodes.push(
      text(width, last + type, now.room_text, type - 2, "end ink-o"),
      text(x0, last + type * 2.3, t("log"), type - 2.5, "quiet"),
    );
    if (narrow) paper.used = Math.ceil(last + type * 3);
    return nodes;
  });
}
