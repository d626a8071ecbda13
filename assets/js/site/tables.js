// Tables of figures: made when they are unfolded; their downloads are of the very figures on the page.

import { el } from "../lib/dom.js";
import { download } from "../lib/save.js";
import { columns, csv, formatValue } from "../model/table.js";
import { t } from "./texts.js";

const TYPES = { csv: "text/csv", json: "application/json", py: "text/x-python" };

const save = (name, kind, text) =>
  download(new Blob([text], { type: TYPES[kind] }), `${name}.${kind}`);

document.addEventListener(
  "toggle",
  ({ target }) => {
    const holder =
      target.matches?.("details.fa-figures") && target.open && target.closest("[data-rows]");
    if (!holder || target.querySelector("table")) return;
    const { what, head, rows } = JSON.parse(holder.dataset.rows);
    const keys = columns(rows);
    const line = (row) =>
      el(
        "tr",
        {},
        keys.map((key, k) =>
          el(
            k ? "td" : "th",
            k ? { text: formatValue(row[key]) } : { scope: "row", text: formatValue(row[key]) },
          ),
        ),
      );
    const top = el(
      "tr",
      {},
      head.map((text) => el("th", { scope: "col", text })),
    );
    const table = el("table", {}, [
      el("caption", { text: what }),
      el("thead", {}, [top]),
      el("tbody", {}, rows.map(line)),
    ]);
    target
      .querySelector("summary")
      .after(
        el("div", { class: "fa-run-table", tabindex: 0, role: "region", "aria-label": what }, [
          table,
        ]),
      );
  },
  { capture: true },
);

document.addEventListener("click", async ({ target }) => {
  const { download: kind, copy } = target.dataset ?? {};
  const data = (kind || copy) && target.closest("[data-rows]")?.dataset;
  if (!data) return;
  if (kind) return save(data.name, kind, kind === "csv" ? csv(JSON.parse(data.rows)) : data.rows);
  const label = target.textContent;
  try {
    await navigator.clipboard.writeText(data.script);
    target.textContent = t("copied");
  } catch {
    save(data.name, "py", data.script); // no clipboard here: a file will do
  }
  setTimeout(() => {
    target.textContent = label;
  }, 1600);
});
