// The row table: m, alpha and l of every row of the block, with full precision in data-value.

import { all, el, set } from "../lib/dom.js";
import { number } from "../lib/format.js";
import { ALGORITHMS } from "../model/algorithms.js";
import { t } from "../model/texts.js";

/** @import { TableRow } from "./types.js" */
/** @import { Frame, Problem, Row } from "../model/types.js" */

/** key in the frame's stats, phase whose moment it is, the formula where there is room */
/** @type {[key: keyof Row & ("m_old" | "row_max" | "m_new" | "alpha" | "l_old" | "row_sum" | "l_new"), phase: string | null, formula?: string][]} */
const COLUMNS = [
  ["m_old", null],
  ["row_max", "max"],
  ["m_new", "max"],
  ["alpha", "exp", ` = ${t("column.alpha.how")}`],
  ["l_old", null],
  ["row_sum", "sum"],
  ["l_new", "sum", " = αℓ + ΣP"],
];
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
const STATS = new Set(["m_old", "m_new", "alpha", "l_old", "l_new"]);

const TIGHT = 6; // rows that find room closer together

export class RowTable {
  /** @type {string[] | null} */
  names;
  /** @type {string} */
  sink;
  /** @type {number | null | undefined} */
  focus;
  /** @type {TableRow[]} */
  rows;
  constructor() {
    const heads = [el("th", { scope: "col", text: t("rows.row") })];
    for (const [key, phase] of COLUMNS)
      heads.push(el("th", { scope: "col", "data-column": key, "data-phase-of": phase }));
    this.head = el("thead", {}, [el("tr", {}, heads)]);
    this.bodyPart = el("tbody");
    this.caption = el("caption", { hidden: true });
    this.rows = [];
    this.root = el(
      "div",
      {
        class: "fa-rows",
        "data-spot": "rows",
        tabindex: 0,
        role: "region",
        "aria-label": t("rows"),
      },
      [el("table", { "aria-label": t("rows.table") }, [this.caption, this.head, this.bodyPart])],
    );
  }

  /** @param {Problem} problem @param {string[] | null} names */
  layout(problem, names) {
    this.names = names;
    const { running } = ALGORITHMS[problem.order];
    const sink = number(problem.sink ?? undefined);
    this.sink = sink && t(running ? "rows.sink" : "rows.sink.whole", { sink });
    this.setCaption("");
    const absent = (/** @type {string} */ key) => !running && !AT_ONCE[key];
    COLUMNS.forEach(([key, , formula], k) => {
      const [name, rest] = running ? [t(`column.${key}`), formula] : (AT_ONCE[key] ?? []);
      const head = all(this.head, "th")[k + 1];
      head.hidden = absent(key);
      head.replaceChildren(name ?? "", el("span", { text: rest ?? "" }));
    });
    this.rows = Array.from({ length: problem.block_q }, () => {
      const title = el("th", { scope: "row" });
      const cells = COLUMNS.map(([key]) =>
        el("td", {
          hidden: absent(key),
          ...(STATS.has(key) ? { "data-stat": key, "data-value": "" } : { "data-column": key }),
        }),
      );
      return { tr: el("tr", {}, [title, ...cells]), title, cells };
    });
    this.bodyPart.replaceChildren(...this.rows.map((r) => r.tr));
    this.root.classList.toggle("is-dense", problem.block_q > 5);
    this.focus = null;
  }

  /** What the numbers hold for, where that is not plain, and where a sink has them start; "" where neither is. */
  setCaption(/** @type {string} */ holds) {
    const words = [this.sink, holds].filter(Boolean).join("; ");
    this.caption.hidden = !words;
    set(this.caption, { text: words });
    this.root.classList.toggle("has-caption", Boolean(words));
  }

  /** As many rows as are whole in a place of this height; the others are scrolled to. @param {number} height */
  fit(height) {
    this.root.classList.remove("is-tight");
    const room = () => height - this.head.offsetHeight - this.caption.offsetHeight;
    const high = () => this.rows[0]?.tr.offsetHeight;
    this.root.classList.toggle(
      "is-tight",
      room() < this.rows.length * high() && this.rows.length <= TIGHT,
    );
    const row = high();
    const head = height - room();
    this.root.style.maxHeight = row
      ? `${head + Math.max(1, Math.floor((height - head) / row)) * row}px`
      : "";
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
    this.rows.forEach(({ tr, title, cells }, k) => {
      const s = f.stats[k];
      tr.hidden = !s;
      if (!s) {
        tr.removeAttribute("data-row");
        return;
      }
      set(tr, {
        "data-row": s.row,
        "data-part": `row.${s.row}`,
        class: `${s.rose ? "is-risen" : ""}${s.row === focus ? " is-followed" : ""}`,
      });
      set(title, { text: s.name ? `${s.row} ${s.name}` : String(s.row) });
      COLUMNS.forEach(([key, phase], c) => {
        const value = s[key];
        const known = value !== undefined;
        const text = key === "m_new" && s.rose ? `${number(value)} ▲` : number(value);
        set(cells[c], {
          text,
          class: `${key}${phase === f.phase ? " is-now" : ""}`,
          "data-part": `${OF[key]}.${s.row}`,
        });
        if (STATS.has(key)) set(cells[c], { "data-value": known ? String(value) : "" });
      });
    });
    const at = f.stats.findIndex((s) => s.row === focus);
    if (focus !== this.focus && at >= 0) requestAnimationFrame(() => this.reveal(this.rows[at])); // the frame lays out the page once
    this.focus = focus;
    for (const th of all(this.head, "[data-phase-of]"))
      th.classList.toggle("is-now", th.dataset.phaseOf === f.phase);
  }
}
