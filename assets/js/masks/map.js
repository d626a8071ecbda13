// The map of N × N scores in tiles: a cell in the hue of the term that keeps it, or tiles alone where cells would be too
// many. One tab stop; arrows move the light, Page Up and Down by a tile.

import { el, set } from "../lib/dom.js";
import { clamp, integer } from "../lib/format.js";
import { ARROWS, isShortcut } from "../lib/keys.js";
import {
  documents,
  firstCell,
  scoreSentence,
  tileBox,
  tileSentence,
  tilesOf,
} from "../model/mask.js";
import { t } from "./texts.js";

/** @import { Unpacked, Words } from "../model/mask.js" */
/** Row and column of a score, or of a tile where the map has tiles alone. @typedef {[number, number]} Place */
/** Part of the map, in scores. @typedef {ReturnType<typeof tileBox>} Box */

const ROOM = 3; // as many px of the picture at 1280 × 720 that a gap between cells needs of them
const SIGN = / ([≤<>≥=−]) /g; // no line ends beside it
const MOST_WORDS = 200; // tiles that have the word skip
const MOST_OUTLINES = 4096; // tiles that have an outline

export class MaskMap {
  /** @type {Unpacked} */
  answer;
  /** What the light moves on: scores, or tiles where there are no scores. @type {{n: number, br: number, bc: number}} */
  grid;
  /** Where the keyboard is. @type {Place} */
  at = [0, 0];
  /** Where the mouse is. @type {Place | null} */
  hover = null;
  picks = false;
  /** The sentence that is there. @type {string | undefined} */
  text;

  /** A tile of the chosen chip was clicked. @param {{toggle: (i: number, j: number) => void}} act */
  constructor(act) {
    this.act = act;
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.light = el("i.fa-mask-light");
    this.labels = el("div.fa-mask-over", { "aria-hidden": "true" });
    this.sentence = el("p.fa-mask-sentence", { id: "fa-mask-sentence", "aria-live": "polite" });
    this.box = el(
      "div.fa-mask-box",
      {
        role: "application",
        tabindex: 0,
        "aria-label": t("map.label"),
        "aria-describedby": "fa-mask-sentence",
      },
      [this.canvas, this.labels, this.light],
    );
    this.keys = el("div.fa-mask-axis.fa-mask-keys", { "aria-hidden": "true" });
    this.queries = el("div.fa-mask-axis.fa-mask-queries", { "aria-hidden": "true" });
    this.legend = el("p.fa-mask-legend");
    this.root = el("section.fa-mask-map", { "aria-label": t("map") }, [
      el("b.fa-ink-k.fa-mask-k", t("keys")),
      this.keys,
      el("b.fa-ink-q.fa-mask-q", t("queries")),
      this.queries,
      this.box,
      this.sentence,
      this.legend,
    ]);
    this.box.addEventListener(
      "pointermove",
      (event) => event.pointerType === "mouse" && this.point(this.cellAt(event)),
    );
    this.box.addEventListener("pointerleave", () => this.point(null));
    this.box.addEventListener("click", (event) => this.click(event));
    this.box.addEventListener("keydown", (event) => this.key(event));
  }

  /** @param {Unpacked} answer @param {boolean} picks whether tiles are toggled by a click */
  draw(answer, picks) {
    const other =
      this.answer?.n !== answer.n || this.answer.br !== answer.br || this.answer.bc !== answer.bc;
    this.answer = answer;
    this.grid = answer.keepingTerm ? { n: answer.n, br: 1, bc: 1 } : answer;
    this.hover = null;
    set(this.box, { "data-picks": picks ? "" : null });
    this.picks = picks;
    if (other) this.at = answer.keepingTerm ? firstCell(answer) : [0, 0];
    this.paint();
    this.words();
    this.turn();
  }

