// What a player shows of the forward alone: its card of the tile, and the first tab of its drawer, where questions stand too.

import { set } from "../lib/dom.js";
import { isNarrow } from "../lib/screen.js";
import { say } from "../model/texts.js";
import { RowTable } from "../views/rows.js";
import { Sram } from "../views/sram.js";
import { Story } from "../views/story.js";

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
    const usual = this.story.way === "alpha"; // else what all but the story shows is said
    this.table.says(usual ? "" : say("story.usual.all"));
    set(this.sram.card.note, { text: say(usual ? "fast" : "story.usual") });
    this.table.root.hidden = !f.numbers;
    if (f.numbers) this.table.draw(f, row);
  }
}
