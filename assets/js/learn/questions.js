// A question of the Learn page: its words, the form of its answer, a verdict. Each try after a wrong answer asks the
// next variant, with new numbers.

import { el, set } from "../lib/dom.js";
import { emit } from "../lib/events.js";
import { KINDS } from "./kinds.js";
import { recall, remember } from "./progress.js";
import { t } from "./texts.js";

const TRIES = 2; // wrong answers after which what is shown next to a question opens all the same
const SIGNS = { right: `${t("right")} `, wrong: `${t("wrong")} `, again: "" };

/** The numbers that a question is asked with. */
const numbers = ({ words, cells, options }) =>
  String(JSON.stringify([words, cells, options]).match(/\d+(?:\.\d+)?/g));

const filled = (body) => [...body.querySelectorAll("input, select, [aria-pressed]")];
/** What stands in the form: [what is typed, chosen or pressed, …]. */
const read = (body) =>
  filled(body).map((node) =>
    node.type === "radio" ? node.checked : (node.ariaPressed ?? node.value),
  );

/** The same, and the order of lines that can be moved: what a verdict holds for. */
const standing = (body) =>
  JSON.stringify([
    read(body),
    ...[...body.querySelectorAll("code")].map((line) => line.textContent),
  ]);

function write(body, values) {
  for (const [k, node] of filled(body).entries()) {
    if (node.type === "radio") node.checked = values[k] === true;
    else if (node.ariaPressed === null) node.value = values[k] ?? "";
    else if (values[k] === "true") node.click();
  }
}

const button = (text, kind, act) => {
  const node = el("button", { type: "button", class: `fa-small ${kind}`, text });
  node.addEventListener("click", act);
  return node;
};

/** `<div data-question="{…}">`. It tells "fa:answered" {key, right}, which bubbles. */
export class Question {
  constructor(mount, progress) {
    const { variants = [], ...first } = JSON.parse(mount.dataset.question);
    Object.assign(this, {
      mount,
      progress,
      key: first.key,
      asked: [first, ...variants],
      at: 0,
      wrong: 0,
    });
    mount.classList.add(`is-${first.kind}`);
    progress.listeners.push(() => this.known());
    const { at = 0, wrong = 0, values, judged } = (this.isPrinted ? null : recall(this.name)) ?? {};
    Object.assign(this, { at, wrong });
    this.ask();
    if (values) {
      write(this.kind.body, values);
      this.was = standing(this.kind.body);
    }
    if (judged) {
      this.judge(this.kind.check());
      this.keep();
    } else if (progress.of(this.key) === "right") this.notify("before", t("right.before"));
  }

  get name() {
    return `question ${this.key}`;
  }

  /** What is printed is as at first. */
  get isPrinted() {
    return Boolean(this.mount.closest(".fa-printed"));
  }

  /** Lines that have changed places are asked for anew. */
  get keeps() {
    return this.asked[0].kind !== "order";
  }

  keep() {
    const { at, wrong, judged } = this;
    remember(this.name, { at, wrong, ...(this.keeps && { judged, values: read(this.kind.body) }) });
  }

  /** The variant that is its turn. */
  ask() {
    const question = this.asked[this.at % this.asked.length];
    this.said = el("p", { class: "fa-verdict", "aria-live": "polite" });
    this.kind = KINDS[question.kind](question, () => this.submit());
    this.check = button(this.kind.act ?? t("check"), "is-main", () => this.submit());
    const [now, then] = [question, this.asked[(this.at + 1) % this.asked.length]].map(numbers);
    this.next = button(now === then ? t("another") : t("try_again"), "", () => this.again());
    this.next.hidden = true;
    const told =
      question.hint &&
      el("p", { class: "fa-fine fa-hint", id: `fa-hint-${this.key}`, role: "status" });
    this.hint =
      question.hint &&
      button(t("hint"), "is-plain", () => {
        const on = !told.textContent;
        set(told, { text: on ? question.hint : "" });
        set(this.hint, { "aria-expanded": on });
        this.reach(told);
      });
    if (this.hint) set(this.hint, { "aria-expanded": false, "aria-controls": told.id });
    const legend = el("legend", {}, [el("b", { text: question.words })]);
    const row = el("div", { class: "fa-check" }, [this.check, this.next, this.hint, this.said]);
    const before = this.field;
    this.field = el("fieldset", {}, [legend, this.kind.body, row, told, this.kind.given]);
    for (const name of ["input", "change", "click", "keyup"])
      this.kind.body.addEventListener(name, () => this.touched(name));
    Object.assign(this, { judged: false, was: standing(this.kind.body) });
    this.lesson?.classList.remove("is-tight");
    this.kind.given?.addEventListener("fa:given", () => this.gave());
    if (before)
      before.replaceWith(this.field); // what else stands in the mount stays: a sheet's handle
    else this.mount.replaceChildren(this.field);
  }

