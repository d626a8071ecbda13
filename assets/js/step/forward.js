// What a player shows of the forward alone: its card of the tile, and the first tab of its drawer, where questions stand too.

import { setText } from "../lib/dom.js";
import { t } from "../model/texts.js";
import { makeFp8 } from "../views/fp8.js";
import { makeRowTable } from "../views/rows.js";
import { Sram } from "../views/sram.js";
import { makeRowView } from "../views/row_view.js";
import { makeWhyM } from "../views/why.js";

/** @import { Frame, Trace } from "../model/types.js" */

/** Make the views of the forward pass alone. */
export function makeForwardViews(
  /** @type {{onZoom: () => void, onWay: () => void}} */ { onZoom, onWay },
) {
  /** Would this answer a question? */
  let isVeiled = false;
  /** What its first tab shows. */
  let title = t("tab.row");

  const sram = new Sram(onZoom);
  const table = makeRowTable();
  const rowView = makeRowView(onWay);
  const why = makeWhyM();
  const fp8 = makeFp8();

  /** @param {Trace} trace */
  function layout(trace) {
    table.layout(trace.problem);
    rowView.layout(trace);
  }

  /** A question would be answered by this. @param {boolean} on */
  function veil(on) {
    isVeiled = on;
  }

  /** @param {Trace} trace @param {Frame} f @param {number | undefined} row */
  function draw(trace, f, row) {
    rowView.draw(trace, f, row);
    why.draw(f, rowView.way === "alpha" && !isVeiled ? row : undefined);
    fp8.draw(trace, f, rowView.way === "alpha" && !isVeiled ? row : undefined);
    rowView.root.hidden = isVeiled || !why.root.hidden || !fp8.root.hidden;
    title = titleOf(f, row);
    const usual = rowView.way === "alpha"; // else what all but the row view shows gets a caption
    setText(sram.card.note, usual ? "" : t("row_view.usual.all"));
    table.root.hidden = !f.numbers;
    if (f.numbers) table.draw(f, row);
  }

  /** @param {Frame} f @param {number | undefined} row */
  function titleOf(f, row) {
    if (!why.root.hidden) return t("row_view.why");
    if (!fp8.root.hidden) return t("fp8");
    return row === undefined || !f.numbers ? t("tab.row") : t("tab.row.of", { row });
  }

  return {
    sram,
    table,
    rowView,
    first: "row",
    panels: { row: [rowView.root, why.root, fp8.root] },
    rare: [rowView.ways],
    layout,
    veil,
    draw,
    get title() {
      return title;
    },
  };
}
