// Devices: the map of scores, the ring and the timeline show the same moment of a head that several GPUs share; the bars are one
// row's running maximum and sum.

import { scale, widthOf } from "../lib/chart.js";
import { circle, hatch, ink, line, path, rect, stroke, text } from "../lib/svg_canvas.js";
import { timeSlider } from "./time_slider.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {[i: number, j: number, device: number, tick: number, step: number]} Tile */
/** After a tile: of ℓ the part that was there before the step, and what is written. @typedef {{tick: number, l: number, old: number, texts: {m: string, l: string, x: string}}} State */
/** @typedef {{of: number, states: State[]}} Bar */
/** @typedef {{devices: string[], of: string[], rows: number[], keys: number[], tiles: Tile[], skipped: string, starts: number[], steps: string[], work: string[][],
 * counts: number[][], sources: number[][], hop: [string, string], waits: string, end: [string, string], other: {ticks: number, rows: [string, string]} | null,
 * titles: {scores: [string, string], ring: string, row: [string, string]}, merge: Bar[], block: number, names: string[], first: number[]}} Picture */
/** @typedef {{x: number, y: number, wide: number, high: number}} Box */
/** What all parts are drawn from. @typedef {{picture: Picture, at: number, step: number, size: number, narrow: boolean, big: boolean}} Moment */

/** @type {import("./index.js").Painter} */
export const devices = { paint, height: { share: 3.5, least: 300, most: 660 } };

const PALE = 0.24; // opacity of a tile that is not computed yet
/** @param {number} device */
const hue = (device) => `w${device}`;

/** @param {Scene} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
function paint(scene, paper, pen) {
  const { data, at, choose } = scene;
  const picture = /** @type {Picture} */ (data.picture);
  const { step } = data.beats[at];
  const { width, narrow, big, type: size } = paper;
  const now = { picture, at, step, size, narrow, big };
  const lane = size * (narrow ? 1.9 : 1.75);
  const foot = lane * picture.devices.length + size * 2.4; // of the timeline
  const high = narrow ? width * 0.86 : paper.height - (big ? size : foot + size * 1.2);
  const columns = big ? [0, 0, 0.44] : [0, 0.315, 0.675];
  const box = (/** @type {number} */ k) => ({
    x: narrow ? 0 : columns[k] * width,
    y: narrow ? k * (high + size * 1.6) : 0,
    wide: narrow ? width : ((columns[k + 1] ?? 1) - columns[k]) * width - size * 1.4,
    high,
  });
  const left = big ? columns[2] * width : 0;
  const top = narrow ? 3 * (high + size * 1.6) : paper.height - foot - (big ? high - foot : 0) / 2;
  if (narrow) paper.used = top + foot;
  const lanes = timeline(now, { x: left, y: top, wide: width - left, high: foot }, lane);
  return [
    !big && scores(now, box(0), pen, choose), // a hall sees the ring and the timeline alone
    ring(now, box(1)),
    !big && bars(now, box(2)),
    lanes.drawn,
    timeSlider(scene, pen, lanes.places, top + size * 0.5, top + foot, top),
  ];
}

/** A name, and what it is, if there is room. @param {Moment} now @param {Box} box @param {string} name @param {string} note */
function title({ size, big }, { x, y, wide }, name, note) {
  const fits = !big && widthOf(name, size * 1.15) + widthOf(note, size * 0.9) < wide;
  /** @type {[string, string?][]} */
  const parts = [[name, "bold"]];
  return [
    line(x, y + size * 1.1, parts, size * 1.15),
    fits &&
      text(x + widthOf(name, size * 1.15) + size * 0.9, y + size * 1.1, note, size * 0.9, "quiet"),
  ];
}

/** Slanted lines over a box. @param {number} x @param {number} y @param {number} wide @param {number} high */
const hatched = (x, y, wide, high) =>
  path(hatch(x, y, wide, high, 7, 5), { ...stroke("hatch", 1), opacity: 0.55 });

