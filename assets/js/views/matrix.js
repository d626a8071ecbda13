// One matrix as a heatmap: a canvas for colour, HTML digits above it where a cell can hold them.

import { context2d, el } from "../lib/dom.js";
import { level } from "../lib/colors.js";
import { fixed, number } from "../lib/format.js";
import { times } from "../lib/lists.js";

/** @import { Known } from "../model/types.js" */
/** @import { CellValues, Context2D, Drawing } from "./types.js" */

const DIGITS = [34, 17]; // px of a cell's width and height below which a number would be unreadable
const SPACING = -0.02; // em between digits, as the sheet has it
const GAP_FROM = 7;
const ROUND_FROM = 10;

/** @type {Map<string, CanvasPattern>} */
const hatches = new Map();

/** A hatch that reads as "not here" in any theme; one pattern serves every canvas. @param {Context2D} context @param {string} color */
export function hatch(context, color, ratio = 1) {
  const key = `${color} ${ratio}`;
  const pattern = hatches.get(key) ?? weave(context, color, ratio);
  hatches.set(key, pattern);
  return pattern;
}

/** @param {Context2D} context @param {string} color @param {number} ratio */
function weave(context, color, ratio) {
  const size = Math.round(7 * ratio);
  const tile = new OffscreenCanvas(size, size);
  const g = context2d(tile);
  g.strokeStyle = color;
  g.lineWidth = Math.max(1, ratio * 0.9);
  for (const shift of [-size, 0, size]) {
    g.beginPath();
    g.moveTo(shift - 1, size + 1);
    g.lineTo(shift + size + 1, -1);
    g.stroke();
  }
  return /** @type {CanvasPattern} */ (context.createPattern(tile, "repeat"));
}

/** Sizes a canvas in CSS pixels at the screen's resolution; returns the scale. @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
export function fit(canvas, width, height) {
  const ratio = Math.min(3, window.devicePixelRatio || 1);
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  return ratio;
}

/** A cell, rounded where that can be seen. @param {Context2D} g @param {number} x @param {number} y @param {number} width @param {number} height @param {number} round */
export function cell(g, x, y, width, height, round) {
  if (!round) return g.fillRect(x, y, width, height);
  g.beginPath();
  g.roundRect(x, y, width, height, round);
  g.fill();
}

const measured = new Map();

/** How wide "0", "." and "−" are as digits of this size: fonts differ by a fifth. @param {string} font @param {number} type */
function glyphsOf(font, type) {
  if (!measured.has(font)) {
    const g = context2d(new OffscreenCanvas(1, 1));
    g.font = font;
    measured.set(
      font,
      Object.fromEntries(
        [..."0.−"].map((glyph) => [glyph, g.measureText(glyph).width + SPACING * type]),
      ),
    );
  }
  return measured.get(font);
}

/** @typedef {ReturnType<typeof makeMatrix>} Matrix */

