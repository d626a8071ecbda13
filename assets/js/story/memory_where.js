// The levels of memory: the card's on one scale, one SM magnified, and between them pipes as wide as their rates. Bytes
// flow in the colours of their tensors. On a phone the levels stand one below the other.

import { scale, widthOf } from "../lib/chart.js";
import { clamp } from "../lib/format.js";
import { times } from "../lib/lists.js";
import {
  ink,
  INKS,
  line,
  path,
  rect,
  storedHue,
  stroke,
  text,
  tipped,
  titled,
} from "../lib/svg_canvas.js";

/** @import { Drawn, Paper } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
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
/** `at` moves the specks, backwards where it is negative. @typedef {{at: number, isDown: boolean}} Flow */

const NAMED_ABOVE = 0.3; // of the memory's side, from which S and P leave no room for its name inside

/** The ink of letters on a hue. @param {string} hue */
const onHue = (hue) => ("kvo".includes(hue) ? "on-hue" : "paper");
/** Names of tensors, each in its ink. @param {string} names @returns {[string, string][]} */
const letters = (names) =>
  [...names].map((name) => [`${name} `, `semi ${INKS[storedHue(name)] ?? "quiet"}`]);

/** @type {(x: number, y: number, width: number, height: number) => Box} */
const boxOf = (x, y, width, height) => ({ x, y, width, height });

