// The masks and scores on record: a picture of each to scale, and its time beside FlexAttention's. One that is pressed becomes the
// mask of the Problem.

import { cellsOf, widthOf } from "../lib/chart.js";
import { fetchJson } from "../lib/build.js";
import { el } from "../lib/dom.js";
import { times } from "../lib/lists.js";
import { during } from "../lib/pending.js";
import { hit, path, rect, stroke, svgCanvas, text } from "../lib/svg_canvas.js";
import { t, texts } from "./texts.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @typedef {{title: string, models: string, mask: string, preset: string, score: string, cells: string, ours_ms: number, other_ms: number, ours: string, other: string, gain: number}} Mask */
/** @typedef {{device: string, date: string, n: number, d: number, dtype: string, heads: string, masks: Mask[]}} Masks */
/** @typedef {{masks: Mask[], chosen: string, press: (mask: Mask) => void}} Scene */

const SIDE = 16; // cells of a picture
const SLOPE = 1 / SIDE; // how much a cell of distance fades what ALiBi lowers

/** @param {Mask} mask */
const keyOf = ({ preset, score }) => `${preset} ${score}`;

/** Make it for the page. @param {import("./index.js").RunFrame} page */
export function makeMaskView(page) {
  /** @type {Masks | undefined} */
  let data;
  /** The mask that was pressed: the Problem has its text for another N. @type {string | undefined} */
  let named;
  /** @type {Scene} */
  let scene;
  /** @type {import("../lib/svg_canvas.js").Canvas | undefined} */
  let canvas;
  const place = el("div.fa-story-picture");
  const provenance = el("p.fa-story-provenance");
  const root = el("div.fa-run-record", [el("div.fa-run-above", [provenance]), place]);

  async function show() {
    data ??= /** @type {Masks} */ (await during("masks", fetchJson("record_masks")));
    const { masks, device, ...shape } = data;
    const gains = masks.map(({ gain }) => gain);
    const [low, high] = [Math.min(...gains), Math.max(...gains)].map((x) => x.toFixed(1));
    const plain = masks.filter(({ score }) => score === "none").length;
    const counts = { masks: plain, scores: masks.length - plain };
    page.say(t("masks.said", { ...counts, low, high }), t("masks.why"));
    const card = device.replace("NVIDIA ", "");
    provenance.textContent = t("masks.recorded", { card, ...shape });
    const { mask, score } = page.values;
    const now = masks.find(
      (one) => one.score === score && [one.mask, one.preset].includes(named ?? mask),
    );
    scene = { masks, chosen: now ? keyOf(now) : "", press };
    if (canvas) return canvas.redraw(scene);
    const wanted = { share: 4.6, least: 300, most: 900 };
    canvas = svgCanvas(scene, { label: t("masks.label") }, wanted, paint);
    place.replaceChildren(canvas);
  }

  /** @param {Mask} mask */
  async function press(mask) {
    named = mask.preset;
    const refusal = await page.choose({ mask: mask.preset, score: mask.score });
    page.notify(refusal ?? null);
  }

  return { root, show };
}

/** @param {Scene} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
function paint({ masks, chosen, press }, paper, pen) {
  const size = paper.type;
  const across = paper.narrow ? 1 : 3;
  const rows = Math.ceil(masks.length / across);
  const gap = paper.narrow ? 28 : 36;
  const wide = (paper.width - 8 - gap * (across - 1)) / across;
  const high = paper.narrow ? wide * 0.44 + 28 : (paper.height - 10) / rows;
  const side = Math.min(paper.narrow ? wide * 0.42 : wide * 0.4, high - 26);
  if (paper.narrow) paper.used = rows * high + 12;
  const longest = Math.max(...masks.map(({ other_ms: ms }) => ms));
  return masks.map((mask, k) => {
    const [x, y] = [6 + (k % across) * (wide + gap), 8 + Math.floor(k / across) * high];
    const room = wide - side - 20;
    const isChosen = keyOf(mask) === chosen;
    const caption = t("masks.one", {
      mask: mask.mask,
      score: mask.score,
      ours: mask.ours,
      other: mask.other,
      gain: mask.gain.toFixed(2),
    });
    return pen.knob(
      {
        key: keyOf(mask),
        label: mask.title,
        text: caption,
        group: "masks",
        chosen: isChosen,
        press: () => press(mask),
      },
      [
        hit(x - 5, y - 5, wide + 10, high - 14),
        drawMask(mask, x, y, side),
        isChosen && rect(x - 5, y - 5, side + 10, side + 10, "", stroke("ink", 2.5), 8),
        drawTimes(mask, x + side + 20, y, room, side, size, longest, k === 0),
      ],
    );
  });
}

/** @param {Mask} mask @param {number} x @param {number} y @param {number} side */
function drawMask({ cells, score }, x, y, side) {
  const cell = side / SIDE;
  const isCapped = score.startsWith("softcap");
  const strengthOf = (/** @type {number} */ i, /** @type {number} */ j) =>
    score.startsWith("alibi") ? 1 - (i - j) * SLOPE : isCapped ? 0.3 : 1;
  return [
    rect(x, y, side, side, "empty", {}, 3),
    cellsOf(cells, SIDE, "1").map(([i, j]) =>
      rect(x + j * cell, y + i * cell, cell - 0.6, cell - 0.6, "accent", {
        opacity: strengthOf(i, j),
      }),
    ),
    isCapped && drawCap(score, x, y, side),
  ];
}

