// The levels of a card's memory, all areas on one scale and all pipes on another; one head's bytes fall through them.

import { clamp } from "../../lib/format.js";
import {
  group,
  HUES,
  ink,
  path,
  rect,
  stroke,
  svgCanvas,
  text,
  wrapped,
} from "../../lib/svg_canvas.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_pyramid.json" with { type: "json" };

const t = textsOf(texts);

/** @import { Api, MemoryLevel, Part, PyramidData } from "../types.js" */
/** @import { Paper, Drawn } from "../../lib/svg_canvas.js" */

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
  const isScattered = across > 3;
  return Array.from({ length: Math.min(70, across * down) }, (_, k) => {
    const [c, r] = [k % across, Math.floor(k / across)];
    const [dx, dy] = isScattered ? [((k * 7) % 5) - 2, (k * 5) % 9] : [0, 0];
    const node = rect(
      left + ((c + 0.5) * width) / across - size / 2 + dx,
      top + ((r + 0.35) * high) / down + dy - 2,
      size,
      size + 1,
      HUES[names[k % names.length]],
      { "animation-delay": `${((k * 37) % 90) / 100}s` },
    );
    node.setAttribute("class", "fa-falling");
    return node;
  });
}

/** One SM: its shared memory and its registers, and what of the tiles lies in each.
 * @param {PyramidData} now @param {number} type px @param {number} width @returns {Drawn} */
function magnified({ sm, tiled }, type, width) {
  const unit = width / Math.max(sm.shared_bytes, sm.registers_bytes);
  const [top, each] = [type * 2.9, 28 + type * 1.75];
  const memory = (
    /** @type {number} */ y,
    /** @type {string} */ words,
    /** @type {number} */ room,
    /** @type {Part[]} */ parts,
  ) => {
    let x = 0;
    return group(0, y, [
      text(0, -6, words, type - 1),
      rect(0, 0, room * unit, 28, "chip-paper", stroke("chip-line")),
      tiled &&
        parts.map(([name, size]) => {
          const [left, wide] = [x, size * unit];
          x += wide;
          return [
            rect(left + 0.5, 1, wide - 1, 26, HUES[name], { opacity: 0.9 }),
            text(left + wide / 2, 19, name, type - 1, "bold middle paper"),
          ];
        }),
    ]);
  };
  return [
    text(0, type, t("sm", { n: sm.count }), type, "bold"),
    memory(top, t("shared", { size: sm.shared }), sm.shared_bytes, sm.in_shared),
    memory(top + each, t("registers", { size: sm.registers }), sm.registers_bytes, sm.in_registers),
    tiled &&
      sm.words.map((words, k) =>
        text(0, top + 2 * each - 6 + k * type * 1.35, words, type - 1.5, "quiet"),
      ),
  ];
}

/** The time of each limit as a bar. @param {PyramidData} now @param {Paper} paper @param {number} width @returns {Drawn} */
function least({ bars, setting }, { type, narrow, big }, width) {
  const from = narrow ? 0 : type * 13.2;
  const unit = (width - from - (narrow ? 92 : type * 5.6)) / Math.max(...bars.map((bar) => bar.s));
  const lead = narrow ? 46 : Math.max(26, type * 1.5);
  const once = t("setting.once", { setting });
  return [
    text(0, 0, t("time"), type + 1, "bold"),
    big
      ? text(width, 0, setting, type, "end quiet")
      : narrow
        ? wrapped(0, type * 1.3, once, width, type - 1, "quiet")
        : text(type * 12, 0, t("setting", { setting }), type - 1, "quiet"),
    bars.map(({ name, s, time, words, on }, k) => {
      const wide = Math.max(3, s * unit);
      const isInside = wide > words.length * (type - 1) * 0.53 + 16;
      const beside = isInside ? 10 : wide + 12 + (time.length + 1) * type * 0.62;
      const look = !isInside ? "quiet" : on ? "paper" : "";
      return group(0, 10 + k * lead + (narrow ? type * 4.8 : 0), [
        text(0, narrow ? -4 : 15, name, type - (narrow ? 1 : 0), on ? "bold" : ""),
        rect(from, 0, wide, 20, ["quiet", "q", "hatch"][k], { opacity: on ? 1 : 0.35 }),
        text(from + wide + 8, 15, time, type, "bold"),
        !narrow && !big && text(from + beside, 15, words, type - 1, look),
      ]);
    }),
  ];
}

/** The main memory with one head's matrices and S in it, which a tiled kernel never stores.
 * @param {PyramidData} now @param {Paper} paper @param {ReturnType<typeof scales>} on @param {number} middle x between the two @param {number} hbm px of its height
 * @returns {Drawn} */