/** @param {Scene<Picture, Step>} scene @param {Paper} paper @returns {Drawn} */
export function where(scene, paper) {
  const { hbm, l2, sms, pipes, sm, chips, ...picture } = scene.picture;
  const { beat: step, at } = scene;
  const { width, height: high, narrow: isDown, big, type } = paper;
  const flow = { at: step.out ? -at : at, isDown };
  const crossed = step.in ?? step.out ?? "";
  const side = isDown ? Math.min(width * 0.62, 240) : Math.min(width * 0.27, high * 0.86);
  // On a phone the memory is as wide as the picture, unless S and P need a square, with its name above them
  const isFlat = isDown && picture.scores.sides[1] <= NAMED_ABOVE;
  const above = isDown && !isFlat ? type * 1.4 : 0;
  const [tall, wide] = isFlat ? [(side * side) / width, width] : [side, side];
  const widest = isDown ? width * 0.9 : high * 0.78;
  const mid = isDown ? wide / 2 : high * 0.47;
  const [first, second] = [l2, sms].map((area) => area.side * side);
  const run = isDown ? 40 : (width * 0.487 - side - first - second) * 0.3;
  const under = above + tall; // the memory's end
  const [atL2, atSms] = [under + run, under + run + first + run];
  const panel = isDown ? atSms + second + 20 : width * 0.487;
  const thick = (/** @type {Rate} */ { share }) => Math.max(0.8, (share ?? 0.01) * widest);
  /** A box, and a point, by what is along the levels and what across. @type {(along: number, across: number, long: number, thick: number) => Box} */
  const box = (a, b, long, thick) => (isDown ? boxOf(b, a, thick, long) : boxOf(a, b, long, thick));
  const point = (/** @type {number} */ a, /** @type {number} */ b) =>
    isDown ? `${b} ${a}` : `${a} ${b}`;
  const square = (
    /** @type {Area} */ { tip },
    /** @type {number} */ a,
    /** @type {number} */ px,
    /** @type {string} */ hue,
  ) => {
    const { x, y } = box(a, mid - px / 2, px, px);
    return tipped(rect(x, y, px, px, hue), tip);
  };
  const crossing = (/** @type {Rate} */ one, /** @type {number} */ a) =>
    pipe(box(a, mid - thick(one) / 2, run, thick(one)), one, crossed, flow);
  /** @param {Area} area @param {number} x @param {number} y @param {string} look */
  const named = ({ name, size }, x, y, look) =>
    line(
      x,
      y,
      [
        [name, "semi"],
        [big ? "" : ` ${size}`, "quiet"],
      ],
      type,
      look,
    );
  const rate = (/** @type {Rate} */ one, /** @type {number} */ a) =>
    isDown
      ? text(
          mid + 18,
          a + 5,
          `${one.rate} ${one.unit}`,
          type,
          one.unit ? "semi accent-ink" : "quiet",
        )
      : rated(a, mid - 16, one, type);

  // Inside the SM
  const cell = Math.min(
    sm.side * side,
    isDown ? (width - 84) / 2 : (width - panel) * (big ? 0.28 : 0.32),
  );
  const pad = isDown ? 14 : panel + Math.min(30, width * 0.024);
  const gap = isDown ? width - 28 - 2 * cell : big ? type * 2.4 : (width - panel) * 0.085;
  const right = pad + cell + gap;
  const centre = isDown ? panel + 76 + cell / 2 : mid + type * 0.8;
  const boxes = chips.map((one, k) => {
    const part = cell * Math.min(1, one.bytes / chips[1].bytes);
    return boxOf(k ? right : pad, centre - part / 2, cell, part);
  });
  const [end, trunk, last] = isDown
    ? [centre + cell / 2, centre + cell / 2 + 46, centre + cell / 2 + 92]
    : [right + cell, right + cell + gap * 0.5, width - type * 2.6];
  const [low, from] = isDown
    ? [(width - widest) / 2, right]
    : [mid - widest / 2, centre - cell / 2];
  const fan = box(trunk, low, last - trunk, widest);
  const [fx, fy] = [fan.x + fan.width / 2, fan.y + fan.height / 2];
  if (isDown) paper.used = last + 26;
  const [top, foot] = isDown ? [20, width - 20] : [high * 0.06, high * 0.92];
  const label = mid + Math.max(first, second) / 2 + type * 1.5;
  const small = big ? type : type - 1;
  return [
    memory(scene, box(above, mid - wide / 2, tall, wide), paper, type),
    !isDown &&
      text(0, mid + side / 2 + type * 1.4, picture.scale, big ? small : small - 1, "quiet"),
    path(
      `M${point(atSms + second, mid - second / 2)}L${point(panel, top)}L${point(panel, foot)}L${point(atSms + second, mid + second / 2)}z`,
      { fill: ink("chip-paper"), opacity: 1 },
    ),
    isDown
      ? rect(0, panel, width, last + 26 - panel, "chip-paper", {}, 12)
      : rect(panel, 0, width - panel, high - 2, "chip-paper", {}, 12),
    crossing(pipes.hbm, under),
    crossing(pipes.l2, atL2 + first),
    square(l2, atL2, first, "ink"),
    square(sms, atSms, second, "accent"),
    rate(pipes.hbm, under + run / 2),
    rate(pipes.l2, atL2 + first + run / 2),
    isDown
      ? [
          named(l2, mid + 18, atL2 + first / 2 + 5, ""),
          named(sms, mid + 18, atSms + second / 2 + 5, ""),
        ]
      : [
          named(l2, atL2 + first / 2, label + type * 1.4, "middle"),
          named(sms, atSms + second, label + type * 2.8, "end accent-ink"),
        ],
    line(
      isDown ? mid - 70 : side + 6,
      isDown ? under + run / 2 + 5 : label,
      [
        [step.out ? (isDown ? "↑ " : "← ") : "", "quiet"],
        ...letters(crossed),
        [step.out ? "" : isDown ? "↓" : "→", "quiet"],
      ],
      small,
    ),
    titled(pad, isDown ? panel + 24 : type * 2.4, sm.name, sm.note, big ? type : type + 2),
    tipped(
      [
        path(
          `M${point(end, from + 6)}L${point(trunk, low)}L${point(last, low)}L${point(last, low + widest)}L${point(trunk, low + widest)}L${point(end, from + cell - 6)}z`,
          { fill: ink("accent"), opacity: 0.38 },
        ),
        specks(fan, step.units ?? "", { at, isDown }),
        text(fx, fy - 4, pipes.registers.rate, type + (big ? 3 : 8), "bold middle halo"),
        text(fx, fy + type * 1.3, pipes.registers.unit, type, "middle halo"),
      ],
      pipes.registers.tip,
    ),
    isDown
      ? text(width / 2, last + 20, picture.units, type, "middle quiet")
      : text(width - type * 0.8, mid, picture.units, small, "middle quiet", -90),
    chips.map((one, k) => chip(one, step, boxes[k], paper, type)),
    pipe(
      boxOf(pad + cell, centre - thick(pipes.shared) / 2, gap, thick(pipes.shared)),
      pipes.shared,
      step.shared,
      { ...flow, isDown: false },
    ),
    rated(pad + cell + gap / 2, centre - thick(pipes.shared) / 2 - 8, pipes.shared, small),
  ];
}

