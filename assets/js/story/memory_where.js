// The levels of memory: the card's on one scale, one SM magnified, and between them pipes as wide as their rates. Bytes
// flow in the colours of their tensors.

import { ink, line, path, rect, text } from "../lib/svg_canvas.js";
import { chip, crossing, memory, pipe, rated, specks, tipped, typeOf } from "./where_parts.js";

/** @import { Drawn, Paper } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @import { Area, Box, Picture, Rate, Step } from "./where_parts.js" */

export const height = { share: 1.9, least: 300, most: 800 };

/** @param {Scene} scene @param {Paper} paper */
export function paint({ data, at }, paper) {
  paper.type = typeOf(paper);
  const isFused = data.switches[0].value === "fused";
  const step = /** @type {Step & {label: string, note: string}} */ (
    /** @type {unknown} */ (data.beats[at])
  );
  return (paper.narrow ? tall : wide)(data.picture, step, at, isFused, paper);
}

/** Side by side. @param {Picture} picture @param {Step} step @param {number} at @param {boolean} isFused @param {Paper} paper @returns {Drawn} */
function wide(picture, step, at, isFused, paper) {
  const { width, height: high, type, big } = paper;
  const { l2, sms, pipes, sm, chips } = picture;
  const way = { isDown: false, isBack: Boolean(step.out) };
  const crossed = step.in ?? step.out ?? "";
  const mid = high * 0.47;
  const side = Math.min(width * 0.27, high * 0.86);
  const widest = high * 0.78;
  const panel = width * 0.487;
  const small = big ? type : type - 1;
  const thick = (/** @type {Rate} */ { share }) => Math.max(0.8, (share ?? 0.01) * widest);
  const [first, second] = [l2, sms].map((area) => area.side * side);
  const run = (panel - side - first - second) * 0.3;
  const atL2 = side + run;
  const atSms = atL2 + first + run;
  /** @type {(x: number, length: number, rate: Rate) => Box} */
  const along = (x, length, rate) => ({
    x,
    y: mid - thick(rate) / 2,
    width: length,
    height: thick(rate),
  });
  const square = (
    /** @type {Area} */ area,
    /** @type {number} */ x,
    /** @type {number} */ px,
    /** @type {string} */ hue,
  ) => tipped(area.tip, [rect(x, mid - px / 2, px, px, hue)]);
  // Inside the SM
  const pad = Math.min(30, width * 0.024);
  const cell = Math.min(sm.side * side, (width - panel) * (big ? 0.28 : 0.32));
  const gap = big ? type * 2.4 : (width - panel) * 0.085;
  const [atShared, atRegisters] = [panel + pad, panel + pad + cell + gap];
  const boxes = chips.map((one, k) => {
    const tall = cell * Math.min(1, one.bytes / chips[1].bytes);
    return {
      x: k ? atRegisters : atShared,
      y: mid - tall / 2 + type * 0.8,
      width: cell,
      height: tall,
    };
  });
  const middle = mid + type * 0.8;
  const end = atRegisters + cell;
  const trunk = end + gap * 0.5;
  const right = width - type * 2.6;
  const fan = { x: trunk, y: mid - widest / 2, width: right - trunk, height: widest };
  const label = mid + Math.max(first, second) / 2 + type * 1.5;
  return [
    memory(picture, step, isFused, { x: 0, y: mid - side / 2, width: side, height: side }, paper),
    text(0, mid + side / 2 + type * 1.4, picture.scale, big ? type : type - 2, "quiet"),
    path(
      `M${atSms + second} ${mid - second / 2}L${panel} ${high * 0.06}V${high * 0.92}L${atSms + second} ${mid + second / 2}z`,
      { fill: ink("chip-paper") },
    ),
    rect(panel, 0, width - panel, high - 2, "chip-paper", {}, 12),
    pipe(along(side, run, pipes.hbm), pipes.hbm, crossed, at, way),
    pipe(along(atL2 + first, run, pipes.l2), pipes.l2, crossed, at, way),
    square(l2, atL2, first, "ink"),
    square(sms, atSms, second, "accent"),
    rated(side + run / 2, mid - 16, pipes.hbm, type),
    rated(atL2 + first + run / 2, mid - 16, pipes.l2, type),
    crossing(side + 6, label, step, type - (big ? 0 : 1)),
    text(atL2 + first / 2, label + (big ? type * 1.3 : type * 1.4), l2.name, type, "semi middle"),
    !big && text(atL2 + first / 2, label + type * 2.7, l2.size, small - 1, "middle quiet"),
    text(atSms + second, label + (big ? type * 2.7 : 0), sms.name, type, "semi end accent-ink"),
    !big && text(atSms + second, label + type * 1.4, sms.size, small - 1, "end quiet"),
    line(
      atShared,
      type * 2.4,
      [
        [sm.name, "bold"],
        [`  ${sm.note}`, "quiet"],
      ],
      big ? type : type + 3,
    ),
    tipped(pipes.registers.tip, [
      path(
        `M${end} ${boxes[1].y + 6}L${trunk} ${fan.y}H${right}v${widest}H${trunk}L${end} ${boxes[1].y + cell - 6}z`,
        { fill: ink("accent"), "fill-opacity": 0.38 },
      ),
      specks(fan, step.units ?? "", at, { isDown: false, isBack: false }),
      text(trunk + fan.width / 2, mid, pipes.registers.rate, type + (big ? 3 : 9), "bold middle"),
      text(trunk + fan.width / 2, mid + type * 1.5, pipes.registers.unit, type, "middle"),
    ]),
    text(width - type * 0.8, mid, picture.units, small, "middle quiet", -90),
    chips.map((one, k) => chip(one, step, boxes[k], paper)),
    pipe(
      { ...along(atShared + cell, gap, pipes.shared), y: middle - thick(pipes.shared) / 2 },
      pipes.shared,
      step.shared,
      at,
      way,
    ),
    rated(
      atShared + cell + gap / 2,
      middle - thick(pipes.shared) / 2 - 8,
      pipes.shared,
      type - (big ? 0 : 1),
    ),
  ];
}

