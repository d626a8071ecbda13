// The entrance: the paths over one map, how far each is done, and where it goes on.

import { all, el, get, set } from "../lib/dom.js";
import { download } from "../lib/save.js";
import { advised, choosePath, chosenPath, COURSE, ending, nextPath, nextStop } from "./path.js";
import { t } from "./texts.js";

/** @import { Outline } from "./types.js" */
/** @import { Progress } from "./progress.js" */
/** @import { IsDone } from "./path.js" */

export class Entrance {
  /** @param {HTMLElement} root @param {{progress: Progress, outline: Outline}} context */
  constructor(root, { progress, outline }) {
    this.root = root;
    this.progress = progress;
    this.outline = outline;
    /** The stops of the map by their lessons' keys. @type {Map<string, HTMLElement>} */
    this.stops = new Map(all(root, ".fa-halt").map((node) => [node.dataset.lesson ?? "", node]));
    this.cards = all(root, ".fa-path");
    for (const card of this.cards)
      for (const node of all(card, "button, a"))
        node.addEventListener("click", () => this.choose(card.dataset.path ?? ""));
    this.own = get(root, ".fa-own-answers");
    get(this.own, ".fa-forget").onclick = () => progress.clear();
    get(this.own, ".fa-hand-in").onclick = () =>
      download(progress.file(outline.lessons), "flashattention-answers.json");
    progress.listeners.push(() => this.show());
    this.root.dataset.path = chosenPath();
    this.show();
  }

  /** @param {string} path */
  choose(path) {
    choosePath(path);
    this.root.dataset.path = path;
    this.show();
  }

  /** Shows how far each path is done, and where each goes on. */
  show() {
    const { outline, progress } = this;
    const chosen = this.root.dataset.path ?? "";
    const start = advised(outline, progress);
    /** @type {IsDone} */
    const isDone = (key) => progress.isDone(this.stops.get(key)?.dataset.asks ?? "");
    for (const [key, node] of this.stops) {
      const done = isDone(key);
      const name = outline.lessons[key].join(" ");
      const isStop = node.dataset.paths?.split(" ").includes(chosen) && chosen !== COURSE;
      const says = [name, done ? t("answered") : "", key === start ? t("start") : ""];
      node.classList.toggle("is-done", done);
      node.classList.toggle("is-stop", Boolean(isStop));
      node.classList.toggle("is-start", key === start);
      set(node, { "aria-label": says.filter(Boolean).join(", ") });
    }
    const main = nextPath(outline, chosen, isDone, start);
    for (const card of this.cards) this.showPath(card, isDone, main, start);
    this.own.hidden = !Object.keys(progress.answers).length;
  }

  /** Shows how far a path is done, and where it goes on; the one to go next has the filled button.
   * @param {HTMLElement} card @param {IsDone} isDone @param {string | null} main the path to go next @param {string} start */
  showPath(card, isDone, main, start) {
    const path = card.dataset.path ?? "";
    const keys = this.outline.paths[path];
    const left = keys.filter((key) => !isDone(key));
    const next = nextStop(this.outline, path, isDone, start);
    const minutes = left.map((key) => Number(this.stops.get(key)?.dataset.minutes));
    const share = { done: keys.length - left.length, n: keys.length };
    const isBegun = left.length < keys.length;
    const isChosen = path === this.root.dataset.path;
    card.classList.toggle("is-chosen", isChosen);
    set(get(card, "h3 button"), { "aria-pressed": isChosen });
    set(get(card, "meter"), { value: share.done });
    set(get(card, ".fa-path-done"), {
      text:
        isChosen && next && isBegun
          ? t("path.left", { ...share, minutes: minutes.reduce((sum, x) => sum + x, 0) })
          : t("path.share", share),
    });
    const words = get(card, "p");
    words.dataset.words ??= words.textContent ?? "";
    set(words, { text: ending(this.outline, path, isDone, start)?.done ?? words.dataset.words });
    const [number, title] = this.outline.lessons[next ?? keys[0]] ?? ["", ""];
    const text = !next
      ? t("path.again")
      : isBegun
        ? t("path.next", { number })
        : t("path.first", { number });
    const lesson = next ? ` ${title}` : "";
    const go = get(card, ":scope > a");
    set(go, {
      href: `?page=learn&lesson=${next ?? keys[0]}`,
      class: next ? `fa-path-go${path === main ? " is-main" : ""}` : "fa-path-again",
      "aria-label": `${text}${lesson}, ${card.getAttribute("aria-label")}`,
    });
    go.replaceChildren(text);
    if (next) go.append(el("span", lesson));
  }
}
