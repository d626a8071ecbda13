// A page that is one picture: a headline and a sentence above it, switches beside them, the words of its problem below. Its keys work as soon
// as it is on screen, and More saves its picture.

import { el } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { actionOf, isTaken } from "../lib/keys.js";
import { download, frameOf } from "../lib/save.js";
import { present } from "../site/presentation.js";
import { PlayerBase, iconButton } from "../views/transport.js";
import { t } from "./texts.js";

/** @typedef {{element: HTMLElement, props?: {value: string}, watch?: (name: string, changed: () => void) => void, trigger?: (event: string) => void}} Component */

const WITHOUT = ".fa-story-bar, .fa-story-more, .fa-run-plain, .fa-key-leave"; // a saved picture

/** What a page has of its own: `file` is the name of a saved picture, and the words below it.
 * @typedef {Pick<PlayerBase, "isReady" | "layout"> & {act: (action: string) => unknown, file: () => [name: string, words: string]}} Own */

/** Make a page in its place. @param {HTMLElement} mount @param {string} look its class @param {Record<string, string>} attributes @param {Own} own */
export function makePicturePage(mount, look, attributes, own) {
  const base = new PlayerBase({ class: `fa-picture-page ${look}`, ...attributes }, own);
  const { root, notice } = base;
  const headline = el("h2.fa-story-headline");
  const sentence = el("p.fa-story-sentence");
  const switches = el("div.fa-story-switches");
  const words = el("div.fa-story-words");
  const leave = iconButton("leave", t("leave"), () => present(false));
  root.append(el("header.fa-story-head", [headline, switches, sentence]), leave, notice);
  mount.replaceChildren(root);
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || isTaken(event) || !root.checkVisibility()) return;
    const action = actionOf(event);
    // false where it is for nothing here
    if (!action || !own.isReady || own.act(action) === false) return;
    event.preventDefault();
  });
  listen("fa:save", async (/** @type {string} */ kind) => {
    if ((kind !== "png" && kind !== "svg") || !root.checkVisibility()) return;
    const [name, text] = own.file();
    const file = await frameOf(root, kind, text, WITHOUT);
    download(/** @type {Blob} */ (file), `${name}.${kind}`);
  });
  return { base, root, headline, sentence, switches, words };
}
