// A launch over a card's SMs, one warp of 32 threads, and the sectors of memory that its reads touch.

import { svgCanvas, path, rect, stroke, text, wrapped } from "../svg_canvas.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_gpu.json" with { type: "json" };

const t = textsOf(texts);

/** @import { Api, GpuData } from "../types.js" */
/** @import { Paper, Drawn } from "../svg_canvas.js" */

const COLUMNS = 12;
const MOST_SECTORS = 32; // drawn side by side; those between two that are touched are left out

/** Each thread's place among the sectors that are drawn: the touched ones, in order. @param {number[]} touched */
export function places(touched) {
  const order = [...new Set(touched)];
  return touched.map((sector) => order.indexOf(sector));
}

/** @param {GpuData} now @param {Paper} paper @param {number} left @param {number} top @param {number} width @param {number} high */
function card(now, paper, left, top, width, high) {
  const { type } = paper;
  const rows = Math.ceil(now.sms / COLUMNS);
  const cell = Math.min(26, (width - 4) / COLUMNS, (high - type * 3.4) / rows);
  /** @type {Drawn[]} */
  const nodes = [
    text(left, top + type, t("card", { card: now.card, n: now.sms }), type + 1, "bold"),
  ];
  const y = top + type * 1.9;
  const each = Math.ceil(now.blocks / now.sms);
  for (let k = 0; k < now.sms; k++) {
    const [px, py] = [left + (k % COLUMNS) * cell, y + Math.floor(k / COLUMNS) * cell];
    nodes.push(
      rect(
        px + 1.5,
        py + 1.5,
        cell - 3,
        cell - 3,
        k < now.busy ? "q" : "empty",
        { opacity: k < now.busy ? 0.85 : 1 },
        3,
      ),
    );
  }
  const { blocks, heads, rows: across, busy } = now;
  const launch = { blocks, heads, rows: across, busy };
  const words = each > 1 ? t("up_to", { ...launch, each }) : t("one", launch);
  nodes.push(wrapped(left, y + rows * cell + type * 1.5, words, width, type));
  return { nodes, at: [left + cell * 0.5 + cell * (COLUMNS - 1), y + cell / 2], cell };
}

/** @param {GpuData} data @param {Api} api */
export function draw(data, api) {
  return svgCanvas(data, api, { share: 2.3, least: 380, most: 560 }, (now, paper) => {
    const { width, height, narrow, type } = paper;
    const isAlone = paper.big; // the warp has the slide for itself
    const side = narrow ? width : Math.min(300, width * 0.34);
    const sm = isAlone
      ? { nodes: [], at: [0, 0], cell: 0 }
      : card(now, paper, 0, 0, side, narrow ? height * 0.42 : height - type * 2);
    const left = narrow || isAlone ? 0 : side + 36;
    const top = narrow ? height * 0.47 : 0;
    const wide = width - left - 4;
    /** @type {Drawn[]} */
    const nodes = [sm.nodes];
    if (!narrow && !isAlone)
      nodes.push(
        path(
          `M${sm.at[0] + sm.cell * 0.5} ${sm.at[1]}L${left - 10} ${type * 2}M${sm.at[0] + sm.cell * 0.5} ${sm.at[1]}L${left - 10} ${height * 0.62}`,
          stroke("line", 1.5),
        ),
      );
    nodes.push(text(left, top + type, narrow ? t("warp.short") : t("warp"), type + 1, "bold"));
    const step = wide / 32;
    const lanes = top + type * 2.1;
    const at = places(now.touched);
    const low = top + (narrow ? 150 : Math.min(230, height * 0.46));
    const most = Math.max(...at) + 1;
    const cell = Math.min(wide / Math.min(MOST_SECTORS, most), 120);
    const inside = now.sector / now.size;
    at.forEach((place, thread) => {
      const x = left + (thread + 0.5) * step;
      const within = ((thread * now.stride) % inside) / inside;
      const to = left + place * cell + (cell - 3) * (within + 0.5 / inside) + 1;
      nodes.push(rect(left + thread * step + 1, lanes, step - 2, 24, "q", { opacity: 0.85 }, 3));
      nodes.push(path(`M${x} ${lanes + 24}L${to} ${low}`, stroke("q", 1.2, { opacity: 0.7 })));
    });
    for (let k = 0; k < most; k++) {
      nodes.push(rect(left + k * cell, low, cell - 3, 34, "empty", stroke("hatch", 1), 3));
      for (let n = 0; n < inside; n++) {
        const used = at.some(
          (place, thread) => place === k && (thread * now.stride) % inside === n,
        );
        if (used)
          nodes.push(
            rect(
              left + k * cell + ((cell - 3) * n) / inside + 0.5,
              low + 1,
              (cell - 3) / inside - 1,
              32,
              "k",
              {},
              1,
            ),
          );
      }
    }
    const under = low + 34 + type * 1.7;
    const sectors = { n: now.sectors, bytes: now.sector };
    nodes.push(
      text(
        left,
        under,
        now.sectors < now.touched[now.touched.length - 1] + 1
          ? t("apart", sectors)
          : t("beside", sectors),
        type,
        "quiet",
      ),
    );
    const bar = (
      /** @type {number} */ y,
      /** @type {string} */ words,
      /** @type {number} */ value,
      /** @type {string} */ hue,
    ) => {
      const from = left + type * 5.4;
      const room = wide - type * 12.4;
      return [
        text(left, y + 15, words, type, "quiet"),
        rect(from, y, room, 20, "empty"),
        rect(from, y, (room * value) / now.most, 20, hue),
        text(from + (room * value) / now.most + 8, y + 15, t("bytes", { n: value }), type, "bold"),
      ];
    };
    const first = under + type * 1.4;
    nodes.push(
      bar(first, t("asked"), now.used, "k"),
      bar(first + type * 2, t("moved"), now.moved, "hatch"),
    );
    nodes.push(
      text(
        left,
        first + type * 5.6,
        t("used", { share: now.share }),
        type + 3,
        `bold ${now.used === now.moved ? "ink-v" : "ink-o"}`,
      ),
    );
    return nodes;
  });
}
