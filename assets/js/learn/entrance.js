// The entrance: a self-test that advises where to start, three paths over one map, progress by path.

import { all, button, el, find, get, set } from "../lib/dom.js";
import {
  choosePath,
  chosenPath,
  COURSE,
  ending,
  nextPath,
  nextStop,
  storeAnswers,
  testAnswers,
} from "./path.js";
import { t } from "./texts.js";

/** @import { Outline } from "./types.js" */
/** @import { Progress } from "./progress.js" */
/** @import { IsDone } from "./path.js" */
/** @typedef {{words: string, options: [string, string][], answer: number, start: string, number: string}} TestQuestion */

const FIRST = "1.1"; // the course begins there

/** @param {boolean[]} right */
const countRight = (right) => right.filter(Boolean).length;

/** The test's questions, one after the other. The first one that is not known ends it. */
class SelfTest {
  /** @param {HTMLElement} root @param {() => void} changed */
  constructor(root, changed) {
    /** `after`: [key, number] of the lesson for a reader who knows all.
     * @type {{questions: TestQuestion[], after: [string, string]}} */
    const { questions, after } = JSON.parse(root.dataset.selftest ?? "");
    this.root = root;
    this.changed = changed;
    this.questions = questions;
    this.after = after;
    this.right = testAnswers();
    this.because = ""; // of the last answer
    this.dots = get(root, ".fa-test-dots");
    this.words = get(root, ".fa-test-words");
    this.verdict = get(root, ".fa-test-verdict");
    this.choices = get(root, ".fa-test-answers");
    this.time = get(root, ".fa-test-time");
  }

  get isOver() {
    return this.right.length >= this.questions.length || this.right.includes(false);
  }

  show() {
    const { questions, right, isOver } = this;
    [...this.dots.children].forEach((dot, k) => {
      const now = k === right.length && !isOver ? "is-now" : null;
      set(dot, { class: k < right.length ? (right[k] ? "is-right" : "is-wrong") : now });
    });
    const known = countRight(right);
    set(this.dots, { "aria-label": t("test.known", { known, n: questions.length }) });
    this.time.hidden = isOver;
    this.root.classList.toggle("is-over", isOver);
    const at = right.length - Number(isOver);
    const { words, options } = questions[at];
    const place = t("test.words", { k: at + 1, n: questions.length, words });
    set(this.words, { text: !isOver && this.because ? `${t("right")} ${place}` : place });
    set(this.verdict, { text: isOver ? this.because : "" });
    this.verdict.hidden = !this.verdict.textContent;
    if (isOver) {
      const [start, number] = this.start;
      const href = `?page=learn&lesson=${start}`;
      this.choices.replaceChildren(
        el("a", { class: "fa-test-go", href, text: t("test.start", { number }) }),
        button(t("test.again"), () => this.take([]), { class: "is-plain" }),
      );
    } else {
      this.choices.replaceChildren(
        ...options.map(([text], k) =>
          button(text, () => this.answer(k), { class: "fa-test-answer" }),
        ),
        button(t("test.not_sure"), () => this.answer(-1), { class: "is-plain" }),
      );
    }
    this.changed();
  }

  /** @param {number} k the option that was chosen, or −1 */
  answer(k) {
    const { answer, options } = this.questions[this.right.length];
    const isRight = k === answer;
    const verdict = isRight ? t("right") : k < 0 ? "" : t("test.wrong", { chosen: options[k][0] });
    this.because = k < 0 ? options[answer][1] : `${verdict} ${options[k][1]}`;
    this.take([...this.right, isRight]);
  }

  /** @param {boolean[]} right */
  take(right) {
    this.right = right;
    if (!right.length) this.because = "";
    storeAnswers(right);
    this.show();
    (this.verdict.hidden ? this.words : this.verdict).focus({ preventScroll: true }); // read out; and a key that is held answers nothing
  }

