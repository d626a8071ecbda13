// A screen of the Learn page made live: widgets, questions, pieces of code; on a lesson also its way and its closed controls.

import { clamp } from "../lib/format.js";
import { all, el, set } from "../lib/dom.js";
import { draw } from "./blocks.js";
import { Claims } from "./claims.js";
import { choosePath, chosenPath, COURSE, ending } from "./path.js";
import { LEFT_LESSON, tabStorage } from "../lib/storage.js";
import { Question } from "./questions.js";
import { settle, Widget } from "./widget.js";
import { t } from "./texts.js";

export class Screen {
  constructor(root, context) {
    Object.assign(this, { root, context, widgets: new Map() });
    const { progress } = context;
    for (const node of all(root, "[data-block]"))
      node.replaceChildren(...[draw(JSON.parse(node.dataset.block))].filter(Boolean));
    for (const node of all(root, "[data-question]")) new Question(node, progress);
    const claims = root.querySelector(".fa-claims");
    this.claims = claims && new Claims(root, claims, context, this);
    this.watch();
    root.addEventListener("fa:answered", ({ detail }) => this.answered(detail));
    root.addEventListener("click", ({ target }) => this.leaves(target.closest?.("a")));
    for (const fold of all(root, ".fa-lesson-body > .fa-lesson-text > .fa-fold"))
      fold.addEventListener("toggle", () => unfolded(fold));
    if (root.matches(".fa-lesson")) this.way();
    settle(root);
  }

  /** A widget asks for its blocks when it comes near the screen. */
  watch() {
    this.near = new IntersectionObserver(
      (seen) => seen.filter((one) => one.isIntersecting).forEach((one) => this.start(one.target)),
      { rootMargin: "600px 0px" },
    );
    for (const node of all(this.root, "[data-widget]")) this.near.observe(node);
  }

  start(node) {
    this.near.unobserve(node);
    if (!this.widgets.has(node)) {
      const widget = new Widget(node, this.state, this.fresh);
      this.widgets.set(node, widget);
      if (this.isOpen) widget.open();
    }
    return this.widgets.get(node).loaded;
  }

  /** Starts every widget, seen or not; resolves when all have answered. */
  wake(root = this.root) {
    return Promise.all(all(root, "[data-widget]").map((node) => this.start(node)));
  }

  /** A lecture hall may have another state of the widget, {control: value}, fresh without what the reader did with the other
   * controls; null gives back the reader's. */
  present(state, fresh = false) {
    Object.assign(this, { state, fresh });
    for (const widget of this.widgets.values()) widget.present(state, fresh);
  }

  /** The widget that a lecture hall's keys move. */
  get widget() {
    const node = all(this.root, "[data-widget]").find((one) => one.checkVisibility());
    return node && this.widgets.get(node);
  }

  /** The lesson's dots, and the stops before and after on the reader's path. */
  way() {
    const { router, progress } = this.context;
    const { paths, ends } = router.outline;
    const key = this.root.dataset.key;
    const asks = this.root.querySelector(`.fa-dot[data-lesson="${key}"]`)?.dataset.asks;
    this.isOpen = progress.of(asks) === "right";
    this.asks = asks;
    const path = chosenPath();
    const stops = paths[path] ?? [];
    const at = stops.indexOf(key);
    if (at >= 0) {
      this.leads(".fa-lesson-back", stops[at - 1]);
      this.leads(".fa-lesson-next", stops[at + 1]);
    }
    if (at >= 0 && path !== COURSE) {
      this.root.classList.add("is-on-path");
      set(this.root.querySelector(".fa-lesson-place"), {
        text: t("path.place", { path: ends[path][0], k: at + 1, n: stops.length }),
      });
    }
    this.isLast = at >= 0 && at === stops.length - 1;
    this.steps();
    this.dots();
    progress.listeners.push(() => this.dots());
  }

  /** An arrow of the last line, to a lesson or to the map. */
  leads(selector, lesson, path = null) {
    const node = this.root.querySelector(selector);
    set(node, { href: `?page=learn${lesson ? `&lesson=${lesson}` : ""}`, "data-path": path });
    set(node.firstElementChild, {
      text: lesson ? this.context.router.outline.lessons[lesson].join(" ") : t("map"),
    });
  }

  /** At the end of a path: what is known now, and the path to go next. */
  ends() {
    const asks = new Map(
      all(this.root, ".fa-dot").map((dot) => [dot.dataset.lesson, dot.dataset.asks]),
    );
    const { progress, router } = this.context;
    const end = this.isLast
      ? ending(router.outline, chosenPath(), (key) => progress.of(asks.get(key)) === "right")
      : null;
    this.root.querySelector(".fa-path-end")?.remove();
    if (!end) return;
    const next =
      end.key &&
      el("a", {
        href: `?page=learn&lesson=${end.key}`,
        "data-path": end.path,
        text: router.outline.lessons[end.key].join(" "),
      });
    this.root
      .querySelector(".fa-check")
      ?.after(
        el("p", { class: "fa-path-end" }, [
          `${end.done} `,
          ...(next ? [`${t("path.then")} `, next, t("path.where", { where: end.words })] : []),
        ]),
      );
    if (end.key) this.leads(".fa-lesson-next", end.key, end.path);
  }

  /** The dots are one stop for the keyboard: arrows go along. */
  steps() {
    const all = all(this.root, ".fa-dot");
    for (const [k, dot] of all.entries()) {
      dot.tabIndex = dot.dataset.lesson === this.root.dataset.key ? 0 : -1;
      dot.addEventListener("keydown", (event) => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!by || this.context.inHall()) return;
        event.preventDefault();
        all[clamp(k + by, 0, all.length - 1)].focus();
      });
    }
  }

  dots() {
    const { progress } = this.context;
    for (const dot of all(this.root, ".fa-dot")) {
      const done = progress.of(dot.dataset.asks) === "right";
      dot.classList.toggle("is-done", done);
      set(dot, { "aria-label": `${dot.dataset.name}${done ? t("answered") : ""}` });
    }
    this.root
      .querySelector(".fa-lesson-next")
      ?.classList.toggle("is-main", progress.of(this.asks) === "right");
    this.ends();
  }

  /** After its question what was closed is open. */
  answered({ key, right }) {
    if (key !== this.asks || !right || this.isOpen) return;
    this.isOpen = true;
    for (const widget of this.widgets.values()) widget.open();
  }

  /** A link to another page of the app remembers the way back; one to another path is that path's first step. */
  leaves(link) {
    if (link?.dataset.path) choosePath(link.dataset.path);
    const key = this.root.dataset.key;
    const names = key && this.context.router.outline.lessons[key];
    if (
      names &&
      link?.getAttribute("href")?.startsWith("?") &&
      new URLSearchParams(link.search).get("page") !== "learn"
    )
      tabStorage.set(LEFT_LESSON, JSON.stringify([key, ...names]));
  }

  end() {
    this.near.disconnect();
  }
}

/** What was folded is read from its beginning, and by the arrow keys where it is longer than its place. */
function unfolded(fold) {
  const place = fold.parentElement;
  if (fold.open)
    place.scrollTop += fold.getBoundingClientRect().top - place.getBoundingClientRect().top;
  if (fold.open && place.scrollHeight > place.clientHeight) place.tabIndex = 0;
  else place.removeAttribute("tabindex");
}

/** A line of what went wrong, in a screen's place. */
export const lost = (words) => el("p", { class: "fa-fine", text: words });
