// A question of the Learn page: its words, the form of its answer, and one place for what is said of it: the verdict or the
// hint. Each try after a wrong answer asks the next variant.

import { button, el, find, set } from "../lib/dom.js";
import { emit } from "../lib/events.js";
import { clamp } from "../lib/format.js";
import { KINDS } from "./kinds.js";
import { hidesSolutions, recall, remember } from "./progress.js";
import { t } from "./texts.js";

/** @import { Form, Question as QuestionData, Verdict } from "./types.js" */
/** @import { Progress } from "./progress.js" */

const TRIES = 2; // wrong answers after which what stands next to a question opens all the same
const SIGNS = { right: `${t("right")} `, wrong: `${t("wrong")} ` };

/** A question without its numbers: what its variants share if they differ in numbers alone. @param {QuestionData} question */
const pattern = ({ words }) => words.replace(/\d[\d.,]*/g, "#");

/** `<div data-question="{…}">`. It emits "fa:answered" {key, right}, which bubbles. */
export class Question {
  /** @param {HTMLElement} mount @param {Progress} progress */
  constructor(mount, progress) {
    /** @type {QuestionData} */
    const { variants = [], ...first } = JSON.parse(mount.dataset.question ?? "");
    this.mount = mount;
    this.progress = progress;
    this.key = first.key;
    this.questions = [first, ...variants];
    /** The form of each. */
    this.bodies = [...mount.querySelectorAll("template")];
    this.name = `question ${this.key}`;
    this.lesson = /** @type {HTMLElement | null} */ (mount.closest(".fa-lesson"));
    mount.classList.add(`is-${first.kind}`);
    progress.listeners.push(() => {
      if (!this.progress.of(this.key)) this.clear(); // all answers were forgotten
    });
    // What is printed is as at first
    const isPrinted = mount.closest(".fa-printed");
    const { at = 0, wrong = 0, values, judged } = (isPrinted ? null : recall(this.name)) ?? {};
    this.at = Number(at); // how many tries came before
    this.wrong = Number(wrong);
    this.isJudged = false;
    this.verdict = el("p.fa-verdict", { "aria-live": "polite" });
    this.check = button("", () => this.submit());
    this.next = button("", () => this.again(), { class: "fa-small" });
    this.asksHint = button(t("hint"), () => this.notify("hint", this.question.hint ?? ""), {
      class: "fa-small is-plain",
    });
    this.field = el("fieldset");
    mount.replaceChildren(this.field);
    this.form = this.ask();
    if (values) this.form.write(values);
    this.state = this.read();
    const verdict = judged ? this.form.check() : null;
    if (verdict && "right" in verdict) this.judge(verdict);
    else if (progress.of(this.key) === "right" && !hidesSolutions())
      this.notify("before", t("right.before"));
  }

  /** The variant whose turn it is. */
  get question() {
    return this.questions[this.at % this.questions.length];
  }

  /** What stands in the form, as text. */
  read() {
    return JSON.stringify(this.form.read());
  }

  save() {
    const { at, wrong, isJudged: judged } = this;
    remember(this.name, { at, wrong, judged, values: this.form.read() });
  }

  /** Asks the variant whose turn it is. */
  ask() {
    const { question } = this;
    const next = this.questions[(this.at + 1) % this.questions.length];
    const { content } = this.bodies[this.at % this.questions.length];
    const body = /** @type {HTMLElement} */ (content.firstElementChild?.cloneNode(true));
    /** @type {Form} */
    const form = KINDS[question.kind](question, body, () => this.submit());
    this.form = form;
    this.isJudged = false;
    this.state = this.read();
    const isSame = pattern(question) === pattern(next) && question.words !== next.words;
    set(this.verdict, { text: "", class: "fa-verdict", tabindex: null });
    set(this.check, { text: form.act ?? t("check"), class: "fa-small is-main" });
    set(this.next, { text: isSame ? t("try_again") : t("another") });
    this.check.hidden = false;
    this.next.hidden = true;
    const hasHint = question.hint && !hidesSolutions();
    this.asksHint.hidden = !hasHint;
    const legend = el("legend", [el("b", question.words)]);
    const row = [this.check, this.next, hasHint ? this.asksHint : null, this.verdict];
    this.field.replaceChildren(legend, form.body, el("div.fa-check", row));
    if (form.output) this.field.append(form.output);
    for (const name of ["input", "change", "click", "keyup", "pointerup"])
      form.body.addEventListener(name, () => this.touched(name));
    form.output?.addEventListener("fa:given", () => this.showOutput());
    requestAnimationFrame(() => this.makeRoom());
    return form;
  }

