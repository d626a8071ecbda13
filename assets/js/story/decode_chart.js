// The recorded times of one decoding call over the number of keys: not split, in parts, and of other kernels; the number
// of parts is dragged along our line.

import { clamp } from "../lib/format.js";
import { circle, ink, path, rect, stroke, text } from "../lib/svg_canvas.js";
import { textsOf } from "../lib/texts.js";
import texts from "../../texts/parallel_scripts.json" with { type: "json" };

/** @import { Paper, Pen, Drawn } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{value: string, splits: number, us: number[], tips: string[], ratios: string[], parts: string, programs: string}} Times */
/** @typedef {{name: string, us: (number | null)[], tips: string[]}} Other */
/** `at`: which of the lengths `n` is shown, `chosen`: which of the lines. @typedef {{n: number[], at: number, lines: Times[], chosen: number, beside: Other[]}} Chart */
/** @typedef {{x: number, y: number, width: number, height: number}} Box */

const t = textsOf(texts);
const DASHES = ["7 4", "2 4"]; // of the lines beside ours

/** Labels beside their lines, moved apart where they would overlap: [place, height] → places, in the same order.
 * @param {[y: number, high: number][]} labels @param {number} low the lowest edge */
function apart(labels, low) {
  const order = labels.map((_, k) => k).sort((a, b) => labels[a][0] - labels[b][0]);
  const places = labels.map(([y]) => y);
  for (let k = 1; k < order.length; k++) {
    const [above, here] = [order[k - 1], order[k]];
    places[here] = Math.max(places[here], places[above] + labels[above][1]);
  }
  for (let k = order.length - 1, edge = low; k >= 0; k--) {
    places[order[k]] = Math.min(places[order[k]], edge - labels[order[k]][1]);
    edge = places[order[k]];
  }
  return places;
}

