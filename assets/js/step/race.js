// The algorithms on one transport, by tile visits or by requested bytes.

import { palette } from "../lib/colors.js";
import { decode } from "../model/decode.js";
import { el, set, setText } from "../lib/dom.js";
import { bytes, clamp } from "../lib/format.js";
import { during } from "../lib/pending.js";
import { errorText, kernelFile } from "../lib/server.js";
import { Lane, YoursLane } from "./lane.js";
import { prepare, sumOf } from "../model/frame.js";
import { ALGORITHMS } from "../model/algorithms.js";
import {
  ORDERS,
  clockOf,
  finishOf,
  ordersOf,
  tickOf,
  verdictOf,
  visitsAfter,
  workOf,
} from "../model/race_clock.js";
import { raceQuestion } from "../model/questions.js";
import { t } from "../model/texts.js";
import { listed } from "../model/wording.js";
import { tabs } from "./drawer.js";
import { makePredict } from "../views/predict.js";
import { makeWords } from "./words.js";
import { iconButton, PlayerBase, Transport } from "../views/transport.js";

/** @import { Clock } from "../model/race_clock.js" */
/** @import { Order, Pass } from "../model/types.js" */
/** @import { RaceOptions, RacePosition } from "./types.js" */

const BEAT_MS = 500;
/** @type {[string, string][]} */
const CLOCKS = [
  ["tile", t("race.by_tile")],
  ["bytes", t("race.by_bytes")],
];

export class Race extends PlayerBase {
  /** @type {YoursLane | null} */
  yours = null;
  /** @type {Pass | undefined} */
  pass;
  /** @type {number} */
  tick;
  /** @type {URLSearchParams} */
  query;
  /** @type {string | undefined} */
  questionedRun;
  /** @param {RaceOptions} options */
  constructor(options) {
    super({ class: "fa-player fa-step fa-race", "aria-label": t("race") });
    this.options = options;
    /** @type {Clock} */
    this.timing = { byBytes: false, quantum: 1, ticks: 1 };
    /** @type {Lane[]} */
    this.lanes = [];
    this.transport = new Transport(this, BEAT_MS, {
      label: t("race.same"),
      choices: CLOCKS,
      onChoice: () => this.clockChanged(),
      hint: t("race.keys"),
    });
    this.transport.buttons.append(iconButton("leave", t("bar.leave"), options.onLeave));
    this.tabs = tabs((name) => name !== "compare" && options.onTab(name));
    this.problem = makeWords(options.controls);
    this.predict = makePredict();
    this.headline = el("h2", { "aria-live": "polite" });
    this.rule = el("p.fa-race-rule");
    this.stage = el("div.fa-lanes");
    this.enter(ORDERS);
    this.root.append(
      this.notice,
      el("header.fa-hero", [this.headline, this.rule]),
      this.stage,
      this.predict.root,
      el("div.fa-line-of-words", [this.tabs.root, this.problem.root]),
      this.transport.root,
    );
    this.resizer.observe(this.stage);
  }

  get isReady() {
    return Boolean(this.query);
  }

  get cards() {
    return [this.stage];
  }

  /** Give each of these algorithms a lane. @param {string[]} orders */
  enter(orders) {
    this.stage.style.setProperty("--fa-lanes", String(orders.length));
    if (orders.join() === this.lanes.map((lane) => lane.order).join()) return;
    this.lanes = orders.map((order) => new Lane(order, this));
    this.stage.replaceChildren(...this.lanes.map((lane) => lane.root));
  }

  /** Fetch and show all lanes of a Problem, of the pass on screen unless another is named. @param {string} query @param {RacePosition} [place] */
  load(query, { tick = 0, clock, pass = this.pass ?? "forward" } = {}) {
    const chosen = new URLSearchParams(query).get("order");
    const orders = ordersOf(chosen, pass);
    return this.loading(async (signal) => {
      const traces = await Promise.all(
        orders.map((order) => this.fetchTrace(query, order, pass, signal)),
      );
      signal.throwIfAborted();
      this.notify(null);
      this.pass = pass;
      set(this.root, { "data-pass": pass });
      this.tabs.pass(pass);
      this.tabs.choose("compare");
      const sums = traces.map(({ header, problem }) =>
        sumOf(header.totals.requested[problem.order]),
      );
      this.enter(orders);
      this.bringYours(query, signal);
      this.lanes.forEach((lane, k) => lane.show(traces[k], Math.max(...sums)));
      if (clock) this.transport.grain.value = clock === "bytes" ? "bytes" : "tile";
      this.query = new URLSearchParams(traces[traces.length - 1].header.query);
      if (!chosen || !ALGORITHMS[chosen].variant_of) this.query.delete("order"); // a variant has a lane only where it is named
      this.clock();
      this.tick = Math.min(tick, this.timing.ticks - 1);
      this.layout();
    });
  }

