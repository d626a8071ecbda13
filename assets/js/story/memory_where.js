// The levels of memory: the card's on one scale, one SM magnified, and between them pipes as wide as their rates. Bytes
// flow in the colours of their tensors. On a phone the same levels stand one below the other.

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
import { t } from "./texts.js";

/** @import { Drawn, Paper } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{name: string, size: string, side: number, tip: string}} Area `side` in sides of the memory's square */
/** @typedef {{rate: string, share: number | null, tip: string}} Rate `share` of the widest pipe */
/** @typedef {{key: string, name: string, hue: string, bytes: number, tip: string}} Part */
/** @typedef {{name: string, size: string, bytes: number, programs: number, taken: number, parts: Part[], note: string, tip: string}} Chip */
/**
 * @typedef {object} Picture
 * @property {Area} hbm
 * @property {Area} l2
 * @property {Area} sms
 * @property {Area} registers of one SM
 * @property {Record<"hbm" | "l2" | "shared" | "registers", Rate>} pipes
 * @property {[shared: Chip, registers: Chip]} chips
 * @property {Area} scores S and P
 * @property {Area} matrices each of Q, K, V and O
 * @property {Record<string, string>} texts
 */
/** @typedef {{in?: string, out?: string, shared: string, units?: string, chip: string, hbm?: string}} Step */
/** @typedef {{x: number, y: number, width: number, height: number}} Box */

/** The ink of letters on a hue. @param {string} hue */
const onHue = (hue) => ("kvo".includes(hue) ? "on-hue" : "paper");
/** Names of tensors, each in its ink. @param {string} names @returns {[string, string][]} */
const letters = (names) =>
  [...names].map((name) => [`${name} `, `semi ${INKS[storedHue(name)] ?? "quiet"}`]);

/** Lengths along the levels, to the right or on a phone downward, and the middles across them. @param {Paper} paper */
const layoutOf = ({ width, height, narrow, big, type }) =>
  narrow
    ? {
        side: width * 0.56,
        flat: width, // the memory is as wide as the picture
        run: 37,
        panel: 24,
        pad: 58,
        cell: width * 0.25,
        gap: 32,
        trunk: 16,
        fan: 48,
        mid: width / 2,
        axis: 16 + width * 0.125,
        widest: width * 0.9,
      }
    : {
        side: Math.min(width * 0.27, height * 0.86),
        flat: 0,
        run: width * 0.062,
        panel: width * 0.08,
        pad: Math.min(30, width * 0.024),
        cell: Math.min(width * 0.15, height * 0.5),
        gap: type * (big ? 2.4 : 3.5),
        trunk: type * 1.6,
        fan: 0,
        mid: height * 0.47,
        axis: height * 0.47 + type * 0.8,
        widest: height * 0.78,
      };

