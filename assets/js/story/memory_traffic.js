// Traffic: bytes over N, or over the tile, on logarithmic axes; a panel for each place where bytes are counted. The gap between
// standard attention and FA-2 at the scrubber's position is drawn and named in each.

import { svg } from "../lib/dom.js";
import { clamp, integer } from "../lib/format.js";
import { circle, group, ink, line, path, rect, stroke, text, wrapped } from "../lib/svg_canvas.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{label: string, ink: string, line: (number | null)[], circles: (number | null)[], tips: string[]}} Series one algorithm */
/** @typedef {{place: string, title: string, remark: string, series: Series[], below: {at: number, text: string} | null}} Panel */
/** @typedef {{sizes: number[], first: string, low: number, high: number, ticks: [power: number, label: string][], panels: Panel[]}} Picture */
/** @typedef {{x: number, y: number, wide: number, high: number}} Box */
/** @typedef {{left: number, top: number, wide: number, high: number, room: number}} Place of a panel's plot; `room` at its right */

export const height = { share: 2.3, least: 300, most: 620 };

const AXIS = 30; // px below a plot

/** @param {Scene} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function paint(scene, paper, pen) {
  /** @type {{picture: Picture}} */
  const { picture } = scene.data;
  const { narrow, big, width, type } = paper;
  const small = big ? type : 13;
  const gutter = small * 5.2;
  const room = (big ? type : 15) * 4.9;
  const head = big ? type * 1.8 : 42;
  const count = picture.panels.length;
  if (narrow) {
    const each = 250 + head + AXIS;
    paper.used = each * count;
    return picture.panels.map((_, k) => {
      const plot = { left: gutter, top: k * each + head, wide: width - gutter - room, high: 250 };
      return paintPanel(scene, k, { ...plot, room }, small, paper, pen, true);
    });
  }
  const wide = (width - gutter) / count - room;
  const foot = big ? type * 1.7 : AXIS;
  return picture.panels.map((_, k) => {
    const left = gutter + k * (wide + room);
    const plot = { left, top: head, wide, high: paper.height - head - foot };
    return paintPanel(scene, k, { ...plot, room }, small, paper, pen, k === 0);
  });
}

/** @param {Scene} scene @param {number} k of the panel @param {Place} plot @param {number} small px of its smallest text
 * @param {Paper} paper @param {Pen<Scene>} pen @param {boolean} hasAxis figures at its left */