/** Slanted lines over a disc. @param {number} x @param {number} y @param {number} r */
function hatchedDisc(x, y, r) {
  let d = "";
  for (let c = 4 - r; c < r; c += 5) {
    const half = Math.sqrt(r * r - c * c);
    const [mx, my] = [x + c * Math.SQRT1_2, y + c * Math.SQRT1_2];
    d += `M${mx - half * Math.SQRT1_2} ${my + half * Math.SQRT1_2}L${mx + half * Math.SQRT1_2} ${my - half * Math.SQRT1_2}`;
  }
  return path(d, { ...stroke("hatch", 1), opacity: 0.45 });
}

/** The tiles, by the GPU that computes them; those of the step under way are framed.
 * @param {Moment} now @param {Box} box @param {Pen<Scene>} pen @param {(choice: Record<string, string>) => void} choose @returns {Drawn} */
function scores(now, box, pen, choose) {
  const { picture, at, step, size } = now;
  const { rows, keys, tiles } = picture;
  const head = size * 1.9;
  const badge = size * 1.9;
  const cell = Math.min(
    (box.high - head) / (rows.length + 0.9),
    (box.wide - badge - size * 2.4) / keys.length,
  );
  const [left, top] = [box.x + badge, box.y + head + cell * 0.9];
  const gap = Math.max(2, cell * 0.08);
  const side = cell - gap;
  const visible = new Set(tiles.map(([i, j]) => i * keys.length + j));
  const skipped = rows.flatMap((_, i) =>
    keys.map(
      (_, j) =>
        !visible.has(i * keys.length + j) &&
        hatched(left + j * cell, top + i * cell, cell - 1, cell - 1),
    ),
  );
  const letter = Math.min(size * 0.9, cell * 0.6);
  return [
    title(now, box, ...picture.titles.scores),
    text(left - badge * 0.55, top - cell * 0.3, "Q", size, "middle bold accent-ink"),
    line(
      left + keys.length * cell + 4,
      top - cell * 0.3,
      [
        ["K ", "ink-k"],
        ["V", "ink-v"],
      ],
      size,
      "bold",
    ),
    keys.map((device, j) =>
      rect(left + j * cell, top - cell * 0.75, side, cell * 0.5, hue(device), {}, 3),
    ),
    skipped,
    tiles.map(([i, j, device, tick, of]) =>
      rect(
        left + j * cell,
        top + i * cell,
        side,
        side,
        hue(device),
        {
          opacity: tick < at ? 1 : PALE,
        },
        3,
      ),
    ),
    tiles.map(
      ([i, j, , , of]) =>
        of === step && rect(left + j * cell, top + i * cell, side, side, "", stroke("ink", 1.8), 3),
    ),
    skipped.some(Boolean) &&
      text(
        left + keys.length * cell - gap,
        top + cell * 1.15,
        picture.skipped,
        size * 0.9,
        "end semi quiet halo",
      ),
    rows.map((device, i) =>
      pen.knob(
        {
          key: `row${i}`,
          label: picture.names[i],
          text: picture.devices[device],
          group: "rows",
          chosen: i === picture.block,
          press: () => choose({ row: String(picture.first[i]) }),
        },
        [
          rect(box.x, top + i * cell, left - box.x + keys.length * cell, cell, "", {
            fill: "transparent",
            cursor: "pointer",
          }),
          rect(box.x, top + i * cell, badge - size * 0.5, side, hue(device), {}, 3),
          i === picture.block &&
            rect(
              box.x - 3,
              top + i * cell - 2.5,
              badge - size * 0.5 + 6,
              side + 5,
              "",
              stroke("ink", 1.8),
              5,
            ),
          text(
            box.x + (badge - size * 0.5) / 2,
            top + i * cell + side / 2 + letter * 0.35,
            device,
            letter,
            "middle bold w-badge",
          ),
        ],
      ),
    ),
  ];
}

/** The GPUs, and the K and V that are on their way to the next one.
 * @param {Moment} now @param {Box} box @returns {Drawn} */
