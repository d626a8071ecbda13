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
import { iconButton, PlayerBase, makeTransport } from "../views/transport.js";

/** @import { Clock } from "../model/race_clock.js" */
/** @import { Order, Pass } from "../model/types.js" */
/** @import { RaceOptions, RacePosition } from "./types.js" */

const BEAT_MS = 500;
/** @type {[string, string][]} */
const CLOCKS = [
  ["tile", t("race.by_tile")],
  ["bytes", t("race.by_bytes")],
];

/** Make a comparison. @param {RaceOptions} options */
export function makeRace(options) {
  /** @type {YoursLane | null} */
  let yours = null;
  /** @type {Pass | undefined} */
  let passNow;
  /** @type {number} */
  let tickNow;
  /** @type {URLSearchParams} */
  let queryNow;
  /** The clock of the question that was asked, and of the run that began. @type {string | undefined} */
  let questionedRun;
  /** @type {string | undefined} */
  let begun;
  let isWanted = false; // the question

  const base = new PlayerBase(
    { class: "fa-player fa-step fa-race", "aria-label": t("race") },
    {
      get isReady() {
        return Boolean(queryNow);
      },
      get cards() {
        return [stage];
      },
      layout,
    },
  );
  const { root, notice } = base;
  /** @type {Clock} */
  let timing = { byBytes: false, quantum: 1, ticks: 1 };
  /** @type {Lane[]} */
  let lanes = [];
  const transport = makeTransport({ go, beat, act: (action) => base.act(action) }, BEAT_MS, {
    label: t("race.same"),
    choices: CLOCKS,
    onChoice: clockChanged,
    hint: t("race.keys"),
  });
  base.transport = transport;
  transport.buttons.append(iconButton("leave", t("bar.leave"), options.onLeave));
  const tabBar = tabs((name) => name !== "compare" && options.onTab(name));
  const problem = makeWords(options.controls);
  const predict = makePredict();
  const headline = el("h2", { "aria-live": "polite" });
  const rule = el("p.fa-race-rule");
  const stage = el("div.fa-lanes");
  enter(ORDERS);
  root.append(
    notice,
    el("header.fa-hero", [headline, rule]),
    stage,
    predict.root,
    el("div.fa-line-of-words", [tabBar.root, problem.root]),
    transport.root,
  );
  base.resizer.observe(stage);

  /** Give each of these algorithms a lane. @param {string[]} orders */
  function enter(orders) {
    stage.style.setProperty("--fa-lanes", String(orders.length));
    if (orders.join() === lanes.map((lane) => lane.order).join()) return;
    lanes = orders.map((order) => new Lane(order, goTile));
    stage.replaceChildren(...lanes.map((lane) => lane.root));
  }

  /** Fetch and show all lanes of a Problem, of the pass on screen unless another is named. @param {string} query @param {RacePosition} [place] */
  function load(query, { tick = 0, clock, pass = passNow ?? "forward" } = {}) {
    const chosen = new URLSearchParams(query).get("order");
    const orders = ordersOf(chosen, pass);
    return base.loading(async (signal) => {
      const traces = await Promise.all(
        orders.map((order) => fetchTrace(query, order, pass, signal)),
      );
      signal.throwIfAborted();
      base.notify(null);
      passNow = pass;
      set(root, { "data-pass": pass });
      tabBar.pass(pass);
      tabBar.choose("compare");
      const sums = traces.map(({ header, problem }) =>
        sumOf(header.totals.requested[problem.order]),
      );
      enter(orders);
      bringYours(query, signal);
      lanes.forEach((lane, k) => lane.show(traces[k], Math.max(...sums)));
      if (clock) transport.grain.value = clock === "bytes" ? "bytes" : "tile";
      queryNow = new URLSearchParams(traces[traces.length - 1].header.query);
      if (!chosen || !ALGORITHMS[chosen].variant_of) queryNow.delete("order"); // a variant has a lane only where it is named
      setClock();
      tickNow = Math.min(tick, timing.ticks - 1);
      layout();
    });
  }

  /** The lane of a learner's function, where the app was started with one: it comes when it has been run.
   * @param {string} query @param {AbortSignal} signal */
  function bringYours(query, signal) {
    yours = null;
    root.querySelector(".fa-lane-yours")?.remove();
    if (!kernelFile() || !options.yours || passNow !== "forward") return;
    const found = options.yours(query).catch((error) => ({ refused: errorText(error) }));
    void during("yours", found).then((tiles) => {
      if (signal.aborted) return;
      yours = new YoursLane(tiles, goTile);
      const [{ trace, most }] = lanes.filter(({ order }) => order === "fa2");
      yours.show(trace, most);
      stage.append(yours.root);
      stage.style.setProperty("--fa-lanes", String(lanes.length + 1));
      layout();
    });
  }

  /** @param {string} query @param {Order} order @param {Pass} pass @param {AbortSignal} signal */
  async function fetchTrace(query, order, pass, signal) {
    const params = new URLSearchParams(query);
    params.set("order", order);
    const response = await base.fetch(options.url(params.toString(), pass), signal);
    return prepare(decode(await response.arrayBuffer()));
  }

  function setClock() {
    timing = clockOf(
      lanes.map((lane) => lane.sums),
      transport.grain.value === "bytes",
    );
    transport.length(timing.ticks);
  }

  function clockChanged() {
    transport.stop();
    setClock();
    go(0);
  }

  function layout() {
    base.laidOut = base.room();
    const theme = palette(root);
    for (const lane of lanes) lane.layout(theme);
    yours?.layout(theme);
    problem.layout(lanes[lanes.length - 1].trace);
    render();
  }

  /** @param {number} tick */
  function go(tick) {
    if (!queryNow) return;
    tickNow = clamp(tick, 0, timing.ticks - 1);
    render();
  }

  /** @param {Lane} lane @param {number} i @param {number} j */
  function goTile(lane, i, j) {
    const v = workOf(lane.trace).indexOf(lane.trace.tileVisit[i * lane.trace.problem.Tc + j]);
    if (v >= 0) go(tickOf(timing, lane.sums, v));
  }

  /** Turn the one question of a comparison on or off: it stands at the start, until the first lane is through. @param {boolean} on */
  function predicting(on) {
    isWanted = on;
    if (queryNow) render();
  }

  function question() {
    const finishes = lanes.map((lane) => finishOf(timing, lane.sums));
    const over = tickNow >= Math.min(...finishes);
    const run = timing.quantum + transport.grain.value;
    if (tickNow === 0) begun = run;
    if (isWanted && begun === run && questionedRun !== run) {
      questionedRun = run;
      const names = lanes.map(({ label }) => label);
      predict.ask(raceQuestion(names, finishes));
    }
    if (over && predict.question) predict.ask(null);
    root.classList.toggle("fa-predicting", isWanted && !over); // who asks for how much is the answer
    const hidden = !isWanted || (!predict.question && !predict.count);
    if (predict.root.hidden !== hidden) predict.root.hidden = hidden;
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    if (!predict.key(event) && !predict.leaves(event)) base.key(event);
  }

  function beat() {
    if (!root.isConnected || tickNow === timing.ticks - 1) return false;
    go(tickNow + 1);
    return true;
  }

  /** Who wins, and by how much. @returns {[string, string]} */
  function verdict() {
    const { least, winners, shares } = verdictOf(lanes.map((lane) => lane.sums));
    const name = (/** @type {number} */ k) => lanes[k].label;
    const size = bytes(least);
    const parts = shares.map(({ lane, share }) =>
      t("race.share", { share: Math.round(100 * share), lane: name(lane) }),
    );
    const ticks = lanes.map(({ label, sums }) =>
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

  function render() {
    question();
    const frames = lanes.map((lane) => lane.draw(visitsAfter(timing, lane.sums, tickNow)));
    yours?.draw(visitsAfter(timing, yours.sums, tickNow));
    const parts = frames.map((f, k) => `${lanes[k].label} ${bytes(f.reads + f.writes)}`);
    const how = timing.byBytes
      ? t("race.rule.bytes", { size: bytes(timing.quantum) })
      : t("race.rule.tile");
    const [k, of] = [tickNow + 1, timing.ticks];
    const [first, more] =
      k === of ? verdict() : [t(yours ? "race.yours" : "race"), t("race.why", { rule: how })];
    setText(headline, first);
    setText(rule, more);
    transport.show({
      step: tickNow,
      title: t("race.tick", { k, of }),
      words: parts.join(" · "),
      spoken: t("race.spoken", { k, of, lanes: parts.join(", "), sentence: first }),
    });
    options.onPlace?.({
      query: Object.fromEntries(queryNow),
      pass: passNow === "backward" ? passNow : null,
      tick: tickNow,
      clock: timing.byBytes ? "bytes" : "tile",
    });
  }

  return {
    root,
    transport,
    notify: (/** @type {string | null} */ text) => base.notify(text),
    key,
    load,
    go,
    predicting,
    get lanes() {
      return lanes;
    },
    get timing() {
      return timing;
    },
    get tick() {
      return tickNow;
    },
    get pass() {
      return passNow;
    },
  };
}