function stored(now, { width, narrow, big, type }, on, middle, hbm) {
  const [main] = now.levels;
  const isShort = narrow || big;
  const side = Math.max(1.6, on.matrix);
  const base = hbm - 14;
  const s = on.square;
  const square = { n: now.n, size: now.square_text };
  const label = (
    /** @type {number} */ x,
    /** @type {string} */ words,
    /** @type {string} */ more,
    anchor = "",
  ) => [
    text(x, base - type * 1.35, words, type - 1, anchor),
    !big && text(x, base - type * 0.15, more, type - 1, `${anchor} quiet`),
  ];
  const tiledWords = t(narrow ? "tiled.short" : "tiled");
  return [
    rect(0, 0, width, hbm, "line", { opacity: 0.75 }),
    text(14, type * 1.75, main.name, type + 2, "bold"),
    text(14 + (main.name.length + 1) * (type + 2) * 0.74, type * 1.75, main.size, type),
    !big && wrapped(14, type * 3.2, t("scale"), narrow ? width - 20 : 600, type - 1.5, "quiet"),
    ["q", "k", "v", "o"].map((hue, k) =>
      rect(middle - 40 + k * (side + 2.5), base - side, side, side, hue),
    ),
    path(`M${middle - 38} ${base - side - 3}L${middle - 58} ${base - 18}`, stroke("quiet")),
    now.tiled
      ? rect(middle + 14, base - s, s, s, "", stroke("ink", 2, { "stroke-dasharray": "4 3" }))
      : rect(middle + 14, base - s, s, s, "m"),
    label(
      middle - 62,
      t(isShort ? "head.short" : "head"),
      t("each", { size: now.matrix_text }),
      "end",
    ),
    label(
      middle + 26 + s,
      isShort ? t("s.short", { size: now.square_text }) : t("s", square),
      now.tiled ? tiledWords : narrow ? "" : t("stored"),
    ),
    // On a phone there is no room beside S, which is larger on a smaller card
    narrow &&
      !now.tiled &&
      text(
        width - 8,
        base - Math.max(s, type * 2.4) - 10,
        t("stored.short"),
        type - 1,
        "end quiet",
      ),
  ];
}

/** @param {PyramidData} data @param {Api} api */
export function draw(data, api) {
  return svgCanvas(data, api, { share: 2.08, least: 420, most: 640 }, (now, paper) => {
    const { width, height, narrow, big, type } = paper;
    const foot = narrow ? 250 : type * 2.4 + 3 * Math.max(26, type * 1.5);
    const body = height - foot;
    const hbm = Math.round(body * 0.4);
    const on = scales(now, width * hbm, narrow ? width : width * (big ? 0.9 : 0.58));
    const middle = width * (narrow ? 0.52 : big ? 0.46 : 0.35);
    const names = now.tiled ? ["K", "V", "K", "V", "Q"] : ["S", "S", "K", "S", "Q"];
    // Below it: a pipe, then the level that it leads to
    const mouth = Math.max(46, body * 0.16);
    const each = (body - hbm - mouth - 18) / 3;
    const pipe = (/** @type {MemoryLevel} */ level, /** @type {number} */ k) => {
      const { per_s, rate, kind } = now.levels[k];
      const wide = Math.max(on.pipe(per_s), 3);
      const box = Math.max(3, on.side(level.bytes));
      const high = each - box - 4;
      const beside = middle + Math.max(26, wide / 2 + 12);
      const words = narrow && !per_s ? t("no_rate") : rate;
      const name = narrow || big ? level.name.split(" ")[0] : level.name;
      return group(0, hbm + k * each, [
        rect(middle - wide / 2, 0, wide, high, "q", { opacity: 0.4 }),
        per_s > 0 && bytes(middle - wide / 2, 0, wide, high, names),
        text(beside, high / 2 + 5, words, per_s ? type : type - 1, "bold accent-ink"),
        text(
          beside + (rate.length + 1) * type * 0.6,
          high / 2 + 5,
          narrow ? "" : kind,
          type - 1.5,
          "quiet",
        ),
        rect(middle - box / 2, high + 2, box, box, "ink"),
        text(
          middle - (narrow ? 12 : 24),
          high + box / 2 + 7,
          `${name}  ${level.size}`,
          narrow ? 12 : type,
          "semi end",
        ),
      ]);
    };
    const y = hbm + 3 * each;
    const last = now.levels[now.levels.length - 1];
    const wide = on.pipe(last.per_s);
    const left = Math.max(0, middle - wide / 2);
    const rate = `${last.rate} ${last.kind}`;
    const plate = rate.length * type * 0.68;
    const [x, at] = [width * 0.655, hbm + 2 * each];
    const lens = `M${middle + 8} ${at - 4}H${x - 26}L${x - 10} ${hbm + 18}M${x - 26} ${at - 4}L${x - 10} ${at + 30}`;
    return [
      stored(now, paper, on, middle, hbm),
      now.levels.slice(1).map(pipe),
      path(`M${middle} ${y}L${left + wide} ${y + 13}V${y + mouth}H${left}V${y + 13}Z`, {
        fill: ink("q"),
        opacity: 0.2,
      }),
      bytes(
        left + 6,
        y + 17,
        wide - 12,
        mouth - 20,
        names.map((name) => (name === "Q" ? "V" : name)).concat("Q"),
      ),
      group(left + wide / 2, y + mouth, [
        rect(
          -plate / 2,
          8 - mouth / 2 - type * 0.8,
          plate,
          type * 1.4,
          "paper",
          { opacity: 0.9 },
          4,
        ),
        text(0, 12 - mouth / 2, rate, type, "bold middle accent-ink halo"),
        !big && text(0, type * 1.1, t("units"), type - 1, "middle quiet"),
      ]),
      !narrow &&
        !big && [
          path(lens, stroke("hatch")),
          group(x, hbm + 10, magnified(now, type, width - x - 8)),
        ],
      group(0, height - foot + type * 1.5, least(now, paper, width)),
    ];
  });
}
