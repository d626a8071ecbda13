// The entrance: a self-test that advises where to start, three paths over one map, progress by path.

import { all, button, el, set } from "../lib/dom.js";
import {
  choosePath,
  chosenPath,
  COURSE,
  ending,
  nextStop,
  keepAnswers,
  nextPath,
  testAnswers,
} from "./path.js";
import { t } from "./texts.js";

const FIRST = "1.1"; // the course begins there

/** The test's questions, one after the other. The first one that is not known ends it. */
class SelfTest {
  constructor(root, entrance) {
    const { asked, after } = JSON.parse(root.dataset.selftest);
    Object.assign(this, { root, entrance, asked, after, right: testAnswers() });
    this.dots = el(
      "span",
      { class: "fa-test-dots" },
      asked.map((_, k) => el("i", { "data-k": k })),
    );
    this.said = el("p", { class: "fa-test-words", tabindex: -1 });
    this.verdict = el("p", { class: "fa-test-verdict", tabindex: -1, hidden: true });
    this.choices = el("div", { class: "fa-test-answers" });
    this.time = el("span", { class: "fa-test-time", text: t("test.time") });
    root.querySelector("h3").after(this.dots, this.time);
    root.append(this.said, this.verdict, this.choices);
    this.show();
  }

  get over() {
    return this.right.length >= this.asked.length || this.right.includes(false);
  }

  show() {
    const { asked, right } = this;
    [...this.dots.children].forEach((dot, k) =>
      set(dot, {
        class:
          k < right.length
            ? right[k]
              ? "is-right"
              : "is-wrong"
            : k === right.length && !this.over
              ? "is-now"
              : null,
      }),
    );
    set(this.dots, {
      role: "img",
      "aria-label": t("test.known", { known: right.filter(Boolean).length, n: asked.length }),
    });
    const pressed = (text, kind, act) => {
      const node = button(text, act, { class: kind });
      return node;
    };
    this.time.hidden = this.over;
    this.root.classList.toggle("is-over", this.over);
    const { words, options } = asked[right.length - Number(this.over)];
    const place = t("test.words", {
      k: right.length + Number(!this.over),
      n: asked.length,
      words,
    });
    set(this.said, { text: !this.over && this.because ? `${t("right")} ${place}` : place });
    set(this.verdict, { text: (this.over && this.because) || "" });
    this.verdict.hidden = !this.verdict.textContent;
    if (this.over) {
      const [start, number] = this.start;
      this.choices.replaceChildren(
        el("a", {
          class: "fa-test-go",
          href: `?page=learn&lesson=${start}`,
          text: t("test.start", { number }),
        }),
        pressed(t("test.again"), "is-plain", () => this.take([])),
      );
    } else {
      this.choices.replaceChildren(
        ...options.map(([text], k) => pressed(text, "fa-test-answer", () => this.answer(k))),
        pressed(t("test.not_sure"), "is-plain", () => this.answer(-1)),
      );
    }
    this.entrance.advise(this);
  }

  answer(k) {
    const { answer, options } = this.asked[this.right.length];
    const right = k === answer;
    this.because =
      k < 0
        ? options[answer][1]
        : `${right ? t("right") : t("test.wrong", { chosen: options[k][0] })} ${options[k][1]}`;
    this.take([...this.right, right]);
  }

  take(right) {
    this.right = right;
    if (!right.length) this.because = undefined;
    keepAnswers(right);
    this.show();
    (this.verdict.hidden ? this.said : this.verdict).focus({ preventScroll: true }); // read out; and a key that is held answers nothing
  }

  /** [key, number] of the lesson to start at, as far as it is known. */
  get start() {
    const known = this.right.filter(Boolean).length;
    const { start, number } = this.asked[known] ?? {};
    return start ? [start, number] : this.after;
  }
}

export class Entrance {
  constructor(root, { progress, outline }) {
    Object.assign(this, { root, progress, outline });
    this.stops = new Map(all(root, ".fa-halt").map((node) => [node.dataset.lesson, node]));
    this.cards = all(root, ".fa-path");
    for (const card of this.cards) {
      for (const node of all(card, "button, a"))
        node.addEventListener("click", () => this.choose(card.dataset.path));
    }
    this.forget = button(t("forget"), () => progress.clear(), { class: "fa-plain" });
    root.querySelector(".fa-screen-foot").prepend(this.forget);
    progress.listeners.push(() => this.tell());
    this.test = new SelfTest(root.querySelector("[data-selftest]"), this);
    this.root.dataset.path = chosenPath() ?? "";
    this.tell();
  }