/** A rate above its pipe. @param {number} x @param {number} y @param {Rate} rate @param {number} type @returns {Drawn} */
const rated = (x, y, { rate, unit }, type) =>
  unit
    ? [
        text(x, y - type * 1.2, unit, type < 20 ? type - 2 : type, "middle quiet"),
        text(x, y, rate, type < 20 ? type + 2 : type, "middle bold accent-ink"),
      ]
    : rate
        .split(" ")
        .reverse()
        .map((word, k) => text(x, y - k * type * 0.95, word, type - 3, "middle quiet"));

/** A pipe with what is on its way. @param {Box} box @param {Rate} rate @param {string} tensors @param {Flow} flow */
function pipe(box, { share, tip }, tensors, flow) {
  const { x, y, width, height: high } = box;
  const middle = flow.isDown ? `M${x + width / 2} ${y}v${high}` : `M${x} ${y + high / 2}h${width}`;
  const body =
    share === null
      ? path(middle, stroke("quiet", 1.5, { "stroke-dasharray": "3 3" }))
      : rect(x, y, width, high, "accent", { "fill-opacity": 0.38 });
  return tipped([body, specks(box, tensors, flow)], tip);
}

/** Bytes on their way: specks at places that follow from their number and the position.
 * @param {Box} box @param {string} tensors @param {Flow} flow */
function specks({ x, y, width, height: high }, tensors, { at, isDown }) {
  if (!tensors) return null;
  const [length, across] = isDown ? [high, width] : [width, high];
  const isThin = across < 12;
  const [long, thick] = isThin ? [6, Math.max(2, across * 0.7)] : [7, 4.5];
  const count = clamp(Math.round((length * across) / 700), Math.round(length / 24), 60);
  const paths = Array.from(tensors, () => "");
  for (let k = 0; k < count; k++) {
    const along = ((((k * 0.7549 + at * 0.21) % 1) + 1) % 1) * (length - long);
    const over = isThin ? (across - thick) / 2 : ((k * 0.5698) % 1) * (across - thick);
    paths[k % tensors.length] += isDown
      ? `M${x + over} ${y + along}h${thick}v${long}h${-thick}z`
      : `M${x + along} ${y + over}h${long}v${thick}h${-long}z`;
  }
  return paths.map((d, k) => path(d, { fill: ink(storedHue(tensors[k])) }));
}

/** What lies in the card's memory: the four matrices, and S and P or their ghost.
 * @param {Scene<Picture, Step>} scene @param {Box} box @param {Paper} paper @param {number} type @returns {Drawn} */
