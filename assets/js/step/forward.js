// What a player shows of the forward alone: its card of the tile, and the first tab of its drawer, where questions stand too.

import { set } from "../lib/dom.js";
import { isNarrow } from "../lib/screen.js";
import { t } from "../model/texts.js";
import { RowTable } from "../views/rows.js";
import { Sram } from "../views/sram.js";
import { RowView } from "../views/row_view.js";

/** @import { Frame, Trace } from "../model/types.js" */

export class ForwardViews {
  constructor(
    /** @type {{onCard?: (card: string) => void, onZoom: () => void, onWay: () => void}} */ {
      onCard,
      onZoom,
      onWay,
    },
  ) {
    this.sram = new Sram({ onCard, onZoom });
    this.table = new RowTable();
    this.rowView = new RowView(onWay);
    this.first = "row";
    this.panels = { row: [this.rowView.root, this.table.root] };
  }

  /** @param {Trace} trace */
  layout(trace) {
    this.table.layout(trace.problem);
    this.rowView.layout(trace);
  }

  /** The table takes what height there is. @param {number} height */
  fit(height) {
    if (isNarrow()) this.table.root.style.maxHeight = "";
    else this.table.fit(height);
  }

  /** A question would be answered by this. @param {boolean} on */
  veil(on) {
    this.rowView.root.hidden = on;
  }

  /** @param {Trace} trace @param {Frame} f @param {number | undefined} row */
  draw(trace, f, row) {
    this.rowView.draw(trace, f, row);
    const usual = this.rowView.way === "alpha"; // else what all but the row view shows gets a caption
    this.table.setCaption(usual ? "" : t("row_view.usual.all"));
    set(this.sram.card.note, { text: t(usual ? "fast" : "row_view.usual") });
    this.table.root.hidden = !f.numbers;
    if (f.numbers) this.table.draw(f, row);
  }
}
