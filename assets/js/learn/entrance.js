// The entrance: the paths over one map, how far each is done, and where it goes on.

import { all, el, get, set } from "../lib/dom.js";
import { sum } from "../lib/lists.js";
import { download } from "../lib/save.js";
import { advised, choosePath, chosenPath, COURSE, ending, nextPath, nextStop } from "./path.js";
import { t } from "./texts.js";

/** @import { Context } from "./screen.js" */
/** @import { IsDone } from "./path.js" */

/** Make the map and its paths live. @param {HTMLElement} root @param {Context} context */
export function makeEntrance(root, { progress, router: { outline } }) {
  /** The stops of the map by their lessons' keys. @type {Map<string, HTMLElement>} */
  const stops = new Map(all(root, ".fa-halt").map((node) => [node.dataset.lesson ?? "", node]));
  const cards = all(root, ".fa-path");
  for (const card of cards)
    for (const node of all(card, "button, a"))
      node.addEventListener("click", () => choose(card.dataset.path ?? ""));
  const own = get(root, ".fa-own-answers");
  get(own, ".fa-forget").onclick = () => progress.clear();
  get(own, ".fa-hand-in").onclick = () =>
    download(progress.file(outline.lessons), "flashattention-answers.json");
  progress.listeners.push(show);
  root.dataset.path = chosenPath();
  show();

  /** @param {string} path */
  function choose(path) {
    choosePath(path);
    root.dataset.path = path;
    show();
  }

  /** Shows how far each path is done, and where each goes on. */
  function show() {
    const chosen = root.dataset.path ?? "";
    const start = advised(outline, progress);
    /** @type {IsDone} */
    const isDone = (key) => progress.isDone(stops.get(key)?.dataset.asks ?? "");
    for (const [key, node] of stops) {
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
    for (const card of cards) showPath(card, isDone, main, start);
    own.hidden = !Object.keys(progress.answers).length;
  }

  /** Shows how far a path is done, and where it goes on; the one to go next has the filled button.
   * @param {HTMLElement} card @param {IsDone} isDone @param {string | null} main the path to go next @param {string} start */
  function showPath(card, isDone, main, start) {
    const path = card.dataset.path ?? "";
    const keys = outline.paths[path];
    const left = keys.filter((key) => !isDone(key));
    const next = nextStop(outline, path, isDone, start);
    const minutes = left.map((key) => Number(stops.get(key)?.dataset.minutes));
    const share = { done: keys.length - left.length, n: keys.length };
    const isBegun = left.length < keys.length;
    const isChosen = path === root.dataset.path;
    card.classList.toggle("is-chosen", isChosen);
    set(get(card, "h3 button"), { "aria-pressed": isChosen });
    set(get(card, "meter"), { value: share.done });
    get(card, ".fa-path-done").textContent =
      isChosen && next && isBegun
        ? t("path.left", { ...share, minutes: sum(minutes) })
        : t("path.share", share);
    const words = get(card, "p");
    words.dataset.words ??= words.textContent;
    words.textContent = ending(outline, path, isDone, start)?.done ?? words.dataset.words;
    const [number, title] = outline.lessons[next ?? keys[0]] ?? ["", ""];
    const text = next ? t(isBegun ? "path.next" : "path.first", { number }) : t("path.again");
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
