// One player: a trace, a place in it, and the views that draw them. Holds no arithmetic: what is
// shown comes from model.js, where it is from the trace.

import { palette } from "../lib/colors.js";
import { decode } from "../model/decode.js";
import { el, set } from "../lib/dom.js";
import { asked, sentenceOf } from "../lib/fetched.js";
import { Hbm } from "../views/hbm.js";
import { actionOf } from "../lib/keys.js";
import { frame, movePhase, place, prepare, stated } from "../model/frame.js";
import { during } from "../lib/pending.js";
import { Predict } from "../views/predict.js";
import { questionAt } from "../model/questions.js";
import { Code, Traffic } from "./side.js";
import { Sram } from "../views/sram.js";
import { Story } from "../views/story.js";
import { Transport } from "../views/transport.js";

const BEAT_MS = 900;

export class Player {
  /** @param options {url(query) → trace URL, onPlace({query, step, phase}), listings() → promise} */
  constructor(mount, options) {
    this.options = options;
    this.abort = new AbortController();
    this.focus = null;
    this.hbm = new Hbm({ onTile: (i, j) => this.goTile(i, j) });
    this.sram = new Sram({ onPhase: (phase) => this.go(this.at.step, phase), onRow: (row) => this.follow(row), onCard: this.options.onCard, onZoom: () => this.zoom() });
    this.story = new Story();
    this.code = new Code();
    this.predict = new Predict();
    this.predict.root.hidden = true;
    this.traffic = new Traffic(this.options.onCompare);
    this.transport = new Transport(this, BEAT_MS);
    this.words = el("span");
    const close = el("button", { type: "button", "aria-label": "Dismiss", text: "×" });
    close.addEventListener("click", () => this.say(null));
    this.notice = el("p", { class: "fa-notice", role: "alert", hidden: true }, [this.words, close]);
    this.stage = el("div", { class: "fa-stage" }, [this.hbm.root, this.sram.root]);
    this.root = el(
      "div",
      { class: "fa-player", "data-testid": "player", tabindex: 0, role: "group", "aria-label": "FlashAttention step player", "aria-busy": "true" },
      [
        this.notice,
        this.stage,
        el("div", { class: "fa-lower" }, [this.story.root, this.predict.root, this.code.root, this.traffic.root]),
        this.transport.root,
      ],
    );
    mount.replaceChildren(this.root);
    this.listed = this.options.listings?.().then((listings) => (this.code.listings = listings), () => {});
    const signal = this.abort.signal;
    this.root.addEventListener("keydown", (event) => this.key(event), { signal });
    this.observe();
  }

  observe() {
    this.resizer = new ResizeObserver(() => {
      if (!this.root.isConnected) return this.parked || this.destroy();
      if (this.trace && this.room() !== this.laidOut) this.layout();
    });
    this.resizer.observe(this.stage);
    this.themes = new MutationObserver(() => this.trace && this.root.isConnected && this.layout());
    this.themes.observe(document.body, { attributes: true, attributeFilter: ["class"] });
  }

  destroy() {
    this.abort.abort();
    this.request?.abort();
    this.resizer.disconnect();
    this.themes.disconnect();
    this.transport.stop();
  }

  /** Fetches and shows the Problem of `query`; a bad one leaves the picture as it is. */
  async load(query, position = {}) {
    this.request?.abort();
    const request = (this.request = new AbortController());
    this.root.setAttribute("aria-busy", "true");
    try {
      const response = await asked(this.options.url(query), request.signal);
      const trace = prepare(decode(await response.arrayBuffer()));
      if (request.signal.aborted) return;
      this.say(null);
      this.show(trace, position);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.say(sentenceOf(error));
      if (!this.trace && query) await this.load("").then(() => this.say(error.message));
    } finally {
      await this.listed; // so that stepping asks the server nothing
      if (this.request === request) this.root.setAttribute("aria-busy", "false");
    }
  }

  say(message) {
    this.notice.hidden = !message;
    this.words.textContent = message ?? "";
  }

  show(trace, { step, phase } = {}) {
    this.transport.stop();
    const here = step ?? this.sameTile(trace);
    this.trace = trace;
    set(this.root, { "data-query": new URLSearchParams(trace.header.query) });
    this.at = place(trace, here, phase);
    this.askedAt = -1;
    this.predict.question = null;
    this.focus = null;
    this.layout();
  }

