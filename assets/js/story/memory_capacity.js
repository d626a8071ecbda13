// Capacity: of each card two bars on one linear scale, the longest sequence with standard attention and with the fused kernel, and an
// N to hold against them.

import { clamp } from "../lib/format.js";
import { circle, ink, line, path, rect, stroke, text, wrapped } from "../lib/svg_canvas.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{key: string, name: string, room: string, chosen: boolean, longest: [number, number], texts: [string, string], tip: string}} Card */
/** @typedef {{cards: Card[], most: number, names: {standard: string, fused: string}, remark: string}} Picture */

export const height = { share: 1.55, least: 330, most: 640 };

/** @param {Scene} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function paint({ data, at, go, choose }, paper, pen) {
  /** @type {Picture} */
  const { cards, most, names, remark } = data.picture;
  const { beats } = data;
  const { n, flag, fits } = beats[at];
  const { width, narrow, big, type } = paper;
  const [size, small] = big ? [type, type] : [16, 13.5];
  const left = narrow ? 0 : size * 12.1;
  const right = narrow ? 4 : size * 6.4;
  const top = narrow ? 64 : size * 1.9;
  const foot = 26;
  const pitch = narrow ? 58 : (paper.height - top - foot) / cards.length;
  const bar = narrow ? 16 : Math.min(pitch * 0.42, 26);
  if (narrow) paper.used = top + pitch * cards.length + foot;
  const x = (/** @type {number} */ tokens) => left + ((width - left - right) * tokens) / most;
  const bottom = top + pitch * cards.length;

  /** @param {Card} card @param {number} k */
  const paintRow = (card, k) => {
    const [standard, fused] = card.longest;
    const y = top + k * pitch + (pitch - bar - small * 1.35) / 2 + small * 1.35; // of the longer bar
    const isOut = n > fused;
    const look = `${card.chosen ? "bold" : isOut ? "" : "semi"} ${isOut ? "quiet" : "ink"}`;
    const number = `${n > standard ? "quiet" : "semi ink"}`;
    const opacity = isOut ? 0.22 : card.chosen ? 1 : 0.5;
    const shorter = /** @type {[string, string?][]} */ ([[card.texts[0], number]]);
    if (card.chosen || narrow) shorter.push([`  ${names.standard}`, "quiet"]);
    const space = x(fused) - x(0);
    const inside = card.chosen && space > size * 4 && !isOut;
    const longer = /** @type {[string, string?][]} */ ([[card.texts[1], look]]);
    if (card.chosen && !inside) longer.push([`  ${names.fused}`, "quiet"]);
    const drawn = [
      rect(0, y - small * 1.5, width, pitch, "", { fill: "transparent", cursor: "pointer" }),
      narrow
        ? [
            line(
              0,
              y - small * 1.45,
              [
                [card.name, look],
                [`  ${card.room}`, "quiet"],
              ],
              14,
            ),
            text(width, y - small * 1.45, card.texts[1], 14, `end ${look}`),
          ]
        : [
            text(0, y - small * 0.25, card.name, size, look),
            !big && text(0, y + small * 1.1, card.room, small, "quiet"),
            line(x(fused) + 10, y + bar / 2 + size * 0.35, longer, size, "halo"),
          ],
      rect(left, y, space, bar, "accent", { opacity }, 3),
      rect(left, y - small * 1.02, Math.max(1.5, x(standard) - left), small, "quiet"),
      line(Math.max(left + 10, x(standard) + 6), y - small * 0.1, shorter, small),
      inside && text(left + 12, y + bar / 2 + small * 0.36, names.fused, small, "semi paper"),
    ];
    const node = pen.knob(
      {
        key: card.key,
        group: "card",
        label: card.name,
        text: `${names.standard} ${card.texts[0]}, ${names.fused} ${card.texts[1]}`,
        chosen: card.chosen,
        press: () => choose({ card: card.key }),
      },
      drawn,
    );
    node.setAttribute("data-tip", card.tip);
    return node;
  };

  const isRight = !narrow && x(n) > width * 0.55;
  const words = /** @type {[string, string?][]} */ ([
    [flag, "bold"],
    [`  ${fits}`, "quiet"],
  ]);
  const said = narrow
    ? [text(0, 16, flag, 15, "bold"), wrapped(0, 36, fits, width, 13.5, "quiet")]
    : line(x(n) + (isRight ? -12 : 12), size * 1.05, words, big ? size : 15, isRight ? "end" : "");
  const handle = {
    key: "n",
    label: "N",
    text: `${flag} ${fits}`,
    slides: /** @type {[number, number, number]} */ ([at, 0, beats.length - 1]),
    keys: (/** @type {number} */ dx, /** @type {number} */ dy) =>
      go(clamp(at + dx + dy, 0, beats.length - 1)),
    drag: (/** @type {number} */ px) => go(nearest(beats, px, x)),
  };
  const aside =
    !narrow && !big && paintRemark(remark, width, top + pitch, pitch, x(cards[2].longest[1]));
  return [
    cards.map(paintRow),
    aside,
    said,
    pen.knob(handle, [
      rect(x(n) - 14, bottom - 6, 28, foot + 4, "", { fill: "transparent", cursor: "ew-resize" }),
      path(
        `M${x(n)} ${narrow ? 56 : 4}V${bottom + 6}`,
        stroke("ink", 1.6, { "pointer-events": "none" }),
      ),
      circle(x(n), bottom + 14, 9, {
        fill: ink("paper"),
        ...stroke("accent", 3),
        cursor: "ew-resize",
      }),
    ]),
  ];
}

/** The position nearest to the pointer. @param {Scene["data"]["beats"]} beats @param {number} px @param {(n: number) => number} x */
const nearest = (beats, px, x) =>
  beats.reduce(
    (best, { n }, k) => (Math.abs(x(n) - px) < Math.abs(x(beats[best].n) - px) ? k : best),
    0,
  );

/** What twice the memory does, at the right of the shortest bars. @param {string} words @param {number} width
 * @param {number} y @param {number} pitch @param {number} bound what is left of it is taken */
function paintRemark(words, width, y, pitch, bound) {
  const wide = Math.min(350, width - bound - 140);
  return wide > 160 && wrapped(width, y + pitch * 0.45, words, wide, 14.5, "end quiet halo");
}
