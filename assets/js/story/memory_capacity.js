// Capacity: of each card two bars on one linear scale, the longest sequence with standard attention and with the fused kernel, and an
// N to hold against them.

import { playhead, scale, slider, widthOf } from "../lib/chart.js";
import { hit, line, rect, text, tipped, titled, wrapped } from "../lib/svg_canvas.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{key: string, name: string, room: string, chosen: boolean, longest: [number, number], texts: [string, string], tip: string}} Card */
/** @typedef {{cards: Card[], most: number, names: {standard: string, fused: string}, remark: string}} Picture */
/** @typedef {[words: string, look?: string][]} Words */

/** @param {Scene<Picture>} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function capacity({ picture, beats, beat, at, go, choose }, paper, pen) {
  const { cards, most, names, remark } = picture;
  const { n, flag, fits } = beat;
  const { width, narrow, big, type } = paper;
  const [size, small] = big ? [type, type] : [type + 1, type - 1.5];
  const left = narrow ? 0 : size * 12.1;
  const top = narrow ? 64 : size * 1.9;
  const foot = 26;
  const pitch = narrow ? 58 : (paper.height - top - foot) / cards.length;
  const bar = narrow ? 16 : Math.min(pitch * 0.42, 26);
  const bottom = top + pitch * cards.length;
  if (narrow) paper.used = bottom + foot;
  const x = scale([0, most], [left, width - (narrow ? 4 : size * 6.4)]);
  const here = x(n);
  /** Parts of the line of N that cross no words. @type {[number, number][]} */
  const spans = narrow ? [] : [[4, top]];

  const rows = cards.map((card, k) => {
    const [standard, fused] = card.longest;
    const y = top + k * pitch + (pitch - bar + small * 1.6) / 2; // of the longer bar
    const isOut = n > fused;
    const look = `${card.chosen ? "bold" : isOut ? "" : "semi"} ${isOut ? "quiet" : "ink"}`;
    const isInside = card.chosen && !isOut && bar > small && x(fused) - left > size * 4;
    const named = (/** @type {string} */ words, isNamed = false) =>
      /** @type {[string, string]} */ ([isNamed ? `  ${words}` : "", "quiet"]);
    /** @type {Words} */
    const shorter = [
      [card.texts[0], n > standard ? "quiet" : "semi"],
      named(names.standard, card.chosen || narrow),
    ];
    /** @type {Words} */
    const longer = [[card.texts[1], look], named(names.fused, card.chosen && !isInside)];
    /** @type {Words} */
    const title = [[card.name, look], named(card.room, narrow)];
    const over = y - small * 1.6;
    const from = narrow ? left + 10 : x(fused) + 10;
    const value = card.chosen && !isInside ? `${card.texts[1]}  ${names.fused}` : card.texts[1];
    const words = narrow ? names.fused : value;
    const isCrossed = here > from - 8 && here < from + widthOf(words, narrow ? small : size) + 8;
    if (!isCrossed || (narrow && !isInside))
      spans.push(narrow ? [y - 2, y + bar + 2] : [y, top + (k + 1) * pitch]);
    if (!narrow && here > left + widthOf(`${card.texts[0]}  ${names.standard}`, small) + 18)
      spans.push([top + k * pitch, y]);
    return tipped(
      pen.knob(
        {
          key: card.key,
          group: "card",
          label: card.name,
          text: `${names.standard} ${card.texts[0]}, ${names.fused} ${card.texts[1]}`,
          chosen: card.chosen,
          press: () => choose({ card: card.key }),
        },
        [
          hit(0, over, width, pitch),
          line(0, narrow ? over : y - small * 0.25, title, narrow ? 14 : size),
          narrow
            ? text(width, over, card.texts[1], 14, `end ${look}`)
            : line(x(fused) + 10, y + bar / 2 + size * 0.35, longer, size, "halo"),
          !narrow && !big && text(0, y + small * 1.1, card.room, small, "quiet"),
          rect(
            left,
            y,
            x(fused) - left,
            bar,
            "accent",
            { opacity: isOut ? 0.22 : card.chosen ? 1 : 0.5 },
            3,
          ),
          rect(left, y - small * 1.27, Math.max(1.5, x(standard) - left), small, "quiet"),
          line(Math.max(left + 10, x(standard) + 6), y - small * 0.4, shorter, small),
          isInside && text(left + 12, y + bar / 2 + small * 0.36, names.fused, small, "semi paper"),
        ],
      ),
      card.tip,
    );
  });

  const isRight = here + widthOf(big ? flag : `${flag}  ${fits}`, size) > width;
  const beside = Math.min(size * 22, width - x(cards[2].longest[1]) - 140);
  return [
    rows,
    !narrow &&
      !big &&
      beside > 160 &&
      wrapped(width, top + pitch * 1.45, remark, beside, small + 1, "end quiet halo"),
    narrow
      ? [text(0, 16, flag, 15, "bold"), wrapped(0, 36, fits, width, 13.5, "quiet")]
      : titled(
          here + (isRight ? -12 : 12),
          size * 1.05,
          flag,
          big ? "" : fits,
          type,
          isRight ? "end" : "",
        ),
    slider(
      pen,
      {
        key: "n",
        label: "N",
        text: `${flag} ${fits}`,
        at,
        places: beats.map((one) => x(one.n)),
        go,
      },
      playhead(here, narrow ? 56 : 4, bottom + 6, bottom + 14, "ink", "", [
        ...spans,
        [bottom, bottom + 6],
      ]),
    ),
  ];
}
