// What happens inside the tile: scores and outputs fill, the largest score of a row goes to m, S turns into P, α dims O, a
// row of weights goes to ℓ.

import { level } from "../../lib/colors.js";
import { el, setText } from "../../lib/dom.js";
import { times } from "../../lib/lists.js";
import { sizeOf } from "../../model/spans.js";
import { tensorOf } from "../../model/tensors.js";
import layout from "../layout.json" with { type: "json" };
import { turn } from "./cells.js";

/** @import { RowTime, TileOfPass, View } from "../types.js" */
/** @import { Layer } from "../types.js" */
/** @import { RowLine } from "../types.js" */
/** @import { Known, Row } from "../../model/types.js" */
/** @import { Act } from "../../model/motion.js" */

/** How a frame turns in a phase. @type {Record<string, Record<string, "grow" | "flip" | "fade">>} */
const TURNS = /** @type {any} */ (layout.turns);

const MOST_CELLS = 4096; // beyond that nothing turns
const MOST_ROWS = 16; // beyond that no row's number flies by itself
const SPENT = 0.22;

/** A part of a frame's canvas, within the window. @param {Layer} layer @param {number} r @param {number} c @param {number} rows @param {number} cols */
function part(layer, /** @type {View} */ { matrix }, r, c, rows, cols) {
  const { x, y } = layer.box(matrix.canvas);
  const [w, h] = [matrix.width / matrix.cols, matrix.height / matrix.rows];
  return new DOMRect(x + c * w, y + r * h, cols * w, rows * h);
}

/** From the middle of one box to that of another. @param {DOMRect} a @param {DOMRect} b */
function towards(a, b) {
  return `translate(${(b.x + b.width / 2 - a.x - a.width / 2).toFixed(1)}px, ${(b.y + b.height / 2 - a.y - a.height / 2).toFixed(1)}px)`;
}