  /** Cells and tiles, for the size and the colors of this moment. */
  paint() {
    const { answer, canvas } = this;
    const wide = this.box.clientWidth;
    if (!answer || !wide) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = canvas.height = Math.round(wide * ratio);
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    pen.scale(ratio, ratio);
    const style = getComputedStyle(this.box);
    const color = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
    const hatch = stripes(pen, color("fa-hatch"), color("mask-empty"), ratio);
    const veil = stripes(pen, color("mask-page"), "transparent", ratio);
    const hue = [0, 1, 2, 3].map((term) => ({
      full: color(`mask-t${term}`),
      partial: color(`mask-t${term}-soft`),
    }));
    const { n, keepingTerm } = answer;
    const cell = wide / n;
    const gap = cell >= ROOM * 2 ? Math.min(2.4, cell / 10) : 0;
    /** The box in px of the canvas, so far within itself. @returns {[number, number, number, number]} */
    const within = (
      /** @type {Box} */ { top, left, height, width },
      /** @type {number} */ edge,
    ) => [left * cell + edge, top * cell + edge, width * cell - 2 * edge, height * cell - 2 * edge];
    const tiles = tilesOf(answer);
    for (const tile of tiles) {
      const { kind, top, left, height, width } = tile;
      const fills =
        kind === "skipped" ? [hatch] : kind === "full" ? [hue[0].full] : [hue[0].partial, veil];
      for (const fill of kind === "skipped" || !keepingTerm ? fills : []) {
        pen.fillStyle = fill;
        pen.fillRect(...within(tile, 0));
      }
      if (kind === "skipped" || !keepingTerm) continue;
      for (let i = top; i < top + height; i++)
        for (let j = left; j < left + width; j++) {
          const term = keepingTerm[i * n + j];
          pen.fillStyle = term < 0 ? hatch : hue[term][kind];
          pen.beginPath();
          const box = within({ top: i, left: j, height: 1, width: 1 }, gap / 2);
          pen.roundRect(...box, gap ? Math.min(4, cell / 6) : 0);
          pen.fill();
        }
    }
    if (tiles.length > MOST_OUTLINES) return;
    for (const tile of tiles.filter(({ kind }) => kind !== "skipped")) {
      const isFull = tile.kind === "full";
      pen.strokeStyle = isFull ? hue[0].full : color("mask-line");
      pen.lineWidth = isFull ? 2 : 1;
      pen.beginPath();
      pen.roundRect(...within(tile, pen.lineWidth / 2), gap ? 4 : 0);
      pen.stroke();
    }
  }

  /** So many scores as a share of the side. @param {number} k */
  part(k) {
    return `${((100 * k) / this.answer.n).toFixed(3)}%`;
  }

  /** Where a box stands over the map, as a style. */
  over(/** @type {Box} */ { top, left, height, width }) {
    return `left:${this.part(left)};top:${this.part(top)};width:${this.part(width)};height:${this.part(height)}`;
  }

  /** What stands over the cells and beside them: skip, documents, axes, legend. */
  words() {
    const { n, tiles, draft } = this.answer;
    const high = this.box.clientWidth / Math.max(tiles.Tr, tiles.Tc);
    const size = parseFloat(getComputedStyle(this.labels).fontSize);
    const skipped = tilesOf(this.answer).filter(({ kind }) => kind === "skipped");
    const labels = skipped
      .slice(0, high > 3 * size ? MOST_WORDS : 0)
      .map((tile) => el("span", { text: t("skip"), style: this.over(tile) }));
    const papers = documents(draft, n).flatMap(({ name, start, stop }) => {
      const room = (this.box.clientWidth * (stop - start)) / n > 6.2 * size;
      const short = room ? name : name.split(" ")[1];
      const from = this.part(start);
      const span = `${from};--long:${this.part(stop - start)}`;
      return [
        el("b.fa-mask-doc.is-row", { text: short, style: `top:${span}` }),
        el("b.fa-mask-doc.is-col", { text: short, style: `left:${span}` }),
        ...(start
          ? [
              el("i.fa-mask-edge.is-row", { style: `top:${from}` }),
              el("i.fa-mask-edge.is-col", { style: `left:${from}` }),
            ]
          : []),
      ];
    });
    this.labels.replaceChildren(...papers, ...labels);
    set(this.root, { "data-documents": papers.length ? "" : null });
    const legend = [
      ["full", t("full"), t("full.more")],
      ["partial", t("partial"), ""],
      ["skipped", t("empty"), t("empty.more")],
    ];
    this.legend.replaceChildren(
      ...legend.map(([kind, word, more]) =>
        el("span", { "data-kind": kind }, [
          el("i"),
          el("b", integer(tiles.counts[kind])),
          el("span", [` ${word}`, el("span.fa-mask-long", more)]),
        ]),
      ),
    );
  }

