// What a player shows of the forward alone: its card of the tile, and the first tab of its drawer, where questions stand too.

import { set } from "../lib/dom.js";
import { isNarrow } from "../lib/screen.js";
import { RowTable } from "../views/rows.js";
import { Sram } from "../views/sram.js";
import { AS_EVER, Story } from "../views/story.js";

export class ForwardViews {
  constructor({ onCard, onZoom, onWay }) {
    this.sram = new Sram({ onCard, onZoom });
    this.table = new RowTable();
    this.story = new Story(onWay);
    this.first = "row";
    this.panels = { row: [this.story.root, this.table.root] };
  }

  layout(trace, theme) {
    this.table.layout(trace.problem, trace.header.row_names);
    this.story.layout(trace, theme);
  }

  /** The table takes what height there is. */
  fit(height) {
    if (isNarrow()) this.table.root.style.maxHeight = "";
    else this.table.fit(height);
  }

  /** A question would be answered by this. */
  veil(on) {
    this.story.root.hidden = on;
  }

  draw(trace, f, row) {
    this.story.draw(trace, f, row);
    const usual = this.story.way === "alpha" ? "" : AS_EVER;
    this.table.says(usual && `Table and picture: ${usual}`);
    set(this.sram.card.note, { text: usual || "small, fast" });
    this.table.root.hidden = !f.numbers;
    if (f.numbers) this.table.draw(f, row);
  }
}
