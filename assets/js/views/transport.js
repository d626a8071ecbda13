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

/** The button that plays and pauses; `show` says which. @param {() => void} act */
export function makePlay(act) {
  const icons = { play: icon("play"), pause: icon("pause") };
  const root = iconButton("play", t("play"), act);

  /** @param {boolean} isPlaying */
  function show(isPlaying) {
    if (root.getAttribute("aria-pressed") === String(isPlaying)) return;
    const name = isPlaying ? "pause" : "play";
    root.replaceChildren(icons[name]);
    set(root, { "aria-label": t(name), title: t(name), "aria-pressed": isPlaying });
  }

  return { root, show };
}

/** What moves a player to any place. @param {string} label @param {(at: number) => void} go */
export function makeScrub(label, go) {
  const root = el("input.fa-scrub", {
    type: "range",
    min: 0,
    step: 1,
    value: 0,
    "aria-label": label,
  });
  root.addEventListener("input", () => go(Number(root.value)));

  /** The place, and what it is called. @param {number} at @param {number} last @param {string} words */
  function show(at, last, words) {
    set(root, { max: last, "aria-valuetext": words });
    if (Number(root.value) !== at) root.value = String(at);
    root.style.setProperty("--fa-progress", `${last > 0 ? (100 * at) / last : 100}%`);
  }

  return { root, show };
}

/** `player` has go(step) and beat(), which shows what comes next and says whether to play on, after `beatMs` at
 * speed 1; and act(what a button or a key says). `menu` describes a second one: what a
 * race keeps equal, where there is one. @param {Playable} player @param {number} beatMs @param {Grain} [menu] */
export function makeTransport(player, beatMs, menu) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let count = 0;
  let place = 0;

  const play = makePlay(() => player.act("toggle"));
  const buttons = el("div.fa-keys", [
    key("first", t("first")),
    key("back", t("back")),
    play.root,
    key("next", t("next")),
    key("last", t("last")),
  ]);
  const titleText = el("b");
  const wordsText = el("span.fa-words");
  const stepText = el("p.fa-step-text", [titleText, wordsText]);
  const spokenText = el("span", { "aria-live": "polite" });
  const selected = el("span", { "aria-live": "polite" }); // apart: only the one that changed is read
  const live = el("div.fa-sr", { "data-testid": "sentence" }, [spokenText, selected]);
  const scrub = makeScrub(t("step"), (at) => player.go(at));
  const speed = el(
    "select",
    { "aria-label": t("speed"), title: t("speed") },
    SPEEDS.map((s) => el("option", { value: s, text: `${s}×`, selected: s === 1 })),
  );
  const grain = el(
    "select",
    { "aria-label": menu?.label, title: menu?.label },
    menu?.choices.map(([value, text]) => el("option", { value, text })),
  );
  if (menu?.onChoice) grain.addEventListener("change", menu.onChoice);
  const hint = el("span.fa-hint", menu?.hint);
  const settings = el("div.fa-settings", [speed, grain, hint]);
  const root = el("div.fa-transport", { role: "toolbar", "aria-label": t("transport") }, [
    buttons,
    stepText,
    scrub.root,
    settings,
    live,
  ]);

  /** @param {string} name @param {string} label */
  function key(name, label, action = name) {
    return iconButton(name, label, () => player.act(action));
  }

  function length(/** @type {number} */ steps) {
    count = steps;
    set(scrub.root, { max: steps - 1 });
  }

  /** A place on the scrubber, its title, its words, and what a screen reader says of it. */
  function show(
    /** @type {{step: number, title: string, words?: string, spoken: string}} */ {
      step,
      title,
      words,
      spoken,
    },
  ) {
    place = step;
    setText(titleText, title);
    setText(wordsText, words ?? "");
    if (!timer || pace() >= 500) setText(spokenText, spoken);
    scrub.show(step, count - 1, title);
  }

  /** What is selected besides, for the ear. @param {string} text */
  function also(text) {
    setText(selected, text && ` ${text}`);
  }

  /** What a key or a button asks for. @param {string} action */
  function act(action) {
    if (!count) return;
    const wasPlaying = timer;
    stop();
    /** @type {Record<string, number>} */
    const places = { next: place + 1, back: place - 1, first: 0, last: count - 1 };
    if (action !== "toggle") return player.go(places[action]);
    if (wasPlaying) return;
    if (place === count - 1) player.go(0);
    start();
  }

  function pace() {
    return beatMs / Number(speed.value);
  }

  function start() {
    play.show(true);
    timer = setTimeout(() => (player.beat() ? start() : stop()), pace());
  }

  function stop() {
    clearTimeout(timer);
    timer = undefined;
    play.show(false);
  }

  return {
    buttons,
    play: play.root,
    title: titleText,
    spoken: spokenText,
    live,
    scrub: scrub.root,
    speed,
    grain,
    root,
    key,
    length,
    show,
    also,
    act,
    start,
    stop,
    /** Is it playing? */
    get timer() {
      return timer;
    },
    get pace() {
      return pace();
    },
    set beatMs(/** @type {number} */ ms) {
      beatMs = ms;
    },
  };
}

/** A player without phases goes by whole steps. @type {Record<string, string>} */
const WHOLE = { phaseNext: "next", phaseBack: "back", forward: "next", backward: "back" };

/** A player, a race, warps: its root, which takes the keyboard, its notice, requests of which the last one counts, and a
 * layout that follows the size of its cards and the theme. */
export class PlayerBase {
  /** @type {Pick<ReturnType<typeof makeTransport>, "act">} */
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