function ring(now, box) {
  const { picture, at, step, size } = now;
  const { devices, counts, work, sources, starts, hop } = picture;
  const count = devices.length;
  const r = Math.min(size * 2.7, box.high * 0.125);
  const [cx, cy] = [box.x + box.wide / 2, box.y + size * 1.6 + (box.high - size * 1.6) / 2];
  const ry = (box.high - size * 1.6) / 2 - r - 4;
  const rx = Math.min(box.wide / 2 - r - size * 1.2, ry * 1.6);
  const place = (/** @type {number} */ turn) => {
    const angle = (turn - 0.25) * 2 * Math.PI;
    return [cx + rx * Math.cos(angle), cy + ry * Math.sin(angle)];
  };
  const passed = Math.min(1, (at - starts[step]) / (starts[step + 1] - starts[step]));
  const card = size * 1.25;
  return [
    title(
      now,
      box,
      picture.steps[step][0].toUpperCase() + picture.steps[step].slice(1),
      picture.titles.ring,
    ),
    path(
      `M${cx - rx} ${cy}A${rx} ${ry} 0 1 1 ${cx + rx} ${cy}A${rx} ${ry} 0 1 1 ${cx - rx} ${cy}`,
      stroke("line", size * 0.6),
    ),
    text(cx, cy, hop[0], size * 1.35, "middle bold"),
    text(cx, cy + size * 1.4, hop[1], size, "middle quiet"),
    step < picture.steps.length - 1 &&
      devices.map((_, device) => {
        const [x, y] = place((device + 0.4 + 0.22 * passed) / count);
        const owner = sources[device][step];
        const isRight = x > cx;
        return [
          rect(
            x - card - 5,
            y - card / 2 - 4,
            2 * card + 10,
            card + 8,
            "paper",
            stroke("line", 1.2),
            5,
          ),
          ["K", "V"].map((name, k) => [
            rect(
              x - card - 1 + k * (card + 2),
              y - card / 2,
              card,
              card,
              name.toLowerCase(),
              {},
              3,
            ),
            text(
              x - card / 2 - 1 + k * (card + 2),
              y + size * 0.33,
              name,
              size * 0.9,
              "middle bold w-badge",
            ),
          ]),
          text(
            x + (isRight ? card + size * 0.9 : -card - size * 0.9),
            y + size * 0.3,
            picture.of[owner],
            size * 0.9,
            `${isRight ? "" : "end"} bold ${hue(owner)} halo`,
          ),
        ];
      }),
    devices.map((name, device) => {
      const [x, y] = place(device / count);
      const works = counts[device][step] > 0;
      const look = `middle ${works ? "w-badge" : "ink halo"}`;
      return [
        circle(x, y, r, {
          fill: ink(works ? hue(device) : "paper"),
          ...stroke(hue(device), works ? 0 : 2.4),
        }),
        !works && hatchedDisc(x, y, r - 2),
        text(x, y - size * 0.1, name, size * 0.92, `${look} bold`),
        text(x, y + size * 1.05, work[device][step], size * 0.86, look),
      ];
    }),
  ];
}

/** One row's ℓ after each step, and in the pale part what remains of it from before.
 * @param {Moment} now @param {Box} box @returns {Drawn} */
function bars(now, box) {
  const { picture, at, size, narrow } = now;
  const { merge, devices, of, titles } = picture;
  const base = box.y + box.high - size * (narrow ? 3.4 : 3);
  const most = Math.max(...merge.flatMap(({ states }) => states.map(({ l }) => l)));
  const y = scale([0, most], [0, base - box.y - size * 4.2]);
  const pitch = box.wide / devices.length;
  const wide = Math.min(pitch * 0.72, size * 5);
  return [
    title(now, box, ...titles.row),
    merge.map(({ of: owner, states }, k) => {
      const x = box.x + k * pitch;
      const middle = x + wide / 2;
      const last = states[states.length - 1];
      const state = states.findLast(({ tick }) => tick <= at);
      const [whole, pale] = state ? [y(state.l), y(state.old)] : [0, 0];
      return [
        state !== last &&
          rect(
            x,
            base - y(last.l),
            wide,
            y(last.l),
            "",
            stroke("l", 1.3, { "stroke-dasharray": "4 3" }),
            3,
          ),
        state && [
          rect(x, base - whole, wide, Math.max(2, whole - pale), "l", {}, 3),
          pale > 0 && rect(x, base - pale, wide, pale, "l", { opacity: 0.36 }, 3),
          pale > size * 0.75 &&
            text(
              middle,
              base - Math.min(pale / 2 - size * 0.26, size * 0.35),
              `× ${state.texts.x}`,
              size * 0.78,
              "middle bold",
            ),
          line(
            middle,
            base - whole - size * 0.5,
            [
              ["ℓ ", "l"],
              [state.texts.l, ""],
            ],
            size,
            "middle bold halo",
          ),
          line(
            middle,
            base + size * 1.25,
            [
              ["m ", "ink-m"],
              [state.texts.m, ""],
            ],
            size,
            "middle bold",
          ),
        ],
        line(
          middle,
          base + size * 2.5,
          [
            ["K", "ink-k bold"],
            [", ", ""],
            ["V", "ink-v bold"],
            [` ${of[owner]}`, "quiet"],
          ],
          size * 0.9,
          "middle",
        ),
      ];
    }),
  ];
}

