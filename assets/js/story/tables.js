// The figures of a picture as tables, to read, to hear and to take along, and links to where they are explained.

import { button, el } from "../lib/dom.js";
import { download } from "../lib/save.js";
import { csv, formatColumn } from "../model/table.js";
import { openDialog } from "../site/dialog.js";
import { textsAt } from "./chapters.js";
import { t } from "./texts.js";

/** @import { Chapter, Table } from "./chapters.js" */

/** @param {Table} table */
export function drawTable({ title, head, rows }) {
  const columns = head.map((_, k) => formatColumn(rows.map((row) => row[k])));
  const cell = (/** @type {number} */ i, /** @type {number} */ k) =>
    el(k ? "td" : "th", { scope: k ? null : "row", text: columns[k][i] });
  const lines = rows.map((row, i) =>
    el(
      "tr",
      row.map((_, k) => cell(i, k)),
    ),
  );
  const heads = head.map((text) => el("th", { scope: "col", text }));
  return el("table", [el("caption", title), el("thead", [el("tr", heads)]), el("tbody", lines)]);
}

/** @param {Table} table */
const linesOf = ({ head, rows }) =>
  rows.map((row) => Object.fromEntries(head.map((key, k) => [key || "name", row[k] ?? null])));

/** A button that opens tables. @param {string} label @param {(opener: HTMLElement) => unknown} open */
export function moreButton(label, open) {
  const look = { "aria-label": label, title: label, "aria-haspopup": "dialog" };
  const node = button("⋯", () => open(node), { class: "fa-story-more", ...look });
  return node;
}

/** @param {Chapter} chapter @param {number} at the position, whose headline is the title and whose listings can be read @param {string} name of the file @param {HTMLElement | undefined} opener
 * @param {(() => void) | null} record runs what is shown, where it can be */
export function openTables(chapter, at, name, opener, record) {
  const { table, links, label, beats } = chapter;
  const save = () => {
    const text = table.map((one) => csv({ rows: linesOf(one) })).join("\n");
    download(new Blob([text], { type: "text/csv" }), `${name}.csv`);
  };
  const list = links.map(([text, href]) => el("li", [el("a", { href, text })]));
  const body = el("div.fa-story-tables", { tabindex: 0 }, [
    el("p", label),
    list.length > 0 && el("ul", list),
    ...table.map(drawTable),
  ]);
  /** @type {[string, string][]} */
  const codes = beats[at].codes ?? [];
  const buttons = codes.map(([kind, query]) =>
    button(t("code", { tile: beats[at].label, kind }), () => {}, {
      class: "fa-share",
      "data-compiled": query,
    }),
  );
  buttons.push(button(t("csv"), save, { class: "fa-share" }));
  const run = () => {
    dialog.close();
    record?.();
  };
  if (record) buttons.unshift(button(t("record"), run, { class: "fa-share" }));
  const dialog = openDialog(
    {
      title: textsAt(chapter, at).headline,
      look: "fa-story-dialog",
      name: t("tables"),
      buttons,
      body,
    },
    opener ?? null,
  );
}