  choose(path) {
    choosePath(path);
    this.root.dataset.path = path;
    this.tell();
  }

  done(key) {
    return this.progress.of(this.stops.get(key).dataset.asks) === "right";
  }

  /** How far each path is done, and where each goes on. */
  tell() {
    for (const [key, node] of this.stops) {
      const done = this.done(key);
      node.classList.toggle("is-done", done);
      set(node, {
        "aria-label": done ? `${this.outline.lessons[key].join(" ")}${t("answered")}` : null,
      });
      const paths = node.dataset.paths.split(" ");
      node.classList.toggle(
        "is-stop",
        paths.includes(this.root.dataset.path) && this.root.dataset.path !== COURSE,
      );
    }
    const done = (key) => this.done(key);
    const main = nextPath(this.outline, this.root.dataset.path, done);
    for (const card of this.cards) this.card(card, done, main);
    this.forget.hidden = !Object.keys(this.progress.answers).length;
  }

  /** How far a path is done, and where it goes on; the one to go next has the filled button. */
  card(card, done, main) {
    const { path } = card.dataset;
    const keys = this.outline.paths[path];
    const left = keys.filter((key) => !done(key));
    const next = nextStop(this.outline, path, done);
    const minutes = left.reduce((sum, key) => sum + Number(this.stops.get(key).dataset.minutes), 0);
    const share = { done: keys.length - left.length, n: keys.length };
    const chosen = path === this.root.dataset.path;
    card.classList.toggle("is-chosen", chosen);
    set(card.querySelector("h3 button"), { "aria-pressed": chosen });
    set(card.querySelector(".fa-path-done"), {
      text:
        chosen && next && left.length < keys.length
          ? t("path.left", { ...share, minutes })
          : t("path.share", share),
    });
    const words = card.querySelector("p");
    words.dataset.words ??= words.textContent;
    set(words, { text: ending(this.outline, path, done)?.done ?? words.dataset.words });
    const go = card.querySelector(":scope > a");
    const [number, title] = this.outline.lessons[next ?? keys[0]] ?? [""];
    set(go, {
      href: `?page=learn&lesson=${next ?? keys[0]}`,
      class: next ? `fa-path-go${path === main ? " is-main" : ""}` : "fa-path-again",
    });
    const what = !next
      ? t("path.again")
      : left.length < keys.length
        ? t("path.next", { number })
        : t("path.first", { number });
    set(go, {
      "aria-label": `${what}${next ? ` ${title}` : ""}, ${card.getAttribute("aria-label")}`,
    });
    go.replaceChildren(what, ...(next ? [el("span", { text: ` ${title}` })] : []));
  }

  /** What the self-test tells: a sentence, and a mark on the map. */
  advise(test) {
    const known = test.right.filter(Boolean).length;
    const [start, number] = test.start;
    const begun = test.right.length > 0;
    let so = t("advice.range", { first: FIRST, last: this.before(number), number });
    if (!known) so = t("advice.none", { number });
    else if (known === test.asked.length) so = t("advice.all", { number });
    else if (known === 1) so = t("advice.one", { first: FIRST, number });
    else if (known === 2) so = t("advice.two", { first: FIRST, last: this.before(number), number });
    set(this.root.querySelector(".fa-advice"), {
      text: begun ? (test.over ? t("advice", { so }) : t("advice.so_far", { so })) : "",
    });
    for (const node of this.stops.values()) node.querySelector(".fa-start")?.remove();
    if (begun) this.stops.get(start)?.append(el("span", { class: "fa-start", text: t("start") }));
    if (this.test) this.tell();
  }

  /** The number of the lesson before this one. */
  before(number) {
    const numbers = Object.values(this.outline.lessons).map(([one]) => one);
    return numbers[Math.max(0, numbers.indexOf(number) - 1)];
  }
}
