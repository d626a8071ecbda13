// One loop order of a comparison: its tiles, its rows, its bytes. A player of its own to the outside
// (same attributes), without a transport.

import { el, set } from "../lib/dom.js";
import { bytes } from "../lib/format.js";
import { Linking } from "./linking.js";
import { Hbm } from "../views/hbm.js";
import { frame, stated, sumOf } from "../model/frame.js";
import { hueOf } from "../lib/colors.js";
import { ALGORITHMS } from "../model/algorithms.js";
import { LaneMotion } from "./lane_motion.js";
import { algorithmsOf } from "../model/passes.js";
import { bytesAfter, placeAfter } from "../model/race_clock.js";
import { textsOf } from "../lib/texts.js";
import texts from "../../texts/step_race.json" with { type: "json" };
import { ByteTrack } from "../views/byte_track.js";
import { RowTable } from "../views/rows.js";

/** @import { Frame, Op, Order, Trace } from "../model/types.js" */
/** @import { Theme } from "../views/types.js" */

const tRace = textsOf(texts);

/** The requested bytes of each tensor, reads and writes apart. */
class Meter {
  /** @type {number} */
  total;
  /** @type {Record<string, ByteTrack>} */
  bars;
  /** @type {Record<string, HTMLElement>} */
  numbers;
  constructor() {
    this.rows = el("div", { class: "fa-meter-rows" });
    this.so = el("span");
    this.how = el("span", { class: "fa-meter-form" });
    this.sum = el("p", { class: "fa-meter-sum" }, [this.so, this.how]);
    this.compulsory = el("p", { class: "fa-meter-sum" });
    this.root = el("div", { class: "fa-meter", "data-spot": "meters" }, [
      this.rows,
      this.sum,
      this.compulsory,
    ]);
  }

  /** @param {Trace} trace @param {number} most */
  layout(trace, most) {
    const { order } = trace.problem;
    const { requested, compulsory } = trace.header.totals;
    this.total = sumOf(requested[order]);
    this.bars = {};
    this.numbers = {};
    const rows = Object.entries(requested[order]).map(([tensor, [read, written]]) => {
      const total = read + written;
      const width = Math.max(0.6, (100 * total) / most);
      const bar = (this.bars[tensor] = new ByteTrack(total, `fa-hue-${hueOf(tensor)}`, width));
      const number = (this.numbers[tensor] = el("b"));
      const name = tensor === "l" ? "ℓ" : tensor;
      return el(
        "div",
        {
          class: "fa-meter-row",
          "data-part": `of.${tensor}`,
          title: tRace("lane.total", {
            tensor: name,
            read: bytes(read),
            written: bytes(written),
          }),
        },
        [el("span", { text: name }), bar.root, number],
      );
    });
    this.rows.replaceChildren(...rows);
    const { closed_form, running } = algorithmsOf(trace.header.pass)[order];
    const form =
      running && trace.header.problem.mask !== "full"
        ? tRace("lane.less", { form: closed_form.requested })
        : closed_form.requested;
    set(this.how, { text: ` = ${form}` });
    set(this.sum, { title: form });
    const size = bytes(sumOf(compulsory[order])); // the backward has more tensors than room for both
    set(this.compulsory, {
      text:
        trace.header.pass === "forward"
          ? tRace("lane.compulsory.form", { size, form: closed_form.compulsory })
          : tRace("lane.compulsory", { size }),
      title: closed_form.compulsory,
    });
  }

  /** The growing end of a tensor's bar, within the window; `box(node)` says where a node is. @param {string} tensor @param {Op} op @param {(node: Element) => DOMRect} box */
  end(tensor, op, box) {
    const { read, write } = this.bars[tensor];
    const { right, y, height } = box(op === "read" ? read : write);
    return new DOMRect(right - height / 2, y, height, height);
  }

  /** @param {Frame} f */
  draw(f) {
    for (const [tensor, [read, written]] of Object.entries(f.perTensor)) {
      const bar = this.bars[tensor];
      if (!bar) continue;
      bar.draw(read, written);
      set(this.numbers[tensor], { text: bytes(read + written) });
    }
    set(this.so, {
      text: tRace("lane.requested", { size: bytes(f.reads + f.writes), all: bytes(this.total) }),
    });
  }
}

export class Lane {
  /** @type {number | null | undefined} */
  focus;
  /** @type {Trace} */
  trace;
  /** @type {Frame} */
  frame;
  /** @type {Frame} */
  before;
  /** @type {Frame} */
  now;
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
    this.table = new RowTable();
    this.idle = el("p", { class: "fa-lane-idle", hidden: true });
    this.table.root.append(this.idle);
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
    this.linking = new Linking(this);
    this.motion = new LaneMotion(this);
  }

  /** `most`: the largest sum of one tensor in any lane, the common scale of the meters. @param {Trace} trace @param {number} most */
  show(trace, most) {
    this.trace = trace;
    this.most = most;
    this.sums = bytesAfter(trace);
  }

  /** @param {Theme} theme */
  layout(theme) {
    const { numbers, pass } = this.trace.header;
    this.table.layout(this.trace.problem);
    this.table.root.hidden = !numbers || pass === "backward"; // its rows carry m, α and ℓ
    this.meter.layout(this.trace, this.most);
    this.table.root.style.maxHeight = "";
    this.table.fit(this.table.root.clientHeight); // no row is cut
    this.hbm.layout(this.trace, theme); // last: it takes the room that is left
  }

  /** @param {number} i @param {number} j */
  goTile(i, j) {
    this.race.goTile(this, i, j);
  }

  render() {
    this.idle.hidden = this.frame.stage !== "scores" && this.frame.stage !== "output";
    if (!this.idle.hidden)
      set(this.idle, { text: tRace(this.frame.stage === "scores" ? "lane.comes" : "lane.was") });
    if (!this.table.root.hidden)
      this.table.draw(this.frame, this.focus ?? this.frame.stats[0]?.row);
    this.linking.draw();
  }

  /** `done` visits are over. @param {number} done */
  draw(done) {
    this.motion.stop();
    const { step, phase } = placeAfter(this.trace, done);
    const f = (this.frame = frame(this.trace, step, phase));
    const over = done >= this.trace.steps;
    set(this.root, {
      ...stated(f),
      "data-done": over,
      "aria-busy": false,
    });
    set(this.status, {
      text: over ? tRace("lane.done") : tRace("lane.visit", { k: f.step + 1, of: f.steps }),
      class: `fa-lane-status${over ? " is-done" : ""}`,
    });
    this.hbm.draw(f);
    this.meter.draw(f);
    this.render();
    this.before = this.now;
    this.now = f;
    return f;
  }
}