function paintPanel({ data, at, go }, k, plot, small, { big, type }, pen, hasAxis) {
  /** @type {Picture} */
  const { sizes, first, low, high, ticks, panels } = data.picture;
  const { place, title, remark, series, below } = panels[k];
  const { left, top, wide, room } = plot;
  const bottom = top + plot.high;
  const span = Math.log2(sizes[sizes.length - 1] / sizes[0]) || 1;
  const x = (/** @type {number} */ i) =>
    left + 10 + ((wide - 20) * Math.log2(sizes[i] / sizes[0])) / span;
  const y = (/** @type {number} */ bytes) =>
    bottom - (plot.high * (Math.log2(bytes) - low)) / (high - low);
  /** @param {(number | null)[]} values @returns {[number, number][]} */
  const points = (values) =>
    values.flatMap((bytes, i) =>
      bytes ? [/** @type {[number, number]} */ ([x(i), y(bytes)])] : [],
    );
  const lines = series.map((one) => {
    const computed = points(one.line);
    return computed.length ? computed : points(one.circles);
  });
  const taken = series.flatMap((one, s) => [...alongLine(lines[s]), ...points(one.circles)]);

  const grid = ticks.flatMap(([power, label]) => {
    const height = bottom - (plot.high * (power - low)) / (high - low);
    return [
      path(`M${left} ${height}H${left + wide}`, stroke("line")),
      hasAxis && text(left - 10, height + small * 0.35, label, small, "end quiet"),
    ];
  });
  const near = small * 3.6;
  const under = sizes.map((size, i) => {
    const words = i ? integer(size) : first;
    if (i === at) return text(x(i), bottom + small * 1.6, words, small, "middle bold");
    const isCrowded = Math.abs(x(i) - x(at)) < near || (i % 2 && x(i) - x(i - 1) < near);
    return !isCrowded && text(x(i), bottom + small * 1.6, words, small, "middle quiet");
  });
  const curves = lines.map((line, s) =>
    path(
      `M${line.join("L")}`,
      stroke(series[s].ink, points(series[s].line).length ? 2 : 1, { "stroke-linejoin": "round" }),
    ),
  );
  const ends = spread(
    lines.map((line) => line[line.length - 1]?.[1] ?? 0),
    small * 1.45,
  );
  const labels = series.map((one, s) =>
    text(left + wide, ends[s] + small * 0.35, one.label, big ? type : 14, `semi ${one.ink}`),
  );
  const marks = series.flatMap((one) =>
    sizes.map((_, i) => {
      const measured = one.circles[i];
      const bytes = measured ?? one.line[i];
      if (!bytes) return null;
      const look = measured
        ? { fill: ink("paper"), ...stroke(one.ink, i === at ? 2.6 : 1.8) }
        : { fill: i === at ? ink(one.ink) : "transparent" };
      const shape = circle(x(i), y(bytes), measured ? (i === at ? 5.5 : 4.5) : 4, look);
      shape.setAttribute("data-tip", one.tips[i]);
      return shape;
    }),
  );

  const bracket = data.beats[at].brackets[place];
  const gap = bracket && paintGap(bracket, x(at), y, taken, plot, big ? type : 18, big ? 0 : 13.5);
  const isClear = !big && below && (below.at !== at || !gap);
  const callout = isClear && paintCallout(below, x, y, series[0], plot, taken, gap?.box);
  const heading = /** @type {[string, string?][]} */ ([[title, "bold"]]);
  if (!big) heading.push([`  ${remark}`, "quiet"]);
  const slider = {
    key: `x-${place}`,
    group: "x",
    label: title,
    text: `${data.beats[at].label}: ${bracket?.figure ?? ""}`,
    slides: /** @type {[number, number, number]} */ ([at, 0, sizes.length - 1]),
    keys: (/** @type {number} */ dx, /** @type {number} */ dy) =>
      go(clamp(at + dx + dy, 0, sizes.length - 1)),
    drag: (/** @type {number} */ px) => go(nearest(sizes, px, x)),
  };
  return [
    line(left, top - (big ? type * 0.6 : 20), heading, big ? type : 15),
    grid,
    under,
    pen.knob(slider, [
      rect(left, top, wide + room * 0.2, plot.high, "", {
        fill: "transparent",
        cursor: "ew-resize",
      }),
      path(`M${x(at)} ${top}V${bottom}`, stroke("hatch", 1, { "stroke-dasharray": "3 4" })),
      curves,
      gap?.drawn,
      marks,
      circle(x(at), bottom, 7, { fill: ink("paper"), ...stroke("accent", 2.5) }),
    ]),
    labels,
    callout,
  ];
}

/** The position nearest to the pointer. @param {number[]} sizes @param {number} px @param {(i: number) => number} x */
const nearest = (sizes, px, x) =>
  sizes.reduce((best, _, i) => (Math.abs(x(i) - px) < Math.abs(x(best) - px) ? i : best), 0);

/** Points along a line, close enough that no text slips between two. @param {[number, number][]} line
 * @returns {[number, number][]} */
const alongLine = (line) =>
  line.slice(1).flatMap(([x, y], i) => {
    const [fromX, fromY] = line[i];
    return Array.from(
      { length: 12 },
      (_, k) =>
        /** @type {[number, number]} */ ([
          fromX + ((x - fromX) * k) / 11,
          fromY + ((y - fromY) * k) / 11,
        ]),
    );
  });

