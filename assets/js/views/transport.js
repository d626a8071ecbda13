// The transport bar (first, previous, play, next, last; scrub; speed; the step in words), and what the players that it
// moves have in common.

import { button, el, onTheme, set, setText, svg } from "../lib/dom.js";
import { actionOf } from "../lib/keys.js";
import { errorText, requestOk } from "../lib/server.js";
import { textsOf } from "../lib/texts.js";
import texts from "../../texts/transport.json" with { type: "json" };
import icons from "./icons.json" with { type: "json" };
/** @import { Attributes } from "../lib/dom.js" */
/** @import { Grain } from "./types.js" */
/** @import { Playable } from "./types.js" */

const t = textsOf(texts);

const SPEEDS = [0.5, 1, 2, 4, 8];

/** @param {string} name */
export function icon(name) {
  /** The paths by what a button does. @type {Record<string, string>} */
  const paths = icons;
  return svg("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, [
    svg("path", { d: paths[name] }),
  ]);
}

/** A button that looks like what it does. @param {string} name @param {string} label @param {() => void} act */
export const iconButton = (name, label, act, title = label) =>
  button([icon(name)], act, { class: `fa-key fa-key-${name}`, "aria-label": label, title });

/** @template {Playable} P */
export class Transport {
  /** @type {P} */
  player;
  /** @type {number} */
  beatMs;
  /** @type {ReturnType<typeof setTimeout> | null} */
  timer;
  /** @type {HTMLElement} */
  spoken;
  /** @type {HTMLElement} */
  selected;
  /** @type {number} */
  steps;
  /** @type {number} */
  at;
  /** `player` has go(step) and beat(), which shows what comes next and says whether to play on, after `beatMs` at
   * speed 1; and act(what a button or a key says). `grain` describes a second menu: what a
   * race keeps equal, where there is one. @param {P} player @param {number} beatMs @param {Grain} [grain] */
  constructor(player, beatMs, grain) {
    Object.assign(this, { player, beatMs, timer: null });
    this.playIcons = { play: icon("play"), pause: icon("pause") };
    this.play = this.key("play", t("play"), "toggle");
    this.buttons = el("div.fa-keys", [
      this.key("first", t("first")),
      this.key("back", t("back")),
      this.play,
      this.key("next", t("next")),
      this.key("last", t("last")),
    ]);
    this.title = el("b");
    this.words = el("span.fa-words");
    this.text = el("p.fa-step-text", [this.title, this.words]);
    this.spoken = el("span", { "aria-live": "polite" });
    this.selected = el("span", { "aria-live": "polite" }); // apart: only the one that changed is read
    this.live = el("div.fa-sr", { "data-testid": "sentence" }, [this.spoken, this.selected]);
    this.scrub = el("input.fa-scrub", {
      type: "range",
      min: 0,
      step: 1,
      value: 0,
      "aria-label": t("step"),
    });
    this.scrub.addEventListener("input", () => player.go(Number(this.scrub.value)));
    this.speed = el(
      "select",
      { "aria-label": t("speed"), title: t("speed") },
      SPEEDS.map((s) => el("option", { value: s, text: `${s}×`, selected: s === 1 })),
    );
    this.grain = el(
      "select",
      { "aria-label": grain?.label, title: grain?.label },
      grain?.choices.map(([value, text]) => el("option", { value, text })),
    );
    if (grain?.onChoice) this.grain.addEventListener("change", grain.onChoice);
    const hint = el("span.fa-hint", grain?.hint);
    const settings = el("div.fa-settings", [this.speed, this.grain, hint]);
    this.root = el("div.fa-transport", { role: "toolbar", "aria-label": t("transport") }, [
      this.buttons,
      this.text,
      this.scrub,
      settings,
      this.live,
    ]);
  }

  /** @param {string} name @param {string} label */
  key(name, label, action = name) {
    return iconButton(name, label, () => this.player.act(action));
  }

  length(/** @type {number} */ steps) {
    this.steps = steps;
    set(this.scrub, { max: steps - 1 });
  }

  /** A place on the scrubber, its title, its words, and what a screen reader says of it. */
  show(
    /** @type {{step: number, title: string, words?: string, spoken: string}} */ {
      step,
      title,
      words,
      spoken,
    },
  ) {
    this.at = step;
    setText(this.title, title);
    setText(this.words, words ?? "");
    if (!this.timer || this.pace >= 500) setText(this.spoken, spoken);
    if (Number(this.scrub.value) !== step) this.scrub.value = String(step);
    set(this.scrub, { "aria-valuetext": title });
    this.scrub.style.setProperty(
      "--fa-progress",
      `${this.steps > 1 ? (step / (this.steps - 1)) * 100 : 100}%`,
    );
  }

