// The levels of a card's memory, all areas on one scale and all pipes on another; one head's bytes fall through them.

import { clamp } from "../../lib/format.js";
import { svgCanvas, ink, path, rect, stroke, text, wrapped } from "../svg_canvas.js";
import { svg } from "../../lib/dom.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_pyramid.json" with { type: "json" };

const t = textsOf(texts);

/** @import { Api, Part, PyramidData } from "../types.js" */
/** @import { Paper, Drawn } from "../svg_canvas.js" */

/** @type {Record<string, string>} */
const FALLING = { Q: "q", K: "k", V: "v", S: "m" };
/** @type {Record<string, string>} */
const NAMES = { Q: "q", K: "k", V: "v", S: "m", O: "o" };

/** Sides of squares and widths of pipes in px: areas in proportion to bytes, widths to bytes per second. @param {Pick<PyramidData, "levels" | "square" | "matrix">} pick @param {number} room @param {number} widest */
export function scales({ levels, square, matrix }, room, widest) {
  const biggest = Math.max(...levels.map((level) => level.bytes));
  const perPx = Math.sqrt(biggest / room);
  const fastest = Math.max(...levels.map((level) => level.per_s));
  return {
    side: (/** @type {number} */ bytes) => Math.sqrt(bytes) / perPx,
    pipe: (/** @type {number} */ perS) => (perS / fastest) * widest,
    square: Math.sqrt(square) / perPx,
    matrix: Math.sqrt(matrix) / perPx,
  };
}

/** Small squares of the operands in a pipe, falling when the picture comes. @param {number} left @param {number} top @param {number} width @param {number} high @param {string[]} names */
function bytes(left, top, width, high, names) {
  const size = clamp(width * 0.8, 3.5, 6);
  const across = Math.max(1, Math.floor(width / 13));
  const down = Math.max(1, Math.floor(high / (across > 8 ? 16 : 17)));
  const made = [];
  for (let k = 0; k < Math.min(70, across * down); k++) {
    const [c, r] = [k % across, Math.floor(k / across)];
    const x = left + ((c + 0.5) * width) / across - size / 2 + (across > 3 ? ((k * 7) % 5) - 2 : 0);
    const node = rect(
      x,
      top + ((r + 0.35) * high) / down + (across > 3 ? (k * 5) % 9 : 0) - 2,
      size,
      size + 1,
      FALLING[names[k % names.length]],
      { "animation-delay": `${((k * 37) % 90) / 100}s` },
    );
    node.setAttribute("class", "fa-falling");
    made.push(node);
  }
  return made;
}

/** @param {PyramidData} now @param {Paper} paper @param {number} left @param {number} top @param {number} width */
function magnified(now, paper, left, top, width) {
  const { type } = paper;
  const { sm } = now;
  /** @type {Drawn[]} */
  const nodes = [text(left, top + type, t("sm", { n: sm.count }), type, "bold")];
  const most = Math.max(sm.shared_bytes, sm.registers_bytes);
  let y = top + type * 2.9;
  for (const [words, room, parts] of /** @type {[string, number, Part[]][]} */ ([
    [t("shared", { size: sm.shared }), sm.shared_bytes, sm.in_shared],
    [t("registers", { size: sm.registers }), sm.registers_bytes, sm.in_registers],
  ])) {
    nodes.push(
      text(left, y - 6, words, type - 1),
      rect(left, y, (width * room) / most, 28, "chip-paper", stroke("chip-line", 1)),
    );
    let x = left;
    for (const [name, size] of now.tiled ? parts : []) {
      const wide = (width * size) / most;
      nodes.push(
        rect(x + 0.5, y + 1, wide - 1, 26, NAMES[name], { opacity: 0.9 }),
        text(x + wide / 2, y + 19, name, type - 1, "bold middle paper"),
      );
      x += wide;
    }
    y += 28 + type * 1.75;
  }
  return [
    nodes,
    now.tiled &&
      !paper.big &&
      sm.words.map((words, k) => text(left, y - 6 + k * type * 1.35, words, type - 1.5, "quiet")),
  ];
}