  /** [key, number] of the lesson to start at, as far as it is known. */
  get start() {
    const { start, number } = this.questions[countRight(this.right)] ?? {};
    return start ? [start, number] : this.after;
  }
}

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
    this.forget = get(root, ".fa-forget");
    this.forget.onclick = () => progress.clear();
    progress.listeners.push(() => this.show());
    this.root.dataset.path = chosenPath();
    this.test = new SelfTest(get(root, "[data-selftest]"), () => this.advise());
    this.test.show();
  }

  /** @param {string} path */
  choose(path) {
    choosePath(path);
    this.root.dataset.path = path;
    this.show();
  }

  /** Shows how far each path is done, and where each goes on. */
  show() {
    const chosen = this.root.dataset.path ?? "";
    /** @type {IsDone} */
    const isDone = (key) => this.progress.of(this.stops.get(key)?.dataset.asks ?? "") === "right";
    for (const [key, node] of this.stops) {
      const done = isDone(key);
      const name = `${this.outline.lessons[key].join(" ")}${t("answered")}`;
      const isStop = node.dataset.paths?.split(" ").includes(chosen) && chosen !== COURSE;
      node.classList.toggle("is-done", done);
      node.classList.toggle("is-stop", Boolean(isStop));
      set(node, { "aria-label": done ? name : null });
    }
    const main = nextPath(this.outline, chosen, isDone);
    for (const card of this.cards) this.showPath(card, isDone, main);
    this.forget.hidden = !Object.keys(this.progress.answers).length;
  }

  /** Shows how far a path is done, and where it goes on; the one to go next has the filled button.
   * @param {HTMLElement} card @param {IsDone} isDone @param {string | null} main the path to go next */
  showPath(card, isDone, main) {
    const path = card.dataset.path ?? "";
    const keys = this.outline.paths[path];
    const left = keys.filter((key) => !isDone(key));
    const next = nextStop(this.outline, path, isDone);
    const minutes = left.map((key) => Number(this.stops.get(key)?.dataset.minutes));
    const share = { done: keys.length - left.length, n: keys.length };
    const isBegun = left.length < keys.length;
    const isChosen = path === this.root.dataset.path;
    card.classList.toggle("is-chosen", isChosen);
    set(get(card, "h3 button"), { "aria-pressed": isChosen });
    set(get(card, ".fa-path-done"), {
      text:
        isChosen && next && isBegun
          ? t("path.left", { ...share, minutes: minutes.reduce((sum, x) => sum + x, 0) })
          : t("path.share", share),
    });
    const words = get(card, "p");
    words.dataset.words ??= words.textContent ?? "";
    set(words, { text: ending(this.outline, path, isDone)?.done ?? words.dataset.words });
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
    if (next) go.append(el("span", { text: lesson }));
  }

  /** Shows what the self-test tells: a sentence, and a mark on the map. */
  advise() {
    const { test } = this;
    const known = countRight(test.right);
    const [start, number] = test.start;
    const isBegun = test.right.length > 0;
    const range = { first: FIRST, last: this.numberBefore(number), number };
    let so = t("advice.range", range);
    if (!known) so = t("advice.none", { number });
    else if (known === test.questions.length) so = t("advice.all", { number });
    else if (known === 1) so = t("advice.one", { first: FIRST, number });
    else if (known === 2) so = t("advice.two", range);
    const text = test.isOver ? t("advice", { so }) : t("advice.so_far", { so });
    set(get(this.root, ".fa-advice"), { text: isBegun ? text : "" });
    for (const node of this.stops.values()) find(node, ".fa-start")?.remove();
    if (isBegun) this.stops.get(start)?.append(el("span", { class: "fa-start", text: t("start") }));
    this.show();
  }

  /** The number of the lesson before this one. @param {string} number */
  numberBefore(number) {
    const numbers = Object.values(this.outline.lessons).map(([one]) => one);
    return numbers[Math.max(0, numbers.indexOf(number) - 1)];
  }
}