  /** Something was chosen, typed or moved: there is something to check. On a phone a choice is the answer. */
  touched(name) {
    const now = standing(this.kind.body);
    if (now !== this.was) {
      this.was = now;
      this.clear();
      this.check.classList.add("is-ready");
      this.keep();
    }
    if (name === "change" && this.kind.atOnce && !this.judged && this.mount.closest(".is-phone"))
      this.submit();
  }

  /** A verdict holds for what was checked, not for what has changed since. */
  clear() {
    this.judged = false;
    this.check.hidden = false;
    this.next.hidden = true;
    if (this.hint) this.hint.hidden = false;
    this.kind.clear?.();
    set(this.said, { text: "", class: "fa-verdict", tabindex: null });
  }

  /** The verdict, and what can be done next: after a right answer there is nothing to check and nothing to hint at. */
  judge({ right, because }) {
    const others = this.asked.length > 1;
    this.judged = true;
    this.check.hidden = right || others;
    this.next.hidden = right || !others;
    if (this.hint) this.hint.hidden = right;
    this.notify(right ? "right" : "wrong", because);
  }

  submit() {
    if (this.check.hidden) return undefined;
    const { right, because, again } = this.kind.check();
    if (again) return this.notify("again", again);
    const isHeld = document.activeElement === this.check;
    this.judge({ right, because });
    if (isHeld && this.check.hidden) this.goOn();
    this.wrong += Number(!right);
    this.progress.record(this.key, right);
    this.keep();
    return emit("fa:answered", { key: this.key, right: right || this.wrong >= TRIES }, this.mount);
  }

  /** What was pressed is gone: the keyboard goes to the next try, or waits at the verdict. */
  goOn() {
    if (this.next.hidden) set(this.said, { tabindex: -1 });
    (this.next.hidden ? this.said : this.next).focus({ preventScroll: true });
  }

  again() {
    this.at += 1;
    this.ask();
    this.keep();
    this.field.querySelector("input, button, select")?.focus({ preventScroll: true });
  }

  get lesson() {
    return this.mount.closest(".fa-lesson");
  }

  /** Brings what is below the question's own part of the screen into it; of what is above no more than `most` px go. */
  reach(node, most = Infinity) {
    const below = node.getBoundingClientRect().bottom - this.mount.getBoundingClientRect().bottom;
    this.mount.scrollTop += Math.max(0, Math.min(most, below));
  }

  /** Where the question and its verdict need more than their part of the screen, the lesson's links make room. */
  notify(kind, words) {
    set(this.said, { text: (SIGNS[kind] ?? "") + words, class: `fa-verdict is-${kind}` });
    const { mount, lesson } = this;
    lesson?.classList.remove("is-tight");
    lesson?.classList.toggle("is-tight", mount.scrollHeight > mount.clientHeight);
    this.reach(this.said);
  }

  /** What a right answer gives is read from the verdict on; in a phone's sheet what a wrong one gives too. */
  gave() {
    if (!this.check.hidden && !this.mount.closest(".is-phone")) return;
    const top = (this.field.previousElementSibling ?? this.mount).getBoundingClientRect(); // below a sheet's handle
    this.reach(
      this.kind.given,
      this.said.getBoundingClientRect().top -
        (this.field.previousElementSibling ? top.bottom : top.top),
    );
  }

  /** All answers were forgotten. */
  known() {
    if (!this.progress.of(this.key)) this.clear();
  }
}
