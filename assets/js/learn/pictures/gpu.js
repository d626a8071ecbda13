// A launch over a card's SMs, one warp of 32 threads, and the sectors of memory that its reads touch.

import { group, path, rect, stroke, svgCanvas, text, wrapped } from "../../lib/svg_canvas.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_gpu.json" with { type: "json" };

const t = textsOf(texts);

/** @import { Api, GpuData } from "../types.js" */
/** @import { Drawn } from "../../lib/svg_canvas.js" */

const COLUMNS = 12;
const MOST_SECTORS = 32; // drawn side by side; those between two that are touched are left out

/** Each thread's place among the sectors that are drawn: the touched ones, in order. @param {number[]} touched */
export function places(touched) {
  const order = [...new Set(touched)];
  return touched.map((sector) => order.indexOf(sector));
}

/** The card's SMs, those that have work in colour; `at` is the right edge of the last one of the first row.
 * @param {GpuData} now @param {number} type px @param {number} width @param {number} high */
function card({ sms, blocks, heads, rows: across, busy, card }, type, width, high) {
  const rows = Math.ceil(sms / COLUMNS);
  const cell = Math.min(26, (width - 4) / COLUMNS, (high - type * 3.4) / rows);
  const top = type * 1.9;
  const squares = Array.from({ length: sms }, (_, k) => {
    const [x, y] = [(k % COLUMNS) * cell, top + Math.floor(k / COLUMNS) * cell];
    const [hue, opacity] = k < busy ? ["q", 0.85] : ["empty", 1];
    return rect(x + 1.5, y + 1.5, cell - 3, cell - 3, hue, { opacity }, 3);
  });
  const each = Math.ceil(blocks / sms);
  const launch = { blocks, heads, rows: across, busy };
  const words = each > 1 ? t("up_to", { ...launch, each }) : t("one", launch);
  return {
    nodes: [
      text(0, type, t("card", { card, n: sms }), type + 1, "bold"),
      squares,
      wrapped(0, top + rows * cell + type * 1.5, words, width, type),
    ],
    at: [cell * COLUMNS, top + cell / 2],
  };
}

/** A warp of 32 threads above the sectors that its reads touch, and how much of them is used.
 * @param {GpuData} now @param {number} type px @param {number} width @param {number} low y of the sectors @param {string} title */
function warp(now, type, width, low, title) {
  const step = width / 32;
  const lanes = type * 2.1;
  const at = places(now.touched);
  const most = Math.max(...at) + 1;
  const cell = Math.min(width / Math.min(MOST_SECTORS, most), 120);
  const inside = now.sector / now.size;
  const slotOf = (/** @type {number} */ thread) => (thread * now.stride) % inside;
  const slot = (cell - 3) / inside;
  const threads = at.map((place, thread) => {
    const to = place * cell + slot * (slotOf(thread) + 0.5) + 1;
    return [
      rect(thread * step + 1, lanes, step - 2, 24, "q", { opacity: 0.85 }, 3),
      path(
        `M${(thread + 0.5) * step} ${lanes + 24}L${to} ${low}`,
        stroke("q", 1.2, { opacity: 0.7 }),
      ),
    ];
  });
  const sectors = Array.from({ length: most }, (_, k) => {
    const used = new Set(at.flatMap((place, thread) => (place === k ? [slotOf(thread)] : [])));
    return [
      rect(k * cell, low, cell - 3, 34, "empty", stroke("hatch"), 3),
      [...used].map((n) => rect(k * cell + slot * n + 0.5, low + 1, slot - 1, 32, "k", {}, 1)),
    ];
  });
  const bar = (
    /** @type {number} */ y,
    /** @type {string} */ words,
    /** @type {number} */ value,
    /** @type {string} */ hue,
  ) => {
    const [from, room] = [type * 5.4, width - type * 12.4];
    const wide = (room * value) / now.most;
    return [
      text(0, y + 15, words, type, "quiet"),
      rect(from, y, room, 20, "empty"),
      rect(from, y, wide, 20, hue),
      text(from + wide + 8, y + 15, t("bytes", { n: value }), type, "bold"),
    ];
  };
  const under = low + 34 + type * 1.7;
  const first = under + type * 1.4;
  const isApart = now.sectors < now.touched[now.touched.length - 1] + 1;
  const count = { n: now.sectors, bytes: now.sector };
  const look = `bold ${now.used === now.moved ? "ink-v" : "ink-o"}`;
  return [
    text(0, type, title, type + 1, "bold"),
    threads,
    sectors,
    text(0, under, isApart ? t("apart", count) : t("beside", count), type, "quiet"),
    bar(first, t("asked"), now.used, "k"),
    bar(first + type * 2, t("moved"), now.moved, "hatch"),
    text(0, first + type * 5.6, t("used", { share: now.share }), type + 3, look),
  ];
}

/** @param {GpuData} data @param {Api} api */
export function draw(data, api) {
  return svgCanvas(data, api, { share: 2.3, least: 380, most: 560 }, (now, paper) => {
    const { width, height, narrow, big, type } = paper;
    const reads = (
      /** @type {number} */ left,
      /** @type {number} */ top,
      /** @type {number} */ low,
      title = t("warp"),
    ) => group(left, top, warp(now, type, width - left - 4, low, title));
    const low = Math.min(230, height * 0.46);
    if (big) return reads(0, 0, low); // the warp has the slide for itself
    const side = narrow ? width : Math.min(300, width * 0.34);
    const { nodes, at } = card(now, type, side, narrow ? height * 0.42 : height - type * 2);
    if (narrow) return [nodes, reads(0, height * 0.47, 150, t("warp.short"))];
    const left = side + 36;
    const lens = `M${at}L${left - 10} ${type * 2}M${at}L${left - 10} ${height * 0.62}`;
    return [nodes, path(lens, stroke("line", 1.5)), reads(left, 0, low)];
  });
}
