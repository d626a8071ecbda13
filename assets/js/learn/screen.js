// A screen of the Learn page made live: widgets, questions, pieces of code; in a lesson also its way and its closed controls.

import { all, around, el, find, findVisible, get, isPresenting, set } from "../lib/dom.js";
import { clamp } from "../lib/format.js";
import { ARROWS } from "../lib/keys.js";
import { LEFT_LESSON, tabStorage } from "../lib/storage.js";
import { makeClaims } from "./claims.js";
import { advised, choosePath, chosenPath, COURSE, ending } from "./path.js";
import { makeQuestion } from "./questions.js";
import { t } from "./texts.js";
import { makeWidget, settle } from "./widget.js";

/** @import { Values } from "./types.js" */
/** @import { Progress } from "./progress.js" */
/** @import { Router } from "./router.js" */
/** @typedef {{progress: Progress, router: Router}} Context */

/** @typedef {ReturnType<typeof makeScreen>} Screen */

/** Make a screen live. @param {HTMLElement} root @param {Context} context */
export function makeScreen(root, { progress, router: { outline } }) {
  const key = root.dataset.key ?? "";
  /** @type {Map<Element, ReturnType<typeof makeWidget>>} */
  const widgets = new Map();
  /** Of a lecture: values of the widgets, and whether their others are as at first. @type {Values | null} */
  let state = null;
  let isFresh = false;
  let isLast = false; // of the reader's path
  /** The dots of all lessons, and the keys of their questions. */
  const dots = all(root, ".fa-dot");
  const asks = new Map(dots.map(({ dataset }) => [dataset.lesson, dataset.asks ?? ""]));
  const isDone = (/** @type {string | undefined} */ lesson) =>
    progress.isDone(asks.get(lesson) ?? "");
  let isOpen = isDone(key); // its question was answered
  for (const node of all(root, "[data-question]")) makeQuestion(node, progress);
  const list = find(root, ".fa-claims");
  const claims = list && makeClaims(root, list, progress, wake);
  // A widget asks for its blocks when it comes near the screen
  const near = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) start(target);
    },
    { rootMargin: "600px 0px" },
  );
  for (const node of all(root, "[data-widget]")) near.observe(node);
  root.addEventListener("fa:answered", (event) =>
    answered(/** @type {CustomEvent} */ (event).detail),
  );
  root.addEventListener("click", (event) => leave(around(event, "a")));
  for (const fold of all(root, ".fa-lesson-body > .fa-lesson-text > .fa-fold"))
    fold.addEventListener("toggle", () => unfolded(/** @type {HTMLDetailsElement} */ (fold)));
  if (root.matches(".fa-lesson")) followPath();
  const advice = find(root, ".fa-advice");
  if (advice) {
    advise();
    progress.listeners.push(advise);
  }
  settle(root);

  /** @param {Element} node @returns {Promise<void>} resolves when the widget has its blocks */
  function start(node) {
    near.unobserve(node);
    const there = widgets.get(node);
    if (there) return there.loaded;
    const widget = makeWidget(/** @type {HTMLElement} */ (node), state, isFresh);
    widgets.set(node, widget);
    if (isOpen) widget.open();
    return widget.loaded;
  }

  /** Starts every widget, seen or not; resolves when all have answered. */
  function wake(part = root) {
    return Promise.all(all(part, "[data-widget]").map(start));
  }

  /** Gives the widgets the values of a lecture, if fresh without what the reader did with the other controls; null gives back
   * the reader's. @param {Values | null} values */
  function present(values, fresh = false) {
    state = values;
    isFresh = fresh;
    for (const widget of widgets.values()) widget.present(values, fresh);
  }

  /** Shows the lesson's dots, and the stops before and after on the reader's path. */
  function followPath() {
    const path = chosenPath();
    const stops = outline.paths[path] ?? [];
    const at = stops.indexOf(key);
    if (at >= 0) {
      link(".fa-lesson-back", stops[at - 1]);
      link(".fa-lesson-next", stops[at + 1]);
      isLast = at === stops.length - 1;
    }
    if (at >= 0 && path !== COURSE) {
      root.classList.add("is-on-path");
      const place = { path: outline.ends[path][0], k: at + 1, n: stops.length };
      get(root, ".fa-lesson-place").textContent = t("path.place", place);
    }
    addKeys();
    showProgress();
    progress.listeners.push(showProgress);
  }

  /** A lesson's number and title. @param {string} lesson */
  function titleOf(lesson) {
    return outline.lessons[lesson].join(" ");
  }

  /** Lets an arrow of the last line lead to a lesson or to the map.
   * @param {string} selector @param {string | undefined} lesson @param {string | null} path that it is the first step of */
  function link(selector, lesson, path = null) {
    const node = get(root, selector);
    const query = lesson ? `&lesson=${lesson}` : "";
    set(node, { href: `?page=learn${query}`, "data-path": path });
    get(node, ":scope > *").textContent = lesson ? titleOf(lesson) : t("map");
  }

  /** At the end of a path: says what is known now, and the path to go next. */
  function showEnd() {
    const end = isLast ? ending(outline, chosenPath(), isDone, advised(outline, progress)) : null;
    find(root, ".fa-path-end")?.remove();
    if (!end) return;
    const line = el("p.fa-path-end", `${end.done} `);
    find(root, ".fa-check")?.after(line);
    if (!end.next) return;
    const { key: lesson, path, words } = end.next;
    const href = `?page=learn&lesson=${lesson}`;
    line.append(
      `${t("path.then")} `,
      el("a", { href, "data-path": path, text: titleOf(lesson) }),
      t("path.where", { where: words }),
    );
    link(".fa-lesson-next", lesson, path);
  }

  /** Says where the self-test leads. */
  function advise() {
    const lesson = advised(outline, progress);
    const href = `?page=learn&lesson=${lesson}`;
    if (lesson)
      advice?.replaceChildren(`${t("advice")} `, el("a", { href, text: titleOf(lesson) }), ".");
  }

  /** The dots are one stop for the keyboard: arrows go along. */
  function addKeys() {
    for (const [k, dot] of dots.entries()) {
      dot.tabIndex = dot.dataset.lesson === key ? 0 : -1;
      dot.addEventListener("keydown", (event) => {
        const [, by] = ARROWS[event.key] ?? [];
        if (!by || isPresenting()) return;
        event.preventDefault();
        dots[clamp(k + by, 0, dots.length - 1)].focus();
      });
    }
  }

  function showProgress() {
    for (const dot of dots) {
      const { lesson, name } = dot.dataset;
      const done = isDone(lesson);
      dot.classList.toggle("is-done", done);
      set(dot, { "aria-label": `${name}${done ? `, ${t("answered")}` : ""}` });
    }
    find(root, ".fa-lesson-next")?.classList.toggle("is-main", isDone(key));
    showEnd();
  }

  /** After its question what was closed is open. @param {{key: string, right: boolean}} answer */
  function answered({ key: question, right }) {
    if (question !== asks.get(key) || !right || isOpen) return;
    isOpen = true;
    for (const widget of widgets.values()) widget.open();
  }

  /** A link to another page of the app remembers the way back; one to another path is that path's first step.
   * @param {HTMLElement | null} to */
  function leave(to) {
    if (to?.dataset.path) choosePath(to.dataset.path);
    const names = outline.lessons[key];
    const href = to?.getAttribute("href") ?? "";
    if (names && href.startsWith("?") && new URLSearchParams(href).get("page") !== "learn")
      tabStorage.set(LEFT_LESSON, JSON.stringify([key, ...names]));
  }

  return {
    claims,
    wake,
    present,
    end: () => near.disconnect(),
    /** The widget that a lecture's keys move. */
    get widget() {
      const node = findVisible(root, "[data-widget]");
      return node && widgets.get(node);
    },
  };
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
