// What every player has, on the Step page, in a race and among warps: its root, which takes the keyboard, its notice,
// requests of which the last one counts, and a layout that follows the size of its cards and the theme.

import { el, onTheme, set } from "../lib/dom.js";
import { actionOf } from "../lib/keys.js";
import { errorText, requestOk } from "../lib/server.js";

/** @import { Attributes } from "../lib/dom.js" */

/** A player without phases goes by whole steps. @type {Record<string, string>} */
const WHOLE = { phaseNext: "next", phaseBack: "back", forward: "next", backward: "back" };

export class PlayerBase {
  /** @type {import("./transport.js").Transport<any>} */
  transport;
  /** @type {AbortController | undefined} */
  request;
  /** The size of the cards in the layout that is shown. @type {string | undefined} */
  laidOut;
  /** Is the key that is handled held down? @type {boolean | undefined} */
  isKeyRepeating;

  /** @param {Attributes} attributes */
  constructor(attributes) {
    this.notified = el("span");
    this.notice = el("p", { class: "fa-notice", role: "alert", hidden: true }, [this.notified]);
    this.root = el("div", { tabindex: 0, role: "group", "aria-busy": "true", ...attributes });
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
    set(this.notified, { text: sentence ?? "" });
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
