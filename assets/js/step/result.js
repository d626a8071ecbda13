// The end of a run: what the tiles made beside the same in float64, the bytes beside those of standard attention, and what
// to do now. It takes the place of the stage and the drawer.

import { raised } from "../lib/axis.js";
import { button, el, set } from "../lib/dom.js";
import { bytes, number } from "../lib/format.js";
import { soFar, sumOf } from "../model/frame.js";
import { exact } from "../model/exact.js";
import { algorithmOf, algorithmsOf } from "../model/passes.js";
import { distance } from "../model/row_view.js";
import { t } from "../model/texts.js";
import { isFp8 } from "../model/fp8.js";
import { makeMatrix } from "../views/matrix.js";
import { stacked } from "../views/byte_track.js";
import { rich } from "../views/rich.js";

/** @import { Frame, Trace } from "../model/types.js" */
/** @import { Theme } from "../views/types.js" */
/** @typedef {"compare" | "turn" | "run"} Way where it leads on */

const [WIDE, HIGH] = [238, 352]; // px of a matrix at 1280 × 720, at most

/** A number with a power of ten as it is written by hand. @param {number} x */
const small = (x) => number(x).replace(/e(.+)$/, (_, power) => ` × 10${raised(power)}`);

/** Make the result. @param {Partial<Record<Way, () => void>>} ways */
export function makeResult(ways) {
  /** What is said of it, for the ear. */
  let spokenWords = "";

  const root = el("section.fa-result", { hidden: true, "data-testid": "result" });

  /** @param {Trace} trace @param {Frame} f its last @param {Theme} theme @returns {[string, string]} headline, and what it says more */
  function draw(trace, f, theme) {
    const { header } = trace;
    const algorithm = algorithmOf(trace);
    const { own, other, all } = soFar(trace, f);
    const values = { own: bytes(own), other: bytes(all) };
    const backward = header.pass === "backward";
    const headline = backward
      ? t("end.gradients", values)
      : algorithm.stores_scores
        ? t("end.stored", { ...values, name: other })
        : t(isFp8(trace) ? "end.fp8" : "end.same", values);
    const [images, off] = pictures(trace, theme, backward ? "dQ" : "O");
    root.replaceChildren(
      images,
      el("div.fa-result-side", [
        ...bars(trace, f),
        now(backward, header.has_backward, isFp8(trace)),
      ]),
    );
    spokenWords = t("end.spoken", { headline, off });
    const { full, partial } = header.tile_counts;
    return [headline, t(isFp8(trace) ? "end.more.fp8" : "end.more", { tiles: full + partial })];
  }

  /** The matrix that was made, in float64, and the difference; and the largest one in words. @param {Trace} trace
   * @param {Theme} theme @param {"O" | "dQ"} name @returns {[HTMLElement, string]} */
  function pictures(trace, theme, name) {
    const truth = exact(trace);
    const root = el("div.fa-result-pictures");
    if (!truth) return [root, ""];
    const { header, arrays, problem: p } = trace;
    const made = arrays[name];
    const off = Math.max(
      ...Object.keys(truth).map((key) => distance(truth[key], arrays[/** @type {"O"} */ (key)])),
    );
    const apart = truth[name].map((x, k) => -Math.abs(x - made[k])); // the grey half of the ramp
    const most = Math.max(...apart.map(Math.abs), Number.MIN_VALUE);
    const scale = Math.max(...truth[name].map(Math.abs)) || 1;
    const unit = theme.big ? 1 : theme.unit;
    const [wide, high] = [WIDE * unit, Math.min(HIGH * unit, p.n * 40 * unit)];
    /** @param {string} head @param {string} quiet @param {ArrayLike<number>} data @param {number} end @param {number} width */
    const figure = (head, quiet, data, end, width) => {
      const matrix = makeMatrix(name);
      const words = el("figcaption", [el("b", rich(head)), el("span", quiet)]);
      const node = el("figure", [words, matrix.root]);
      matrix.layout(p.n, p.d, width, high, 1000); // no digits
      const values = (/** @type {number} */ r, /** @type {number} */ c) => data[r * p.d + c];
      matrix.draw({ values, low: -end, high: end, ramp: theme[name], theme });
      return node;
    };
    const half = header.arrays[name].dtype === "f2";
    const { dtype } = p;
    const rounding = isFp8(trace)
      ? t("end.rounding.fp8")
      : half
        ? t("end.shown")
        : t("end.rounding", { dtype });
    root.append(
      figure(t("end.own", { name }), "", made, scale, wide),
      figure(
        t(name === "O" ? "end.exact" : "end.exact.b"),
        t("end.float64"),
        truth[name],
        scale,
        wide,
      ),
      figure(t("end.difference"), "", apart, most, wide / 2),
      el("p.fa-result-off", [
        el("span", t("end.most")),
        el("b", { text: small(off), "data-off": off }),
        el("span", rounding),
      ]),
    );
    return [root, small(off)];
  }

  /** Requested bytes of standard attention and of this algorithm, tensor by tensor. @param {Trace} trace @param {Frame} f */
  function bars(trace, f) {
    const { pass, totals } = trace.header;
    const { requested } = totals;
    const labels = algorithmsOf(pass);
    const saved = t(pass === "backward" ? "end.on_chip.b" : "end.on_chip");
    const { order } = trace.problem;
    const two = [soFar(trace, f).key, order];
    const most = Math.max(...two.map((key) => sumOf(requested[key])));
    return [
      ...two.map((key) =>
        el("div.fa-result-bytes", [
          el("b", labels[key].label),
          el("b", bytes(sumOf(requested[key]))),
          stacked(requested[key], most, key === order && !labels[key].stores_scores ? saved : ""),
        ]),
      ),
      el("p", t("end.counted")),
    ];
  }

  /** @param {boolean} backward @param {boolean} hasOther is there a pass to turn to? @param {boolean} inFp8 */
  function now(backward, hasOther, inFp8) {
    const other = backward ? "forward" : "backward";
    const { compare, turn, run } = ways;
    const line = (
      /** @type {"compare" | "backward" | "forward" | "run"} */ key,
      /** @type {(() => void) | undefined} */ act,
      what = t(`end.${key}.what`),
    ) => act && el("p", [button(`${t(`end.${key}`)} ›`, act), el("span", what)]);
    return el("div.fa-result-now", [
      el("h3", t("end.now")),
      line("compare", compare),
      hasOther && line(other, turn),
      line("run", run, inFp8 ? t("end.run.fp8") : undefined),
    ]);
  }

  /** @param {boolean} on */
  function show(on) {
    set(root, { hidden: on ? null : "" });
  }

  return { root, draw, show, spoken: () => spokenWords };
}
