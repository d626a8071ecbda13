// One player: a trace, a place in it, and the views that draw them. Holds no arithmetic: what is
// shown comes from model.js, where it is from the trace.

import { Charts } from "./charts.js";
import { palette } from "../lib/colors.js";
import { decode } from "../model/decode.js";
import { el, set } from "../lib/dom.js";
import { Hbm } from "../views/hbm.js";
import { actionOf } from "../lib/keys.js";
import { frame, movePhase, place, prepare, stated } from "../model/frame.js";
import { during } from "../lib/pending.js";
import { Predict } from "../views/predict.js";
import { questionAt } from "../model/questions.js";
import { Code, Traffic } from "./side.js";
import { Sram } from "../views/sram.js";
import { Transport } from "../views/transport.js";

const BEAT_MS = 900;

export class Player {
  /** @param options {url(query) → trace URL, onPlace({query, step, phase}), listings() → promise} */
  constructor(mount, options) {
    this.options = options;
    this.abort = new AbortController();
    this.focus = null;
    this.timer = null;
    this.hbm = new Hbm({ onTile: (i, j) => this.goTile(i, j) });
    this.sram = new Sram({ onPhase: (phase) => this.go(this.at.step, phase), onRow: (row) => this.follow(row), onCard: this.options.onCard, onZoom: () => this.zoom() });
    this.charts = new Charts();
    this.code = new Code();
    this.predict = new Predict();
    this.predict.root.hidden = true;
    this.traffic = new Traffic(this.options.onCompare);
    this.transport = new Transport({
      first: () => this.act("first"),
      back: () => this.act("back"),
      toggle: () => this.act("toggle"),
      next: () => this.act("next"),
      last: () => this.act("last"),
      go: (step) => this.go(step),
    });
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
        el("div", { class: "fa-lower" }, [this.charts.root, this.predict.root, this.code.root, this.traffic.root]),
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
    clearTimeout(this.timer);
  }

  /** Fetches and shows the Problem of `query`; a bad one leaves the picture as it is. */
  async load(query, position = {}) {
    this.request?.abort();
    const request = (this.request = new AbortController());
    this.root.setAttribute("aria-busy", "true");
    try {
      const response = await fetch(this.options.url(query), { signal: request.signal });
      if (!response.ok) {
        const answer = await response.json().catch(() => null);
        throw new Error(answer?.error ?? `The server answered ${response.status}.`);
      }
      const trace = prepare(decode(await response.arrayBuffer()));
      if (request.signal.aborted) return;
      this.say(null);
      this.show(trace, position);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.say(error instanceof TypeError ? "The server cannot be reached; the picture shown stays usable." : error.message);
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
    this.pause();
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
    for (const view of [this.charts, this.code, this.traffic, this.transport]) view.layout(this.trace);
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
      const response = await fetch(this.options.visitUrl(new URLSearchParams(trace.header.query).toString(), step));
      if (!response.ok) throw new Error((await response.json()).error);
      if (trace !== this.trace) return;
      trace.zoom = decode(await response.arrayBuffer());
      if (this.at.step !== step) return;
      this.sram.zoomed(frame(trace, step, this.at.phase));
      this.render();
    } catch (error) {
      this.say(error instanceof TypeError ? "The server cannot be reached; the picture shown stays usable." : error.message);
    }
  }

  follow(row) {
    this.focus = row;
    this.render();
  }

  /** Predicting takes the place of the charts, which would give the answers away. */
  predicting(on) {
    this.predict.root.hidden = !on;
    this.charts.root.hidden = on;
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
    const { step } = this.at;
    const move = (at) => this.go(at.step, at.phase);
    if (action === "toggle") return this.timer ? this.pause() : this.play();
    this.pause();
    if (action === "next") this.go(step + 1);
    else if (action === "back") this.go(step - 1);
    else if (action === "first") this.go(0);
    else if (action === "last") this.go(this.trace.steps - 1);
    else if (action === "phaseNext") move(movePhase(this.trace, this.at, 1));
    else if (action === "phaseBack") move(movePhase(this.trace, this.at, -1));
  }

  play() {
    const atEnd = this.at.step === this.trace.steps - 1 && movePhase(this.trace, this.at, 1).phase === this.at.phase;
    if (atEnd) this.go(0, "load");
    this.transport.playing(true);
    this.timer = setTimeout(() => this.beat(), this.pace());
  }

  pace() {
    return BEAT_MS / Number(this.transport.speed.value);
  }

  /** Out of the page for a while: the comparison takes its place. */
  park(parked) {
    this.parked = parked;
    this.pause();
  }

  beat() {
    if (!this.root.isConnected) return this.parked || this.destroy();
    const before = this.at;
    const next =
      this.transport.grain.value === "tile" ? place(this.trace, before.step + 1) : movePhase(this.trace, before, 1);
    if (next.step === before.step && next.phase === before.phase) return this.pause();
    this.go(next.step, next.phase);
    this.timer = setTimeout(() => this.beat(), this.pace());
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    this.transport.playing(false);
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
    this.charts.draw(this.trace, f, row?.row);
    this.code.draw(f);
    this.traffic.draw(f);
    this.transport.draw(f, row, Boolean(this.timer) && this.pace() < 500);
    if (!this.predict.root.hidden && this.askedAt !== f.step) {
      this.askedAt = f.step;
      this.predict.ask(f.numbers ? questionAt(this.trace, f.step) : null);
    }
    const last = f.position === f.phases.length - 1;
    this.options.onPlace?.({ query: this.trace.header.query, step: f.step, phase: last ? null : f.phase });
  }
}
