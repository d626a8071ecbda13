// A page that is one picture: a headline and a sentence above it, switches beside them, the words of its problem below. Its keys work as soon
// as it is on screen, and More saves its picture.

import { el, set } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { actionOf, isTaken } from "../lib/keys.js";
import { download, frameOf } from "../lib/save.js";
import { present } from "../site/presentation.js";
import { PlayerBase, iconButton } from "../views/transport.js";
import { t } from "./texts.js";

/** @typedef {{element: HTMLElement, props?: {value: string}, watch?: (name: string, changed: () => void) => void, trigger?: (event: string) => void}} Component */

const WITHOUT = ".fa-story-bar, .fa-story-more, .fa-run-plain, .fa-key-leave"; // a saved picture

export class PicturePage extends PlayerBase {
  /** @param {HTMLElement} mount @param {string} look its class @param {Record<string, string>} attributes */
  constructor(mount, look, attributes) {
    super({ class: `fa-picture-page ${look}`, ...attributes });
    this.headline = el("h2.fa-story-headline");
    this.sentence = el("p.fa-story-sentence");
    this.switches = el("div.fa-story-switches");
    this.words = el("div.fa-story-words");
    const head = el("header.fa-story-head", [this.headline, this.switches, this.sentence]);
    const leave = iconButton("leave", t("leave"), () => present(false));
    this.root.append(head, leave, this.notice);
    mount.replaceChildren(this.root);
    document.addEventListener("keydown", (event) => this.keyed(event));
    listen("fa:save", (/** @type {string} */ kind) => this.save(kind));
  }

  /** The name of a saved picture, and the words below it. @returns {[name: string, words: string]} */
  get file() {
    return ["", ""];
  }

  /** @param {string} headline @param {string} sentence */
  say(headline, sentence) {
    set(this.headline, { text: headline });
    set(this.sentence, { text: sentence });
  }

  /** @param {KeyboardEvent} event */
  keyed(event) {
    if (event.defaultPrevented || isTaken(event) || !this.root.checkVisibility()) return;
    const action = actionOf(event);
    if (!action || !this.isReady || this.act(action) === false) return;
    event.preventDefault();
  }

  /** @param {string} action of a key or of a button @returns {unknown} false where it is for nothing here */
  act(action) {
    return Boolean(action);
  }

  /** @param {string} kind */
  async save(kind) {
    if ((kind !== "png" && kind !== "svg") || !this.root.checkVisibility()) return;
    const [name, words] = this.file;
    const file = await frameOf(this.root, kind, words, WITHOUT);
    download(/** @type {Blob} */ (file), `${name}.${kind}`);
  }
}
