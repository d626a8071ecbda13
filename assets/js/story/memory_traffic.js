// Traffic: bytes over N, or over the tile, on logarithmic axes; a panel for each place where bytes are counted. The gap between
// standard attention and FA-2 at the scrubber's position is drawn and named in each.

import { ends, playhead, plot, slider, widthOf } from "../lib/chart.js";
import { integer } from "../lib/format.js";
import { group, path, stroke, text, titled, wrapped } from "../lib/svg_canvas.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{label: string, ink: string, line: (number | null)[], circles: (number | null)[], tips: string[]}} Series one algorithm */
/** @typedef {{place: string, title: string, remark: string, series: Series[], below: {at: number, text: string} | null}} Panel */
/** @typedef {{sizes: number[], first: string, range: [number, number], ticks: [bytes: number, label: string][], panels: Panel[]}} Picture */

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
function paintPanel({ picture, beat, at, go }, panel, box, { big, narrow, type }, pen, hasAxis) {
  const { sizes, first, range, ticks } = picture;
  const { place, title, remark, series, below } = panel;
  const { left, right, top, bottom, size } = box;
  const labels = sizes.map((one, k) => (k ? integer(one) : first));
  const axes = plot(box, { values: sizes, labels, log: true }, { range, log: true, ticks });
  const { places } = axes;
  const bracket = beat.brackets[place];
  const falls = series.every(({ line, circles }) => {
    const bytes = line.map((v, k) => circles[k] ?? v).filter((v) => v !== null);
    return bytes[0] > bytes[bytes.length - 1];
  });
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
        text: `${beat.label}: ${bracket?.figure ?? ""}`,
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
        bracket && paintGap(bracket, places[at], axes.y, box, big ? type : type * 1.2, big, falls),
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
    !big && !narrow && below && paintBelow(below, series[0].circles[below.at] ?? 0, axes, box, at),
  ];
}

/** The gap between two algorithms, and how wide it is: below it at the right, or where that has no room above it at the left, where rising
 * lines leave room for the figure alone. Lines that fall leave room at the bottom.
 * @param {{top: number, bottom: number, figure: string, note: string}} gap @param {number} x @param {(bytes: number) => number} y
 * @param {import("../lib/chart.js").Box} box @param {number} size @param {boolean} big @param {boolean} falls */
function paintGap(gap, x, y, { left, right, top, bottom }, size, big, falls) {
  const [from, to] = [y(gap.top), y(gap.bottom)].sort((a, b) => a - b);
  const wide = Math.max(widthOf(gap.figure, size), 110);
  const isLeft = x + wide > right + size * 4.4;
  const beside = isLeft ? Math.max(top + size, from - size * 2.4) : to + size * 1.5;
  const under = falls ? bottom - size * 3.2 : beside;
  const [edge, look] = isLeft ? [x - 14, "halo end"] : [x + 14, "halo"];
  const isTight = big && isLeft && widthOf(gap.figure, size) > edge - left; // else it lies on the panel beside it
  return [
    path(`M${x} ${from}V${to}`, stroke("ink", 2)),
    isTight
      ? wrapped(
          edge,
          Math.max(top + size, under - size * 1.1),
          gap.figure,
          edge - left,
          size,
          `bold ${look}`,
        )
      : text(edge, under, gap.figure, size, `bold ${look}`),
    !big &&
      (falls || !isLeft) &&
      wrapped(edge, under + size * 1.05, gap.note, wide * 1.1, size * 0.75, "quiet halo"),
  ];
}

/** Why measured bytes lie below their line, while the scrubber leaves it room.
 * @param {{at: number, text: string}} below @param {number} measured @param {ReturnType<typeof plot>} axes @param {import("../lib/chart.js").Box} box
 * @param {number} at */
function paintBelow(below, measured, axes, { left, right, top, size }, at) {
  const wide = Math.min(size * 16.5, (right - left) * 0.55);
  const [px, py] = [axes.places[below.at], axes.y(measured)];
  if (axes.places[at] < left + wide + 20) return null;
  const rows = wrapped(left + 8, top + 24, below.text, wide, size, "quiet halo");
  return group(0, 0, [
    path(`M${px} ${top + 18 + rows.length * size * 1.4}V${py - 7}`, stroke("hatch")),
    rows,
  ]);
}
