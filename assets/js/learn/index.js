// Mounts the Learn page: the router's screens made live, one at a time; its keys and its links.

import { isOnScreen, onPage, partOpened } from "../site/pages.js";
import { address } from "../site/address.js";
import { all, setPresenting } from "../lib/dom.js";
import { narrowPage } from "../lib/screen.js";
import { lessonOf } from "../model/query.js";
import { MOVE_FOCUS, tabStorage } from "../lib/storage.js";
import { Entrance } from "./entrance.js";
import { mountFind } from "./glossary_search.js";
import { Presentation } from "./presentation.js";
import { provide } from "./pictures.js";
import { Progress } from "./progress.js";
import { printPages } from "./print.js";
import { ENTRANCE, Router } from "./router.js";
import { Screen } from "./lesson.js";
import { QuestionPanel } from "./question_panel.js";
import { settle } from "./widget.js";

class Learn {
  constructor(place) {
    this.root = document.createElement("div");
    this.root.className = "fa-run fa-learn";
    this.root.dataset.testid = "learn";
    place.replaceChildren(this.root);
    this.progress = new Progress();
    this.router = new Router((key, html, how) => this.show(key, html, how));
    this.abort = new AbortController();
    this.hall = new Presentation(this);
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
    this.root.addEventListener("fa:blocks", () => this.hall.fit());
  }

  async start() {
    if (!isOnScreen("learn")) await onPage("learn");
    await this.router.start();
    const size = new ResizeObserver(() => {
      if (!this.root.offsetHeight) return;
      size.disconnect();
      partOpened("learn");
      if (tabStorage.get(MOVE_FOCUS)) this.heading();
      this.hall.follow();
    });
    size.observe(this.root);
  }

  /** A screen has come: it takes the place of the one before, and its heading has the keyboard. */
  show(key, html, { moved, back }) {
    this.screen?.end();
    this.progress.listeners = [];
    this.root.innerHTML = html;
    this.root.dataset.screen = key;
    const node = this.root.firstElementChild;
    const context = {
      progress: this.progress,
      router: this.router,
      outline: this.router.outline,
      inHall: () => this.hall.on,
    };
    this.screen = new Screen(node, context);
    if (key === ENTRANCE) new Entrance(node, context);
    mountFind(node);
    this.lay();
    if (moved) window.scrollTo(0, 0);
    if (moved || tabStorage.get(MOVE_FOCUS)) this.heading();
    this.hall.shown({ back });
  }

  /** The screen's heading has the keyboard, once it can be seen. */
  heading() {
    const title = this.root.querySelector("h2");
    title?.focus({ preventScroll: true });
    if (title && document.activeElement === title) tabStorage.set(MOVE_FOCUS, "");
  }

  /** To a part of the screen: its heading, or what it asks first. */
  jump(selector) {
    const part = this.root.querySelector(selector);
    const first = part.matches("[tabindex]")
      ? part
      : all(part, "input, select, button").find(
          (node) => node.tabIndex >= 0 && node.checkVisibility(),
        );
    first?.focus();
    if (first?.matches("[type=text]")) first.select(); // what was typed gives way to what is typed
  }

  /** On a phone the question is a sheet from below. */
  lay() {
    this.root.classList.toggle("is-phone", this.narrow.matches);
    const question = this.root.querySelector(".fa-lesson > .fa-lesson-body > .fa-question");
    if (question) QuestionPanel.lay(question, this.narrow.matches);
  }

  /** Links of this page change its screen; those of the handout print it. */
  clicked(event) {
    const { target } = event;
    if (target.closest(".fa-to-hall")) return this.present();
    const jump = target.closest("[data-jump]");
    if (jump) return this.jump(jump.dataset.jump);
    const sheets = target.closest("[data-print]");
    if (sheets) return printPages(this, sheets.dataset.print);
    const link = target.closest("a[href^='?']");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return undefined;
    const query = new URLSearchParams(link.search);
    if (query.get("page") !== "learn") return undefined;
    event.preventDefault();
    this.router.go(this.router.keyOf(lessonOf(link.search)));
    return query.get("mode") === "present" && this.present({ path: query.get("path") });
  }

  /** In a lecture hall, whose slides are those of a path or a session; without a word of it as the address says. */
  present(list = {}) {
    setPresenting(true);
    address.write({ mode: "present", ...list });
    address.flush();
  }

  key(event) {
    if (
      !isOnScreen("learn") ||
      event.defaultPrevented ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    )
      return;
    if (this.hall.on) return this.hall.key(event);
    const typing = event.target.closest?.("input, select, textarea, [role=slider], dialog");
    if (!typing && this.screen?.claims?.key(event)) event.preventDefault();
  }
}

const mounted = new WeakMap();

/** Called once or more often, with the element that holds the page; `how` fetches the pictures' modules. */
export function mountLearn({ element, ...how }) {
  provide(how);
  const place = element.querySelector(".fa-mount");
  if (mounted.get(element) === place) return;
  mounted.set(element, place);
  new Learn(place).start();
}
