// One player: a trace, a place in it, and the views that draw them. All arithmetic is in model/, which reads the trace.

import { palette } from "../lib/colors.js";
import { decode } from "../model/decode.js";
import { button, el, giveFocus, set } from "../lib/dom.js";
import { errorText } from "../lib/server.js";
import { makeHbm } from "../views/hbm.js";
import { makeLens } from "../views/lens.js";
import { PlayerBase } from "../views/transport.js";
import { frame, phasesOf, place, prepare, stated } from "../model/frame.js";
import { beatOf } from "../model/motion.js";
import { sentence } from "../model/phases.js";
import { ahead, counterpart, nearest } from "../model/places.js";
import { questionAt } from "../model/questions.js";
import { during } from "../lib/pending.js";
import { t } from "../model/texts.js";
import { Result } from "./result.js";
import { makeCode, makeProgress, makeTraffic } from "./side.js";
import { WAYS } from "../views/row_view.js";
import { rich } from "../views/rich.js";
import { makePredict } from "../views/predict.js";
import { makeBackwardViews } from "./backward.js";
import { StepTransport } from "./bar.js";
import { makeDrawer } from "./drawer.js";
import { makeForwardViews } from "./forward.js";
import { makeLinking } from "./linking.js";
import { makeMotion } from "./motion.js";
import { makePanes } from "./panes.js";
import { makeSentence, purposeOf } from "./sentence.js";
import { makeWords } from "./words.js";

/** @import { Frame, Pass, Place, Trace } from "../model/types.js" */
/** @import { PaneName } from "../views/types.js" */
/** @import { PassViews, PlayerOptions, Position } from "./types.js" */

/** The pane of a phone where a part of the page is, if it is not SRAM. @type {Record<string, PaneName>} */
const PANES = { map: "hbm", bus: "hbm", "home.dQ": "hbm", rows: "rows", story: "rows" };
/** How far an action goes. @type {Record<string, number>} */
const STEPS = { phaseNext: 1, phaseBack: -1, forward: 1, backward: -1 };
const END = "end"; // as a phase in an address: the result of the run
const BEAT_MS = 1000; // until the first place says how long it stays

export class Player extends PlayerBase {
  /** @type {Trace} */
  trace;
  /** @type {Frame} */
  frame;
  /** @type {Place} */
  at;
  /** @type {number | null} */
  focus = null;
  /** Is the run over, and its result shown? */
  ended = false;
  /** @type {number} */
  questionStep;
  /** @param {HTMLElement} mount @param {PlayerOptions} options */
  constructor(mount, options) {
    super({ class: "fa-player fa-step", "data-testid": "player", "aria-label": t("player") });
    this.options = { ...options, onZoom: () => this.zoom() };
    this.hbm = makeHbm(this.options.onHead);
    this.views = {
      forward: makeForwardViews({ ...this.options, onWay: () => this.layout() }),
      backward: makeBackwardViews(this.options),
    };
    this.rowView = this.views.forward.rowView;
    this.code = makeCode();
    this.predict = makePredict();
    this.traffic = makeTraffic();
    this.progress = makeProgress(() => this.open("traffic"));
    const { rare } = this.views.forward;
    this.problem = makeWords(this.options.controls, () => this.turn());
    this.transport = new StepTransport(this, BEAT_MS, () => this.options.onLeave?.(), [
      ...rare,
      ...this.problem.more,
    ]);
    const { onCompare, onRun } = this.options;
    this.result = new Result({ compare: onCompare, turn: () => this.turn(), run: onRun });
    this.notice.append(button("×", () => this.notify(null), { "aria-label": t("player.dismiss") }));
    this.purpose = [el("h2"), el("p")];
    this.hero = el("header.fa-hero", this.purpose);
    this.sentence = makeSentence(this.hbm.bus);
    this.stage = el("div.fa-stage", [this.hbm.root, this.sentence.root, this.sram.root]);
    this.lens = makeLens();
    this.drawer = makeDrawer(
      {
        ...this.views.forward.panels,
        ...this.views.backward.panels,
        code: [this.code.root],
        traffic: [this.traffic.root],
      },
      (name) => (name === "compare" ? this.options.onCompare?.() : this.open(name)),
    );
    this.panes = makePanes(this.root);
    this.root.append(
      this.notice,
      this.hero,
      this.lens.root,
      this.stage,
      this.result.root,
      this.panes.root,
      el("div.fa-line-of-words", [this.drawer.tabs, this.problem.root]),
      this.drawer.root,
      this.progress.root,
      this.transport.root,
    );
    this.panes.swiped([this.stage, this.drawer.root]);
    this.linking = makeLinking(this);
    this.root.append(this.linking.words);
    this.motion = makeMotion(this);
    this.panes.show("sram");
    this.dress();
    this.open(this.own.first);
    mount.replaceChildren(this.root);
    this.listed = this.options.listings?.().then(this.code.list, () => {});
    const { forward, backward } = this.views;
    for (const { root } of [this.hbm, forward.sram, backward.sram]) this.resizer.observe(root);
  }

