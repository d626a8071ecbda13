// One loop order of a comparison: its tiles, its rows, its bytes. A player of its own to the outside
// (same attributes), without a transport.

import { el, set, setText, svg } from "../lib/dom.js";
import { bytes } from "../lib/format.js";
import { kernelFile } from "../lib/server.js";
import { makeHbm } from "../views/hbm.js";
import { frame, stated, sumOf } from "../model/frame.js";
import { ALGORITHMS } from "../model/algorithms.js";
import { bytesAfter, placeAfter, workOf } from "../model/race_clock.js";
import { keysOfBlock, rowsOfBlock } from "../model/spans.js";
import { t } from "../model/texts.js";
import { stacked } from "../views/byte_track.js";
import { makeRowTable } from "../views/rows.js";

/** @import { Frame, Order, Trace } from "../model/types.js" */
/** @import { Theme } from "../views/types.js" */
/** @import { YoursTiles } from "./types.js" */

/** Make the bar of the requested bytes, tensor by tensor, as far as they have been moved. */
function makeMeter() {
  /** @type {number} */
  let total;

  const bar = el("div.fa-meter-bar");
  const sum = el("p.fa-meter-sum");
  const root = el("div.fa-meter", { "data-spot": "meters" }, [bar, sum]);

  /** @param {Trace} trace @param {number} most */
  function layout({ header: { totals }, problem: { order } }, most) {
    total = sumOf(totals.requested[order]);
    bar.replaceChildren(stacked(totals.requested[order], total, ""));
    bar.style.width = `${((100 * total) / most).toFixed(2)}%`;
  }

  /** @param {Frame} f */
  function draw(f) {
    const moved = f.reads + f.writes;
    bar.style.setProperty("--fa-left", `${(100 - (100 * moved) / total).toFixed(2)}%`);
    setText(sum, t("lane.requested", { size: bytes(moved), all: bytes(total) }));
  }

  return { root, sum, layout, draw };
}

export class Lane {
  /** @type {Trace} */
  trace;
  /** @type {number} */
  most;
  /** @type {number[]} */
  sums;
  /** @param {Order} order @param {(lane: Lane, i: number, j: number) => void} goTile @param {string} label */
  constructor(order, goTile, label = ALGORITHMS[order].label) {
    const { hue } = ALGORITHMS[order];
    this.order = order;
    this.label = label;
    this.hbm = makeHbm();
    this.hbm.map.addEventListener("click", ({ clientX, clientY }) => {
      const [kind, i, j] = this.hbm.partAt(clientX, clientY)?.split(".") ?? [];
      if (kind === "tile") goTile(this, Number(i), Number(j));
    });
    this.table = makeRowTable();
    this.table.root.hidden = true; // its rows say what embedding pages read
    this.meter = makeMeter();
    this.status = el("span.fa-lane-status");
    const head = el("div.fa-lane-head", [el("h2", label), this.status]);
    this.root = el(
      "section.fa-card.fa-lane",
      { style: `--fa-hue:${hue}`, "data-testid": "player", "aria-label": label },
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

/** The lane of a learner's function: FA-2's tiles, with a cross in each that differs once the lane has come to it. */
export class YoursLane extends Lane {
  /** By the tile's place in the order of rows. @type {Map<number, SVGElement>} */
  crosses = new Map();
  /** @param {YoursTiles} found @param {ConstructorParameters<typeof Lane>[1]} goTile */
  constructor(found, goTile) {
    super("fa2", goTile, t("lane.yours"));
    this.found = found;
    this.root.classList.add("fa-lane-yours");
    this.root.dataset.testid = "yours-lane";
  }

  /** @param {Theme} theme */
  layout(theme) {
    super.layout(theme);
    const p = this.trace.problem;
    const cells = this.found.map?.cells ?? "";
    this.crosses.clear();
    if (cells.length !== p.Tr * p.Tc) return; // cells of more than a tile
    for (const { index: at } of cells.matchAll(/x/g)) {
      const [i, j] = [Math.floor(at / p.Tc), at % p.Tc];
      const box = this.hbm.boxOf({ rows: rowsOfBlock(p, i), keys: keysOfBlock(p, j) });
      const cross = svg("text.fa-lane-cross", {
        x: box.x + box.width / 2,
        y: box.y + box.height / 2,
        "font-size": 0.6 * Math.min(box.width, box.height),
        text: "✗",
      });
      this.crosses.set(at, cross);
    }
    this.hbm.overlay.append(...this.crosses.values());
  }

  /** @param {number} done */
  draw(done) {
    const f = super.draw(done);
    const { v_i, v_j } = this.trace.arrays;
    const over = workOf(this.trace).slice(0, done);
    const reached = new Set(over.map((v) => v_i[v] * f.problem.Tc + v_j[v]));
    for (const [at, cross] of this.crosses)
      cross.style.visibility = reached.has(at) ? "visible" : "hidden";
    const { refused, map } = this.found;
    const [i, j] = map?.first ?? [-1, -1];
    const verdict = i < 0 ? t("lane.yours.right") : t("lane.yours.first", { i, j });
    setText(this.hbm.caption, t("lane.yours.file", { file: kernelFile() }));
    setText(this.meter.sum, refused ?? verdict);
    return f;
  }
}