/** All tiles over time, a lane for each GPU. @param {Moment} now @param {Box} box @param {number} lane px of one
 * @returns {{drawn: Drawn, places: number[]}} */
function timeline({ picture, at, step, size, narrow, big }, { x: from, y: top, wide, high }, lane) {
  const { devices, tiles, starts, counts, steps, waits, end, other } = picture;
  const left = from + size * 3.9;
  const right = from + wide - size * (narrow || big ? 1 : 5.2);
  const span = Math.max(starts[starts.length - 1], other?.ticks ?? 0);
  const x = scale([0, span], [left, right]);
  const last = starts[starts.length - 1];
  const y = (/** @type {number} */ device) => top + size * 2.1 + device * lane;
  const thick = lane - size * 0.32;
  const bottom = top + high;
  const places = Array.from({ length: last + 1 }, (_, tick) => x(tick));
  return {
    places,
    drawn: [
      steps.map((name, k) => [
        (k === step || x(starts[k + 1]) - x(starts[k]) > widthOf(name, size)) &&
          text(x(starts[k]) + 3, top + size * 1.6, name, size * 0.9, k === step ? "bold" : "quiet"),
        k > 0 &&
          path(
            `M${x(starts[k])} ${top + size * 0.8}V${bottom}`,
            stroke("hatch", 1, { "stroke-dasharray": "2 3" }),
          ),
      ]),
      devices.map((name, device) => [
        text(from, y(device) + thick * 0.72, name, size * 0.95, `bold ${hue(device)}`),
        counts[device].map((count, k) => {
          const [start, to] = [x(starts[k] + count), x(starts[k + 1])];
          if (to - start < 1) return null;
          return [
            rect(start, y(device), to - start - 2, thick, "", stroke("line"), 2),
            hatched(start, y(device), to - start - 2, thick),
            k !== step && // there the ring says it
              to - start > widthOf(waits, size) + 12 &&
              text(
                (start + to) / 2,
                y(device) + thick * 0.72,
                waits,
                size * 0.9,
                "middle semi halo",
              ),
          ];
        }),
      ]),
      tiles.map(([, , device, tick]) =>
        rect(
          x(tick),
          y(device),
          x(1) - x(0) - 2,
          thick,
          hue(device),
          { opacity: tick < at ? 1 : PALE },
          2,
        ),
      ),
      !narrow &&
        !big && [
          text(x(last) + size * 0.7, y(0) + size * 1.1, end[0], size * 1.25, "bold"),
          text(x(last) + size * 0.7, y(0) + size * 2.4, end[1], size * 0.9, "quiet"),
        ],
      other && [
        path(
          `M${x(other.ticks)} ${top + size}V${bottom}`,
          stroke("quiet", 1.4, { "stroke-dasharray": "3 4" }),
        ),
        !narrow &&
          !big && [
            path(
              `M${x(other.ticks) - 6} ${y(2)}H${x(last) + 8}m8 -5l-8 5l8 5`,
              stroke("quiet", 1.2),
            ),
            text(x(other.ticks) - 10, y(2) - size * 0.5, other.rows[0], size * 0.9, "end quiet"),
          ],
        text(
          x(other.ticks) - 10,
          narrow ? top + size * 0.5 : y(2) + size * 1.4,
          other.rows[1],
          size * 1.05,
          "end bold halo",
        ),
      ],
    ],
  };
}
