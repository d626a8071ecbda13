// One matrix as a heatmap: a canvas for colour, HTML digits above it where a cell can hold them.

import { el } from "../lib/dom.js";
import { level } from "../lib/colors.js";
import { number } from "../lib/format.js";

const DIGITS_FROM = 26; // px of cell width below which a number would be unreadable
const GAP_FROM = 7;

const hatches = new Map();

/** A hatch that reads as "not here" in any theme; one pattern serves every canvas. */
export function hatch(context, color, ratio = 1) {
  const key = `${color} ${ratio}`;
  if (!hatches.has(key)) hatches.set(key, weave(context, color, ratio));
  return hatches.get(key);
}

function weave(context, color, ratio) {
  const size = Math.round(7 * ratio);
  const tile = new OffscreenCanvas(size, size);
  const g = tile.getContext("2d");
  g.strokeStyle = color;
  g.lineWidth = Math.max(1, ratio * 0.9);
  for (const shift of [-size, 0, size]) {
    g.beginPath();
    g.moveTo(shift - 1, size + 1);
    g.lineTo(shift + size + 1, -1);
    g.stroke();
  }
  return context.createPattern(tile, "repeat");
}

/** Sizes a canvas in CSS pixels at the screen's resolution; returns the scale. */
export function fit(canvas, width, height) {
  const ratio = Math.min(3, window.devicePixelRatio || 1);
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  return ratio;
}

export class Matrix {
  /** @param name CSS class and colour family: Q K V O S P */
  constructor(name) {
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.digits = el("div", { class: "fa-digits", "aria-hidden": "true" });
    this.root = el("div", { class: `fa-matrix fa-${name.toLowerCase()}` }, [this.canvas, this.digits]);
    this.cells = [];
  }

  layout(rows, cols, width, height, big = false) {
    this.rows = rows;
    this.cols = cols;
    this.width = Math.max(8, Math.floor(width));
    this.height = Math.max(8, Math.floor(height));
    this.ratio = fit(this.canvas, this.width, this.height);
    const type = big ? 1.9 : 1;
    this.short = this.width / cols < 36 * type;
    const wide = this.width / cols >= DIGITS_FROM * type && this.height / rows >= 15 * type;
    const wanted = wide ? rows * cols : 0;
    if (this.cells.length !== wanted) {
      this.cells = Array.from({ length: wanted }, () => el("span"));
      this.digits.replaceChildren(...this.cells);
    }
    this.digits.style.gridTemplate = wide ? `repeat(${rows}, 1fr) / repeat(${cols}, 1fr)` : "";
  }

  /**
   * values(r, c) → number, undefined = not there yet, -Infinity = masked: hatched, and written as `masked`
   * where it is a number of its own. `used` rows/cols: ragged.
   */
  draw({ values, low, high, ramp, theme, used = null, masked: zero = -Infinity }) {
    const g = this.canvas.getContext("2d");
    const w = this.canvas.width / this.cols;
    const h = this.canvas.height / this.rows;
    const gap = Math.min(w, h) / this.ratio >= GAP_FROM ? Math.max(1, Math.round(this.ratio)) : 0;
    const masked = hatch(g, theme.hatch, this.ratio);
    g.clearRect(0, 0, this.canvas.width, this.canvas.height);
    for (let r = 0; r < this.rows; r++)
      for (let c = 0; c < this.cols; c++) {
        if (used && (r >= used[0] || c >= used[1])) continue;
        const x = values(r, c);
        const shade = Number.isFinite(x) ? level(x, low, high) : -1;
        const left = Math.round(c * w);
        const top = Math.round(r * h);
        const width = Math.round((c + 1) * w) - left - gap;
        const height = Math.round((r + 1) * h) - top - gap;
        g.fillStyle = shade >= 0 ? ramp.css[shade] : theme.empty;
        g.fillRect(left, top, width, height);
        if (x === -Infinity) {
          g.fillStyle = masked;
          g.fillRect(left, top, width, height);
        }
        if (this.cells.length) this.digit(r * this.cols + c, x === -Infinity ? zero : x, shade, ramp);
      }
  }

  digit(k, x, shade, ramp) {
    const cell = this.cells[k];
    const text = number(x, this.short);
    if (cell.textContent !== text) cell.textContent = text;
    const tone = shade < 0 ? "" : ramp.dark[shade] ? "#fff" : "#101820";
    if (cell.dataset.tone !== tone) {
      cell.dataset.tone = tone;
      cell.style.color = tone;
    }
  }
}