/** Make what moves within the tile of a player. @param {Layer} layer @param {{sram: TileOfPass}} player */
export function makeTileMotion(layer, player) {
  /** What its motion goes by. */
  function nodes() {
    const { list, columns, line = [] } = player.sram;
    return [
      ...list.flatMap(({ root, matrix }) => [root, matrix.canvas]),
      ...line.flatMap((one) => columns.map((key) => one[key])),
    ];
  }

  /** @param {Act[]} acts of model/motion.js */
  function show(acts) {
    const { sram } = player;
    for (const name of Object.keys(TURNS)) {
      const frame = sram.frames[name];
      if (!frame || frame.root.hidden) continue;
      const { matrix } = frame;
      const turns = acts.flatMap(({ phase, start, ms, before, after }) =>
        before?.numbers && TURNS[name][phase]
          ? {
              kind: TURNS[name][phase],
              phase,
              start,
              ms,
              before: sram.contents(before)[name],
              after: sram.contents(after)[name],
            }
          : [],
      );
      if (turns.length && matrix.rows * matrix.cols <= MOST_CELLS) turn(layer, frame, turns);
    }
    for (const act of acts) if (act.after.numbers) motions[act.phase]?.(act);
  }

  /** What moves in each phase. @type {Partial<Record<string, (act: Act) => void>>} */
  const motions = {
    scores: (act) => beams(act, "Q", "K"),
    dP: (act) => beams(act, "dO", "V"),
    output: (act) => beams(act, "S", "V", act.after.problem.d),
    max,
    D,
    sum,
    store,
  };

  /** The row of one operand and the column of the other whose product is being made, where both frames are shown.
   * @param {Act} at @param {string} left @param {string} above */
  function beams(at, left, above, cols = sizeOf(at.after.cols)) {
    const [first, second] = [left, above].map((name) => player.sram.frames[name]);
    if (first.root.hidden || second.root.hidden) return;
    const rows = sizeOf(at.after.rows);
    const row = layer.cover(part(layer, first, 0, 0, 1, first.matrix.cols), "fa-beam");
    const column = layer.cover(part(layer, second, 0, 0, second.matrix.rows, 1), "fa-beam");
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

  /** Every row with the time at which its part of the act begins and ends. @param {(row: Row, k: number, at: RowTime) => void} draw */
  function rows(/** @type {Act} */ { after, start, ms }, draw) {
    const count = after.stats.length;
    if (!player.sram.counts) return;
    const one = 0.6;
    after.stats.forEach((row, k) => {
      const from = start + (count > 1 ? (k / (count - 1)) * (1 - one) : 0) * ms;
      draw(row, k, { start: from, ms: one * ms, alone: count <= MOST_ROWS });
    });
  }

  /** A row's number comes in when something has arrived there, `late` of its time; until then what it was.
   * @param {number} k @param {string} key @param {Known} was @param {RowTime} at */
  function arrives(k, key, was, { start, ms }, late = 0.75) {
    const { dense, columnsNow, line, lines } = player.sram;
    if (dense || !columnsNow[key]) return;

    const node = line[k][key];
    const from = start + late * ms;
    layer.hide(node, { ms: from });
    const old = layer.cover(layer.box(node), "fa-was");
    setText(old, player.sram.format(was));
    old.style.fontSize = lines.style.fontSize;
    layer.animate(old, { opacity: [1, 1] }, { ms: from });
    layer.animate(
      node,
      { opacity: [0, 1], transform: ["scale(1.35)", "none"] },
      { start: from, ms: Math.max(1, start + ms - from), easing: "ease-out" },
    );
  }

  /** The largest score of each row leaves for m, and is dropped there if m was larger. @param {Act} act */
  function max(act) {
    const { sram } = player;
    const { S } = sram.frames;
    rows(act, (row, k, at) => {
      const wins = row.m_old === undefined || Number(row.m_new) > row.m_old;
      if (wins) arrives(k, "m", row.m_old, at);
      if (!at.alone || !(Number(row.m_new) > -Infinity)) return;
      const scores = times(S.matrix.cols, (c) => act.after.score(k, c) ?? -Infinity);
      const largest = Math.max(...scores);
      if (largest === -Infinity) return;
      const cell = part(layer, S, k, scores.indexOf(largest), 1, 1);
      const chip = layer.cover(cell, "fa-chip-max");
      if (!sram.dense) chip.append(el("span", sram.format(largest)));
      const way = towards(cell, layer.box(sram.line[k].m));
      layer.animate(
        chip,
        {
          opacity: [0, 1, 1, wins ? 1 : 0],
          transform: ["none", "none", way, way],
          offset: [0, 0.2, 0.75, 1],
        },
        { start: at.start, ms: wins ? at.ms * 0.75 : at.ms },
      );
    });
  }

  /** A row of products comes together in D. @param {Act} act */
  function D(act) {
    rows(act, (_, k, at) => arrives(k, "D", undefined, at, 0.6));
  }

  /** A row's weights come together in ℓ. @param {Act} act */
  function sum(act) {
    const { sram } = player;
    const { S } = sram.frames;
    const { cols } = S.matrix;
    const { values, low, high, ramp } = sram.contents(act.after).S;
    rows(act, (row, k, at) => {
      arrives(k, "l", row.l_old, at);
      if (!at.alone) return;
      const weights = part(layer, S, k, 0, 1, cols);
      const strip = layer.cover(weights, "fa-chip-sum");
      const colors = times(cols, (c) => {
        const color = Number.isFinite(values(k, c))
          ? ramp.css[level(Number(values(k, c)), low, high)]
          : "transparent";
        return `${color} ${((100 * c) / cols).toFixed(1)}% ${((100 * (c + 1)) / cols).toFixed(1)}%`;
      });
      strip.style.background = `linear-gradient(to right, ${colors})`;
      const way = towards(weights, layer.box(sram.line[k].l));
      layer.animate(
        strip,
        {
          opacity: [0.9, 0.9, 0],
          transform: ["none", `${way} scale(0.16, 0.5)`, `${way} scale(0.08, 0.3)`],
          offset: [0, 0.8, 1],
        },
        { start: at.start, ms: at.ms * 0.85, easing: "cubic-bezier(.65,0,.35,1)" },
      );
    });
  }

  /** What is spent fades before what is stored leaves. */
  function store(/** @type {Act} */ { after, start, ms }) {
    const stored = after.transfers
      .filter(({ op }) => op !== "read")
      .map(({ tensor }) => tensorOf(tensor));
    const { list, lines, heat } = player.sram;
    const spent = [
      ...list.filter(({ name }) => !stored.includes(name)).map(({ root }) => root),
      lines,
      ...Object.values(heat).map(({ root }) => root),
    ];
    for (const node of spent)
      layer.animate(node, { opacity: [1, SPENT, SPENT], offset: [0, 0.2, 1] }, { start, ms });
  }

  return { nodes, show };
}