  /** Where the tile now shown is visited in another trace over the same grid; 0 in another grid. */
  sameTile(trace) {
    const grid = ({ n, block_q, block_k }) => `${n} ${block_q} ${block_k}`;
    if (!this.trace || grid(trace.problem) !== grid(this.trace.problem)) return 0;
    const { i, j } = frame(this.trace, this.at.step, this.at.phase);
    return j < 0 ? 0 : Math.max(0, trace.tileVisit[i * trace.problem.Tc + j]);
  }

  room() {
    return `${this.stage.clientWidth} ${this.stage.clientHeight}`;
  }

  layout() {
    this.laidOut = this.room();
    const theme = palette(this.root);
    for (const view of [this.hbm, this.sram]) view.layout(this.trace, theme);
    for (const view of [this.story, this.code, this.traffic, this.transport]) view.layout(this.trace);
    this.render();
  }

  go(step, phase) {
    if (!this.trace) return;
    this.at = place(this.trace, step, phase);
    this.render();
  }

  goTile(i, j) {
    const { problem: p, tileVisit } = this.trace;
    const v = tileVisit[i * p.Tc + j];
    if (v >= 0) this.go(v);
    if (v >= 0 && !this.trace.header.numbers) this.zoom();
    this.root.focus({ preventScroll: true });
  }

  /** The numbers of the visit shown, for a Problem that came as tiles only. */
  zoom() {
    if (!this.options.visitUrl) return this.say("This page holds the tiles only.");
    return during("visit", this.fetchVisit());
  }

  async fetchVisit() {
    const { trace } = this;
    const { step } = this.at;
    try {
      const response = await asked(this.options.visitUrl(new URLSearchParams(trace.header.query).toString(), step));
      if (trace !== this.trace) return;
      trace.zoom = decode(await response.arrayBuffer());
      if (this.at.step !== step) return;
      this.sram.zoomed(frame(trace, step, this.at.phase));
      this.render();
    } catch (error) {
      this.say(sentenceOf(error));
    }
  }

  follow(row) {
    this.focus = row;
    this.render();
  }

  /** Predicting takes the place of the row's story, which would give the answers away. */
  predicting(on) {
    this.predict.root.hidden = !on;
    this.story.root.hidden = on;
    this.hbm.guessing = on;
    this.askedAt = -1;
    if (this.trace) this.layout();
  }

  key(event) {
    if (!this.predict.root.hidden && this.predict.key(event)) return;
    const action = actionOf(event);
    if (!action || !this.trace) return;
    event.preventDefault();
    this.act(action);
  }

  act(action) {
    if (!this.trace) return;
    if (action === "toggle") return this.transport.timer ? this.pause() : this.play();
    const by = { phaseNext: 1, phaseBack: -1 }[action];
    if (!by) return this.transport.act(action);
    this.pause();
    const { step, phase } = movePhase(this.trace, this.at, by);
    this.go(step, phase);
  }

  play() {
    const atEnd = this.at.step === this.trace.steps - 1 && movePhase(this.trace, this.at, 1).phase === this.at.phase;
    if (atEnd) this.go(0, "load");
    this.transport.start();
  }

  pause() {
    this.transport.stop();
  }

  /** Out of the page for a while: the comparison takes its place. */
  park(parked) {
    this.parked = parked;
    this.transport.stop();
  }

  beat() {
    if (!this.root.isConnected) return this.parked || this.destroy();
    const before = this.at;
    const next =
      this.transport.grain.value === "tile" ? place(this.trace, before.step + 1) : movePhase(this.trace, before, 1);
    if (next.step === before.step && next.phase === before.phase) return false;
    this.go(next.step, next.phase);
    return true;
  }

  /** The row whose numbers the words use: the clicked one, else the first that rose, else the first. */
  followed(f) {
    return f.stats.find((s) => s.row === this.focus) ?? f.stats.find((s) => s.rose) ?? f.stats[0];
  }

  render() {
    const f = frame(this.trace, this.at.step, this.at.phase);
    const row = this.followed(f);
    set(this.root, stated(f));
    this.hbm.draw(f);
    this.sram.draw(f, row?.row);
    this.story.draw(this.trace, f, row?.row);
    this.code.draw(f);
    this.traffic.draw(f);
    this.transport.draw(f, row);
    if (!this.predict.root.hidden && this.askedAt !== f.step) {
      this.askedAt = f.step;
      this.predict.ask(f.numbers ? questionAt(this.trace, f.step) : null);
    }
    const last = f.position === f.phases.length - 1;
    this.options.onPlace?.({ query: this.trace.header.query, step: f.step, phase: last ? null : f.phase });
  }
}