/** @param {PyramidData} now @param {Paper} paper @param {number} top @param {number} width */
function least(now, paper, top, width) {
  const { type, narrow } = paper;
  /** @type {Drawn[]} */
  const nodes = [text(0, top, t("time"), type + 1, "bold")];
  if (paper.big) nodes.push(text(width, top, now.setting, type, "end quiet"));
  else
    nodes.push(
      narrow
        ? wrapped(
            0,
            top + type * 1.3,
            t("setting.once", { setting: now.setting }),
            width,
            type - 1,
            "quiet",
          )
        : text(type * 12, top, t("setting", { setting: now.setting }), type - 1, "quiet"),
    );
  const from = narrow ? 0 : type * 13.2;
  const room = width - from - (narrow ? 92 : type * 5.6);
  const most = Math.max(...now.bars.map((bar) => bar.s));
  const lead = narrow ? 46 : Math.max(26, type * 1.5);
  now.bars.forEach((bar, k) => {
    const y = top + 10 + k * lead + (narrow ? type * 4.8 : 0);
    const wide = Math.max(3, (room * bar.s) / most);
    const hue = ["quiet", "q", "hatch"][k];
    nodes.push(
      text(0, narrow ? y - 4 : y + 15, bar.name, type - (narrow ? 1 : 0), bar.on ? "bold" : ""),
      rect(from, y, wide, 20, hue, { opacity: bar.on ? 1 : 0.35 }),
    );
    nodes.push(text(from + wide + 8, y + 15, bar.time, type, "bold"));
    const isInside = wide > bar.words.length * (type - 1) * 0.53 + 16;
    if (!narrow && !paper.big)
      nodes.push(
        text(
          from + (isInside ? 10 : wide + 12 + (bar.time.length + 1) * type * 0.62),
          y + 15,
          bar.words,
          type - 1,
          !isInside ? "quiet" : bar.on ? "paper" : "",
        ),
      );
  });
  return nodes;
}