  /** The lane of a learner's function, where the app was started with one: it comes when it has been run.
   * @param {string} query @param {AbortSignal} signal */
  bringYours(query, signal) {
    this.yours = null;
    this.root.querySelector(".fa-lane-yours")?.remove();
    if (!kernelFile() || !this.options.yours || this.pass !== "forward") return;
    const found = this.options.yours(query).catch((error) => ({ refused: errorText(error) }));
    void during("yours", found).then((tiles) => {
      if (signal.aborted) return;
      this.yours = new YoursLane(tiles, this);
      const [{ trace, most }] = this.lanes.filter(({ order }) => order === "fa2");
      this.yours.show(trace, most);
      this.stage.append(this.yours.root);
      this.stage.style.setProperty("--fa-lanes", String(this.lanes.length + 1));
      this.layout();
    });
  }

  /** @param {string} query @param {Order} order @param {Pass} pass @param {AbortSignal} signal */
  async fetchTrace(query, order, pass, signal) {
    const params = new URLSearchParams(query);
    params.set("order", order);
    const response = await this.fetch(this.options.url(params.toString(), pass), signal);
    return prepare(decode(await response.arrayBuffer()));
  }

  clock() {
    this.timing = clockOf(
      this.lanes.map((lane) => lane.sums),
      this.transport.grain.value === "bytes",
    );
    this.transport.length(this.timing.ticks);
  }

  clockChanged() {
    this.transport.stop();
    this.clock();
    this.go(0);
  }

  layout() {
    this.laidOut = this.room();
    const theme = palette(this.root);
    for (const lane of this.lanes) lane.layout(theme);
    this.yours?.layout(theme);
    this.problem.layout(this.lanes[this.lanes.length - 1].trace);
    this.render();
  }

  /** @param {number} tick */
  go(tick) {
    if (!this.isReady) return;
    this.tick = clamp(tick, 0, this.timing.ticks - 1);
    this.render();
  }

  /** @param {Lane} lane @param {number} i @param {number} j */
  goTile(lane, i, j) {
    const v = workOf(lane.trace).indexOf(lane.trace.tileVisit[i * lane.trace.problem.Tc + j]);
    if (v >= 0) this.go(tickOf(this.timing, lane.sums, v));
  }

  /** Turn the one question of a comparison on or off: it stands at the start, until the first lane is through. @param {boolean} on */
  predicting(on) {
    this.wanted = on;
    if (this.isReady) this.render();
  }

  question() {
    const { predict } = this;
    const finishes = this.lanes.map((lane) => finishOf(this.timing, lane.sums));
    const over = this.tick >= Math.min(...finishes);
    const run = this.timing.quantum + this.transport.grain.value;
    if (this.tick === 0) this.begun = run;
    if (this.wanted && this.begun === run && this.questionedRun !== run) {
      this.questionedRun = run;
      const names = this.lanes.map(({ label }) => label);
      predict.ask(raceQuestion(names, finishes));
    }
    if (over && predict.question) predict.ask(null);
    this.root.classList.toggle("fa-predicting", Boolean(this.wanted) && !over); // who asks for how much is the answer
    const hidden = !this.wanted || (!predict.question && !predict.count);
    if (predict.root.hidden !== hidden) predict.root.hidden = hidden;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!this.predict.key(event) && !this.predict.leaves(event)) super.key(event);
  }

  beat() {
    if (!this.root.isConnected || this.tick === this.timing.ticks - 1) return false;
    this.go(this.tick + 1);
    return true;
  }

  /** Who wins, and by how much. @returns {[string, string]} */
  verdict() {
    const { least, winners, shares } = verdictOf(this.lanes.map((lane) => lane.sums));
    const name = (/** @type {number} */ k) => this.lanes[k].label;
    const size = bytes(least);
    const parts = shares.map(({ lane, share }) =>
      t("race.share", { share: Math.round(100 * share), lane: name(lane) }),
    );
    const ticks = this.lanes.map(({ label, sums }) =>
      t("race.visits", { lane: label, count: sums.length - 1 }),
    );
    const win = winners.length > 1 ? "race.tie" : "race.wins";
    return [
      [t(win, { lanes: listed(winners.map(name)), size }), listed(parts)]
        .filter(Boolean)
        .join(", "),
      `${t("race.same_O")} ${listed(ticks)}.`,
    ];
  }

  render() {
    this.question();
    const { timing, tick, yours, pass } = this;
    const frames = this.lanes.map((lane) => lane.draw(visitsAfter(timing, lane.sums, tick)));
    yours?.draw(visitsAfter(timing, yours.sums, tick));
    const parts = frames.map((f, k) => `${this.lanes[k].label} ${bytes(f.reads + f.writes)}`);
    const rule = timing.byBytes
      ? t("race.rule.bytes", { size: bytes(timing.quantum) })
      : t("race.rule.tile");
    const [k, of] = [tick + 1, timing.ticks];
    const [headline, more] =
      k === of ? this.verdict() : [t(yours ? "race.yours" : "race"), t("race.why", { rule })];
    setText(this.headline, headline);
    setText(this.rule, more);
    this.transport.show({
      step: tick,
      title: t("race.tick", { k, of }),
      words: parts.join(" · "),
      spoken: t("race.spoken", { k, of, lanes: parts.join(", "), sentence: headline }),
    });
    this.options.onPlace?.({
      query: Object.fromEntries(this.query),
      pass: !pass || pass === "forward" ? null : pass,
      tick,
      clock: timing.byBytes ? "bytes" : "tile",
    });
  }
}