  /** What is selected besides, for the ear. @param {string} text */
  also(text) {
    setText(this.selected, text && ` ${text}`);
  }

  /** What a key or a button asks for. @param {string} action */
  act(action) {
    if (!this.steps) return;
    const playing = this.timer;
    this.stop();
    /** @type {Record<string, number>} */
    const places = { next: this.at + 1, back: this.at - 1, first: 0, last: this.steps - 1 };
    if (action !== "toggle") return this.player.go(places[action]);
    if (playing) return;
    if (this.at === this.steps - 1) this.player.go(0);
    this.start();
  }

  get pace() {
    return this.beatMs / Number(this.speed.value);
  }

  start() {
    this.playing(true);
    this.timer = setTimeout(() => (this.player.beat() ? this.start() : this.stop()), this.pace);
  }

  stop() {
    clearTimeout(this.timer ?? undefined);
    this.timer = null;
    this.playing(false);
  }

  /** @param {boolean} on */
  playing(on) {
    if (this.play.getAttribute("aria-pressed") === String(on)) return;
    this.play.replaceChildren(this.playIcons[on ? "pause" : "play"]);
    const label = t(on ? "pause" : "play");
    set(this.play, { "aria-label": label, title: label, "aria-pressed": on });
  }
}

/** A player without phases goes by whole steps. @type {Record<string, string>} */
const WHOLE = { phaseNext: "next", phaseBack: "back", forward: "next", backward: "back" };

/** A player, a race, warps: its root, which takes the keyboard, its notice, requests of which the last one counts, and a
 * layout that follows the size of its cards and the theme. */
export class PlayerBase {
  /** @type {Transport<any>} */
  transport;
  /** @type {AbortController | undefined} */
  request;
  /** The size of the cards in the layout that is shown. @type {string | undefined} */
  laidOut;
  /** Is the key that is handled held down? @type {boolean | undefined} */
  isKeyRepeating;

  /** Make it; `own`: what a player has of it that is no class of its own. @param {Attributes} attributes
   * @param {Partial<Pick<PlayerBase, "isReady" | "cards" | "layout" | "act">>} [own] */
  constructor(attributes, own = {}) {
    Object.defineProperties(this, Object.getOwnPropertyDescriptors(own));
    this.notified = el("span");
    this.notice = el("p.fa-notice", { role: "alert", hidden: true }, [this.notified]);
    this.root = el("div", { tabindex: -1, role: "group", "aria-busy": "true", ...attributes });
    this.resizer = new ResizeObserver(() => this.room() !== this.laidOut && this.layoutAgain());
    onTheme(() => this.layoutAgain());
  }

  /** Is there something to show? */
  get isReady() {
    return false;
  }

  /** The nodes whose size the layout follows. @returns {HTMLElement[]} */
  get cards() {
    return [];
  }

  layout() {}

  room() {
    return this.cards.map((card) => `${card.clientWidth} ${card.clientHeight}`).join();
  }

  layoutAgain() {
    if (this.isReady && this.root.isConnected) this.layout();
  }

  /** Shows a sentence above the picture; null: none. @param {string | null} sentence */
  notify(sentence) {
    this.notice.hidden = !sentence;
    setText(this.notified, sentence ?? "");
  }

  /** What the server answers; while it is busy its sentence is shown. @param {string | URL} address @param {AbortSignal} [signal] */
  fetch(address, signal) {
    return requestOk(address, signal, (sentence) => this.notify(sentence));
  }

  /** Is busy until `work` is done, which a later call aborts; returns the sentence of its error, which is shown, if there is one.
   * @param {(signal: AbortSignal) => Promise<void>} work */
  async loading(work) {
    this.request?.abort();
    const request = (this.request = new AbortController());
    set(this.root, { "aria-busy": "true" });
    try {
      await work(request.signal);
    } catch (error) {
      if (request.signal.aborted) return;
      const sentence = errorText(error);
      this.notify(sentence);
      return sentence;
    } finally {
      if (this.request === request) set(this.root, { "aria-busy": "false" });
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const action = actionOf(event);
    if (!action || !this.isReady) return;
    event.preventDefault();
    this.isKeyRepeating = event.repeat; // a key held down runs through the places
    this.act(action);
    this.isKeyRepeating = false;
  }

  /** @param {string} action of a key or of a button */
  act(action) {
    this.transport.act(WHOLE[action] ?? action);
  }
}
