// What happens inside the tile: scores and outputs fill, the largest score of a row goes to m, S turns into P, α dims O, a
// row of weights goes to ℓ.

import { level } from "../../lib/colors.js";
import { el, set } from "../../lib/dom.js";
import { number } from "../../lib/format.js";
import { turn } from "./cells.js";

/** @import { RowTime, TileOfPass, View } from "../types.js" */
/** @import { Layer } from "./layer.js" */
/** @import { RowLine } from "../types.js" */
/** @import { Known, Row, Transfer } from "../../model/types.js" */
/** @import { Act } from "../../model/motion.js" */

/** @type {Record<string, Record<string, "grow" | "flip" | "fade">>} */
const TURNS = {
  S: { scores: "grow", mask: "flip", exp: "flip" },
  O: { exp: "fade", output: "fade" },
  dS: { dP: "grow", dS: "flip" },
  dV: { dV: "fade" },
  dK: { dK: "fade" },
  dQ: { dQ: "fade", scale: "flip" },
};

const MOST_CELLS = 4096; // beyond that nothing turns
const MOST_ROWS = 16; // beyond that no row's number flies by itself
const SPENT = 0.22;

/** A part of a frame's canvas, within the window. @param {Layer} layer @param {number} r @param {number} c @param {number} rows @param {number} cols */
function part(layer, /** @type {View} */ { matrix }, r, c, rows, cols) {
  const { x, y } = layer.box(matrix.canvas);
  const [w, h] = [matrix.width / matrix.cols, matrix.height / matrix.rows];
  return new DOMRect(x + c * w, y + r * h, cols * w, rows * h);
}

/** The row of one operand and the column of the other whose product is being made. @param {Layer} layer @param {View} left @param {View} above @param {Act} at @param {number} rows @param {number} cols */
function beams(layer, left, above, at, rows, cols) {
  const row = layer.cover(part(layer, left, 0, 0, 1, left.matrix.cols), "fa-beam");
  const column = layer.cover(part(layer, above, 0, 0, above.matrix.rows, 1), "fa-beam");
  const seen = { opacity: [1, 1] };
  layer.animate(
    row,
    { ...seen, transform: ["none", `translateY(${rows * 100}%)`] },
    { ...at, easing: `steps(${rows})` },
  );
  layer.animate(
    column,
    { ...seen, transform: ["none", `translateX(${cols * 100}%)`] },
    { start: at.start, ms: at.ms / rows, iterations: rows, easing: `steps(${cols})` },
  );
}

/** From the middle of one box to that of another. @param {DOMRect} a @param {DOMRect} b */
function towards(a, b) {
  return `translate(${(b.x + b.width / 2 - a.x - a.width / 2).toFixed(1)}px, ${(b.y + b.height / 2 - a.y - a.height / 2).toFixed(1)}px)`;
}

/** The number at a row's m or ℓ comes in when something has arrived there; until then what it was. @param {Layer} layer @param {HTMLElement} node @param {string} size @param {Known} was @param {number} from @param {number} to */
function arrives(layer, node, size, was, from, to) {
  layer.hide(node, { ms: from });
  const old = layer.cover(layer.box(node), "fa-was");
  set(old, { text: number(was) });
  old.style.fontSize = size;
  layer.animate(old, { opacity: [1, 1] }, { ms: from });
  layer.animate(
    node,
    { opacity: [0, 1], transform: ["scale(1.35)", "none"] },
    { start: from, ms: Math.max(1, to - from), easing: "ease-out" },
  );
}

export class TileMotion {
  /** @type {Layer} */
  layer;
  /** @type {{sram: import("../sram.js").Sram | import("../sram_backward.js").SramBackward}} */
  player;
  /** @param {Layer} layer @param {{sram: TileOfPass}} player */
  constructor(layer, player) {
    Object.assign(this, { layer, player });
  }

  /** The card of the pass. */
  get sram() {
    return this.player.sram;
  }

  /** What its motion goes by. */
  get nodes() {
    const { frames, line = [] } = this.sram;
    return [
      ...Object.values(frames).flatMap(({ root, matrix }) => [root, matrix.canvas]),
      ...line.flatMap((one) => this.sram.columns.map((key) => one[key])),
    ];
  }

  /** @param {Act[]} acts of model/motion.js */
  show(acts) {
    for (const name of Object.keys(TURNS)) {
      if (!this.sram.frames[name]) continue;
      const { root, matrix } = this.sram.frames[name];
      if (root.hidden) continue;
      const turns = acts.flatMap(({ phase, start, ms, before, after }) =>
        before?.numbers && TURNS[name][phase]
          ? {
              kind: TURNS[name][phase],
              phase,
              start,
              ms,
              before: this.sram.contents(before)[name],
              after: this.sram.contents(after)[name],
            }
          : [],
      );
      if (turns.length && !root.hidden && matrix.rows * matrix.cols <= MOST_CELLS)
        turn(this.layer, this.sram.frames[name], turns);
    }
    /** The motions by their phases. @type {Partial<Record<string, (act: Act) => void>>} */
    const motions = /** @type {any} */ (this);
    for (const act of acts) if (act.after.numbers) motions[act.phase]?.(act);
  }

  /** Frames that are not shown have no row and no column to point at. @param {Act} act @param {string} left @param {string} above @param {number} rows @param {number} cols */
  beams(act, left, above, rows, cols) {
    const [first, second] = [left, above].map((name) => this.sram.frames[name]);
    if (!first.root.hidden && !second.root.hidden)
      beams(this.layer, first, second, act, rows, cols);
  }