/** How a soft cap bends the scores: s → c · tanh(s ÷ c), from −2.4 c to 2.4 c. @param {string} score @param {number} x @param {number} y @param {number} side */
function drawCap(score, x, y, side) {
  const [cx, cy] = [x + side / 2, y + side / 2];
  const reach = side * 0.44;
  const high = side * 0.3;
  const points = times(41, (k) => {
    const s = (k / 20 - 1) * 2.4;
    return `${cx + (reach * s) / 2.4} ${cy - high * Math.tanh(s)}`;
  });
  return [
    path(`M${cx - reach} ${cy}h${2 * reach}M${cx} ${cy - reach}v${2 * reach}`, stroke("hatch", 1)),
    path(`M${cx - high} ${cy + high}L${cx + high} ${cy - high}`, {
      ...stroke("quiet", 1),
      "stroke-dasharray": "4 3",
    }),
    path(`M${points.join("L")}`, stroke("ink", 2.5)),
    text(cx + reach, cy - high - 6, score.split(":")[1], 13, "bold end"),
  ];
}

/** @param {Mask} mask @param {number} x @param {number} y @param {number} room @param {number} side @param {number} size @param {number} longest ms
 * @param {boolean} isFirst names the kernels */
function drawTimes(mask, x, y, room, side, size, longest, isFirst) {
  const gain = t("times", { ratio: mask.gain.toFixed(2) });
  // A gain that has no room beside the title takes the place of the rule
  const isTight = widthOf(mask.title, size + 2) + widthOf(gain, size + 4) > room;
  const wide = room - widthOf(`${mask.other}  ${texts.short.flex}`, size) - 12;
  const bar = Math.max(15, Math.min(26, side * 0.16));
  const top = y + size * 3.3;
  const rule = mask.score === "none" ? mask.mask : `${mask.mask}, ${mask.score}`;
  const most = Math.floor(room / (size * 0.52));
  const bars = [
    { ms: mask.ours_ms, figure: mask.ours, hue: "accent", look: "bold accent-ink", name: "hopper" },
    { ms: mask.other_ms, figure: mask.other, hue: "minus", look: "", name: "flex" },
  ].map(({ ms, figure, hue, look, name }, k) => {
    const at = top + k * (bar + 8);
    const long = Math.max(3, (wide * ms) / longest);
    const base = at + bar / 2 + size * 0.36;
    return [
      rect(x, at, long, bar, hue, {}, 3),
      text(x + long + 8, base, figure, size, look),
      isFirst &&
        text(x + long + 16 + widthOf(figure, size), base, texts.short[name], size - 1, "quiet"),
    ];
  });
  return [
    text(x, y + size, mask.title, size + 2, "bold"),
    text(x + room, y + size * (isTight ? 2.6 : 1), gain, size + 4, "bold accent-ink end"),
    !isTight &&
      text(
        x,
        y + size * 2.5,
        rule.length > most ? `${rule.slice(0, most - 1)}…` : rule,
        size - 2,
        "quiet",
      ),
    bars,
    widthOf(mask.models, size - 1) < room + 20 &&
      text(x, top + 2 * (bar + 8) + size * 1.2, mask.models, size - 1, "quiet"),
  ];
}
