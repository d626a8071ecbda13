// Mounts the Learn page: the router's screens made live, one at a time; its keys and its links.

import { all, around, find, findVisible, get, setPresenting, targetOf } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { isElsewhere, isShortcut } from "../lib/keys.js";
import { download, frameOf } from "../lib/save.js";
import { narrowPage } from "../lib/screen.js";
import { MOVE_FOCUS, tabStorage } from "../lib/storage.js";
import { lessonOf } from "../model/query.js";
import { address, readAddress } from "../site/address.js";
import { wayOut } from "../site/embed.js";
import { isOnScreen, onPage, partOpened } from "../site/pages.js";
import { copyCode } from "./blocks.js";
import { Entrance } from "./entrance.js";
import { mountGlossarySearch } from "./glossary_search.js";
import { provide } from "./pictures.js";
import { Presentation } from "./presentation.js";
import { printPages } from "./print.js";
import { Progress, setSolutions } from "./progress.js";
import { layQuestionPanel } from "./question_panel.js";
import { ENTRANCE, Router } from "./router.js";
import { Screen } from "./screen.js";
import { settle } from "./widget.js";

/** @import { Loaders } from "./pictures.js" */
/** @import { Move } from "./router.js" */

export class Learn {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.root = document.createElement("div");
    this.root.className = "fa-run fa-learn";
    this.root.dataset.testid = "learn";
    place.replaceChildren(this.root, wayOut() ?? "");
    setSolutions(readAddress("solutions"));
    this.progress = new Progress();
    this.router = new Router((key, html, move) => this.show(key, html, move));
    this.abort = new AbortController();
    /** @type {Screen | null} */
    this.screen = null;
    this.presentation = new Presentation(this);
    this.narrow = narrowPage();
    this.narrow.addEventListener("change", () => this.lay());
    this.root.addEventListener("click", (event) => this.clicked(event));
    const { signal } = this.abort;
    document.addEventListener(
      "keydown",
      (event) => (this.root.isConnected ? this.key(event) : this.abort.abort()),
      { signal },
    );
    window.addEventListener("resize", () => settle(this.root), { signal });
    this.root.addEventListener("fa:blocks", () => this.presentation.fit());
    listen("fa:save", (/** @type {string} */ kind) => this.save(kind));
  }

  async start() {
    if (!isOnScreen("learn")) await onPage("learn");
    await this.router.start();
    const size = new ResizeObserver(() => {
      if (!this.root.offsetHeight) return;
      size.disconnect();
      partOpened("learn");
      if (tabStorage.get(MOVE_FOCUS)) this.focusHeading();
      this.presentation.follow();
    });
    size.observe(this.root);
  }

  /** Shows a screen in the place of the one before; its heading has the keyboard.
   * @param {string} key @param {string} html @param {Move} move */
  show(key, html, { moved, back }) {
    this.screen?.end();
    this.progress.listeners = [];
    this.root.innerHTML = html;
    this.root.dataset.screen = key;
    const node = get(this.root, ":scope > *");
    const { progress, router } = this;
    this.screen = new Screen(node, {
      progress,
      router,
      isPresented: () => this.presentation.isOn,
    });
    if (key === ENTRANCE) new Entrance(node, { progress, outline: router.outline });
    mountGlossarySearch(node);
    this.lay();
    if (moved) window.scrollTo(0, 0);
    if (moved || tabStorage.get(MOVE_FOCUS)) this.focusHeading();
    this.presentation.show({ back });
  }

  /** Gives the screen's heading the keyboard, once it can be seen. */
  focusHeading() {
    const title = find(this.root, "h2");
    title?.focus({ preventScroll: true });
    if (title && document.activeElement === title) tabStorage.set(MOVE_FOCUS, "");
  }

  /** Moves the keyboard to a part of the screen: its heading, or its first field. @param {string} selector */
  jump(selector) {
    const part = get(this.root, selector);
    const field = part.matches("[tabindex]")
      ? part
      : all(part, "input, select, button").find(
          (node) => node.tabIndex >= 0 && node.checkVisibility(),
        );
    field?.focus();
    if (field instanceof HTMLInputElement && field.type === "text") field.select(); // what was typed gives way to what is typed
  }

  /** Lays the screen out for this window: on a phone the question is a panel from below. */
  lay() {
    this.root.classList.toggle("is-phone", this.narrow.matches);
    const question = find(this.root, ".fa-lesson > .fa-lesson-body > .fa-question");
    if (question) layQuestionPanel(question, this.narrow.matches);
  }

  /** Links of this page change its screen; those of the handout print it. @param {MouseEvent} event */
  clicked(event) {
    if (around(event, ".fa-to-present")) return this.present();
    const copy = around(event, "[data-copy-code]");
    if (copy) return copyCode(copy);
    const { jump } = around(event, "[data-jump]")?.dataset ?? {};
    if (jump) return this.jump(jump);
    const { print } = around(event, "[data-print]")?.dataset ?? {};
    if (print) return void printPages(this, print);
    const query = around(event, "a[href^='?']")?.getAttribute("href");
    const params = new URLSearchParams(query ?? "");
    if (!query || isElsewhere(event) || params.get("page") !== "learn") return;
    if (params.has("solutions")) return; // the page opens anew
    event.preventDefault();
    this.router.go(this.router.keyOf(lessonOf(query)));
    if (params.get("mode") === "present") this.present({ path: params.get("path") });
  }

  /** Presents in presentation mode, with the slides of a path or a session; by default what the address says.
   * @param {{path?: string | null}} list */
  present(list = {}) {
    setPresenting(true);
    address.write({ mode: "present", ...list });
    address.flush();
  }

  /** Saves the lesson's picture, or a screen that has none as a whole. @param {string} kind */
  async save(kind) {
    if ((kind !== "png" && kind !== "svg") || !this.root.checkVisibility()) return;
    const screen = get(this.root, ":scope > *");
    const picture = findVisible(screen, ".fa-lesson-body .fa-blocks") ?? screen;
    const words = all(screen, "h2, .fa-ground").map(({ textContent }) => textContent?.trim());
    const file = await frameOf(picture, kind, words.join(". "), ".fa-screen-foot");
    download(/** @type {Blob} */ (file), `flashattention-${this.router.key}.${kind}`);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!isOnScreen("learn") || event.defaultPrevented || isShortcut(event)) return;
    if (this.presentation.isOn) return this.presentation.key(event);
    const typing = targetOf(event).closest?.("input, select, textarea, [role=slider], dialog");
    if (!typing && this.screen?.claims?.key(event)) event.preventDefault();
  }
}

/** @type {WeakMap<Element, Element>} */
const mounted = new WeakMap();

/** Mounts the page once in the element that holds it; `pictures` fetch their modules.
 * @param {{element: HTMLElement} & Loaders} component */
export function mountLearn({ element, ...pictures }) {
  provide(pictures);
  const place = get(element, ".fa-mount");
  if (mounted.get(element) === place) return;
  mounted.set(element, place);
  new Learn(place).start();
}