  /** @param {Act} act */
  scores(act) {
    this.crosses(act, "Q", "K");
  }

  /** @param {Act} act */
  dP(act) {
    this.crosses(act, "dO", "V");
  }

  /** @param {Act} act @param {string} left @param {string} above */
  crosses(act, left, above) {
    const { rows, cols } = act.after;
    this.beams(act, left, above, rows.stop - rows.start, cols.stop - cols.start);
  }

  /** @param {Act} act */
  output(act) {
    this.beams(act, "S", "V", act.after.rows.stop - act.after.rows.start, act.after.problem.d);
  }

  /** Every row with the time at which its part of the act begins and ends. @param {(row: Row, k: number, at: RowTime) => void} draw */
  rows(/** @type {Act} */ { after, start, ms }, draw) {
    const count = after.stats.length;
    if (!this.sram.counts) return;
    const one = 0.6;
    after.stats.forEach((row, k) => {
      const from = start + (count > 1 ? (k / (count - 1)) * (1 - one) : 0) * ms;
      draw(row, k, { start: from, ms: one * ms, alone: count <= MOST_ROWS });
    });
  }

  /** The largest score of each row leaves for m, and is dropped there if m was larger. @param {Act} act */
  max(act) {
    const { after } = act;
    const { S } = this.sram.frames;
    this.rows(
      act,
      (
        /** @type {Row} */ row,
        /** @type {number} */ k,
        /** @type {RowTime} */ { start, ms, alone },
      ) => {
        const { m } = this.sram.line[k];
        const wins = row.m_old === undefined || Number(row.m_new) > row.m_old;
        if (wins && !this.sram.dense)
          arrives(
            this.layer,
            m,
            this.sram.lines.style.fontSize,
            row.m_old,
            start + 0.75 * ms,
            start + ms,
          );
        if (!alone || !(Number(row.m_new) > -Infinity)) return;
        const scores = Array.from(
          { length: S.matrix.cols },
          (_, c) => after.score(k, c) ?? -Infinity,
        );
        const largest = Math.max(...scores);
        if (largest === -Infinity) return;
        const cell = part(this.layer, S, k, scores.indexOf(largest), 1, 1);
        const chip = this.layer.cover(cell, "fa-chip-max");
        if (!this.sram.dense) chip.append(el("span", { text: number(largest) }));
        const way = towards(cell, this.layer.box(m));
        this.layer.animate(
          chip,
          {
            opacity: [0, 1, 1, wins ? 1 : 0],
            transform: ["none", "none", way, way],
            offset: [0, 0.2, 0.75, 1],
          },
          { start, ms: wins ? ms * 0.75 : ms },
        );
      },
    );
  }

  /** A row of products comes together in D. @param {Act} act */
  D(act) {
    this.rows(act, (/** @type {unknown} */ _, /** @type {number} */ k, { start, ms }) => {
      if (!this.sram.dense && this.sram.columnsNow.D)
        arrives(
          this.layer,
          this.sram.line[k].D,
          this.sram.lines.style.fontSize,
          undefined,
          start + 0.6 * ms,
          start + ms,
        );
    });
  }

  /** A row's weights come together in ℓ. @param {Act} act */
  sum(act) {
    const { cols } = this.sram.frames.S.matrix;
    const { values, low, high, ramp } = this.sram.contents(act.after).S;
    this.rows(
      act,
      (
        /** @type {Row} */ row,
        /** @type {number} */ k,
        /** @type {RowTime} */ { start, ms, alone },
      ) => {
        const { l } = this.sram.line[k];
        if (!this.sram.dense)
          arrives(
            this.layer,
            l,
            this.sram.lines.style.fontSize,
            row.l_old,
            start + 0.75 * ms,
            start + ms,
          );
        if (!alone) return;
        const weights = part(this.layer, this.sram.frames.S, k, 0, 1, cols);
        const strip = this.layer.cover(weights, "fa-chip-sum");
        const colors = Array.from({ length: cols }, (_, c) => {
          const color = Number.isFinite(values(k, c))
            ? ramp.css[level(Number(values(k, c)), low, high)]
            : "transparent";
          return `${color} ${((100 * c) / cols).toFixed(1)}% ${((100 * (c + 1)) / cols).toFixed(1)}%`;
        });
        strip.style.background = `linear-gradient(to right, ${colors})`;
        const way = towards(weights, this.layer.box(l));
        this.layer.animate(
          strip,
          {
            opacity: [0.9, 0.9, 0.3],
            transform: ["none", `${way} scale(0.16, 0.5)`, `${way} scale(0.08, 0.3)`],
            offset: [0, 0.8, 1],
          },
          { start, ms: ms * 0.85, easing: "cubic-bezier(.65,0,.35,1)" },
        );
      },
    );
  }

  /** What is spent fades before what is stored leaves, and is there again at the end. */
  store(/** @type {Act} */ { after, start, ms }) {
    const stored = after.transfers
      .filter(({ op }) => op !== "read")
      .map(({ tensor }) => ({ P: "S", dP: "dS" })[tensor] ?? tensor);
    const { frames, lines, heat } = this.sram;
    const spent = [
      ...Object.values(frames)
        .filter(({ name }) => !stored.includes(name))
        .map(({ root }) => root),
      lines,
      ...Object.values(heat).map(({ root }) => root),
    ];
    for (const node of spent)
      this.layer.animate(
        node,
        { opacity: [1, SPENT, SPENT, 1], offset: [0, 0.2, 0.88, 1] },
        { start, ms },
      );
  }
}