  get isReady() {
    return Boolean(this.trace);
  }

  get cards() {
    return [this.hbm.root, this.sram.root];
  }

  /** Which pass is shown. */
  get pass() {
    return this.trace?.header.pass ?? "forward";
  }

  /** The views of the pass that is on screen. */
  get own() {
    return /** @type {PassViews} */ (this.views[this.pass]);
  }

  get sram() {
    return this.own.sram;
  }

  /** Show the other pass of the same Problem, at the same tile. @param {Pass} [pass] */
  turn(pass = this.pass === "forward" ? "backward" : "forward") {
    if (!this.trace || pass === this.pass) return;
    this.warm();
    return this.load(new URLSearchParams(this.trace.header.query).toString(), { pass });
  }

  /** Put the cards and tabs of the pass in their place. */
  dress() {
    const { sram, first, panels } = this.own;
    if (!sram.root.isConnected) this.stage.lastElementChild?.replaceWith(sram.root);
    if (this.predict.root.previousSibling !== panels[first][0])
      panels[first][0].after(this.predict.root);
    this.own.veil(!this.predict.root.hidden);
    const { table } = this.views.forward;
    if (this.pass === "forward") this.code.root.after(table.root);
    else table.root.remove(); // its rows carry m, α and ℓ
    this.drawer.pass(this.pass);
    this.panes.names(this.pass);
    if (!this.drawer.has(this.drawer.name)) this.drawer.open(first);
  }

  /** Open a panel of the drawer; the page is no longer new. @param {string} name */
  open(name) {
    this.warm();
    this.drawer.open(name);
    if (this.trace) this.layout();
  }

  /** Bring a part of the page on screen, by its data-spot. @param {string} spot */
  reveal(spot) {
    if (spot === "rows" || spot === "row_view") this.open(this.own.first);
    this.panes.choose(PANES[spot] ?? "sram");
  }

  /** Show what the page is for, until the first step. */
  cold() {
    set(this.root, { "data-cold": "" });
  }

  warm() {
    set(this.root, { "data-cold": null });
  }

  /** Fetch and show the Problem of `query`; a refused one leaves the picture as it is. @param {string} query @param {Position} position */
  async load(query, position = {}) {
    const sentence = await this.loading(async (signal) => {
      const pass = position.pass ?? this.pass;
      const response = await this.fetch(this.options.url(query, pass), signal);
      const trace = prepare(decode(await response.arrayBuffer()));
      signal.throwIfAborted();
      this.notify(null);
      this.show(trace, position);
      await this.listed; // so that stepping asks the server nothing
    });
    if (!sentence || this.trace || !query) return;
    await this.load("");
    this.notify(sentence);
  }

