// A screen of the Learn page made live: widgets, questions, pieces of code; in a lesson also its way and its closed controls.

import { all, around, el, find, findVisible, get, set } from "../lib/dom.js";
import { clamp } from "../lib/format.js";
import { LEFT_LESSON, tabStorage } from "../lib/storage.js";
import { Claims } from "./claims.js";
import { advised, choosePath, chosenPath, COURSE, ending } from "./path.js";
import { Question } from "./questions.js";
import { t } from "./texts.js";
import { settle, Widget } from "./widget.js";

/** @import { Values } from "./types.js" */
/** @import { Progress } from "./progress.js" */
/** @import { Router } from "./router.js" */
/** @typedef {{progress: Progress, router: Router, isPresented: () => boolean}} Context */

export class Screen {
  /** @param {HTMLElement} root @param {Context} context */
  constructor(root, context) {
    this.root = root;
    this.context = context;
    this.key = root.dataset.key ?? "";
    /** @type {Map<Element, Widget>} */
    this.widgets = new Map();
    /** Of a lecture: values of the widgets, and whether their others are as at first. @type {Values | null} */
    this.state = null;
    this.isFresh = false;
    this.isOpen = false; // its question was answered
    this.isLast = false; // of the reader's path
    this.asks = ""; // the key of its question
    const { progress } = context;
    for (const node of all(root, "[data-question]")) new Question(node, progress);
    const claims = find(root, ".fa-claims");
    this.claims = claims && new Claims(root, claims, progress, this);
    // A widget asks for its blocks when it comes near the screen
    this.near = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) if (isIntersecting) this.start(target);
      },
      { rootMargin: "600px 0px" },
    );
    for (const node of all(root, "[data-widget]")) this.near.observe(node);
    root.addEventListener("fa:answered", (event) =>
      this.answered(/** @type {CustomEvent} */ (event).detail),
    );
    root.addEventListener("click", (event) => this.leave(around(event, "a")));
    for (const fold of all(root, ".fa-lesson-body > .fa-lesson-text > .fa-fold"))
      fold.addEventListener("toggle", () => unfolded(/** @type {HTMLDetailsElement} */ (fold)));
    if (root.matches(".fa-lesson")) this.followPath();
    const advice = find(root, ".fa-advice");
    if (advice) {
      this.advise(advice);
      progress.listeners.push(() => this.advise(advice));
    }
    settle(root);
  }

  /** @param {Element} node @returns {Promise<void>} resolves when the widget has its blocks */
  start(node) {
    this.near.unobserve(node);
    const there = this.widgets.get(node);
    if (there) return there.loaded;
    const widget = new Widget(/** @type {HTMLElement} */ (node), this.state, this.isFresh);
    this.widgets.set(node, widget);
    if (this.isOpen) widget.open();
    return widget.loaded;
  }

  /** Starts every widget, seen or not; resolves when all have answered. */
  wake(root = this.root) {
    return Promise.all(all(root, "[data-widget]").map((node) => this.start(node)));
  }

  /** Gives the widgets the values of a lecture, if fresh without what the reader did with the other controls; null gives back
   * the reader's. @param {Values | null} state */
  present(state, isFresh = false) {
    this.state = state;
    this.isFresh = isFresh;
    for (const widget of this.widgets.values()) widget.present(state, isFresh);
  }

  /** The widget that a lecture's keys move. */
  get widget() {
    const node = findVisible(this.root, "[data-widget]");
    return node && this.widgets.get(node);
  }

  /** The dots of all lessons. */
  get dots() {
    return all(this.root, ".fa-dot");
  }

  get outline() {
    return this.context.router.outline;
  }

  /** @param {string | undefined} question its key */
  isDone(question) {
    return this.context.progress.isDone(question ?? "");
  }

  /** Shows the lesson's dots, and the stops before and after on the reader's path. */
  followPath() {
    const { paths, ends } = this.outline;
    this.asks = this.dots.find((dot) => dot.dataset.lesson === this.key)?.dataset.asks ?? "";
    this.isOpen = this.isDone(this.asks);
    const path = chosenPath();
    const stops = paths[path] ?? [];
    const at = stops.indexOf(this.key);
    if (at >= 0) {
      this.link(".fa-lesson-back", stops[at - 1]);
      this.link(".fa-lesson-next", stops[at + 1]);
    }
    if (at >= 0 && path !== COURSE) {
      this.root.classList.add("is-on-path");
      const text = t("path.place", { path: ends[path][0], k: at + 1, n: stops.length });
      set(get(this.root, ".fa-lesson-place"), { text });
    }
    this.isLast = at >= 0 && at === stops.length - 1;
    this.addKeys();
    this.showProgress();
    this.context.progress.listeners.push(() => this.showProgress());
  }

  /** A lesson's number and title. @param {string} key */
  titleOf(key) {
    return this.outline.lessons[key].join(" ");
  }

  /** Lets an arrow of the last line lead to a lesson or to the map.
   * @param {string} selector @param {string | undefined} lesson @param {string | null} path that it is the first step of */
  link(selector, lesson, path = null) {
    const node = get(this.root, selector);
    const query = lesson ? `&lesson=${lesson}` : "";
    set(node, { href: `?page=learn${query}`, "data-path": path });
    if (node.firstElementChild)
      set(node.firstElementChild, { text: lesson ? this.titleOf(lesson) : t("map") });
  }

  /** At the end of a path: says what is known now, and the path to go next. */
  showEnd() {
    const asks = new Map(this.dots.map((dot) => [dot.dataset.lesson, dot.dataset.asks]));
    const { progress } = this.context;
    const isDone = (/** @type {string} */ key) => this.isDone(asks.get(key));
    const end = this.isLast
      ? ending(this.outline, chosenPath(), isDone, advised(this.outline, progress))
      : null;
    find(this.root, ".fa-path-end")?.remove();
    if (!end) return;
    const line = el("p.fa-path-end", `${end.done} `);
    find(this.root, ".fa-check")?.after(line);
    if (!end.next) return;
    const { key, path, words } = end.next;
    const href = `?page=learn&lesson=${key}`;
    line.append(
      `${t("path.then")} `,
      el("a", { href, "data-path": path, text: this.titleOf(key) }),
      t("path.where", { where: words }),
    );
    this.link(".fa-lesson-next", key, path);
  }

  /** Says where the self-test leads. @param {HTMLElement} place */
  advise(place) {
    const key = advised(this.outline, this.context.progress);
    const href = `?page=learn&lesson=${key}`;
    if (key)
      place.replaceChildren(`${t("advice")} `, el("a", { href, text: this.titleOf(key) }), ".");
  }

  /** The dots are one stop for the keyboard: arrows go along. */
  addKeys() {
    const { dots } = this;
    for (const [k, dot] of dots.entries()) {
      dot.tabIndex = dot.dataset.lesson === this.key ? 0 : -1;
      dot.addEventListener("keydown", (event) => {
        const by = Number(event.key === "ArrowRight") - Number(event.key === "ArrowLeft");
        if (!by || this.context.isPresented()) return;
        event.preventDefault();
        dots[clamp(k + by, 0, dots.length - 1)].focus();
      });
    }
  }

  showProgress() {
    for (const dot of this.dots) {
      const done = this.isDone(dot.dataset.asks);
      dot.classList.toggle("is-done", done);
      set(dot, { "aria-label": `${dot.dataset.name}${done ? `, ${t("answered")}` : ""}` });
    }
    find(this.root, ".fa-lesson-next")?.classList.toggle("is-main", this.isDone(this.asks));
    this.showEnd();
  }

  /** After its question what was closed is open. @param {{key: string, right: boolean}} answer */
  answered({ key, right }) {
    if (key !== this.asks || !right || this.isOpen) return;
    this.isOpen = true;
    for (const widget of this.widgets.values()) widget.open();
  }

  /** A link to another page of the app remembers the way back; one to another path is that path's first step.
   * @param {HTMLElement | null} link */
  leave(link) {
    if (link?.dataset.path) choosePath(link.dataset.path);
    const names = this.outline.lessons[this.key];
    const href = link?.getAttribute("href") ?? "";
    if (names && href.startsWith("?") && new URLSearchParams(href).get("page") !== "learn")
      tabStorage.set(LEFT_LESSON, JSON.stringify([this.key, ...names]));
  }

  end() {
    this.near.disconnect();
  }
}

/** What was folded is read from its beginning, and by the arrow keys where it is longer than its place.
 * @param {HTMLDetailsElement} fold */
function unfolded(fold) {
  const place = /** @type {HTMLElement} */ (fold.parentElement);
  if (fold.open)
    place.scrollTop += fold.getBoundingClientRect().top - place.getBoundingClientRect().top;
  if (fold.open && place.scrollHeight > place.clientHeight) place.tabIndex = 0;
  else place.removeAttribute("tabindex");
}