  /** Something was chosen, typed or moved: there is something to check. On a phone a choice is the answer.
   * @param {string} name of the event */
  touched(name) {
    const now = this.read();
    if (now !== this.state) {
      this.state = now;
      this.clear();
      this.check.classList.add("is-ready");
      this.save();
    }
    if (name === "change" && this.form.atOnce && !this.isJudged && this.isOnPhone()) this.submit();
  }

  isOnPhone() {
    return Boolean(this.mount.closest(".is-phone"));
  }

  /** A verdict holds for what was checked, not for what has changed since. */
  clear() {
    this.isJudged = false;
    this.check.hidden = false;
    this.next.hidden = true;
    this.asksHint.hidden = false;
    this.form.clear?.();
    set(this.verdict, { text: "", class: "fa-verdict", tabindex: null });
  }

  /** Shows the verdict, and what can be done next: after a right answer there is nothing to check and nothing to hint at.
   * @param {Verdict} verdict */
  judge({ right, because }) {
    this.isJudged = true;
    if (hidesSolutions()) {
      this.form.clear?.();
      this.check.hidden = true;
      return this.notify("noted", t("noted"));
    }
    const hasOthers = this.questions.length > 1;
    this.check.hidden = right || hasOthers;
    this.next.hidden = right || !hasOthers;
    this.asksHint.hidden = right;
    this.notify(right ? "right" : "wrong", because);
  }

  submit() {
    if (this.check.hidden) return;
    const verdict = this.form.check();
    if ("again" in verdict) return this.notify("again", verdict.again);
    const hadFocus = document.activeElement === this.check;
    this.judge(verdict);
    if (hadFocus && this.check.hidden) this.moveFocus();
    const { right } = verdict;
    this.wrong += Number(!right);
    const { words: question } = this.question;
    const lesson = this.lesson?.dataset.key ?? "";
    this.progress.record(this.key, right, { lesson, question, answer: this.form.text() });
    this.save();
    const opens = right || this.wrong >= TRIES;
    emit("fa:answered", { key: this.key, right: opens }, this.mount);
  }

  /** What was pressed is gone: the keyboard goes to the next try, or waits at the verdict. */
  moveFocus() {
    if (this.next.hidden) set(this.verdict, { tabindex: -1 });
    (this.next.hidden ? this.verdict : this.next).focus({ preventScroll: true });
  }

  again() {
    this.at += 1;
    this.ask();
    this.save();
    find(this.field, "input, button, select")?.focus({ preventScroll: true });
  }

  /** Brings what is below the question's own part of the screen into it; of what is above no more than `most` px go.
   * @param {Element} node */
  reach(node, most = Infinity) {
    const below = node.getBoundingClientRect().bottom - this.mount.getBoundingClientRect().bottom;
    this.mount.scrollTop += clamp(below, 0, most);
  }

  /** Shows a sentence in place of the one before.
   * @param {"right" | "wrong" | "again" | "before" | "hint" | "noted"} kind @param {string} words */
  notify(kind, words) {
    const sign = kind === "right" || kind === "wrong" ? SIGNS[kind] : "";
    set(this.verdict, { text: sign + words, class: `fa-verdict is-${kind}` });
    this.makeRoom();
    this.reach(this.verdict);
  }

  /** Where the question needs more than its part of the screen, the lesson's links make room. */
  makeRoom() {
    const { mount, lesson } = this;
    lesson?.classList.remove("is-tight");
    lesson?.classList.toggle("is-tight", mount.scrollHeight > mount.clientHeight);
  }

  /** What a right answer gives is read from the verdict on; in a phone's panel what a wrong one gives too. */
  showOutput() {
    const { output } = this.form;
    if (!output || (!this.check.hidden && !this.isOnPhone())) return;
    const handle = this.field.previousElementSibling; // a panel's
    const top = handle
      ? handle.getBoundingClientRect().bottom
      : this.mount.getBoundingClientRect().top;
    this.reach(output, this.verdict.getBoundingClientRect().top - top);
  }
}
