// Tables of figures: made when they are unfolded; their downloads are of the very figures on the page.

import { copyText, el, get, targetOf } from "../lib/dom.js";
import { download } from "../lib/save.js";
import { columns, csv, formatValue } from "../model/table.js";
import { t } from "./texts.js";

/** @type {Record<string, string>} */
const TYPES = { csv: "text/csv", json: "application/json", py: "text/x-python" };

/** @param {string} name @param {string} kind @param {string} text */
const save = (name, kind, text) =>
  download(new Blob([text], { type: TYPES[kind] }), `${name}.${kind}`);

/** @param {string} rows as JSON: {what, head, rows} */
function drawTable(rows) {
  const { what, head, rows: records } = JSON.parse(rows);
  const keys = columns(records);
  const lines = records.map((/** @type {Record<string, string | number | null>} */ row) =>
    el(
      "tr",
      {},
      keys.map((key, k) => {
        const text = formatValue(row[key]);
        return k ? el("td", { text }) : el("th", { scope: "row", text });
      }),
    ),
  );
  const heads = head.map((/** @type {string} */ text) => el("th", { scope: "col", text }));
  const place = { class: "fa-run-table", tabindex: 0, role: "region", "aria-label": what };
  return el("div", place, [
    el("table", {}, [
      el("caption", { text: what }),
      el("thead", {}, [el("tr", {}, heads)]),
      el("tbody", {}, lines),
    ]),
  ]);
}

/** What surrounds an element and has rows. @param {Element} node */
const dataOf = (node) => /** @type {HTMLElement | null} */ (node.closest("[data-rows]"))?.dataset;

document.addEventListener(
  "toggle",
  (event) => {
    const fold = targetOf(event);
    if (!(fold instanceof HTMLDetailsElement) || !fold.matches(".fa-figures") || !fold.open) return;
    const { rows } = dataOf(fold) ?? {};
    if (rows && !fold.querySelector("table")) get(fold, "summary").after(drawTable(rows));
  },
  { capture: true },
);

document.addEventListener("click", (event) => {
  const target = targetOf(event);
  const { download: kind, copy } = target.dataset ?? {};
  const { name = "", rows = "", script = "" } = ((kind || copy) && dataOf(target)) || {};
  if (kind && rows) return save(name, kind, kind === "csv" ? csv(JSON.parse(rows)) : rows);
  if (!copy || !rows) return;
  const saveInstead = () => {
    save(name, "py", script); // no clipboard here: a file will do
    return target.textContent ?? "";
  };
  copyText(target, () => script, t("copied"), saveInstead);
});
