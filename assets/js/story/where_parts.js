// The parts of the picture of the levels: the card's memory, a memory of one SM, and pipes with bytes on their way.

import { svg } from "../lib/dom.js";
import { clamp } from "../lib/format.js";
import { group, HUES, ink, INKS, line, path, rect, stroke, text } from "../lib/svg_canvas.js";

/** @import { Drawn, Paper } from "../lib/svg_canvas.js" */
/** @typedef {{name: string, size: string, side: number, tip: string}} Area `side` in sides of the memory's square */
/** @typedef {{rate: string, unit: string, share: number | null, tip: string}} Rate `share` of the widest pipe */
/** @typedef {{key: string, name: string, hue: string, bytes: number, tip: string, spare?: boolean}} Part */
/** @typedef {{name: string, size: string, bytes: number, programs: number, taken: number, parts: Part[], note: string, tip: string}} Chip */
/** @typedef {{amount: string, sides: [number, number], notes: Record<string, string>, tip: string}} Scores */
/**
 * @typedef {object} Picture
 * @property {Area} hbm
 * @property {Area} l2
 * @property {Area} sms
 * @property {Record<"hbm" | "l2" | "shared" | "registers", Rate>} pipes
 * @property {{name: string, note: string, side: number}} sm
 * @property {[shared: Chip, registers: Chip]} chips
 * @property {Scores} scores
 * @property {{amount: string, side: number, tip: string}} matrices
 * @property {string} scale
 * @property {string} units
 */
/** @typedef {{in?: string, out?: string, shared: string, units?: string, chip: string, hbm?: string}} Step */
/** @typedef {{x: number, y: number, width: number, height: number}} Box */

/** px of the text of a picture: larger on a large screen. @param {Paper} paper */
export const typeOf = ({ width, height: high, narrow, big, type }) =>
  narrow || big ? type : type * clamp(Math.min(width / 1216, high / 420), 1, 1.5);

const hueOf = (/** @type {string} */ tensor) =>
  tensor === "S" || tensor === "P" ? "quiet" : HUES[tensor];
/** The ink of letters on a hue. @param {string} hue */
const onHue = (hue) => ("kvo".includes(hue) ? "on-hue" : "paper");
/** @param {string} tip @param {Drawn} drawn */
export const tipped = (tip, drawn) => svg("g", { "data-tip": tip }, [group(0, 0, drawn)]);

/** Bytes on their way: specks at places that follow from their number and the position. @param {Box} box @param {string} tensors
 * @param {number} at @param {{isDown: boolean, isBack: boolean}} way */
export function specks({ x, y, width, height: high }, tensors, at, { isDown, isBack }) {
  if (!tensors) return null;
  const [length, across] = isDown ? [high, width] : [width, high];
  const [long, thick] = across < 12 ? [6, Math.max(2, across * 0.7)] : [7, 4.5];
  const count = clamp(Math.round((length * across) / 700), Math.round(length / 24), 60);
  /** @type {string[]} */
  const paths = Array.from(tensors, () => "");
  for (let k = 0; k < count; k++) {
    const moved = (((k * 0.7549 + (isBack ? -at : at) * 0.21) % 1) + 1) % 1;
    const along = moved * (length - long);
    const over = across < 12 ? (across - thick) / 2 : ((k * 0.5698) % 1) * (across - thick);
    const [left, top, wide, tall] = isDown
      ? [x + over, y + along, thick, long]
      : [x + along, y + over, long, thick];
    paths[k % tensors.length] += `M${left} ${top}h${wide}v${tall}h${-wide}z`;
  }
  return paths.map((d, k) => path(d, { fill: ink(hueOf(tensors[k])) }));
}

/** What lies in the card's memory: the four matrices, and S and P or their ghost.
 * @param {Picture} picture @param {Step} step @param {boolean} isFused @param {Box} box @param {Paper} paper @returns {Drawn} */
export function memory({ hbm, scores, matrices }, step, isFused, { x, y, width: side }, paper) {
  const type = paper.narrow ? 14 : paper.type;
  const left = x + (paper.narrow ? 14 : 22);
  const low = y + side - type * 1.6;
  const four = Math.max(1.5, matrices.side * side);
  const both = scores.sides[1] * side;
  const isWide = both > 0.3 * side;
  const beside = left + (isWide ? 8 : Math.max(both, 2 * four, 14) + 12);
  const base = low - Math.max(type * 2.4, 2 * four + 16);
  const top = Math.max(y, base - both);
  const there = step.hbm ?? "";
  const wording = isWide ? top + type * 1.5 : (top + base) / 2 - type * 0.15;
  const inside = isWide && there ? "paper" : "";
  return [
    tipped(hbm.tip, [
      rect(x, y, side, side, "empty", {}, 10),
      line(
        left,
        isWide ? y - type * 0.6 : y + type * 2.3,
        [
          [hbm.name, "bold"],
          [`  ${hbm.size}`, "quiet"],
        ],
        paper.big ? type : type + 5,
      ),
    ]),
    tipped(scores.tip, [
      [...there].map((name, k) =>
        rect(left + (k * both) / 2, top, both / 2 - 0.5, base - top, hueOf(name)),
      ),
      rect(left, top, both, base - top, "", {
        ...stroke("quiet", 1.4, { "stroke-dasharray": "4 3" }),
        fill: there ? "none" : ink("paper"),
      }),
      line(
        beside,
        wording,
        [
          [scores.notes.name, `semi ${inside}`],
          [`, ${scores.amount}`, inside],
        ],
        type,
      ),
      !paper.big &&
        text(
          beside,
          wording + type * 1.35,
          scores.notes[isFused ? "fused" : "standard"],
          type - 1.5,
          inside || "quiet",
        ),
    ]),
    tipped(matrices.tip, [
      ["Q", "K", "V", "O"].map((name, k) =>
        rect(
          left + (k % 2) * four,
          low - 2 * four + Math.floor(k / 2) * four,
          four,
          four,
          hueOf(name),
        ),
      ),
      line(
        left + Math.max(2 * four, 14) + 12,
        low,
        [
          ...["Q", "K", "V", "O"].map(
            (name) => /** @type {[string, string]} */ ([`${name} `, `semi ${INKS[hueOf(name)]}`]),
          ),
          [matrices.amount],
        ],
        type,
      ),
    ]),
  ];
}

