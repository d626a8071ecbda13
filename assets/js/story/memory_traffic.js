// Traffic: bytes over N, or over the tile, on logarithmic axes; a panel for each place where bytes are counted. The gap between
// standard attention and FA-2 at the scrubber's position is drawn and named in each.

import { ends, playhead, plot, slider, widthOf } from "../lib/chart.js";
import { integer } from "../lib/format.js";
import { path, stroke, text, titled, wrapped } from "../lib/svg_canvas.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{label: string, ink: string, line: (number | null)[], circles: (number | null)[], tips: string[]}} Series one algorithm */
/** @typedef {{place: string, title: string, remark: string, series: Series[], below: {at: number, text: string} | null}} Panel */
/** @typedef {{sizes: number[], first: string, range: [number, number], ticks: [bytes: number, label: string][], falls: boolean, panels: Panel[]}} Picture `falls`: the lines do */

/** @param {Scene<Picture>} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function traffic(scene, paper, pen) {
  const { panels } = scene.picture;
  const { narrow, big, width, type } = paper;
  const size = big ? type : type - 2;
  const gutter = size * 5.2;
  const room = 28 + Math.max(...panels[0].series.map(({ label }) => widthOf(label, type))); // for names
  const head = big ? type * 1.8 : 42;
  const foot = big ? type * 1.7 : 30;
  const across = narrow ? 1 : panels.length;
  const wide = (width - gutter) / across - room;
  const high = narrow ? 250 : paper.height - head - foot;
  if (narrow) paper.used = (high + head + foot) * panels.length;
  return panels.map((panel, k) => {
    const left = gutter + (k % across) * (wide + room);
    const top = Math.floor(k / across) * (high + head + foot) + head;
    const box = { left, right: left + wide, top, bottom: top + high, size };
    return paintPanel(scene, panel, box, paper, pen, narrow || k === 0);
  });
}

/** @param {Scene<Picture>} scene @param {Panel} panel @param {import("../lib/chart.js").Box} box @param {Paper} paper @param {Pen<Scene>} pen
 * @param {boolean} hasAxis figures at its left */
function paintPanel({ picture, beat, at, go }, panel, box, paper, pen, hasAxis) {
  const { big, narrow, type } = paper;
  const { sizes, first, range, ticks, falls } = picture;
  const { place, title, remark, series, below } = panel;
  const { left, right, top, bottom, size } = box;
  const labels = sizes.map((one, k) => (k ? integer(one) : first));
  const axes = plot(box, { values: sizes, labels, log: true }, { range, log: true, ticks });
  const { places } = axes;
  const gap = beat.gaps[place];
  return [
    titled(left, top - (big ? type * 0.6 : 20), title, big ? "" : remark, type),
    axes.grid(hasAxis),
    axes.labels(at),
    slider(
      pen,
      {
        key: `x-${place}`,
        group: "x",
        label: title,
        text: `${beat.label}: ${gap?.figure ?? ""}`,
        at,
        places,
        go,
      },
      [
        playhead(places[at], top, bottom, bottom, "accent", "3 4"),
        series.map(({ line: computed, circles, ink: hue, tips }) => {
          const has = computed.some((v) => v !== null);
          const dots = computed.map((v, k) => (circles[k] === null ? v : null)); // not measured
          return [
            axes.line({ ys: has ? computed : circles, hue, wide: has ? 2 : 1 }),
            axes.line({ ys: dots, hue, tips, r: 4.5, wide: 0 }),
            axes.line({ ys: circles, hue, tips, r: 4.5, wide: 0, hollow: true }),
          ];
        }),
        gap && paintGap(gap, series, axes, at, box, paper, falls),
      ],
    ),
    ends(
      series.map((one) => {
        const last = [...one.circles, ...one.line].findLast((bytes) => bytes !== null) ?? 0;
        return { y: axes.y(last), rows: [[one.label, `semi ${one.ink}`]] };
      }),
      right + 10,
      big ? type : type - 1,
      [top - size, bottom],
    ),
    !big && !narrow && below && paintBelow(below, series[0].circles[below.at] ?? 0, axes, box),
  ];
}

/** The gap between two algorithms, and how wide it is: beside its lower end, or where no line goes: lines that rise leave room at the right,
 * lines that fall at the left. @param {{figure: string, note: string}} gap @param {Series[]} series @param {ReturnType<typeof plot>} axes
 * @param {number} at @param {import("../lib/chart.js").Box} box @param {Paper} paper @param {boolean} falls */
function paintGap({ figure, note }, series, { places, y }, at, box, { big, type }, falls) {
  const { left, right, bottom, size } = box;
  const x = places[at];
  const [from, , end] = series.map(({ line, circles }) => y(circles[at] ?? line[at] ?? 0));
  const large = big ? type : type * 1.2;
  const wide = Math.max(widthOf(figure, large), 110);
  const isBeside = !falls && x + wide < right + large * 4;
  const low = bottom - size * (big ? 0.5 : 3.8);
  const [edge, under] = isBeside ? [x + 14, end + large * 1.5] : [falls ? left + 8 : right, low];
  const look = falls || isBeside ? "halo" : "halo end";
  return [
    path(`M${x} ${from}V${end}`, stroke("ink", 2)),
    text(edge, under, figure, large, `bold ${look}`),
    !big &&
      wrapped(
        edge,
        under + large,
        note,
        isBeside ? wide * 1.2 : right - left,
        size * 0.95,
        `quiet ${look}`,
      ),
  ];
}

/** Why measured bytes lie below their line. @param {{at: number, text: string}} below @param {number} measured @param {ReturnType<typeof plot>} axes
 * @param {import("../lib/chart.js").Box} box */
function paintBelow({ at, text: words }, measured, { places, y }, { left, right, top, size }) {
  const wide = Math.min(size * 16.5, (right - left) * 0.55);
  const rows = wrapped(left + 8, top + 24, words, wide, size, "quiet halo");
  const from = top + 18 + rows.length * size * 1.4;
  return [path(`M${places[at]} ${from}V${y(measured) - 7}`, stroke("hatch")), rows];
}