  /** @param {Trace} trace @param {Position} [position] */
  show(trace, { step, phase, sel = this.linking.picked, way = this.rowView.way } = {}) {
    this.transport.stop();
    const same = this.trace && step === undefined ? counterpart(this.trace, this.at, trace) : null;
    this.trace = trace;
    this.dress();
    set(this.root, {
      "data-query": String(new URLSearchParams(trace.header.query)),
      "data-pass": this.pass,
    });
    const known = phase && trace.header.phases.includes(phase) ? phase : null;
    this.at =
      (!known && same) ||
      nearest(
        trace,
        Math.max(0, step ?? same?.step ?? 0),
        known ?? (step === undefined ? "load" : undefined),
      );
    this.ended = phase === END;
    this.questionStep = -1;
    this.predict.question = null;
    if (!trace.header.numbers && this.drawer.name === this.own.first) this.drawer.open("traffic"); // its rows come one tile at a time
    this.rowView.way = WAYS.find((one) => one === way) ?? "alpha";
    this.layout();
    this.linking.pick(sel);
  }

  layout() {
    this.laidOut = this.room();
    const theme = palette(this.root);
    this.big = theme.big;
    this.hbm.layout(this.trace, theme);
    this.sram.layout(this.trace, theme);
    const { own, code, traffic, progress, problem, transport } = this;
    for (const view of [own, code, traffic, progress, problem, transport])
      view.layout(this.trace, theme);
    this.render();
  }

  /** Go to a place, and unless `still` animate the way from the one before. @param {number} step @param {string} [phase] */
  go(step, phase, still = this.isKeyRepeating) {
    if (!this.trace) return;
    const from = this.motion.here();
    this.warm();
    this.ended = false;
    this.at = place(this.trace, step, phase);
    this[this.room() === this.laidOut ? "render" : "layout"](); // the first step makes room
    if (!still)
      this.motion.show(from, this.at, this.transport.timer ? this.transport.pace : Infinity);
  }

  /** @param {number} i @param {number} j */
  goTile(i, j, takes = true) {
    const { problem: p, tileVisit } = this.trace;
    const v = tileVisit[i * p.Tc + j];
    if (v >= 0) this.go(v);
    if (v >= 0 && !this.trace.header.numbers) this.zoom();
    if (takes) giveFocus(this.root);
  }

  /** Fetch the numbers of this visit, for a Problem that came as tiles only. */
  zoom() {
    const { visitUrl } = this.options;
    if (!visitUrl) return this.notify(t("player.tiles"));
    const { header } = this.trace;
    const query = new URLSearchParams(header.query).toString();
    return during("visit", this.fetchVisit(visitUrl(query, this.at.step, header.pass)));
  }

  /** @param {string | URL} address of the numbers of this visit */
  async fetchVisit(address) {
    const { trace } = this;
    const { step } = this.at;
    try {
      const response = await this.fetch(address);
      if (trace !== this.trace) return;
      this.notify(null);
      trace.zoom = decode(await response.arrayBuffer());
      if (this.at.step !== step) return;
      this.sram.zoomed(frame(trace, step, this.at.phase));
      if (this.drawer.name === "traffic") this.drawer.open(this.own.first);
      this.render();
    } catch (error) {
      this.notify(errorText(error));
    }
  }

  /** Turn predicting on or off. It takes the place of the row view, which would give the answers away. @param {boolean} on */
  predicting(on) {
    this.predict.root.hidden = !on;
    this.own.veil(on);
    if (on) this.open(this.own.first);
    if (on) this.panes.choose("rows");
    else this.panes.release();
    this.hbm.predicting(on);
    this.questionStep = -1;
    if (this.trace) this.layout();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { predict, trace, linking } = this;
    if (!predict.key(event) && !(trace && linking.key(event)) && !predict.leaves(event))
      super.key(event);
  }

  /** @param {string} action */
  act(action) {
    if (!this.trace) return;
    if (action === "toggle") return this.transport.timer ? this.pause() : this.play();
    const by = STEPS[action];
    this.pause();
    if (action === "first") return this.go(0, "load");
    if (this.ended && (by < 0 || action === "back"))
      return this.go(this.at.step, this.at.phase, true); // the last tile again
    if (action === "back" && this.at.step === 0) return this.go(0, "load"); // there is no tile before it
    const on = by > 0 || action === "next";
    if (on && this.ended) return action === "forward" ? this.options.onCompare?.() : undefined;
    if (on && this.isLast()) return this.end();
    if (!by) return this.transport.act(action);
    const asked = this.predict.root.hidden ? this.transport.stride : "tile"; // of which the question is
    const stride = action.startsWith("phase") ? "phase" : asked;
    const { step, phase } = ahead(this.trace, this.at, by, stride);
    this.go(step, phase);
  }

