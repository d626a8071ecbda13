// The row table: m, alpha and l of every row of the block, with full precision in data-value.

import { el, set, setText } from "../lib/dom.js";
import { number } from "../lib/format.js";
import { times } from "../lib/lists.js";
import { ALGORITHMS } from "../model/algorithms.js";
import { STATS } from "../model/statistics.js";
import { t } from "../model/texts.js";

/** @import { Frame, Problem } from "../model/types.js" */

/** The formulas of columns, where there is room. @type {Record<string, string>} */
const FORMULAS = { alpha: ` = ${t("column.alpha.how")}`, l_new: " = αℓ + ΣP" };
/** The only columns, and their headings, of an order that has m and ℓ of a whole row at once */
/** @type {Record<string, string[]>} */
const AT_ONCE = { m_new: ["m", " = max S"], l_new: ["ℓ", " = Σ e^(S − m)"] };
/** Is a column, which is about the row as it was or is, stated in full precision? @param {string} key */
const isStated = (key) => !key.startsWith("row");

const DENSE = 5; // rows, from more on

/** Make a table with a line per row of the block, each with its name and its cells. */
export function makeRowTable() {
  /** @type {number | null | undefined} */
  let followed;
  /** @type {{tr: HTMLElement, title: HTMLElement, cells: HTMLElement[]}[]} */
  let lines = [];

  const caption = el("caption", { hidden: true });
  const heads = STATS.map(([key, phase]) =>
    el("th", { scope: "col", "data-column": key, "data-phase-of": phase }),
  );
  const corner = el("th", { scope: "col", text: t("rows.row") });
  const head = el("thead", [el("tr", [corner, ...heads])]);
  const body = el("tbody");
  const table = [caption, head, body];
  const root = el(
    "div.fa-rows",
    { "data-spot": "rows", tabindex: 0, role: "region", "aria-label": t("rows") },
    [el("table", { "aria-label": t("rows.table") }, table)],
  );

  /** @param {Problem} problem */
  function layout(problem) {
    const { running } = ALGORITHMS[problem.order];
    const sink = number(problem.sink ?? undefined);
    caption.hidden = !sink;
    setText(caption, sink && t(running ? "rows.sink" : "rows.sink.whole", { sink }));
    const absent = (/** @type {string} */ key) => !running && !AT_ONCE[key];
    STATS.forEach(([key], k) => {
      const [name, rest] = running ? [t(`column.${key}`), FORMULAS[key]] : (AT_ONCE[key] ?? []);
      const head = heads[k];
      head.hidden = absent(key);
      head.replaceChildren(name ?? "", el("span", rest ?? ""));
    });
    lines = times(problem.block_q, () => {
      const title = el("th", { scope: "row" });
      const cells = STATS.map(([key]) =>
        el("td", {
          hidden: absent(key),
          [isStated(key) ? "data-stat" : "data-column"]: key,
        }),
      );
      return { tr: el("tr", [title, ...cells]), title, cells };
    });
    body.replaceChildren(...lines.map(({ tr }) => tr));
    root.classList.toggle("is-dense", problem.block_q > DENSE);
    followed = null;
  }

  /** The row that is followed is in view. */
  function reveal(/** @type {{tr: HTMLElement}} */ { tr }) {
    const [top, bottom] = [tr.offsetTop - head.offsetHeight, tr.offsetTop + tr.offsetHeight];
    if (top < root.scrollTop) root.scrollTop = top;
    else if (bottom > root.scrollTop + root.clientHeight)
      root.scrollTop = bottom - root.clientHeight;
  }

  /** @param {Frame} f @param {number | undefined} focus */
  function draw(f, focus) {
    lines.forEach(({ tr, title, cells }, k) => {
      const s = f.stats[k];
      tr.hidden = !s;
      if (!s) return tr.removeAttribute("data-row");
      const { row, name } = s;
      const style = `${s.rose ? "is-risen" : ""}${row === focus ? " is-followed" : ""}`;
      set(tr, { "data-row": row, "data-part": `row.${row}`, class: style });
      setText(title, name ? `${row} ${name}` : String(row));
      STATS.forEach(([key, phase, of], c) =>
        set(cells[c], {
          text: `${number(s[key], key === "alpha" ? undefined : f.decimals)}${key === "m_new" && s.rose ? " ▲" : ""}`,
          class: `${key}${phase === f.phase ? " is-now" : ""}`,
          "data-part": `${of}.${row}`,
          ...(isStated(key) && { "data-value": String(s[key] ?? "") }),
        }),
      );
    });
    const at = f.stats.findIndex((s) => s.row === focus);
    if (focus !== followed && at >= 0) requestAnimationFrame(() => reveal(lines[at])); // the frame lays out the page once
    followed = focus;
    for (const th of heads) th.classList.toggle("is-now", th.dataset.phaseOf === f.phase);
  }

  return { root, layout, draw };
}