/** A memory of one SM: each program a strip of it, the tile's parts along the first strip.
 * @param {Chip} chip @param {Step} step @param {Box} box @param {Paper} paper @returns {Drawn} */
export function chip({ bytes, programs, taken, parts, name, size, note, tip }, step, box, paper) {
  const { x, y, width, height: high } = box;
  const type = paper.narrow ? 13 : paper.type;
  const strip = Math.min(high, (taken / bytes) * high);
  /** @type {Drawn[]} */
  const drawn = [];
  for (let k = 0; k < Math.max(1, programs); k++) {
    const top = y + high - (k + 1) * strip;
    let left = x;
    if (k) drawn.push(rect(x + 1, top + 1, width - 2, strip - 2, "empty", {}, 2));
    else drawn.push(rect(x + 1, top + 1, width - 2, strip - 2, "accent-pale", {}, 2));
    for (const part of parts) {
      const wide = Math.min(x + width - left, Math.max(1.6, (part.bytes / taken) * width));
      const isThere = step.chip.includes(part.key) && !part.spare;
      const fill = ink(part.hue);
      /** @type {Record<string, string | number>} */
      const look = isThere
        ? { fill }
        : {
            fill,
            "fill-opacity": k ? 0.2 : 0.12,
            stroke: k ? "none" : fill,
            "stroke-opacity": 0.6,
          };
      if (k && isThere) Object.assign(look, { "fill-opacity": 0.2 });
      const inset = wide > 4 ? 1.5 : 0;
      const shape = rect(left + inset, top + 2.5, wide - 2 * inset, strip - 5, "", look, 2);
      const isNamed = !k && wide > part.name.length * 8 && strip > 16;
      drawn.push(
        k
          ? shape
          : tipped(part.tip, [
              shape,
              isNamed &&
                text(
                  left + wide / 2,
                  top + strip / 2 + 5,
                  part.name,
                  Math.min(type, Math.max(13, strip * 0.45)),
                  `bold middle ${isThere ? onHue(part.hue) : (INKS[part.hue] ?? "quiet")}`,
                ),
            ]),
      );
      left += wide;
    }
    const thin = parts.filter(({ key }) => key === "m" || key === "l");
    if (!k && thin.length && strip > 18 && x + width - left > 30 && step.chip.includes("m"))
      drawn.push(
        line(
          left + 6,
          top + strip / 2 + 5,
          thin.map(
            (part) => /** @type {[string, string]} */ ([`${part.name} `, `semi ${INKS[part.hue]}`]),
          ),
          Math.min(type, Math.max(13, strip * 0.45)),
        ),
      );
  }
  return [
    tipped(tip, [
      rect(x, y, width, high, "paper", stroke("chip-line", 1.2), 6),
      text(x, y - type * (paper.big ? 0.6 : 1.9), name, type + (paper.narrow ? 0 : 0.5), "semi"),
      !paper.big && text(x, y - type * 0.6, size, type - 1, "quiet"),
    ]),
    drawn,
    text(x, y + high + type * 1.4, paper.big ? size : note, paper.big ? type : type - 1, "quiet"),
  ];
}

/** A rate beside its pipe. @param {number} x @param {number} y @param {Rate} rate @param {number} type @param {string} look @returns {Drawn} */
export const rated = (x, y, { rate, unit, share }, type, look = "middle") =>
  share === null
    ? rate
        .split(" ")
        .map((word, k, all) =>
          text(x, y - (all.length - 1 - k) * type * 0.95, word, type - 3, `${look} quiet`),
        )
    : [
        type < 22.6 && text(x, y - type * 1.2, unit, type - 2, `${look} quiet`),
        text(x, y, rate, type < 20 ? type + 2 : type, `${look} bold accent-ink`),
      ];

/** A pipe with what is on its way. @param {Box} box @param {Rate} rate @param {string} tensors @param {number} at
 * @param {{isDown: boolean, isBack: boolean}} way @returns {Drawn} */
export function pipe(box, rate, tensors, at, way) {
  const { x, y, width, height: high } = box;
  const middle = way.isDown ? `M${x + width / 2} ${y}v${high}` : `M${x} ${y + high / 2}h${width}`;
  return tipped(rate.tip, [
    rate.share === null
      ? path(middle, stroke("quiet", 1.5, { "stroke-dasharray": "3 3" }))
      : rect(x, y, width, high, "accent", { "fill-opacity": 0.38 }),
    specks(box, tensors, at, way),
  ]);
}

/** Names of what crosses, with an arrow. @param {number} x @param {number} y @param {Step} step @param {number} type */
export function crossing(x, y, step, type, isDown = false) {
  const names = [...(step.in ?? step.out ?? "")];
  return line(
    x,
    y,
    [
      [step.out ? `${isDown ? "↑" : "←"} ` : "", "quiet"],
      ...names.map(
        (name) => /** @type {[string, string]} */ ([`${name} `, `semi ${INKS[hueOf(name)] ?? ""}`]),
      ),
      [step.out ? "" : isDown ? "↓" : "→", "quiet"],
    ],
    type,
  );
}