/** @param {Scene<Picture, Step>} scene @param {Paper} paper @returns {Drawn} */
export function where(scene, paper) {
  const { picture, beat: step, at } = scene;
  const { hbm, l2, sms, pipes, chips, texts } = picture;
  const { width, height, narrow: isDown, big, type, small } = paper;
  const { side, flat, run, cell, gap, mid, axis, widest, ...lay } = layoutOf(paper);
  const [tall, wide] = flat ? [(side * side) / flat, flat] : [side, side];
  const [first, second] = [l2.side * side, sms.side * side];
  const atL2 = tall + run;
  const atSms = atL2 + first + run;
  const panel = atSms + second + lay.panel;
  const shared = panel + lay.pad;
  const registers = shared + cell + gap;
  const trunk = registers + cell + lay.trunk;
  const last = isDown ? trunk + lay.fan : width - type * 2.6;
  const [span, foot] = isDown ? [width, last + 28] : [height, width];
  if (isDown) paper.used = foot;
  const below = Math.max(first, second) / 2 + type * 1.5;
  const under = big ? type : type + 2;

  /** @param {number} a its start @param {number} b its middle @returns {Box} */
  const box = (a, b, long = 0, thick = long) =>
    isDown
      ? { x: b - thick / 2, y: a, width: thick, height: long }
      : { x: a, y: b - thick / 2, width: long, height: thick };
  /** What widens from one line across the levels to another, each its place, middle and length. @param {[number, number, number]} from
   * @param {[number, number, number]} to @param {import("../lib/svg_canvas.js").Paints} paints */
  const flare = ([a, b, thick], [c, d, wider], paints) => {
    const corners = [
      box(a, b, 0, thick),
      box(a, b, 0, -thick),
      box(c, d, 0, -wider),
      box(c, d, 0, wider),
    ];
    return path(`M${corners.map(({ x, y }) => `${x} ${y}`).join("L")}z`, paints);
  };
  /** Words at the right of a place on a phone, else so far below it. @param {number} a @param {number} b @param {number} down
   * @param {[string, string?][]} parts */
  const beside = (a, b, down, parts, look = "middle") =>
    isDown ? line(b + 18, a + 5, parts, type) : line(a, b + down, parts, type, look);
  /** @param {Area} area @param {number} a @param {string} hue @param {number} down to its name @param {string} look */
  const level = ({ name, size, side: share, tip }, a, hue, down, look) => {
    const long = share * side;
    const parts = /** @type {[string, string][]} */ ([
      [name, "semi"],
      [big ? "" : ` ${size}`, "quiet"],
    ]);
    return [
      tipped(filled(box(a, mid, long), hue), tip),
      beside(a + long / 2, mid, down, parts, look),
    ];
  };
  /** Bytes on their way: specks at places that follow from their number and the position. @param {number} a @param {number} b
   * @param {number} long @param {number} thick @param {string} tensors */
  const specks = (a, b, long, thick, tensors) => {
    const across = clamp(thick * 0.7, 2, 4.5);
    const count = tensors && clamp((long * thick) / 700, long / 24, 60);
    return times(Math.round(count || 0), (k) => {
      const along = (k * 0.7549 + (step.out ? 60 - at : at) * 0.21) % 1;
      const over = thick < 12 ? 0 : ((k * 0.5698) % 1) - 0.5;
      const place = box(a + along * (long - 6.5), b + over * (thick - across), 6.5, across);
      return filled(place, storedHue(tensors[k % tensors.length]));
    });
  };
  /** @param {Rate} rate @param {number} a @param {number} b @param {number} long @param {string} tensors */
  const pipe = ({ rate, share, tip }, a, b, long, tensors) => {
    const thick = Math.max(0.8, (share ?? 0.01) * widest);
    const body = box(a, b, long, thick);
    const above = -thick / 2 - 8;
    return tipped(
      [
        share
          ? filled(body, "accent", { opacity: 0.38 })
          : filled(body, "", stroke("quiet", 1, { "stroke-dasharray": "3 3" })),
        specks(a, b, long, thick, tensors),
        !isDown &&
          text(a + long / 2, b + above - type * 1.2, texts.unit, small(0.87), "middle quiet"),
        beside(a + long / 2, b, above, [
          [rate, "bold accent-ink"],
          [isDown ? ` ${texts.unit}` : "", "quiet"],
        ]),
      ],
      tip,
    );
  };
  const fan = box((trunk + last) / 2, mid);
  const crossed = step.in ?? step.out ?? "";
  const pale = { fill: ink("chip-paper") };
  const magnified = t("magnified", {
    times: Number((cell / side / picture.registers.side).toPrecision(2)),
  });
  return [
    memory(scene, box(0, mid, tall, wide), paper),
    !isDown && text(0, mid + side / 2 + type * 1.4, texts.scale, small(0.87), "quiet"),
    flare([atSms + second, mid, second], [panel, span / 2, span * 0.9], pale),
    filled(box(panel, span / 2, foot - panel, span), "chip-paper", {}, 12),
    pipe(pipes.hbm, tall, mid, run, crossed),
    pipe(pipes.l2, atL2 + first, mid, run, crossed),
    level(l2, atL2, "ink", below, "middle"),
    level(sms, atSms, "accent", below + type * 1.4, "end accent-ink"),
    titled(isDown ? 16 : shared, isDown ? panel + 28 : type * 2.4, texts.sm, magnified, under),
    tipped(
      [
        flare([registers + cell, axis, cell - 12], [trunk, mid, widest], {
          fill: ink("accent"),
          opacity: 0.38,
        }),
        filled(box(trunk, mid, last - trunk, widest), "accent", { opacity: 0.38 }),
        specks(trunk, mid, last - trunk, widest, step.units ?? ""),
        text(fan.x, fan.y - 4, pipes.registers.rate, type + (big ? 3 : 8), "bold middle halo"),
        text(fan.x, fan.y + type * 1.3, texts.unit, type, "middle halo"),
      ],
      pipes.registers.tip,
    ),
    isDown
      ? text(mid, last + 20, texts.units, type, "middle quiet")
      : text(width - type * 0.8, mid, texts.units, small(0.93), "middle quiet", -90),
    chips.map((one, k) => {
      const part = cell * Math.min(1, one.bytes / chips[1].bytes);
      return chip(one, step, box(k ? registers : shared, axis, cell, part), paper);
    }),
    pipe(pipes.shared, shared + cell, axis, gap, step.shared),
  ];
}

/** @param {Box} box @param {string} hue @param {import("../lib/svg_canvas.js").Paints} [paints] */
const filled = ({ x, y, width, height }, hue, paints, round = 0) =>
  rect(x, y, width, height, hue, paints, round);

/** What lies in the card's memory: the four matrices, and S and P or their ghost, as high as there is room and as wide as their bytes need.
 * @param {Scene<Picture, Step>} scene @param {Box} box @param {Paper} paper @returns {Drawn} */
