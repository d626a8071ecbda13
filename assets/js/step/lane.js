// One loop order of a comparison: its tiles, its rows, its bytes. A player of its own to the outside
// (same attributes), without a transport.

import { el, set } from "../lib/dom.js";
import { bytes } from "../lib/format.js";
import { Hbm } from "../views/hbm.js";
import { frame, stated, sumOf } from "../model/frame.js";
import { ALGORITHMS } from "../model/algorithms.js";
import { bytesAfter, placeAfter } from "../model/race_clock.js";
import { t } from "../model/texts.js";
import { stacked } from "../views/byte_track.js";
import { RowTable } from "../views/rows.js";

/** @import { Frame, Order, Trace } from "../model/types.js" */
/** @import { Theme } from "../views/types.js" */

/** The requested bytes, tensor by tensor, as far as they have been moved. */
class Meter {
  /** @type {number} */
  total;
  constructor() {
    this.bar = el("div", { class: "fa-meter-bar" });
    this.sum = el("p", { class: "fa-meter-sum" });
    this.root = el("div", { class: "fa-meter", "data-spot": "meters" }, [this.bar, this.sum]);
  }

  /** @param {Trace} trace @param {number} most */
  layout({ header: { totals }, problem: { order } }, most) {
    this.total = sumOf(totals.requested[order]);
    this.bar.replaceChildren(stacked(totals.requested[order], this.total, false));
    this.bar.style.width = `${((100 * this.total) / most).toFixed(2)}%`;
  }

  /** @param {Frame} f */
  draw(f) {
    const moved = f.reads + f.writes;
    this.bar.style.setProperty("--fa-left", `${(100 - (100 * moved) / this.total).toFixed(2)}%`);
    set(this.sum, {
      text: t("lane.requested", { size: bytes(moved), all: bytes(this.total) }),
    });
  }
}

export class Lane {
  /** @type {Trace} */
  trace;
  /** @type {number} */
  most;
  /** @type {number[]} */
  sums;
  /** @param {Order} order @param {{goTile: (lane: Lane, i: number, j: number) => void}} race */
  constructor(order, race) {
    const { label, hue } = ALGORITHMS[order];
    this.order = order;
    this.race = race;
    this.label = label;
    this.hbm = new Hbm();
    this.hbm.map.addEventListener("click", ({ clientX, clientY }) => {
      const [kind, i, j] = this.hbm.partAt(clientX, clientY)?.split(".") ?? [];
      if (kind === "tile") this.race.goTile(this, Number(i), Number(j));
    });
    this.table = new RowTable();
    this.table.root.hidden = true; // its rows say what embedding pages read
    this.meter = new Meter();
    this.status = el("span", { class: "fa-lane-status" });
    const head = el("div", { class: "fa-lane-head" }, [el("h2", { text: label }), this.status]);
    this.root = el(
      "section",
      {
        class: "fa-card fa-lane",
        style: `--fa-hue:${hue}`,
        "data-testid": "player",
        "aria-label": label,
      },
      [head, this.hbm.map, this.hbm.caption, this.table.root, this.meter.root],
    );
  }

  /** `most`: the most bytes of any lane, the common scale of the meters. @param {Trace} trace @param {number} most */
  show(trace, most) {
    this.trace = trace;
    this.most = most;
    this.sums = bytesAfter(trace);
  }

  /** @param {Theme} theme */
  layout(theme) {
    this.table.layout(this.trace.problem);
    this.meter.layout(this.trace, this.most);
    this.hbm.layout(this.trace, theme); // last: it takes the room that is left
  }

  /** `done` visits are over. @param {number} done */
  draw(done) {
    const { step, phase } = placeAfter(this.trace, done);
    const f = frame(this.trace, step, phase);
    const of = this.sums.length - 1;
    const over = done >= of;
    set(this.root, {
      ...stated(f),
      "data-done": over,
      "aria-busy": false,
    });
    set(this.status, {
      text: over ? t("lane.done") : t("lane.visit", { k: done, of }),
      class: `fa-lane-status${over ? " is-done" : ""}`,
    });
    this.hbm.draw(f);
    this.meter.draw(f);
    if (this.trace.header.numbers && f.pass === "forward") this.table.draw(f, f.stats[0]?.row);
    return f;
  }
}