/** @param {PyramidData} data @param {Api} api */
export function draw(data, api) {
  return svgCanvas(data, api, { share: 2.08, least: 420, most: 640 }, (now, paper) => {
    const { width, height, narrow, type } = paper;
    const isShort = narrow || paper.big;
    const foot = narrow ? 250 : type * 2.4 + 3 * Math.max(26, type * 1.5);
    const body = height - foot;
    const hbm = Math.round(body * 0.4);
    const on = scales(now, width * hbm, narrow ? width : width * (paper.big ? 0.9 : 0.58));
    const middle = width * (narrow ? 0.52 : paper.big ? 0.46 : 0.35);
    const [main, ...inner] = now.levels;
    /** @type {Drawn[]} */
    const nodes = [rect(0, 0, width, hbm, "line", { opacity: 0.75 })];
    nodes.push(
      text(14, type * 1.75, main.name, type + 2, "bold"),
      text(14 + (main.name.length + 1) * (type + 2) * 0.74, type * 1.75, main.size, type),
    );
    if (!paper.big)
      nodes.push(
        wrapped(14, type * 3.2, t("scale"), narrow ? width - 20 : 600, type - 1.5, "quiet"),
      );
    const side = Math.max(1.6, on.matrix);
    const base = hbm - 14;
    ["q", "k", "v", "o"].forEach((hue, k) =>
      nodes.push(rect(middle - 40 + k * (side + 2.5), base - side, side, side, hue)),
    );
    nodes.push(
      path(`M${middle - 38} ${base - side - 3}L${middle - 58} ${base - 18}`, stroke("quiet", 1)),
    );
    const s = on.square;
    nodes.push(
      now.tiled
        ? rect(middle + 14, base - s, s, s, "", stroke("ink", 2, { "stroke-dasharray": "4 3" }))
        : rect(middle + 14, base - s, s, s, "m"),
    );
    const label = (
      /** @type {number} */ x,
      /** @type {number} */ y,
      /** @type {string} */ words,
      /** @type {string} */ more,
      /** @type {string} */ anchor,
    ) => [
      text(x, y, words, type - 1, anchor),
      !paper.big && text(x, y + type * 1.2, more, type - 1, `${anchor} quiet`),
    ];
    nodes.push(
      label(
        middle - 62,
        base - type * 1.35,
        isShort ? t("head.short") : t("head"),
        t("each", { size: now.matrix_text }),
        "end",
      ),
    );
    nodes.push(
      label(
        middle + 14 + s + 12,
        base - type * 1.35,
        isShort
          ? t("s.short", { size: now.square_text })
          : t("s", { n: now.n, size: now.square_text }),
        now.tiled ? (narrow ? t("tiled.short") : t("tiled")) : narrow ? "" : t("stored"),
        "start",
      ),
    );
    // On a phone there is no room beside S, which is larger on a smaller card
    if (narrow && !now.tiled)
      nodes.push(
        text(
          width - 8,
          base - Math.max(s, type * 2.4) - 10,
          t("stored.short"),
          type - 1,
          "end quiet",
        ),
      );
    const names = now.tiled ? ["K", "V", "K", "V", "Q"] : ["S", "S", "K", "S", "Q"];
    // Below it: a pipe, then the level that it leads to
    const mouth = Math.max(46, body * 0.16);
    const each = (body - hbm - mouth - 18) / 3;
    let y = hbm;
    inner.forEach((level, k) => {
      const rate = now.levels[k];
      const wide = Math.max(rate.per_s ? on.pipe(rate.per_s) : 0, 3);
      const box = Math.max(3, on.side(level.bytes));
      const high = each - box - 4;
      nodes.push(
        rect(middle - wide / 2, y, wide, high, "q", { opacity: 0.4 }),
        rate.per_s ? bytes(middle - wide / 2, y, wide, high, names) : null,
      );
      nodes.push(
        text(
          middle + Math.max(26, wide / 2 + 12),
          y + high / 2 + 5,
          narrow && !rate.per_s ? t("no_rate") : rate.rate,
          rate.per_s ? type : type - 1,
          "bold accent-ink",
        ),
      );
      nodes.push(
        text(
          middle + Math.max(26, wide / 2 + 12) + (rate.rate.length + 1) * type * 0.6,
          y + high / 2 + 5,
          narrow ? "" : rate.kind,
          type - 1.5,
          "quiet",
        ),
      );
      y += high;
      nodes.push(rect(middle - box / 2, y + 2, box, box, "ink"));
      nodes.push(
        text(
          middle - (narrow ? 12 : 24),
          y + 2 + box / 2 + 5,
          `${isShort ? level.name.split(" ")[0] : level.name}  ${level.size}`,
          narrow ? 12 : type,
          "semi end",
        ),
      );
      y += box + 4;
    });
    const last = now.levels[now.levels.length - 1];
    const wide = on.pipe(last.per_s);
    const left = Math.max(0, middle - wide / 2);
    nodes.push(
      svg("path", {
        d: `M${middle} ${y}L${left + wide} ${y + 13}V${y + mouth}H${left}V${y + 13}Z`,
        style: `fill:${ink("q")};opacity:.2`,
      }),
      bytes(
        left + 6,
        y + 17,
        wide - 12,
        mouth - 20,
        names.map((name) => (name === "Q" ? "V" : name)).concat("Q"),
      ),
    );
    const rate = `${last.rate} ${last.kind}`;
    const plate = rate.length * type * 0.68;
    nodes.push(
      rect(
        left + (wide - plate) / 2,
        y + mouth / 2 + 8 - type * 0.8,
        plate,
        type * 1.4,
        "paper",
        { opacity: 0.9 },
        4,
      ),
    );
    nodes.push(
      text(left + wide / 2, y + mouth / 2 + 12, rate, type, "bold middle accent-ink halo"),
    );
    if (!paper.big)
      nodes.push(
        text(left + wide / 2, y + mouth + type * 1.1, t("units"), type - 1, "middle quiet"),
      );
    if (!narrow && !paper.big) {
      const x = width * 0.655;
      const at = hbm + 2 * each;
      nodes.push(
        path(
          `M${middle + 8} ${at - 4}H${x - 26}L${x - 10} ${hbm + 18}M${x - 26} ${at - 4}L${x - 10} ${hbm + 2 * each + 30}`,
          stroke("hatch", 1),
        ),
        magnified(now, paper, x, hbm + 10, width - x - 8),
      );
    }
    return [nodes, least(now, paper, height - foot + type * 1.5, width)];
  });
}