/** One below the other. @param {Picture} picture @param {Step} step @param {number} at @param {boolean} isFused @param {Paper} paper @returns {Drawn} */
function tall(picture, step, at, isFused, paper) {
  const { width } = paper;
  const { l2, sms, pipes, sm, chips } = picture;
  const type = 14;
  const way = { isDown: true, isBack: Boolean(step.out) };
  const crossed = step.in ?? step.out ?? "";
  const side = Math.min(width * 0.72, 280);
  const widest = width * 0.9;
  const mid = side / 2;
  const thick = (/** @type {Rate} */ { share }) => Math.max(0.8, (share ?? 0.01) * widest);
  const [first, second] = [l2, sms].map((area) => area.side * side);
  const run = 52;
  const atL2 = side + run;
  const atSms = atL2 + first + run;
  const panel = atSms + second + 34;
  /** @type {(y: number, length: number, rate: Rate) => Box} */
  const down = (y, length, rate) => ({
    x: mid - thick(rate) / 2,
    y,
    width: thick(rate),
    height: length,
  });
  const cell = Math.min(sm.side * side, (width - 84) / 2);
  const gap = width - 28 - 2 * cell;
  const top = panel + 84;
  const boxes = chips.map((one, k) => {
    const high = cell * Math.min(1, one.bytes / chips[1].bytes);
    return { x: k ? width - 14 - cell : 14, y: top + (cell - high) / 2, width: cell, height: high };
  });
  const funnel = top + cell + 32;
  const fan = { x: (width - widest) / 2, y: funnel + 26, width: widest, height: 72 };
  paper.used = fan.y + fan.height + 30;
  const centre = top + cell / 2;
  const beside = (/** @type {number} */ y, /** @type {Rate} */ rate) => [
    text(
      mid + 18,
      y + run / 2 + 5,
      rate.share === null ? rate.rate : `${rate.rate} ${rate.unit}`,
      type,
      rate.share === null ? "quiet" : "semi accent-ink",
    ),
  ];
  const area = (
    /** @type {Area} */ one,
    /** @type {number} */ y,
    /** @type {number} */ px,
    /** @type {string} */ hue,
  ) => [
    tipped(one.tip, [rect(mid - px / 2, y, px, px, hue)]),
    line(
      mid + 18,
      y + px / 2 + 5,
      [
        [one.name, "semi"],
        [` ${one.size}`, "quiet"],
      ],
      type,
    ),
  ];
  return [
    memory(picture, step, isFused, { x: 0, y: 0, width: side, height: side }, paper),
    path(
      `M${mid - second / 2} ${atSms + second}L20 ${panel}H${width - 20}L${mid + second / 2} ${atSms + second}z`,
      { fill: ink("chip-paper") },
    ),
    rect(0, panel, width, paper.used - panel, "chip-paper", {}, 12),
    pipe(down(side, run, pipes.hbm), pipes.hbm, crossed, at, way),
    pipe(down(atL2 + first, run, pipes.l2), pipes.l2, crossed, at, way),
    area(l2, atL2, first, "ink"),
    area(sms, atSms, second, "accent"),
    beside(side, pipes.hbm),
    beside(atL2 + first, pipes.l2),
    crossing(mid - 70, side + run / 2 + 5, step, type, true),
    line(
      14,
      panel + 28,
      [
        [sm.name, "bold"],
        [`  ${sm.note}`, "quiet"],
      ],
      type + 1,
    ),
    tipped(pipes.registers.tip, [
      path(
        `M${width - 14 - cell + 6} ${top + cell}L${fan.x} ${fan.y}v${fan.height}h${widest}v${-fan.height}L${width - 20} ${top + cell}z`,
        { fill: ink("accent"), "fill-opacity": 0.38 },
      ),
      specks(fan, step.units ?? "", at, { isDown: true, isBack: false }),
      text(
        width / 2,
        fan.y + 44,
        `${pipes.registers.rate} ${pipes.registers.unit}`,
        20,
        "bold middle",
      ),
    ]),
    text(width / 2, fan.y + fan.height + 20, picture.units, type, "middle quiet"),
    chips.map((one, k) => chip(one, step, boxes[k], paper)),
    pipe(
      {
        x: 14 + cell,
        y: centre - thick(pipes.shared) / 2,
        width: gap,
        height: thick(pipes.shared),
      },
      pipes.shared,
      step.shared,
      at,
      { isDown: false, isBack: way.isBack },
    ),
    text(14 + cell + gap / 2, centre - 16, pipes.shared.rate, type, "semi middle accent-ink"),
  ];
}