/** The recorded times over the number of keys; the number of parts is dragged along ours.
 * @param {Scene} scene @param {Box} box @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function chart(scene, { x, y, width, height: room }, { narrow, type }, pen) {
  const of = /** @type {Chart} */ (scene.data.picture.chart);
  const { n, at, lines, chosen, beside } = of;
  const [whole, ours] = [lines[0], lines[chosen]];
  const isSplit = ours.splits > 1;
  const all = [...lines, ...beside].flatMap(({ us }) => us.flatMap((v) => (v === null ? [] : [v])));
  const low = Math.floor(Math.log10(Math.min(...all)) * 2 + 0.05) / 2;
  const high = Math.ceil(Math.log10(Math.max(...all)) * 2 - 0.05) / 2;
  const [left, right] = [x + type * 3.3, x + width - type * (narrow ? 7.2 : 8)];
  const [top, bottom] = [y + type * 2.1, y + room - type * 2];
  const placeX = (/** @type {number} */ k) =>
    left + 16 + ((right - left - 16) * k) / Math.max(1, n.length - 1);
  const placeY = (/** @type {number} */ us) =>
    bottom - ((Math.log10(us) - low) / (high - low)) * (bottom - top);
  /** How many times as long the undivided call takes; above its point where there is no room between both. */
  const bracket = (
    /** @type {number} */ px,
    /** @type {number} */ from,
    /** @type {number} */ to,
    /** @type {number} */ k,
  ) => {
    const times = t("decode.times", { ratio: ours.ratios[k] });
    const dotted = stroke("quiet", 1.4, { "stroke-dasharray": "2 4" });
    const isLast = k === n.length - 1;
    if (to - from < 3.4 * type) return text(px, from - 0.7 * type, times, type, "bold middle halo");
    const under = (from + to) / 2 + type * 0.35;
    return [
      path(`M${px} ${from + 8}V${to - 8}`, dotted),
      text(px + (isLast ? -10 : 10), under, times, type, `bold halo ${isLast ? "end" : ""}`),
    ];
  };
  const choosePart = (/** @type {number} */ to) => {
    const next = clamp(to, 0, lines.length - 1);
    if (next === chosen) return;
    const picture = { ...scene.data.picture, chart: { ...of, chosen: next } };
    pen.redraw({ ...scene, data: { ...scene.data, picture } });
    scene.choose({ parts: lines[next].value });
  };
  /** @type {Drawn[]} */
  const drawn = [text(x, y + type, t("decode.chart"), type, "semi")];
  for (let k = 2 * low; k <= 2 * high; k++) {
    const value = Math.round(10 ** Math.floor(k / 2)) * (k % 2 ? 3 : 1);
    const tick = placeY(value);
    if (tick > bottom + 1 || tick < top - 1) continue;
    drawn.push(
      path(`M${left} ${tick}H${right}`, stroke("line", 1)),
      text(left - 10, tick + type * 0.33, value.toLocaleString("en-US"), type - 2, "end quiet"),
    );
  }
  for (const [k, keys] of n.entries()) {
    const figure = keys.toLocaleString("en-US");
    const label = k ? figure : t("decode.axis", { n: figure });
    const wide = (right - left) / n.length;
    drawn.push(
      pen.knob(
        {
          key: `n${keys}`,
          group: "n",
          chosen: k === at,
          label: t("decode.show", { n: figure }),
          text: "",
          press: () => scene.choose({ n: String(keys) }),
        },
        [
          rect(placeX(k) - wide / 2, top, wide, bottom - top + type * 2, "paper", {
            "fill-opacity": 0,
          }),
          text(
            placeX(k),
            bottom + type * 1.6,
            label,
            type - 2,
            k === at ? "bold middle" : "middle quiet",
          ),
        ],
      ),
    );
    if (isSplit) drawn.push(bracket(placeX(k), placeY(whole.us[k]), placeY(ours.us[k]), k));
  }
  const curve = (/** @type {(number | null)[]} */ us) =>
    us
      .map((v, k) =>
        v === null ? "" : `${k && us[k - 1] !== null ? "L" : "M"}${placeX(k)} ${placeY(v)}`,
      )
      .join("");
  for (const [k, { us }] of beside.entries())
    drawn.push(path(curve(us), stroke("quiet", 1.6, { "stroke-dasharray": DASHES[k] })));
  drawn.push(path(curve(whole.us), stroke("minus", 2.6)));
  if (isSplit) drawn.push(path(curve(ours.us), stroke("accent", 2.6)));
  const dots = (
    /** @type {(number | null)[]} */ us,
    /** @type {string[]} */ tips,
    /** @type {string} */ hue,
    r = 5,
  ) =>
    us.map((v, k) => {
      if (v === null) return null;
      const node = circle(placeX(k), placeY(v), r, { fill: ink(hue), ...stroke("paper", 1.5) });
      node.setAttribute("data-tip", tips[k]);
      return node;
    });
  for (const { us, tips } of beside) drawn.push(dots(us, tips, "quiet", 4));
  drawn.push(dots(whole.us, whole.tips, "minus"));
  if (isSplit) drawn.push(dots(ours.us, ours.tips, "accent"));
  const [hx, hy] = [placeX(at), placeY(ours.us[at])];
  drawn.push(
    pen.knob(
      {
        key: "parts",
        label: t("decode.slider"),
        text: `${ours.parts} ${ours.tips[at]}`,
        slides: [chosen, 0, lines.length - 1],
        keys: (dx, dy) => choosePart(chosen + Math.sign(dx - dy)),
        drag: (_, py) => {
          const away = lines.map(({ us }) => Math.abs(placeY(us[at]) - py));
          choosePart(away.indexOf(Math.min(...away)));
        },
      },
      [
        circle(hx, hy, 8, { fill: ink("accent"), ...stroke("paper", 2) }),
        circle(hx, hy, 22, { fill: ink("accent"), opacity: 0.14 }),
        path(`M${hx - 4} ${hy - 13}l4 -5 4 5M${hx - 4} ${hy + 13}l4 5 4 -5`, stroke("accent", 1.8)),
      ],
    ),
  );
  // What each line is, at its end
  const last = n.length - 1;
  const value = (/** @type {number} */ us) =>
    t("decode.microseconds", { us: us < 100 ? us.toFixed(1) : us.toFixed(0) });
  const ends = [
    { us: whole.us[last], words: [whole.parts, whole.programs], look: "quiet" },
    ...(isSplit
      ? [{ us: ours.us[last], words: [ours.parts, ours.programs], look: "accent-ink" }]
      : []),
    ...beside.map(({ name, us }) => ({ us: us[last], words: [name], look: "quiet" })),
  ].flatMap(({ us, ...rest }) => (us === null ? [] : [{ us, ...rest }]));
  const size = type - 1.5;
  const places = apart(
    ends.map(({ us, words }) => [
      placeY(us) - type * 0.6,
      type * 1.25 + words.length * size * 1.25,
    ]),
    bottom + type * 2,
  );
  for (const [k, { us, words, look }] of ends.entries()) {
    const under = places[k] + type;
    drawn.push(
      text(right + 16, under, value(us), type + (words.length > 1 ? 1.5 : -0.5), `bold ${look}`),
      words.map((word, row) =>
        text(right + 16, under + (row + 1) * size * 1.25, word, size, "quiet"),
      ),
    );
  }
  return drawn;
}
