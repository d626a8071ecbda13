// Devices: the map of scores, the ring and the timeline show the same moment of a head that several GPUs share; the bars are one
// row's running maximum and sum.

import { scale } from "../lib/chart.js";
import { times } from "../lib/lists.js";
import { circle, group, hit, ink, line, path, rect, stroke, text } from "../lib/svg_canvas.js";
import { compared } from "./devices_compared.js";
import { PALE, hatched, hue, timeline, title } from "./devices_timeline.js";
import { timeSlider } from "./time_slider.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @import { Run } from "./devices_timeline.js" */
/** After a tile: of ℓ the part that was there before the step, and what is written. @typedef {{tick: number, l: number, old: number, texts: {m: string, l: string, x: string}}} State */
/** @typedef {{of: number, states: State[]}} Bar */
/** @typedef {Run & {of: string[], rows: number[], keys: number[], skipped: string, steps: string[], work: string[][], sources: number[][], hop: [string, string],
 * titles: {scores: [string, string], ring: string, row: [string, string]}, merge: Bar[], block: number, names: string[], first: number[]}} Picture */
/** What all parts are drawn from. @typedef {{picture: Picture, at: number, step: number, paper: Paper}} Moment */

/** @param {Scene} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function devices(scene, paper, pen) {
  if ("both" in scene.picture) return compared(scene, paper);
  const { picture, at, choose } = scene;
  const { step } = scene.beat;
  const { width, height, narrow, big, type: size } = paper;
  const now = { picture, at, step, paper };
  const count = picture.devices.length;
  const lane = size * (narrow ? 1.9 : (big ? 1.45 : 1.75) * Math.sqrt(4 / count));
  const foot = lane * count + size * 2.4; // of the timeline
  const high = narrow ? width * 0.86 : height - foot - size * 1.2;
  const columns = big ? [0, 0.4, 1] : [0, 0.315, 0.675, 1]; // a hall reads no bars
  const parts = [scores, ring, bars].slice(0, columns.length - 1);
  const top = narrow ? 3 * (high + size * 1.6) : height - foot;
  if (narrow) paper.used = top + foot;
  const lanes = timeline(picture, at, { x: 0, y: top, wide: width, high: foot }, lane, paper, step);
  return [
    parts.map((part, k) => {
      const wide = narrow ? width : (columns[k + 1] - columns[k]) * width - size * 1.4;
      const [x, y] = narrow ? [0, k * (high + size * 1.6)] : [columns[k] * width, 0];
      return group(x, y, part(now, wide, high, pen, choose));
    }),
    lanes.drawn,
    timeSlider(scene, pen, lanes.places, top + size * 0.5, top + foot, top, [
      [top, top + size * 0.6],
      [top + size * 1.85, top + foot], // below the names of the steps
    ]),
  ];
}

/** The tiles, by the GPU that computes them; those of the step under way are framed.
 * @param {Moment} now @param {number} wide @param {number} high @param {Pen<Scene>} pen @param {(choice: Record<string, string>) => void} choose @returns {Drawn} */
