// What fp8 costs: four errors of the followed row of O from key block to key block, on a scale of powers of ten.

import { card, el, set, setText, svg } from "../lib/dom.js";
import { sub } from "../lib/format.js";
import { times } from "../lib/lists.js";
import { COSTS, causesOf, costsOf, percent } from "../model/fp8.js";
import { t } from "../model/texts.js";

/** @import { Frame, Trace } from "../model/types.js" */
/** @import { Point } from "../model/fp8.js" */

const [LEFT, RIGHT, TOP, NAMES] = [64, 12, 6, 20]; // px around the lines
const [MOST, LEAST] = [0, -7]; // powers of ten that are drawn at most
const NAME_FROM = 30; // px of key block below which its name is left out

/** Make the card of what fp8 costs. */
export function makeFp8() {
  const chart = svg("svg", { role: "img" });
  const lines = el("dl.fa-row-view-lines.fa-fp8-lines");
  const picture = el("div.fa-row-view-picture", [el("div.fa-row-view-plot", [chart])]);
  const { root, note } = card("row-view", t("fp8"), "", [
    el("div.fa-row-view-body", [picture, el("div.fa-row-view-side", [lines])]),
  ]);
  root.classList.add("fa-fp8");
  root.dataset.spot = "rows";
  root.hidden = true;

  /** Shown where P V is added to O, whose error it is about. @param {Trace} trace @param {Frame} f @param {number | undefined} row */
  function draw(trace, f, row) {
    const points = f.done("output") && f.j >= 0 ? costsOf(trace, f, row) : null;
    root.hidden = !points;
    const now = points?.findLast(({ seen }) => seen);
    if (!points || !now) return clear();
    setText(note, t("fp8.note", { row: Number(row) }));
    const causes = causesOf(trace, f);
    lines.replaceChildren(
      ...COSTS.flatMap((name) => [
        el(`dt.fa-fp8-${name}`, [el("i"), t(`fp8.${name}`)]),
        el("dd", [el("b", percent(now.errors[name])), el("span", causes[name])]),
      ]),
    );
    const said = COSTS.map((name) => `${t(`fp8.${name}`)} ${percent(now.errors[name])}`);
    set(chart, { "aria-label": t("fp8.spoken", { row: Number(row), errors: said.join(", ") }) });
    paint(points, now, f.problem.Tc);
  }

  /** Hold nothing while it is hidden, so that a page is the same whichever way led to it. */
  function clear() {
    setText(note, "");
    set(chart, { "aria-label": null, viewBox: null });
    for (const node of [chart, lines]) node.replaceChildren();
  }

  /** @param {Point[]} points @param {Point} now @param {number} Tc */
  function paint(points, now, Tc) {
    const [wide, high] = [chart.clientWidth || 560, chart.clientHeight || 92];
    set(chart, { viewBox: `0 0 ${wide} ${high}` });
    const powers = points.flatMap(({ errors }) => COSTS.map((name) => Math.log10(errors[name])));
    const known = powers.filter(Number.isFinite);
    const high10 = Math.min(MOST, Math.ceil(Math.max(LEAST + 1, ...known)));
    const low10 = Math.max(LEAST, Math.min(high10 - 1, Math.floor(Math.min(MOST, ...known))));
    const bottom = high - NAMES;
    const x = (/** @type {number} */ j) => LEFT + ((j + 0.5) / Tc) * (wide - LEFT - RIGHT);
    const y = (/** @type {number} */ error) => {
      const part = (Math.max(Math.log10(error), low10) - low10) / (high10 - low10);
      return bottom - Math.min(1, part) * (bottom - TOP);
    };
    const ticks = times(high10 - low10 + 1, (k) => low10 + k);
    const every = Math.ceil(ticks.length / 4);
    const grid = ticks
      .filter((power) => (high10 - power) % every === 0)
      .flatMap((power) => [
        svg("path", { d: `M${LEFT} ${y(10 ** power)}H${wide - RIGHT}` }),
        svg("text.is-end", {
          x: LEFT - 8,
          y: y(10 ** power) + 4,
          text: `${Number((10 ** (power + 2)).toPrecision(1))} %`,
        }),
      ]);
    const named = (wide - LEFT - RIGHT) / Tc >= NAME_FROM;
    const names = points
      .filter((point) => named || point === now)
      .map((point) =>
        svg(`text.is-key${point === now ? ".is-now" : ""}`, {
          x: x(point.j),
          y: high - 2,
          text: `K${sub(point.j)}`,
        }),
      );
    const seen = points.filter((point) => point.seen);
    const drawn = COSTS.flatMap((name) => {
      const known = seen.filter(({ errors }) => errors[name] > 0); // 0 is no power of ten
      const places = known.map(({ j, errors }) => `${x(j)} ${y(errors[name])}`);
      const at = { cx: x(now.j), cy: y(now.errors[name]), r: 4.5 };
      return [
        places.length > 1 && svg(`path.is-line.fa-fp8-${name}`, { d: `M${places.join("L")}` }),
        known.includes(now) && svg(`circle.fa-fp8-${name}`, at),
      ].filter((node) => node !== false);
    });
    chart.replaceChildren(...grid, ...names, ...drawn);
  }

  return { root, draw };
}
