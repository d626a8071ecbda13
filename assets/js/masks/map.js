// The map of N × N scores in tiles: a cell in the hue of the term that keeps it, or tiles alone where cells would be too
// many. One tab stop; arrows move the light, Page Up and Down by a tile.

import { context2d, el, set } from "../lib/dom.js";
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

/** Make the map. `toggle` is told of a click on a tile of the chosen chip.
 * @param {(i: number, j: number) => void} toggle */
export function makeMap(toggle) {
  /** @type {Unpacked} */
  let answer;
  /** What the light moves on: scores, or tiles where there are no scores. @type {{n: number, br: number, bc: number}} */
  let grid;
  /** Where the keyboard is. @type {Place} */
  let at = [0, 0];
  /** Where the mouse is. @type {Place | null} */
  let hover = null;
  let picks = false;
  /** The sentence that is there. @type {string | undefined} */
  let text;
  const canvas = el("canvas", { "aria-hidden": "true" });
  const light = el("i.fa-mask-light");
  const labels = el("div.fa-mask-over", { "aria-hidden": "true" });
  const sentence = el("p.fa-mask-sentence", { id: "fa-mask-sentence", "aria-live": "polite" });
  const box = el(
    "div.fa-mask-box",
    {
      role: "application",
      tabindex: 0,
      "aria-label": t("map.label"),
      "aria-describedby": "fa-mask-sentence",
    },
    [canvas, labels, light],
  );
  const keys = el("div.fa-mask-axis.fa-mask-keys", { "aria-hidden": "true" });
  const queries = el("div.fa-mask-axis.fa-mask-queries", { "aria-hidden": "true" });
  const legend = el("p.fa-mask-legend");
  const root = el("section.fa-mask-map", { "aria-label": t("map") }, [
    el("b.fa-ink-k.fa-mask-k", t("keys")),
    keys,
    el("b.fa-ink-q.fa-mask-q", t("queries")),
    queries,
    box,
    sentence,
    legend,
  ]);
  box.addEventListener(
    "pointermove",
    (event) => event.pointerType === "mouse" && point(cellAt(event)),
  );
  box.addEventListener("pointerleave", () => point(null));
  box.addEventListener("click", click);
  box.addEventListener("keydown", key);

  /** @param {Unpacked} next @param {boolean} toggles whether tiles are toggled by a click */
  function draw(next, toggles) {
    const other = answer?.n !== next.n || answer.br !== next.br || answer.bc !== next.bc;
    answer = next;
    grid = answer.keepingTerm ? { n: answer.n, br: 1, bc: 1 } : answer;
    hover = null;
    set(box, { "data-picks": toggles ? "" : null });
    picks = toggles;
    if (other) at = answer.keepingTerm ? firstCell(answer) : [0, 0];
    paint();
    words();
    turn();
  }

  /** Cells and tiles, for the size and the colors of this moment. */
  function paint() {
    const wide = box.clientWidth;
    if (!answer || !wide) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = canvas.height = Math.round(wide * ratio);
    const pen = context2d(canvas);
    pen.scale(ratio, ratio);
    const style = getComputedStyle(box);
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
          const place = within({ top: i, left: j, height: 1, width: 1 }, gap / 2);
          pen.roundRect(...place, gap ? Math.min(4, cell / 6) : 0);
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
  function part(k) {
    return `${((100 * k) / answer.n).toFixed(3)}%`;
  }

  /** Where a box stands over the map, as a style. */
  function over(/** @type {Box} */ { top, left, height, width }) {
    return `left:${part(left)};top:${part(top)};width:${part(width)};height:${part(height)}`;
  }

  /** What stands over the cells and beside them: skip, documents, axes, legend. */
  function words() {
    const { n, tiles, draft } = answer;
    const high = box.clientWidth / Math.max(tiles.Tr, tiles.Tc);
    const size = parseFloat(getComputedStyle(labels).fontSize);
    const skipped = tilesOf(answer).filter(({ kind }) => kind === "skipped");
    const skips = skipped
      .slice(0, high > 3 * size ? MOST_WORDS : 0)
      .map((tile) => el("span", { text: t("skip"), style: over(tile) }));
    const papers = documents(draft, n).flatMap(({ name, start, stop }) => {
      const room = (box.clientWidth * (stop - start)) / n > 6.2 * size;
      const short = room ? name : name.split(" ")[1];
      const from = part(start);
      const span = `${from};--long:${part(stop - start)}`;
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
    labels.replaceChildren(...papers, ...skips);
    set(root, { "data-documents": papers.length ? "" : null });
    const kinds = [
      ["full", t("full"), t("full.more")],
      ["partial", t("partial"), ""],
      ["skipped", t("empty"), t("empty.more")],
    ];
    legend.replaceChildren(
      ...kinds.map(([kind, word, more]) =>
        el("span", { "data-kind": kind }, [
          el("i"),
          el("b", integer(tiles.counts[kind])),
          el("span", [` ${word}`, el("span.fa-mask-long", more)]),
        ]),
      ),
    );
  }

  /** Numbers along both edges: where tiles begin, as far as there is room; that of the light in bold. */
  function axis() {
    const { n, br, bc } = answer;
    const lit = scoreAt(hover ?? at);
    const room = box.clientWidth / n;
    /** @type {[HTMLElement, size: number, now: number, side: string][]} */
    const edges = [
      [keys, bc, lit[1], "left"],
      [queries, br, lit[0], "top"],
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
          el(bold ? "b" : "span", { text: integer(k), style: `${side}:${part(k + 0.5)}` }),
        ),
      );
    }
  }

  /** The light stands where the mouse is, else where the keyboard is. */
  function turn() {
    const { n, keepingTerm } = answer;
    const [i, j] = hover ?? at;
    const place = tileBox(grid, i, j);
    const lead = ((box.clientWidth * place.left) / n).toFixed(1);
    light.style.cssText = `${over(place)};--lead:${lead}px`;
    /** @type {Words[]} */
    const parts = keepingTerm
      ? scoreSentence(answer, i, j)
      : [{ text: tileSentence(answer, i, j) }];
    const written = parts.map((word) => word.text).join("");
    if (text !== written)
      sentence.replaceChildren(
        ...parts.map(({ text: part, term }) =>
          el(term === undefined ? "span" : "b", {
            text: part.replace(SIGN, "\u00a0$1\u00a0"),
            "data-hue": term,
          }),
        ),
      );
    text = written;
    axis();
  }

  /** @param {Place | null} place */
  function point(place) {
    if (!answer || String(place) === String(hover)) return;
    hover = place;
    turn();
  }

  /** @param {Place} place */
  function move(place) {
    at = place;
    hover = null;
    turn();
  }

  /** @param {MouseEvent} event @returns {Place} */
  function cellAt({ clientX, clientY }) {
    const { left, top, width, height } = box.getBoundingClientRect();
    const { n, br, bc } = grid;
    const [i, j] = [(clientY - top) / height, (clientX - left) / width].map((x) =>
      clamp(Math.floor(x * n), 0, n - 1),
    );
    return [Math.floor(i / br), Math.floor(j / bc)];
  }

  /** @param {MouseEvent} event */
  function click(event) {
    move(cellAt(event));
    if (picks) toggle(...scoreAt(at));
  }

  /** The score at a place of the grid, or the first of a tile. @param {Place} place @returns {Place} */
  function scoreAt([i, j]) {
    return [i * grid.br, j * grid.bc];
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    if (isShortcut(event) || !answer) return;
    const { n, br, bc } = grid;
    const [i, j] = at;
    const tile = answer.br / br;
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
    if (!wanted && !(picks && (event.key === "Enter" || event.key === " "))) return;
    event.preventDefault();
    event.stopPropagation();
    if (wanted) move([clamp(wanted[0], 0, Math.ceil(n / br) - 1), clamp(wanted[1], 0, last)]);
    else toggle(...scoreAt(at));
  }

  return { root, box, paint, draw };
}

/** Thin lines that rise to the right, on a ground.
 * @param {CanvasRenderingContext2D} pen @param {string} line @param {string} ground @param {number} ratio */
function stripes(pen, line, ground, ratio) {
  const size = 6;
  const tile = el("canvas");
  tile.width = tile.height = Math.round(size * ratio);
  const brush = context2d(tile);
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
