// Devices: the map of scores, the ring and the timeline show the same moment of a head that several GPUs share; the bars are one
// row's running maximum and sum.

import { scale } from "../lib/chart.js";
import { times } from "../lib/lists.js";
import { circle, hit, ink, line, path, rect, stroke, text } from "../lib/svg_canvas.js";
import { compared } from "./devices_compared.js";
import { PALE, hatched, hue, timeline, title } from "./devices_timeline.js";
import { timeSlider } from "./time_slider.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @import { Box, Run } from "./devices_timeline.js" */
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
  const { width, narrow, big, type: size } = paper;
  const now = { picture, at, step, paper };
  const count = picture.devices.length;
  const lane = size * (narrow ? 1.9 : (big ? 1.45 : 1.75) * Math.sqrt(4 / count));
  const foot = lane * count + size * 2.4; // of the timeline
  const high = narrow ? width * 0.86 : paper.height - foot - size * 1.2;
  const columns = big ? [0, 0.4] : [0, 0.315, 0.675]; // a hall reads no bars
  const box = (/** @type {number} */ k) => ({
    x: narrow ? 0 : columns[k] * width,
    y: narrow ? k * (high + size * 1.6) : 0,
    wide: narrow ? width : ((columns[k + 1] ?? 1) - columns[k]) * width - size * 1.4,
    high,
  });
  const top = narrow ? 3 * (high + size * 1.6) : paper.height - foot;
  if (narrow) paper.used = top + foot;
  const lanes = timeline(picture, at, { x: 0, y: top, wide: width, high: foot }, lane, paper, step);
  return [
    scores(now, box(0), pen, choose),
    ring(now, box(1)),
    !big && bars(now, box(2)),
    lanes.drawn,
    timeSlider(scene, pen, lanes.places, top + size * 0.5, top + foot, top, [
      [top, top + size * 0.6],
      [top + size * 1.85, top + foot], // below the names of the steps
    ]),
  ];
}

/** The tiles, by the GPU that computes them; those of the step under way are framed.
 * @param {Moment} now @param {Box} box @param {Pen<Scene>} pen @param {(choice: Record<string, string>) => void} choose @returns {Drawn} */
function scores(now, box, pen, choose) {
  const { picture, at, step, paper } = now;
  const { type: size, small } = paper;
  const { rows, keys, tiles } = picture;
  const head = size * (paper.big ? 0 : 1.9);
  const badge = size * 1.9;
  const cell = Math.min(
    (box.high - head) / (rows.length + 0.9),
    (box.wide - badge - size * 2.4) / keys.length,
  );
  const [left, top] = [box.x + badge, box.y + head + cell * 0.9];
  const gap = Math.max(2, cell * 0.08);
  const side = cell - gap;
  const visible = new Set(tiles.map(([i, j]) => i * keys.length + j));
  const skipped = times(rows.length * keys.length, (k) => k).filter((k) => !visible.has(k));
  const letter = paper.big ? size : Math.min(size * 0.9, cell * 0.6);
  return [
    !paper.big && title(paper, box, ...picture.titles.scores),
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
    skipped.map((k) => {
      const [i, j] = [Math.floor(k / keys.length), k % keys.length];
      return hatched(left + j * cell, top + i * cell, cell - 1, cell - 1);
    }),
    tiles.map(([i, j, device, tick, of]) =>
      rect(
        left + j * cell,
        top + i * cell,
        side,
        side,
        hue(device),
        { "fill-opacity": tick < at ? 1 : PALE, ...stroke("ink", of === step ? 1.8 : 0) },
        3,
      ),
    ),
    skipped.length > 0 &&
      text(
        left + keys.length * cell - gap,
        top + cell * 1.15,
        picture.skipped,
        small(0.9),
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
          hit(box.x, top + i * cell, left - box.x + keys.length * cell, cell),
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
  const { picture, at, step, paper } = now;
  const { type: size, small } = paper;
  const { devices, counts, work, sources, starts, hop } = picture;
  const count = devices.length;
  const head = paper.big ? 0 : size * 1.6;
  const r = paper.big ? size * 2 : Math.min(size * 2.7, box.high * 0.125);
  const [cx, cy] = [box.x + box.wide / 2, box.y + head + (box.high - head) / 2];
  const ry = (box.high - head) / 2 - r - 4;
  const rx = Math.min(box.wide / 2 - r - size * 1.2, ry * (paper.big ? 2.6 : 1.7));
  const place = (/** @type {number} */ turn) => {
    const angle = (turn - 0.25) * 2 * Math.PI;
    return [cx + rx * Math.cos(angle), cy + ry * Math.sin(angle)];
  };
  const passed = Math.min(1, (at - starts[step]) / (starts[step + 1] - starts[step]));
  const card = size * 1.25;
  return [
    !paper.big &&
      title(
        paper,
        box,
        picture.steps[step][0].toUpperCase() + picture.steps[step].slice(1),
        picture.titles.ring,
      ),
    path(
      `M${cx - rx} ${cy}A${rx} ${ry} 0 1 1 ${cx + rx} ${cy}A${rx} ${ry} 0 1 1 ${cx - rx} ${cy}`,
      stroke("line", size * 0.6),
    ),
    devices.map((_, device) => {
      const [ax, ay] = place((device + 1) / count);
      let turn = device + 1;
      let [x, y] = [ax, ay];
      while (Math.hypot(x - ax, y - ay) < r + size * 0.5) [x, y] = place((turn -= 0.01) / count);
      const [fx, fy] = place((turn - 0.01) / count);
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
    step < picture.steps.length - 1 &&
      devices.map((_, device) => {
        const [x, y] = place((device + 0.4 + 0.16 * passed) / count);
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
              small(0.9),
              "middle bold w-badge",
            ),
          ]),
          text(
            x + (isRight ? card + size * 0.9 : -card - size * 0.9),
            y + size * 0.3,
            picture.of[owner],
            small(0.9),
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
        !works && hatched(x - r + 2, y - r + 2, 2 * r - 4, 2 * r - 4, "circle()"),
        text(x, y - size * 0.1, name, small(0.92), `${look} bold`),
        text(x, y + size * 1.05, work[device][step], small(0.86), look),
      ];
    }),
  ];
}

/** One row's ℓ after each step, and in the pale part what remains of it from before.
 * @param {Moment} now @param {Box} box @returns {Drawn} */
function bars(now, box) {
  const { picture, at, paper } = now;
  const { type: size, narrow } = paper;
  const { merge, devices, of, titles } = picture;
  const base = box.y + box.high - size * (narrow ? 3.4 : 3);
  const most = Math.max(...merge.flatMap(({ states }) => states.map(({ l }) => l)));
  const y = scale([0, most], [0, base - box.y - size * 4.2]);
  const pitch = box.wide / devices.length;
  const wide = Math.min(pitch * 0.72, size * 5);
  return [
    title(paper, box, ...titles.row),
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