  /** Numbers along both edges: where tiles begin, as far as there is room; that of the light in bold. */
  axis() {
    const { n, br, bc } = this.answer;
    const lit = this.scoreAt(this.hover ?? this.at);
    const room = this.box.clientWidth / n;
    /** @type {[HTMLElement, size: number, now: number, side: string][]} */
    const edges = [
      [this.keys, bc, lit[1], "left"],
      [this.queries, br, lit[0], "top"],
    ];
    for (const [node, size, now, side] of edges) {
      const type = parseFloat(getComputedStyle(node).fontSize);
      const wide = (/** @type {number} */ k) =>
        side === "left" ? type * (0.4 + 0.65 * integer(k).length) : 1.3 * type;
      const step = size * Math.max(1, Math.ceil((1.4 * wide(n)) / (size * room)));
      /** @type {[k: number, bold: boolean][]} */
      const marks = [];
      for (let k = 0; k < n; k += step)
        if (Math.abs(k - now) * room >= (wide(k) + wide(now)) / 2) marks.push([k, false]);
      marks.push([now, true]);
      node.replaceChildren(
        ...marks.map(([k, bold]) =>
          el(bold ? "b" : "span", { text: integer(k), style: `${side}:${this.part(k + 0.5)}` }),
        ),
      );
    }
  }

  /** The light stands where the mouse is, else where the keyboard is. */
  turn() {
    const { n, keepingTerm } = this.answer;
    const [i, j] = this.hover ?? this.at;
    const box = tileBox(this.grid, i, j);
    const lead = ((this.box.clientWidth * box.left) / n).toFixed(1);
    this.light.style.cssText = `${this.over(box)};--lead:${lead}px`;
    /** @type {Words[]} */
    const words = keepingTerm
      ? scoreSentence(this.answer, i, j)
      : [{ text: tileSentence(this.answer, i, j) }];
    const text = words.map((word) => word.text).join("");
    if (this.text !== text)
      this.sentence.replaceChildren(
        ...words.map(({ text: part, term }) =>
          el(term === undefined ? "span" : "b", {
            text: part.replace(SIGN, "\u00a0$1\u00a0"),
            "data-hue": term,
          }),
        ),
      );
    this.text = text;
    this.axis();
  }

  /** @param {Place | null} place */
  point(place) {
    if (!this.answer || String(place) === String(this.hover)) return;
    this.hover = place;
    this.turn();
  }

  /** @param {Place} place */
  move(place) {
    this.at = place;
    this.hover = null;
    this.turn();
  }

  /** @param {MouseEvent} event @returns {Place} */
  cellAt({ clientX, clientY }) {
    const { left, top, width, height } = this.box.getBoundingClientRect();
    const { n, br, bc } = this.grid;
    const [i, j] = [(clientY - top) / height, (clientX - left) / width].map((x) =>
      clamp(Math.floor(x * n), 0, n - 1),
    );
    return [Math.floor(i / br), Math.floor(j / bc)];
  }

  /** @param {MouseEvent} event */
  click(event) {
    this.move(this.cellAt(event));
    if (this.picks) this.act.toggle(...this.scoreAt(this.at));
  }

  /** The score at a place of the grid, or the first of a tile. @param {Place} place @returns {Place} */
  scoreAt([i, j]) {
    return [i * this.grid.br, j * this.grid.bc];
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (isShortcut(event) || !this.answer) return;
    const { n, br, bc } = this.grid;
    const [i, j] = this.at;
    const tile = this.answer.br / br;
    const last = Math.ceil(n / bc) - 1;
    /** @type {Record<string, Place | undefined>} */
    const jumps = {
      Home: [i, 0],
      End: [i, last],
      PageUp: [i - tile, j],
      PageDown: [i + tile, j],
    };
    const to = jumps[event.key];
    const by = ARROWS[event.key];
    const wanted = to ?? (by && [i + by[0], j + by[1]]);
    if (!wanted && !(this.picks && (event.key === "Enter" || event.key === " "))) return;
    event.preventDefault();
    event.stopPropagation();
    if (wanted) this.move([clamp(wanted[0], 0, Math.ceil(n / br) - 1), clamp(wanted[1], 0, last)]);
    else this.act.toggle(...this.scoreAt(this.at));
  }
}

/** Thin lines that rise to the right, on a ground.
 * @param {CanvasRenderingContext2D} pen @param {string} line @param {string} ground @param {number} ratio */
function stripes(pen, line, ground, ratio) {
  const size = 6;
  const tile = document.createElement("canvas");
  tile.width = tile.height = Math.round(size * ratio);
  const brush = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));
  brush.scale(tile.width / size, tile.width / size);
  if (ground !== "transparent") ((brush.fillStyle = ground), brush.fillRect(0, 0, size, size));
  brush.strokeStyle = line;
  brush.globalAlpha = 0.55;
  for (const shift of [-size, 0, size]) {
    brush.beginPath();
    brush.moveTo(shift - 1, size + 1);
    brush.lineTo(shift + size + 1, -1);
    brush.stroke();
  }
  const pattern = /** @type {CanvasPattern} */ (pen.createPattern(tile, "repeat"));
  pattern.setTransform(new DOMMatrix().scale(size / tile.width));
  return pattern;
}
