// The map of N × N scores in tiles: a cell in the hue of the term that keeps it, or tiles alone where cells would be too
// many. One tab stop; arrows move the light, Page Up and Down by a tile.

import { el, set } from "../lib/dom.js";
import { clamp, integer } from "../lib/format.js";
import { ARROWS } from "../lib/keys.js";
import { documents, firstCell, scoreSentence, tileSentence } from "../model/mask.js";
import { TILE_KINDS } from "../model/predicates.js";
import { t } from "./texts.js";

/** @import { Unpacked, Words } from "../model/mask.js" */
/** Row and column of a score, or of a tile where the map has tiles alone. @typedef {[number, number]} Place */

const ROOM = 3; // as many px of the picture at 1280 × 720 that a gap between cells needs of them
const SIGN = / ([≤<>≥=−]) /g; // no line ends beside it
const MOST_WORDS = 200; // tiles that have the word skip

export class MaskMap {
  /** @type {Unpacked} */
  answer;
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
    this.light = el("i", { class: "fa-mask-light" });
    this.over = el("div", { class: "fa-mask-over", "aria-hidden": "true" });
    this.sentence = el("p", {
      class: "fa-mask-sentence",
      id: "fa-mask-sentence",
      "aria-live": "polite",
    });
    this.box = el(
      "div",
      {
        class: "fa-mask-box",
        role: "application",
        tabindex: 0,
        "aria-label": t("map.label"),
        "aria-describedby": "fa-mask-sentence",
      },
      [this.canvas, this.over, this.light],
    );
    this.keys = el("div", { class: "fa-mask-axis fa-mask-keys", "aria-hidden": "true" });
    this.queries = el("div", { class: "fa-mask-axis fa-mask-queries", "aria-hidden": "true" });
    this.legend = el("p", { class: "fa-mask-legend" });
    this.root = el("section", { class: "fa-mask-map", "aria-label": t("map") }, [
      el("b", { class: "fa-ink-k fa-mask-k", text: t("keys") }),
      this.keys,
      el("b", { class: "fa-ink-q fa-mask-q", text: t("queries") }),
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

  /** How many rows and columns the light can stand in. @returns {Place} */
  get size() {
    const { n, tiles, keepingTerm } = this.answer;
    return keepingTerm ? [n, n] : [tiles.Tr, tiles.Tc];
  }

  /** @param {Unpacked} answer @param {boolean} picks whether tiles are toggled by a click */
  draw(answer, picks) {
    const other =
      this.answer?.n !== answer.n || this.answer.br !== answer.br || this.answer.bc !== answer.bc;
    this.answer = answer;
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
    const look = {
      hatch: stripes(pen, color("fa-hatch"), color("mask-empty"), ratio),
      empty: color("mask-empty"),
      line: color("mask-line"),
      full: color("mask-t0"),
      some: color("mask-t0-soft"),
    };
    const { n, br, bc, tiles, keepingTerm, kinds } = answer;
    const cell = wide / n;
    const gap = cell >= ROOM * 2 ? Math.min(2.4, cell / 10) : 0;
    for (let i = 0; kinds && i < tiles.Tr; i++)
      for (let j = 0; j < tiles.Tc; j++) {
        const kind = TILE_KINDS[kinds[i * tiles.Tc + j]];
        /** @type {[number, number, number, number]} */
        const box = [
          j * bc * cell,
          i * br * cell,
          Math.min(bc, n - j * bc) * cell,
          Math.min(br, n - i * br) * cell,
        ];
        if (kind === "skipped" || (!keepingTerm && kind === "partial")) {
          pen.fillStyle = kind === "skipped" ? look.hatch : look.some;
          pen.fillRect(...box);
          if (kind === "partial")
            ((pen.fillStyle = stripes(pen, color("mask-page"), "transparent", ratio)),
              pen.fillRect(...box));
        } else if (!keepingTerm) ((pen.fillStyle = look.full), pen.fillRect(...box));
      }
    const hue = [0, 1, 2, 3].map((term) => ({
      full: color(`mask-t${term}`),
      partial: color(`mask-t${term}-soft`),
    }));
    for (let at = 0; keepingTerm && kinds && at < n * n; at++) {
      const [i, j] = [Math.floor(at / n), at % n];
      const kind = TILE_KINDS[kinds[Math.floor(i / br) * tiles.Tc + Math.floor(j / bc)]];
      if (kind === "skipped") continue;
      pen.fillStyle = keepingTerm[at] < 0 ? look.hatch : hue[keepingTerm[at]][kind];
      pen.beginPath();
      pen.roundRect(
        j * cell + gap / 2,
        i * cell + gap / 2,
        cell - gap,
        cell - gap,
        gap ? Math.min(4, cell / 6) : 0,
      );
      pen.fill();
    }
    for (let i = 0; kinds && i < tiles.Tr && tiles.Tr * tiles.Tc <= 4096; i++)
      for (let j = 0; j < tiles.Tc; j++) {
        const kind = TILE_KINDS[kinds[i * tiles.Tc + j]];
        if (kind === "skipped") continue;
        pen.strokeStyle = kind === "full" ? look.full : look.line;
        pen.lineWidth = kind === "full" ? 2 : 1;
        pen.beginPath();
        const edge = pen.lineWidth / 2;
        pen.roundRect(
          j * bc * cell + edge,
          i * br * cell + edge,
          Math.min(bc, n - j * bc) * cell - 2 * edge,
          Math.min(br, n - i * br) * cell - 2 * edge,
          gap ? 4 : 0,
        );
        pen.stroke();
      }
  }

  /** What stands over the cells and beside them: skip, documents, axes, legend. */
  words() {
    const { n, br, bc, tiles, kinds, draft } = this.answer;
    const part = (/** @type {number} */ k) => `${((100 * k) / n).toFixed(3)}%`;
    /** @type {HTMLElement[]} */
    const labels = [];
    const high = this.box.clientWidth / Math.max(tiles.Tr, tiles.Tc);
    const size = parseFloat(getComputedStyle(this.over).fontSize);
    for (let i = 0; kinds && high > 3 * size && i < tiles.Tr; i++)
      for (let j = 0; j < tiles.Tc; j++)
        if (TILE_KINDS[kinds[i * tiles.Tc + j]] === "skipped" && labels.length < MOST_WORDS)
          labels.push(
            el("span", {
              text: t("skip"),
              style: `left:${part(j * bc)};top:${part(i * br)};width:${part(Math.min(bc, n - j * bc))};height:${part(Math.min(br, n - i * br))}`,
            }),
          );
    const papers = documents(draft, n).flatMap(({ name, start, stop }) => {
      const room = (this.box.clientWidth * (stop - start)) / n > 6.2 * size;
      const short = room ? name : name.split(" ")[1];
      const span = `${part(start)};--long:${part(stop - start)}`;
      return [
        el("b", { class: "fa-mask-doc is-row", text: short, style: `top:${span}` }),
        el("b", { class: "fa-mask-doc is-col", text: short, style: `left:${span}` }),
        ...(start
          ? [
              el("i", { class: "fa-mask-edge is-row", style: `top:${part(start)}` }),
              el("i", { class: "fa-mask-edge is-col", style: `left:${part(start)}` }),
            ]
          : []),
      ];
    });
    this.over.replaceChildren(...papers, ...labels);
    set(this.root, { "data-documents": papers.length ? "" : null });
    this.axis();
    const { full, partial, skipped } = tiles.counts;
    /** @type {[kind: string, count: number, word: string, more: string][]} */
    const legend = [
      ["full", full, t("full"), t("full.more")],
      ["partial", partial, t("partial"), ""],
      ["skipped", skipped, t("empty"), t("empty.more")],
    ];
    this.legend.replaceChildren(
      ...legend.map(([kind, count, word, more]) =>
        el("span", { "data-kind": kind }, [
          el("i"),
          el("b", { text: integer(count) }),
          el("span", {}, [` ${word}`, el("span", { class: "fa-mask-long", text: more })]),
        ]),
      ),
    );
  }

  /** Numbers along both edges: where tiles begin, as far as there is room; that of the light in bold. */
  axis() {
    const { n, br, bc, keepingTerm } = this.answer;
    const [i, j] = this.hover ?? this.at;
    const lit = keepingTerm ? [i, j] : [i * br, j * bc];
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
          el(bold ? "b" : "span", {
            text: integer(k),
            style: `${side}:${((100 * (k + 0.5)) / n).toFixed(3)}%`,
          }),
        ),
      );
    }
  }

  /** The light stands where the mouse is, else where the keyboard is. */
  turn() {
    const { n, br, bc, keepingTerm } = this.answer;
    const [i, j] = this.hover ?? this.at;
    const [top, left, high, wide] = keepingTerm
      ? [i, j, 1, 1]
      : [i * br, j * bc, Math.min(br, n - i * br), Math.min(bc, n - j * bc)];
    const part = (/** @type {number} */ k) => `${((100 * k) / n).toFixed(3)}%`;
    this.light.style.cssText = `left:${part(left)};top:${part(top)};width:${part(wide)};height:${part(high)};--lead:${((this.box.clientWidth * left) / n).toFixed(1)}px`;
    set(this.box, { "data-i": i, "data-j": j });
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
  }

  /** @param {Place | null} place */
  point(place) {
    if (!this.answer || String(place) === String(this.hover)) return;
    this.hover = place;
    this.turn();
    this.axis();
  }

  /** @param {Place} place */
  move(place) {
    this.at = place;
    this.hover = null;
    this.turn();
    this.axis();
  }

  /** @param {MouseEvent} event @returns {Place} */
  cellAt({ clientX, clientY }) {
    const { left, top, width, height } = this.box.getBoundingClientRect();
    const { n, br, bc, keepingTerm } = this.answer;
    const [i, j] = [(clientY - top) / height, (clientX - left) / width].map((x) =>
      clamp(Math.floor(x * n), 0, n - 1),
    );
    return keepingTerm ? [i, j] : [Math.floor(i / br), Math.floor(j / bc)];
  }

  /** @param {MouseEvent} event */
  click(event) {
    this.move(this.cellAt(event));
    if (this.picks) this.act.toggle(...this.score());
  }

  /** The score that the light is on, or the first of its tile. @returns {Place} */
  score() {
    const { br, bc, keepingTerm } = this.answer;
    return keepingTerm ? this.at : [this.at[0] * br, this.at[1] * bc];
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.answer) return;
    const { br, keepingTerm } = this.answer;
    const [rows, cols] = this.size;
    const [i, j] = this.at;
    const tile = keepingTerm ? br : 1;
    /** @type {Record<string, Place | undefined>} */
    const jumps = {
      Home: [i, 0],
      End: [i, cols - 1],
      PageUp: [i - tile, j],
      PageDown: [i + tile, j],
    };
    const to = jumps[event.key];
    const by = ARROWS[event.key];
    const wanted = to ?? (by && [i + by[0], j + by[1]]);
    if (!wanted && !(this.picks && (event.key === "Enter" || event.key === " "))) return;
    event.preventDefault();
    event.stopPropagation();
    if (wanted) this.move([clamp(wanted[0], 0, rows - 1), clamp(wanted[1], 0, cols - 1)]);
    else this.act.toggle(...this.score());
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