function memory({ picture, switches, beat: step }, box, { narrow, big }, type) {
  const { hbm, scores, matrices } = picture;
  const { x, y, width, height } = box;
  const side = Math.sqrt(width * height);
  const left = x + (narrow ? 14 : 22);
  const low = y + height - type * (width > height ? 1.2 : 1.6);
  const four = Math.max(1.5, matrices.side * side);
  const both = scores.sides[1] * side;
  const isWide = both > NAMED_ABOVE * side;
  const beside = left + (isWide ? 8 : Math.max(both, 2 * four, 14) + 12);
  const base = low - Math.max(type * 2.4, 2 * four + 16);
  const top = Math.max(y, base - both);
  const there = step.hbm ?? "";
  const wording = isWide ? top + type * 1.5 : (top + base) / 2 - type * 0.15;
  const inside = isWide && there ? "inverse" : "";
  const title = isWide ? y - type * 0.6 : y + type * 2.3;
  return [
    tipped(
      [
        rect(x, y, width, height, "empty", {}, 10),
        titled(left, title, hbm.name, hbm.size, big || narrow ? type : type + 4),
      ],
      hbm.tip,
    ),
    tipped(
      [
        [...there].map((name, k) =>
          rect(left + (k * both) / 2, top, both / 2 - 0.5, base - top, storedHue(name)),
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
        !big &&
          text(
            beside,
            wording + type * 1.35,
            scores.notes[switches[0].value],
            type - 1.5,
            inside || "quiet",
          ),
      ],
      scores.tip,
    ),
    tipped(
      [
        [..."QKVO"].map((name, k) =>
          rect(
            left + (k % 2) * four,
            low + (Math.floor(k / 2) - 2) * four,
            four,
            four,
            storedHue(name),
          ),
        ),
        line(
          left + Math.max(2 * four, 14) + 12,
          low,
          [...letters("QKVO"), [matrices.amount]],
          type,
        ),
      ],
      matrices.tip,
    ),
  ];
}

/** A memory of one SM: each program a strip of it, the tile's parts along the first strip.
 * @param {Chip} chip @param {Step} step @param {Box} box @param {Paper} paper @param {number} type @returns {Drawn} */
function chip(
  { bytes, programs, taken, parts, name, size, note, tip },
  step,
  box,
  { big, narrow },
  type,
) {
  const { x, y, width, height: high } = box;
  const strip = Math.min(high, (taken / bytes) * high);
  const letter = big ? type : Math.min(type, Math.max(13, strip * 0.45));
  const along = scale([0, taken], [x, x + width]);
  const strips = times(Math.max(1, programs), (k) => {
    const top = y + high - (k + 1) * strip;
    const middle = top + strip / 2 + (big ? letter * 0.35 : 5);
    let before = 0;
    const drawn = parts.map((part) => {
      const left = along(before);
      before += part.bytes;
      const wide = Math.min(x + width - left, Math.max(1.6, along(before) - left));
      const isThere = step.chip.includes(part.key) && !part.spare;
      const inset = wide > 4 ? 1.5 : 0;
      const opacity = isThere && !k ? 1 : k ? 0.2 : 0.12;
      const outline = isThere || k ? {} : { ...stroke(part.hue), "stroke-opacity": 0.6 };
      const look = { "fill-opacity": opacity, ...outline };
      const name = widthOf(part.name, letter) * 1.3 > wide ? part.name[0] : part.name;
      const isNamed = !k && strip > (big ? 0.9 * letter : 16) && wide > widthOf(name, 14);
      return tipped(
        [
          rect(left + inset, top + 2.5, wide - 2 * inset, strip - 5, part.hue, look, 2),
          isNamed &&
            text(
              left + wide / 2,
              middle,
              name,
              letter,
              `bold middle ${isThere ? onHue(part.hue) : (INKS[part.hue] ?? "quiet")}`,
            ),
        ],
        k ? "" : part.tip,
      );
    });
    const thin = parts.filter(({ key }) => key === "m" || key === "l");
    const left = along(before);
    const hasThin = !k && thin.length > 0 && strip > 18 && x + width - left > 30;
    return [
      rect(x + 1, top + 1, width - 2, strip - 2, k ? "empty" : "accent-pale", {}, 2),
      drawn,
      hasThin &&
        step.chip.includes("m") &&
        line(
          left + 6,
          middle,
          thin.map((part) => [`${part.name} `, `semi ${INKS[part.hue]}`]),
          letter,
        ),
    ];
  });
  return [
    tipped(
      [
        rect(x, y, width, high, "paper", stroke("chip-line", 1.2), 6),
        text(x, y - type * (big ? 0.6 : 1.9), name, type, "semi"),
        !big && text(x, y - type * 0.6, size, type - 1, "quiet"),
      ],
      tip,
    ),
    strips,
    text(
      x,
      y + high + type * 1.4,
      big ? size : note,
      big ? type : type - (narrow ? 2 : 1),
      "quiet",
    ),
  ];
}
