// Devices: the map of scores, the ring and the timeline show the same moment of a head that several GPUs share; the bars are one
// row's running maximum and sum.

import { scale } from "../lib/chart.js";
import { bytes, fixed } from "../lib/format.js";
import { times } from "../lib/lists.js";
import { circle, group, hit, ink, line, path, rect, stroke, text } from "../lib/svg_canvas.js";
import { compared } from "./devices_compared.js";
import { PALE, gpuName, hatched, hue, stepName, timeline, title } from "./devices_timeline.js";
import { t } from "./parallel_texts.js";
import { timeSlider } from "./time_slider.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @import { Run } from "./devices_timeline.js" */
/** After a tile: of ℓ the part that was there before the step, and by which factor. @typedef {{tick: number, m: number, l: number, factor: number, old: number}} State */
/** @typedef {{of: number, states: State[]}} Bar */
/** The device of each row block and key block, the bytes of a `hop`, and the `row` whose parts are merged, of blocks with so many on a `side`.
 * @typedef {Run & {rows: number[], keys: number[], hop: number, merge: Bar[], row: number, side: number}} Picture */
/** What all parts are drawn from. @typedef {{picture: Picture, at: number, step: number, paper: Paper}} Moment */

/** @param {Scene} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function devices(scene, paper, pen) {
  if ("both" in scene.picture) return compared(scene, paper);
  const { picture, at, choose } = scene;
  const { step } = scene.beat;
  const { width, height, narrow, big, type: size } = paper;
  const now = { picture, at, step, paper };
  const count = picture.gpus;
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
  const { rows, keys, tiles, row, side } = picture;
  const head = big ? 0 : size * 1.9;
  const left = size * 1.9; // of the names of the rows
  const badge = size * 1.4;
  const cell = Math.min(
    (high - head) / (rows.length + 0.9),
    (wide - left - size * 2.4) / keys.length,
  );
  const top = head + cell * 0.9;
  const end = left + keys.length * cell;
  const inner = cell - Math.max(2, cell * 0.08);
  const letter = big ? size : Math.min(size * 0.9, cell * 0.6);
  const visible = new Set(tiles.map(([i, j]) => i * keys.length + j));
  const skipped = times(rows.length * keys.length, (k) => k).filter((k) => !visible.has(k));
  return [
    !big && title(paper, wide, t("devices.scores"), t("devices.scores.note")),
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
      rect(left + j * cell, top - cell * 0.75, inner, cell * 0.5, hue(device), {}, 3),
    ),
    skipped.map((k) => {
      const [i, j] = [Math.floor(k / keys.length), k % keys.length];
      return hatched(left + j * cell, top + i * cell, cell - 1, cell - 1);
    }),
    tiles.map(([i, j, device, tick, of]) => {
      const opacity = tick < at ? 1 : PALE;
      const look = { "fill-opacity": opacity, ...stroke("ink", of === step ? 1.8 : 0) };
      return rect(left + j * cell, top + i * cell, inner, inner, hue(device), look, 3);
    }),
    skipped.length > 0 &&
      text(
        end,
        top + cell * 1.15,
        t("devices.skipped", { count: skipped.length }),
        small(0.9),
        "end semi quiet halo",
      ),
    rows.map((device, i) => {
      const y = top + i * cell;
      const first = i * side;
      const chosen = i === Math.floor(row / side);
      const knob = {
        key: `row${i}`,
        label: t("devices.map.row", { first, last: first + side - 1 }),
        text: gpuName(device),
        group: "rows",
        chosen,
        press: () => choose({ row: String(first + (row % side)) }),
      };
      return pen.knob(knob, [
        hit(0, y, end, cell),
        rect(0, y, badge, inner, hue(device), {}, 3),
        chosen && rect(-3, y - 2.5, badge + 6, inner + 5, "", stroke("ink", 1.8), 5),
        text(badge / 2, y + inner / 2 + letter * 0.35, device, letter, "middle bold w-badge"),
      ]);
    }),
  ];
}

/** The GPUs, and the K and V that are on their way to the next one.
 * @param {Moment} now @param {number} wide @param {number} high @returns {Drawn} */