/** Make a matrix. @param {string} name CSS class and colour family: Q K V O S P */
export function makeMatrix(name) {
  /** @type {{font: string, color: string}} */
  let inks;
  /** @type {Record<string, number>} */
  let glyphs;
  /** @type {number} */
  let rowCount;
  /** @type {number} */
  let colCount;
  /** @type {number} */
  let wideNow;
  /** @type {number} */
  let highNow;
  /** @type {number} */
  let ratio;
  /** @type {number} */
  let most;

  const canvas = el("canvas", { "aria-hidden": "true" });
  const digits = el("div.fa-digits", { "aria-hidden": "true" });
  const root = el(`div.fa-matrix.fa-${name.toLowerCase()}`, [canvas, digits]);
  let cells = /** @type {HTMLElement[]} */ ([]);
  const small = context2d(new OffscreenCanvas(1, 1));

  /** `type`: px of its digits. @param {number} rows @param {number} cols @param {number} width @param {number} height @param {number} type */
  function layout(rows, cols, width, height, type) {
    rowCount = rows;
    colCount = cols;
    wideNow = Math.max(8, Math.floor(width));
    highNow = Math.max(8, Math.floor(height));
    ratio = fit(canvas, wideNow, highNow);
    const grown = type / 13;
    const [across, down] = [wideNow / cols, highNow / rows];
    const style = getComputedStyle(digits);
    const { fontWeight, fontFamily } = style;
    inks = {
      font: `${fontWeight} ${type * ratio}px ${fontFamily}`,
      color: style.getPropertyValue("--fa-quiet"),
    };
    glyphs = glyphsOf(`${fontWeight} ${type}px ${fontFamily}`, type);
    most = across - 3; // px of a number
    const wide =
      across >= DIGITS[0] * grown && widthOf("−0.0") <= most && down >= DIGITS[1] * grown;
    const wanted = wide ? rows * cols : 0;
    if (cells.length !== wanted) {
      cells = times(wanted, () => el("span"));
      digits.replaceChildren(...cells);
    }
    digits.style.gridTemplate = wide ? `repeat(${rows}, 1fr) / repeat(${cols}, 1fr)` : "";
    digits.style.fontSize = `${type}px`;
  }

  /**
   * values(r, c) → number, undefined = not there yet, -Infinity = masked: hatched, and written as `masked`
   * where it is a number of its own. `used` rows/cols: ragged. @param {Drawing} how */
  function draw(how) {
    const g = context2d(canvas);
    g.clearRect(0, 0, canvas.width, canvas.height);
    paint(g, how, digit);
  }

  /** The same as a picture of its own, its digits in it. @param {Drawing} how */
  function picture(how) {
    const copy = new OffscreenCanvas(canvas.width, canvas.height);
    const g = context2d(copy);
    const { font, color } = inks;
    Object.assign(g, { font, textAlign: "center", textBaseline: "middle" });
    const [w, h] = [canvas.width / colCount, canvas.height / rowCount];
    paint(
      g,
      how,
      (/** @type {number} */ k, /** @type {string} */ text, /** @type {string} */ tone) => {
        g.fillStyle = tone || color;
        g.fillText(
          text,
          ((k % colCount) + 0.5) * w - ratio,
          (Math.floor(k / colCount) + 0.5) * h - ratio,
        );
      },
    );
    return copy;
  }

  /** @param {(k: number, text: string, tone: string) => void} write(k, text, tone) what becomes of the digits of each cell @param {Context2D} g */
  function paint(
    g,
    /** @type {Drawing} */ {
      values,
      low,
      high,
      ramp,
      theme,
      used = null,
      masked: zero = -Infinity,
    },
    write,
  ) {
    const w = canvas.width / colCount;
    const h = canvas.height / rowCount;
    const least = Math.min(w, h) / ratio;
    const gap = least >= GAP_FROM ? Math.max(1, Math.round((least >= 24 ? 2 : 1) * ratio)) : 0;
    const round = least >= ROUND_FROM ? Math.min(4, least / 10) * ratio : 0;
    if (!gap) return dots(g, { values, low, high, ramp, theme, used });
    const masked = hatch(g, theme.hatch, ratio);
    for (let r = 0; r < rowCount; r++)
      for (let c = 0; c < colCount; c++) {
        const lane = used && (r >= used[0] || c >= used[1]);
        const x = lane ? undefined : values(r, c);
        if (x !== undefined) {
          const left = Math.round(c * w);
          const top = Math.round(r * h);
          const width = Math.round((c + 1) * w) - left - gap;
          const height = Math.round((r + 1) * h) - top - gap;
          g.fillStyle = Number.isFinite(x) ? ramp.css[level(Number(x), low, high)] : theme.empty;
          cell(g, left, top, width, height, round);
          if (x === -Infinity) {
            g.fillStyle = masked;
            cell(g, left, top, width, height, round);
          }
        }
        if (!cells.length) continue;
        const value = x === -Infinity ? zero : x;
        const tone = Number.isFinite(x)
          ? ramp.dark[level(Number(x), low, high)]
            ? "#fff"
            : "#101820"
          : ""; // over a hatch the page's ink
        write(r * colCount + c, format(value, [low, high]), tone);
      }
  }

  /** Cells too small to lie apart: a pixel each, magnified; what is hatched is drawn over them. @param {Context2D} g */
  function dots(g, /** @type {Drawing} */ { values, low, high, ramp, theme, used }) {
    const [rows, cols] = [rowCount, colCount];
    const image = new ImageData(cols, rows);
    const [w, h] = [canvas.width / cols, canvas.height / rows];
    /** @type {[number, number, number][]} */
    const others = [];
    for (let r = 0; r < Math.min(rows, used?.[0] ?? rows); r++)
      for (let c = 0; c < Math.min(cols, used?.[1] ?? cols); c++) {
        const x = values(r, c);
        const k = 4 * level(Number(x), low, high);
        if (Number.isFinite(x)) image.data.set(ramp.rgba.subarray(k, k + 4), 4 * (r * cols + c));
        else if (x !== undefined) others.push([c, r, x]);
      }
    const tiny = small.canvas;
    Object.assign(tiny, { width: cols, height: rows });
    small.putImageData(image, 0, 0);
    g.imageSmoothingEnabled = false;
    g.drawImage(tiny, 0, 0, canvas.width, canvas.height);
    for (const [c, r, x] of others) {
      /** @type {[number, number, number, number]} */
      const box = [c * w, r * h, w, h];
      g.fillStyle = theme.empty;
      g.fillRect(...box);
      g.fillStyle = hatch(g, theme.hatch, ratio);
      if (x === -Infinity) g.fillRect(...box);
    }
  }

  /** How many decimals all numbers of a scale have: two, or as many as its longest has room for.
   * @param {number[]} ends */
  function decimals(ends) {
    const longest = -Math.max(...ends.map(Math.abs).filter((x) => x < 1e4), 0.01);
    return [2, 1].find((places) => widthOf(fixed(longest, places)) <= most) ?? 0;
  }

  /** A number as the cells of this matrix write those of a scale; shorter where it lies beyond, and nothing where there is no
   * room. @param {Known} x @param {number[]} ends */
  function format(x, ends) {
    if (x === undefined || !Number.isFinite(x)) return number(x);
    const texts =
      Math.abs(x) >= 1e4 ? [number(x)] : [decimals(ends), 1, 0].map((places) => fixed(x, places));
    return texts.find((text) => widthOf(text) <= most) ?? "";
  }

  /** px of a number in this machine's font. @param {string} text */
  function widthOf(text) {
    return [...text].reduce((sum, glyph) => sum + (glyphs[glyph] ?? glyphs[0]), 0);
  }

  /** @param {number} k @param {string} text @param {string} tone */
  function digit(k, text, tone) {
    const span = cells[k];
    if (span.textContent !== text) span.textContent = text;
    if (span.dataset.tone !== tone) {
      span.dataset.tone = tone;
      span.style.color = tone;
    }
  }

  return {
    root,
    canvas,
    layout,
    draw,
    picture,
    decimals,
    get rows() {
      return rowCount;
    },
    get cols() {
      return colCount;
    },
    /** In px. */
    get width() {
      return wideNow;
    },
    get height() {
      return highNow;
    },
    /** Of its digits, none where a cell has no room for them. */
    get cells() {
      return cells;
    },
  };
}