/** Moves heights apart by at least `least` px, each as little as possible. @param {number[]} heights @param {number} least */
function spread(heights, least) {
  const order = heights.map((_, k) => k).sort((a, b) => heights[a] - heights[b]);
  const moved = [...heights];
  for (let round = 0; round < 8; round++)
    for (let k = 1; k < order.length; k++) {
      const [above, below] = [order[k - 1], order[k]];
      const short = least - (moved[below] - moved[above]);
      if (short <= 0) continue;
      moved[above] -= short / 2;
      moved[below] += short / 2;
    }
  return moved;
}

/** @param {Box} box @param {[number, number][]} points */
const isFree = ({ x, y, wide, high }, points) =>
  !points.some(([px, py]) => px > x - 7 && px < x + wide + 7 && py > y - 7 && py < y + high + 7);

/** The gap between two algorithms, and beside it how wide it is where no line is in the way.
 * @param {{top: number, bottom: number, figure: string, note: string}} bracket @param {number} x
 * @param {(bytes: number) => number} y @param {[number, number][]} taken @param {Place} plot
 * @param {number} size px of the figure @param {number} fine of the note, 0 for none */
function paintGap({ top, bottom, figure, note }, x, y, taken, plot, size, fine) {
  const [from, to] = [Math.min(y(top), y(bottom)), Math.max(y(top), y(bottom))];
  const wide = Math.max(
    figure.length * size * 0.57,
    fine ? Math.min(note.length, 22) * fine * 0.54 : 0,
  );
  const rows = fine && note ? wrapped(0, 0, note, wide + 4, fine, "quiet") : [];
  const high = size + rows.length * fine * 1.4;
  const [right, bound] = [x + 14, plot.left + plot.wide + plot.room];
  const [lower, upper, middle] = [to + 12, from - high - 10, (from + to - high) / 2];
  const boxes = [
    ...[middle, lower, upper, lower + 20, upper - 20].map((at) => ({ x: right, y: at })),
    ...[upper, middle, lower, upper - 20, lower + 20].map((at) => ({ x: x - 14 - wide, y: at })),
  ].map((corner) => ({ ...corner, wide, high }));
  const fits = (/** @type {Box} */ box) =>
    box.x >= plot.left &&
    box.x + wide <= bound &&
    box.y >= plot.top &&
    box.y + high <= plot.top + plot.high - 8 &&
    isFree(box, [
      ...taken,
      [plot.left + plot.wide + 8, y(bottom)],
      [plot.left + plot.wide + 8, y(top)],
    ]);
  const box =
    boxes.find(fits) ??
    boxes.find((one) => one.x >= plot.left && one.x + wide <= bound) ??
    boxes[0];
  const isLeft = box.x < x;
  const edge = isLeft ? box.x + wide : box.x;
  const look = isLeft ? "end" : "";
  const drawn = [
    path(`M${x} ${from}V${to}`, stroke("ink", 2)),
    text(edge, box.y + size * 0.85, figure, size, `bold halo ${look}`),
    group(
      edge,
      box.y + size + fine * 1.25,
      fine && note ? wrapped(0, 0, note, wide + 4, fine, `quiet halo ${look}`) : null,
    ),
  ];
  return { drawn, box };
}

/** Why measured bytes lie below their line, where the picture has room for it.
 * @param {{at: number, text: string}} below @param {(i: number) => number} x @param {(bytes: number) => number} y
 * @param {Series} series @param {Place} plot @param {[number, number][]} taken @param {Box} [other] */
function paintCallout(below, x, y, series, plot, taken, other) {
  const measured = series.circles[below.at];
  if (!measured) return null;
  const [px, py] = [x(below.at), y(measured)];
  const wide = Math.min(215, plot.wide * 0.62);
  const rows = wrapped(plot.left + 8, plot.top + 24, below.text, wide, 13, "quiet");
  const box = { x: plot.left + 8, y: plot.top + 12, wide, high: rows.length * 18.2 };
  const hits = other && other.x < box.x + wide && other.y < box.y + box.high + 14;
  if (hits || !isFree(box, taken)) return null;
  const leader = `M${Math.min(px, box.x + wide - 20)} ${box.y + box.high + 2}L${px} ${py - 7}`;
  return svg("g", { style: "pointer-events:none" }, [path(leader, stroke("hatch")), ...rows]);
}
