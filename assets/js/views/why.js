// Why m: the scores of the followed row, times a factor that a slider sets, on the range of fp32, as exp(S) and as exp(S − m).

import { el, set, setText, svg } from "../lib/dom.js";
import { integer, number } from "../lib/format.js";
import { t } from "../model/texts.js";
import { RANGE, axesOf, failure } from "../model/why.js";

/** @import { Frame } from "../model/types.js" */
/** @import { Mark } from "../model/why.js" */

const [WIDE, LINES] = [760, [30, 66]]; // units of the picture on a desk, and where its two axes lie
const [LEFT, MARGIN] = [96, 22];
const text = (/** @type {string} */ words, /** @type {Record<string, string | number>} */ at) =>
  svg("text", { ...at, text: words });

/** Make the card that says why m is subtracted. */
export function makeWhyM() {
  /** @type {Frame} */
  let frame;
  /** @type {number} */
  let followed;
  /** @type {string | undefined} */
  let painted;
  let right = WIDE - MARGIN;

  const words = el("p", { "aria-live": "polite" });
  const times = el("b");
  const slider = el("input", { type: "range", min: 1, step: 1, "aria-label": t("row_view.why") });
  slider.addEventListener("input", paint);
  const chart = svg("svg", { "aria-hidden": "true" });
  const root = el("section.fa-why", { "data-spot": "rows", hidden: true }, [
    el("div", [words, el("label", [times, slider])]),
    chart,
  ]);

  /** Shown in the phase that finds m, where exp can fail; at first with the smallest factor at which it does.
   * @param {Frame} f @param {number | undefined} row */
  function draw(f, row) {
    const m = f.stats.find((s) => s.row === row)?.m_new;
    const found = f.phase === "max" && !f.stage ? failure(m) : null;
    root.hidden = !found;
    if (!found || row === undefined) {
      clear();
      return;
    }
    frame = f;
    followed = row;
    const now = `${f.problem.n} ${f.step} ${row} ${m}`;
    if (painted !== now) {
      set(slider, { max: Math.max(8, Math.ceil(found.factor * 1.15)) });
      slider.value = String(found.factor);
    }
    painted = now;
    paint();
  }

  /** Holds nothing while it is hidden, so that a page is the same whichever way led to it. */
  function clear() {
    painted = undefined;
    for (const node of [words, times]) setText(node, "");
    set(slider, { max: null });
    set(root, { "data-fails": null });
    chart.replaceChildren();
  }

  /** Place a power of ten on the axes. @param {number} power */
  function xOf(power) {
    return LEFT + ((power - RANGE[0] + 3) / (RANGE[1] - RANGE[0] + 6)) * (right - LEFT);
  }

  function paint() {
    const wide = Math.min(WIDE, chart.clientWidth || WIDE);
    set(chart, { viewBox: `0 0 ${wide} 92` });
    right = wide - MARGIN;
    const factor = Number(slider.value);
    const m = Number(frame.stats.find((s) => s.row === followed)?.m_new);
    const { power, factor: first, overflows } = failure(m) ?? { power: 0, factor: 0 };
    const fails = factor >= first;
    const values = { factor: integer(factor) };
    setText(times, t("why.factor", values));
    setText(
      words,
      !fails
        ? t("why.holds", values)
        : overflows
          ? t("why.fails.over", { ...values, power: number((power / first) * factor) })
          : t("why.fails.under", values),
    );
    set(root, { "data-fails": fails || null });
    const axes = axesOf(frame, followed, factor);
    const one = xOf(0);
    chart.replaceChildren(
      svg("rect", {
        x: xOf(RANGE[0]),
        y: 12,
        width: xOf(RANGE[1]) - xOf(RANGE[0]),
        height: 70,
        rx: 6,
      }),
      text(t("why.low"), { x: xOf(RANGE[0]), y: 8 }),
      text("1", { x: one + 5, y: 53 }),
      text(t("why.high"), { x: xOf(RANGE[1]), y: 8, class: "is-end" }),
      svg("path.is-one", { d: `M${one} 12V82` }),
      ...axis("exp(S)", LINES[0], axes.without),
      ...axis("exp(S − m)", LINES[1], axes.with),
    );
  }

  /** @param {string} name @param {number} y @param {Mark[]} marks */
  function axis(name, y, marks) {
    return [
      svg("path", { d: `M${LEFT} ${y}H${right}` }),
      text(name, { x: LEFT - 10, y: y + 4, class: "is-end is-name" }),
      ...marks.map(({ at, state }) =>
        svg("circle", {
          cx: xOf(at).toFixed(1),
          cy: y,
          r: 6,
          class: ["is-zero", "", "is-over"][state + 1],
        }),
      ),
      ...(marks.some(({ state }) => state === 1)
        ? [text("∞", { x: right, y: y + 5, class: "is-over" })]
        : []),
    ];
  }

  return { root, draw };
}