  /** Is this the last place of the run? */
  isLast() {
    const { step, phase } = this.at;
    return step === this.trace.steps - 1 && phase === phasesOf(this.trace, step).at(-1);
  }

  /** Show what the run came to. */
  end() {
    this.ended = true;
    this.layout();
  }

  play() {
    if (this.ended || this.isLast()) this.go(0, "load");
    this.transport.start();
  }

  pause() {
    this.transport.stop();
  }

  beat() {
    if (!this.root.isConnected) return false;
    if (this.isLast()) {
      this.end();
      return false;
    }
    const before = this.at;
    const next = ahead(this.trace, before, 1, this.transport.stride);
    const f = frame(this.trace, next.step, next.phase);
    this.transport.beatMs = beatOf(this.trace, before, next, sentence(f, this.followed(f)));
    this.go(next.step, next.phase);
    return true;
  }

  /** The row of the question, if there is one. */
  questionRow() {
    return this.predict.root.hidden ? undefined : this.predict.question?.row;
  }

  /** The row whose numbers the words use: the clicked one, else the one asked about, the first that rose, the first. @param {Frame} f */
  followed(f) {
    return (
      f.stats.find((s) => s.row === (this.focus ?? this.questionRow())) ??
      f.stats.find((s) => s.rose) ??
      f.stats[0]
    );
  }

  /** Say of a moment what the picture comes to: the sentence, the drawer, the bytes. @param {Frame} f */
  tell(f) {
    const row = this.followed(f);
    this.sentence.draw(f, row);
    this.own.draw(this.trace, f, row?.row);
    this.drawer.call("row", this.views.forward.title);
    for (const view of [this.code, this.traffic, this.progress]) view.draw(f);
  }

  /** At the end the result takes the place of the picture, and its headline that of the purpose. @param {Frame} f */
  conclude(f) {
    this.result.show(this.ended);
    const head = this.ended
      ? this.result.draw(this.trace, f, palette(this.root)).map(rich)
      : purposeOf(this.trace);
    head.forEach((nodes, k) => this.purpose[k].replaceChildren(...nodes));
    this.transport.end(this.ended ? this.result.next : null, this.result.spoken);
  }

  render() {
    this.motion.stop();
    const f = (this.frame = frame(this.trace, this.at.step, this.at.phase));
    if (!this.predict.root.hidden && this.questionStep !== f.step) {
      this.questionStep = f.step;
      this.predict.ask(this.trace.header.numbers ? questionAt(this.trace, f.step) : null);
      if (this.questionRow() !== undefined) this.focus = this.linking.picked = null; // until something is clicked again
    }
    const row = this.followed(f);
    set(this.root, { ...stated(f), "data-ended": this.ended || null });
    this.hbm.draw(f);
    this.sram.draw(f, row?.row);
    this.transport.draw(f, row);
    this.tell(f);
    this.conclude(f);
    if (this.big)
      this.lens.draw(
        f.kind === "skipped" || f.j < 0 ? null : this.hbm.magnified(f),
        f.numbers ? this.sram.magnified() : null,
        this.hbm.beside(),
      );
    this.panes.follow(
      this.predict.root.hidden
        ? f.phase === "load" || f.phase === "store"
          ? "hbm"
          : "sram"
        : "rows",
    );
    this.linking.draw();
    const last = f.position === f.phases.length - 1;
    const shown = this.ended ? END : last ? null : f.phase;
    const [way, pass] = [
      this.rowView.way === "alpha" ? null : this.rowView.way,
      f.pass === "forward" ? null : f.pass,
    ];
    this.options.onPlace?.({
      query: this.trace.header.query,
      pass,
      step: f.step,
      phase: shown,
      sel: this.linking.picked,
      way,
    });
  }
}