function scores({ picture, at, step, paper }, wide, high, pen, choose) {
  const { type: size, small, big } = paper;
  const { rows, keys, tiles } = picture;
  const head = big ? 0 : size * 1.9;
  const left = size * 1.9; // of the names of the rows
  const badge = size * 1.4;
  const cell = Math.min(
    (high - head) / (rows.length + 0.9),
    (wide - left - size * 2.4) / keys.length,
  );
  const top = head + cell * 0.9;
  const end = left + keys.length * cell;
  const side = cell - Math.max(2, cell * 0.08);
  const letter = big ? size : Math.min(size * 0.9, cell * 0.6);
  const visible = new Set(tiles.map(([i, j]) => i * keys.length + j));
  const skipped = times(rows.length * keys.length, (k) => k).filter((k) => !visible.has(k));
  return [
    !big && title(paper, wide, ...picture.titles.scores),
    text(left * 0.45, top - cell * 0.3, "Q", size, "middle bold accent-ink"),
    line(
      end + 4,
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
    skipped.map((k) => {
      const [i, j] = [Math.floor(k / keys.length), k % keys.length];
      return hatched(left + j * cell, top + i * cell, cell - 1, cell - 1);
    }),
    tiles.map(([i, j, device, tick, of]) => {
      const opacity = tick < at ? 1 : PALE;
      const look = { "fill-opacity": opacity, ...stroke("ink", of === step ? 1.8 : 0) };
      return rect(left + j * cell, top + i * cell, side, side, hue(device), look, 3);
    }),
    skipped.length > 0 &&
      text(end, top + cell * 1.15, picture.skipped, small(0.9), "end semi quiet halo"),
    rows.map((device, i) => {
      const y = top + i * cell;
      const chosen = i === picture.block;
      const row = { label: picture.names[i], text: picture.devices[device], group: "rows", chosen };
      const press = () => choose({ row: String(picture.first[i]) });
      return pen.knob({ key: `row${i}`, ...row, press }, [
        hit(0, y, end, cell),
        rect(0, y, badge, side, hue(device), {}, 3),
        chosen && rect(-3, y - 2.5, badge + 6, side + 5, "", stroke("ink", 1.8), 5),
        text(badge / 2, y + side / 2 + letter * 0.35, device, letter, "middle bold w-badge"),
      ]);
    }),
  ];
}

/** The GPUs, and the K and V that are on their way to the next one.
 * @param {Moment} now @param {number} wide @param {number} high @returns {Drawn} */
function ring({ picture, at, step, paper }, wide, high) {
  const { type: size, small, big } = paper;
  const { devices, counts, work, sources, starts, steps, hop } = picture;
  const count = devices.length;
  const head = big ? 0 : size * 1.6;
  const r = big ? size * 2 : Math.min(size * 2.7, high * 0.125);
  const [cx, cy] = [wide / 2, (head + high) / 2];
  const ry = (high - head) / 2 - r - 4;
  const rx = Math.min(wide / 2 - r - size * 1.2, ry * (big ? 2.6 : 1.7));
  const place = (/** @type {number} */ turn) => {
    const angle = (turn / count - 0.25) * 2 * Math.PI;
    return [cx + rx * Math.cos(angle), cy + ry * Math.sin(angle)];
  };
  const passed = Math.min(1, (at - starts[step]) / (starts[step + 1] - starts[step]));
  const card = size * 1.25;
  return [
    !big &&
      title(paper, wide, steps[step][0].toUpperCase() + steps[step].slice(1), picture.titles.ring),
    path(
      `M${cx - rx} ${cy}A${rx} ${ry} 0 1 1 ${cx + rx} ${cy}A${rx} ${ry} 0 1 1 ${cx - rx} ${cy}`,
      stroke("line", size * 0.6),
    ),
    devices.map((_, device) => {
      const [ax, ay] = place(device + 1);
      let turn = device + 1;
      let [x, y] = [ax, ay];
      while (Math.hypot(x - ax, y - ay) < r + size * 0.5) [x, y] = place((turn -= 0.01));
      const [fx, fy] = place(turn - 0.01);
      const arrow = path(
        `M-${size * 0.4} -${size * 0.4}L0 0L-${size * 0.4} ${size * 0.4}`,
        stroke("quiet", 2),
      );
      const angle = (Math.atan2(y - fy, x - fx) * 180) / Math.PI;
      arrow.setAttribute("transform", `translate(${x} ${y}) rotate(${angle})`);
      return arrow;
    }),
    text(cx, cy, hop[0], size * 1.35, "middle bold"),
    text(cx, cy + size * 1.4, hop[1], size, "middle quiet"),
    step < steps.length - 1 &&
      devices.map((_, device) => {
        const [x, y] = place(device + 0.4 + 0.16 * passed);
        const owner = sources[device][step];
        const half = card + 5;
        const [beside, look] = x > cx ? [card + size * 0.9, ""] : [-card - size * 0.9, "end"];
        return group(x, y, [
          rect(-half, -card / 2 - 4, 2 * half, card + 8, "paper", stroke("line", 1.2), 5),
          ["K", "V"].map((name, k) => [
            rect(k ? 1 : -card - 1, -card / 2, card, card, name.toLowerCase(), {}, 3),
            text((k - 0.5) * (card + 2), size * 0.33, name, small(0.9), "middle bold w-badge"),
          ]),
          text(
            beside,
            size * 0.3,
            picture.of[owner],
            small(0.9),
            `${look} bold ${hue(owner)} halo`,
          ),
        ]);
      }),
    devices.map((name, device) => {
      const works = counts[device][step] > 0;
      const look = `middle ${works ? "w-badge" : "ink halo"}`;
      const [x, y] = place(device);
      return group(x, y, [
        circle(0, 0, r, {
          fill: ink(works ? hue(device) : "paper"),
          ...stroke(hue(device), works ? 0 : 2.4),
        }),
        !works && hatched(2 - r, 2 - r, 2 * r - 4, 2 * r - 4, "circle()"),
        text(0, -size * 0.1, name, small(0.92), `${look} bold`),
        text(0, size * 1.05, work[device][step], small(0.86), look),
      ]);
    }),
  ];
}

/** One row's ℓ after each step, and in the pale part what remains of it from before.
 * @param {Moment} now @param {number} wide @param {number} high @returns {Drawn} */
function bars({ picture, at, paper }, wide, high) {
  const { type: size, narrow } = paper;
  const { merge, devices, of, titles } = picture;
  const base = high - size * (narrow ? 3.4 : 3);
  const most = Math.max(...merge.flatMap(({ states }) => states.map(({ l }) => l)));
  const y = scale([0, most], [0, base - size * 4.2]);
  const pitch = wide / devices.length;
  const thick = Math.min(pitch * 0.72, size * 5);
  return [
    title(paper, wide, ...titles.row),
    merge.map(({ of: owner, states }, k) => {
      const middle = thick / 2;
      const last = states[states.length - 1];
      const state = states.findLast(({ tick }) => tick <= at);
      const [whole, pale] = state ? [y(state.l), y(state.old)] : [0, 0];
      const wanted = y(last.l);
      const dashed = stroke("l", 1.3, { "stroke-dasharray": "4 3" });
      return group(k * pitch, base, [
        state !== last && rect(0, -wanted, thick, wanted, "", dashed, 3),
        state && [
          rect(0, -whole, thick, Math.max(2, whole - pale), "l", {}, 3),
          rect(0, -pale, thick, pale, "l", { opacity: 0.36 }, 3),
          pale > size * 0.75 &&
            text(
              middle,
              Math.max(size * 0.26 - pale / 2, -size * 0.35),
              `× ${state.texts.x}`,
              size * 0.78,
              "middle bold",
            ),
          line(
            middle,
            -whole - size * 0.5,
            [
              ["ℓ ", "l"],
              [state.texts.l, ""],
            ],
            size,
            "middle bold halo",
          ),
          line(
            middle,
            size * 1.25,
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
          size * 2.5,
          [
            ["K", "ink-k bold"],
            [", ", ""],
            ["V", "ink-v bold"],
            [` ${of[owner]}`, "quiet"],
          ],
          size * 0.9,
          "middle",
        ),
      ]);
    }),
  ];
}