function memory({ picture, beat: { hbm: there = "" } }, box, { narrow, big, type, small }) {
  const { hbm, scores, matrices, texts } = picture;
  const { x, y, width, height } = box;
  const side = Math.sqrt(width * height);
  const left = x + (narrow ? 14 : 22);
  const [top, low] = narrow
    ? [y + type * 1.7, y + height - type]
    : [y + type * 2.3, y + height - type * 1.6];
  const four = Math.max(1.5, matrices.side * side);
  const base = low - Math.max(type * 2.2, 2 * four + 16);
  const bytes = (scores.side * side) ** 2;
  const high = Math.min(scores.side * side, base - top - 10);
  const wide = Math.min(bytes / high, width - 2 * (left - x));
  const isInside = wide > width * 0.4;
  const look = isInside && there ? "inverse" : "";
  const beside = left + (isInside ? 8 : Math.max(wide, 2 * four, 14) + 12);
  const middle = base - high / 2 - type * 0.3;
  return [
    tipped(
      [
        filled(box, "empty", {}, 10),
        titled(left, top, hbm.name, hbm.size, big || narrow ? type : type + 4),
      ],
      hbm.tip,
    ),
    tipped(
      [
        rect(
          left,
          base - high,
          wide,
          high,
          there ? "" : "paper",
          stroke("quiet", 1.4, { "stroke-dasharray": "4 3" }),
        ),
        [...there].map((name, k) =>
          rect(left + (k * wide) / 2, base - high, wide / 2 - 0.5, high, storedHue(name)),
        ),
        line(beside, middle, [[texts.scores, "semi"], [`, ${scores.size}`]], type, look),
        !big && text(beside, middle + type * 1.35, texts.note, small(0.9), look || "quiet"),
      ],
      scores.tip,
    ),
    tipped(
      [
        [..."QKVO"].map((name, k) =>
          rect(left + (k % 2) * four, low + ((k >> 1) - 2) * four, four, four, storedHue(name)),
        ),
        line(
          left + Math.max(2 * four, 14) + 12,
          low,
          [...letters("QKVO"), [`${matrices.size}${texts.each}`]],
          type,
        ),
      ],
      matrices.tip,
    ),
  ];
}

/** A memory of one SM: each program a strip of it, the tile's parts along the first strip.
 * @param {Chip} chip @param {Step} step @param {Box} box @param {Paper} paper @returns {Drawn} */
function chip({ bytes, programs, taken, parts, name, size, note, tip }, step, box, paper) {
  const { big, narrow, type } = paper;
  const { x, y, width, height } = box;
  const strip = Math.min(height, (taken / bytes) * height);
  const letter = big ? type : clamp(strip * 0.45, 13, type);
  const along = scale([0, taken], [x, x + width]);
  const places = narrow
    ? [1.1, 2.5, 3.9].map((k) => [paper.width * 0.34, y + k * type])
    : [-1.9, -0.6, 1.4].map((k) => [x, (k > 0 ? y + height : y) + k * type]);
  const words = big ? ["", name, size] : [name, size, note];
  return [
    tipped(filled(box, "paper", stroke("chip-line", 1.2), 6), tip),
    words.map(
      (one, k) =>
        one && text(places[k][0], places[k][1], one, type, one === name ? "semi" : "quiet"),
    ),
    times(Math.max(1, programs), (k) => {
      const top = y + height - (k + 1) * strip;
      const middle = top + strip / 2 + letter * 0.35;
      let end = x;
      const drawn = parts.map(({ key, name, hue, bytes: n, tip }) => {
        const left = end;
        end += along(n) - x;
        const wide = Math.min(x + width - left, Math.max(1.6, end - left)); // a tile that spills has more than its box
        const isThere = !k && step.chip.includes(key);
        const inset = wide > 4 ? 1.5 : 0;
        const short = widthOf(name, letter) * 1.3 > wide ? name[0] : name;
        const look = `bold middle ${isThere ? onHue(hue) : (INKS[hue] ?? "quiet")}`;
        return tipped(
          [
            rect(
              left + inset,
              top + 2.5,
              wide - 2 * inset,
              strip - 5,
              hue,
              { opacity: isThere ? 1 : 0.2 },
              2,
            ),
            !k &&
              strip > letter &&
              wide > letter &&
              text(left + wide / 2, middle, short, letter, look),
          ],
          k ? "" : tip,
        );
      });
      const isRoomy = strip > 18 && x + width - end > 30;
      return [
        rect(x + 1, top + 1, width - 2, strip - 2, k ? "empty" : "accent-pale", {}, 2),
        drawn,
        // m and ℓ are too narrow for their names
        !k &&
          isRoomy &&
          step.chip.includes("m") &&
          line(
            end + 6,
            middle,
            [
              ["m ", "semi ink-m"],
              ["ℓ", "semi l"],
            ],
            letter,
          ),
      ];
    }),
  ];
}