function ring({ picture, at, step, paper }, wide, high) {
  const { type: size, small, big } = paper;
  const { gpus, tiles, starts, hop } = picture;
  const head = big ? 0 : size * 1.6;
  const r = big ? size * 2 : Math.min(size * 2.7, high * 0.125);
  const [cx, cy] = [wide / 2, (head + high) / 2];
  const ry = (high - head) / 2 - r - 4;
  const rx = Math.min(wide / 2 - r - size * 1.2, ry * (big ? 2.6 : 1.7));
  const place = (/** @type {number} */ turn) => {
    const angle = (turn / gpus - 0.25) * 2 * Math.PI;
    return [cx + rx * Math.cos(angle), cy + ry * Math.sin(angle)];
  };
  const passed = Math.min(1, (at - starts[step]) / (starts[step + 1] - starts[step]));
  const card = size * 1.25;
  const name = stepName(step);
  return [
    !big && title(paper, wide, name[0].toUpperCase() + name.slice(1), t("devices.ring.note")),
    path(
      `M${cx - rx} ${cy}A${rx} ${ry} 0 1 1 ${cx + rx} ${cy}A${rx} ${ry} 0 1 1 ${cx - rx} ${cy}`,
      stroke("line", size * 0.6),
    ),
    times(gpus, (device) => {
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
    text(cx, cy, bytes(hop), size * 1.35, "middle bold"),
    text(cx, cy + size * 1.4, t("devices.hop"), size, "middle quiet"),
    step < starts.length - 2 &&
      times(gpus, (device) => {
        const [x, y] = place(device + 0.4 + 0.16 * passed);
        const owner = (device - step + gpus) % gpus; // K and V move on by one in each step
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
            t("devices.of", { device: owner }),
            small(0.9),
            `${look} bold ${hue(owner)} halo`,
          ),
        ]);
      }),
    times(gpus, (device) => {
      const count = tiles.filter(([, , on, , of]) => on === device && of === step).length;
      const work = count ? t("devices.tiles", { count }) : t("devices.waits");
      const look = `middle ${count ? "w-badge" : "ink halo"}`;
      const [x, y] = place(device);
      return group(x, y, [
        circle(0, 0, r, {
          fill: ink(count ? hue(device) : "paper"),
          ...stroke(hue(device), count ? 0 : 2.4),
        }),
        !count && hatched(2 - r, 2 - r, 2 * r - 4, 2 * r - 4, "circle()"),
        text(0, -size * 0.1, gpuName(device), small(0.92), `${look} bold`),
        text(0, size * 1.05, work, small(0.86), look),
      ]);
    }),
  ];
}

/** One row's ℓ after each step, and in the pale part what remains of it from before.
 * @param {Moment} now @param {number} wide @param {number} high @returns {Drawn} */
function bars({ picture, at, paper }, wide, high) {
  const { type: size, narrow } = paper;
  const { merge, gpus, other, rows, row, side } = picture;
  const note = other ? "devices.row.head-tail" : "devices.row.contiguous";
  const device = rows[Math.floor(row / side)];
  const base = high - size * (narrow ? 3.4 : 3);
  const most = Math.max(...merge.flatMap(({ states }) => states.map(({ l }) => l)));
  const y = scale([0, most], [0, base - size * 4.2]);
  const pitch = wide / gpus;
  const thick = Math.min(pitch * 0.72, size * 5);
  return [
    title(paper, wide, t("devices.row", { row }), t(note, { device })),
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
              `× ${fixed(state.factor, 2)}`,
              size * 0.78,
              "middle bold",
            ),
          line(
            middle,
            -whole - size * 0.5,
            [
              ["ℓ ", "l"],
              [fixed(state.l, 2), ""],
            ],
            size,
            "middle bold halo",
          ),
          line(
            middle,
            size * 1.25,
            [
              ["m ", "ink-m"],
              [fixed(state.m, 2), ""],
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
            [` ${t("devices.of", { device: owner })}`, "quiet"],
          ],
          size * 0.9,
          "middle",
        ),
      ]);
    }),
  ];
}
