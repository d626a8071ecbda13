// The row table: m, alpha and l of every row of the block, with full precision in data-value.

import { all, el, set } from "../lib/dom.js";
import { number } from "../lib/format.js";
import { ALGORITHMS } from "../model/algorithms.js";
import { STATS } from "../model/statistics.js";
import { t } from "../model/texts.js";

/** @import { Attributes } from "../lib/dom.js" */
/** @import { Frame, Problem } from "../model/types.js" */

/** The formulas of columns, where there is room. @type {Record<string, string>} */
const FORMULAS = { alpha: ` = ${t("column.alpha.how")}`, l_new: " = αℓ + ΣP" };
/** The only columns, and their headings, of an order that has m and ℓ of a whole row at once */
/** @type {Record<string, string[]>} */
const AT_ONCE = { m_new: ["m", " = max S"], l_new: ["ℓ", " = Σ e^(S − m)"] };
/** Which of the row's numbers a column is about, by the names of model/links.js */
/** @type {Record<string, string>} */
const OF = {
  m_old: "m",
  row_max: "m",
  m_new: "m",
  alpha: "alpha",
  l_old: "l",
  row_sum: "l",
  l_new: "l",
};
const VALUED = ["m_old", "m_new", "alpha", "l_old", "l_new"];

/** A table with a line per row of the block, each with its name and its cells. */
export class RowLines {
  /** @type {{tr: HTMLElement, title: HTMLElement, cells: HTMLElement[]}[]} */
  lines = [];
  /** @param {HTMLElement[]} heads behind that of the rows @param {string} row heads the names of the rows @param {string} label
   * @param {HTMLElement[]} top before the rows */
  constructor(heads, row, label, top = []) {
    this.head = el("thead", {}, [el("tr", {}, [el("th", { scope: "col", text: row }), ...heads])]);
    this.body = el("tbody");
    this.root = el(
      "div",
      { class: "fa-rows", tabindex: 0, role: "region", "aria-label": t("rows") },
      [el("table", { "aria-label": label }, [...top, this.head, this.body])],
    );
  }

  /** So many lines, with a cell for each of these. @param {number} count @param {Attributes[]} cells @param {number} most more than
   * these are dense */
  makeLines(count, cells, most) {
    this.lines = Array.from({ length: count }, () => {
      const title = el("th", { scope: "row" });
      const own = cells.map((attributes) => el("td", attributes));
      return { tr: el("tr", {}, [title, ...own]), title, cells: own };
    });
    this.body.replaceChildren(...this.lines.map(({ tr }) => tr));
    this.root.classList.toggle("is-dense", count > most);
  }

  /** @param {{row: number, name: string | null | undefined, style: string, cells: Attributes[]}[]} rows */
  fill(rows) {
    this.lines.forEach(({ tr, title, cells }, k) => {
      tr.hidden = !rows[k];
      if (!rows[k]) return tr.removeAttribute("data-row");
      const { row, name, style, cells: now } = rows[k];
      set(tr, { "data-row": row, "data-part": `row.${row}`, class: style });
      set(title, { text: name ? `${row} ${name}` : String(row) });
      now.forEach((attributes, c) => set(cells[c], attributes));
    });
  }
}

export class RowTable extends RowLines {
  /** @type {number | null | undefined} */
  focus;
  constructor() {
    const caption = el("caption", { hidden: true });
    const heads = STATS.map(([key, phase]) =>
      el("th", { scope: "col", "data-column": key, "data-phase-of": phase }),
    );
    super(heads, t("rows.row"), t("rows.table"), [caption]);
    this.caption = caption;
    set(this.root, { "data-spot": "rows" });
  }

  /** @param {Problem} problem */
  layout(problem) {
    const { running } = ALGORITHMS[problem.order];
    const sink = number(problem.sink ?? undefined);
    this.caption.hidden = !sink;
    set(this.caption, { text: sink && t(running ? "rows.sink" : "rows.sink.whole", { sink }) });
    const absent = (/** @type {string} */ key) => !running && !AT_ONCE[key];
    STATS.forEach(([key], k) => {
      const [name, rest] = running ? [t(`column.${key}`), FORMULAS[key]] : (AT_ONCE[key] ?? []);
      const head = all(this.head, "th")[k + 1];
      head.hidden = absent(key);
      head.replaceChildren(name ?? "", el("span", { text: rest ?? "" }));
    });
    const cells = STATS.map(([key]) => ({
      hidden: absent(key),
      ...(VALUED.includes(key) ? { "data-stat": key, "data-value": "" } : { "data-column": key }),
    }));
    this.makeLines(problem.block_q, cells, 5);
    this.focus = null;
  }

  /** The row that is followed is in view. */
  reveal(/** @type {{tr: HTMLElement}} */ { tr }) {
    const { root } = this;
    const [top, bottom] = [tr.offsetTop - this.head.offsetHeight, tr.offsetTop + tr.offsetHeight];
    if (top < root.scrollTop) root.scrollTop = top;
    else if (bottom > root.scrollTop + root.clientHeight)
      root.scrollTop = bottom - root.clientHeight;
  }

  /** @param {Frame} f @param {number | undefined} focus */
  draw(f, focus) {
    this.fill(
      f.stats.map((s) => ({
        ...s,
        style: `${s.rose ? "is-risen" : ""}${s.row === focus ? " is-followed" : ""}`,
        cells: STATS.map(([key, phase]) => ({
          text: key === "m_new" && s.rose ? `${number(s[key])} ▲` : number(s[key]),
          class: `${key}${phase === f.phase ? " is-now" : ""}`,
          "data-part": `${OF[key]}.${s.row}`,
          ...(VALUED.includes(key) && { "data-value": String(s[key] ?? "") }),
        })),
      })),
    );
    const at = f.stats.findIndex((s) => s.row === focus);
    if (focus !== this.focus && at >= 0) requestAnimationFrame(() => this.reveal(this.lines[at])); // the frame lays out the page once
    this.focus = focus;
    for (const th of all(this.head, "[data-phase-of]"))
      th.classList.toggle("is-now", th.dataset.phaseOf === f.phase);
  }
}
