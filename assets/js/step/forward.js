// What a player shows of the forward alone: its card of the tile, and the first tab of its drawer, where questions stand too.

import { set } from "../lib/dom.js";
import { t } from "../model/texts.js";
import { makeRowTable } from "../views/rows.js";
import { Sram } from "../views/sram.js";
import { makeRowView } from "../views/row_view.js";
import { makeWhyM } from "../views/why.js";

/** @import { Frame, Trace } from "../model/types.js" */

export class ForwardViews {
  /** Would this answer a question? */
  isVeiled = false;
  /** What its first tab shows. */
  title = t("tab.row");
  constructor(/** @type {{onZoom: () => void, onWay: () => void}} */ { onZoom, onWay }) {
    this.sram = new Sram({ onZoom });
    this.table = makeRowTable();
    this.rowView = makeRowView(onWay);
    this.why = makeWhyM();
    this.first = "row";
    this.panels = { row: [this.rowView.root, this.why.root] };
    this.rare = [this.rowView.ways];
  }

  /** @param {Trace} trace */
  layout(trace) {
    this.table.layout(trace.problem);
    this.rowView.layout(trace);
  }

  /** A question would be answered by this. @param {boolean} on */
  veil(on) {
    this.isVeiled = on;
  }

  /** @param {Trace} trace @param {Frame} f @param {number | undefined} row */
  draw(trace, f, row) {
    this.rowView.draw(trace, f, row);
    this.why.draw(f, this.rowView.way === "alpha" && !this.isVeiled ? row : undefined);
    this.rowView.root.hidden = this.isVeiled || !this.why.root.hidden;
    this.title = this.why.root.hidden
      ? row === undefined || !f.numbers
        ? t("tab.row")
        : t("tab.row.of", { row })
      : t("row_view.why");
    const usual = this.rowView.way === "alpha"; // else what all but the row view shows gets a caption
    set(this.sram.card.note, { text: usual ? "" : t("row_view.usual.all") });
    this.table.root.hidden = !f.numbers;
    if (f.numbers) this.table.draw(f, row);
  }
}
