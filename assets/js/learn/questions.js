// A question of the Learn page: its words, the form of its answer, a verdict. Each try after a wrong answer asks the
// next variant, with new numbers.

import { all, button, el, find, set } from "../lib/dom.js";
import { emit } from "../lib/events.js";
import { clamp } from "../lib/format.js";
import { KINDS } from "./kinds.js";
import { recall, remember } from "./progress.js";
import { t } from "./texts.js";

/** @import { Form, Question as QuestionData, Verdict } from "./types.js" */
/** @import { Progress } from "./progress.js" */
/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLButtonElement} Field */

const TRIES = 2; // wrong answers after which what stands next to a question opens all the same
const SIGNS = { right: `${t("right")} `, wrong: `${t("wrong")} `, again: "", before: "" };

/** The numbers that a question is asked with. @param {QuestionData} question */
const numbersOf = ({ words, cells, options }) =>
  String(JSON.stringify([words, cells, options]).match(/\d+(?:\.\d+)?/g));

/** @param {HTMLElement} body */
const fieldsOf = (body) => /** @type {Field[]} */ (all(body, "input, select, [aria-pressed]"));

/** What stands in the form: what is typed, chosen or pressed. @param {HTMLElement} body */
const read = (body) =>
  fieldsOf(body).map((node) =>
    node instanceof HTMLInputElement && node.type === "radio"
      ? node.checked
      : (node.ariaPressed ?? node.value),
  );

/** The same, and the order of lines that can be moved: what a verdict holds for. @param {HTMLElement} body */
const stateOf = (body) =>
  JSON.stringify([read(body), ...all(body, "code").map((line) => line.textContent)]);

/** @param {HTMLElement} body @param {(string | boolean)[]} values */
function write(body, values) {
  for (const [k, node] of fieldsOf(body).entries()) {
    if (node instanceof HTMLInputElement && node.type === "radio")
      node.checked = values[k] === true;
    else if (node.ariaPressed === null) node.value = String(values[k] ?? "");
    else if (values[k] === "true") node.click();
  }
}

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
    this.name = `question ${this.key}`;
    this.lesson = mount.closest(".fa-lesson");
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
    this.verdict = el("p", { class: "fa-verdict", "aria-live": "polite" });
    this.check = button("", () => this.submit());
    this.next = button("", () => this.again(), { class: "fa-small" });
    this.hint = el("p", { class: "fa-fine fa-hint", id: `fa-hint-${this.key}`, role: "status" });
    this.asksHint = button(t("hint"), () => this.toggleHint(), {
      class: "fa-small is-plain",
      "aria-controls": this.hint.id,
    });
    this.field = el("fieldset");
    mount.replaceChildren(this.field);
    this.form = this.ask();
    this.state = stateOf(this.form.body);
    if (values) {
      write(this.form.body, values);
      this.state = stateOf(this.form.body);
    }
    const verdict = judged ? this.form.check() : null;
    if (verdict && "right" in verdict) {
      this.judge(verdict);
      this.save();
    } else if (progress.of(this.key) === "right") this.notify("before", t("right.before"));
  }

  save() {
    const { at, wrong, isJudged: judged } = this;
    // Lines that have changed places are asked for anew
    const isStored = this.questions[0].kind !== "order";
    remember(this.name, { at, wrong, ...(isStored && { judged, values: read(this.form.body) }) });
  }

  /** Asks the variant whose turn it is. */
  ask() {
    const question = this.questions[this.at % this.questions.length];
    const next = this.questions[(this.at + 1) % this.questions.length];
    /** @type {Form} */
    const form = KINDS[question.kind](question, () => this.submit());
    this.form = form;
    this.isJudged = false;
    this.state = stateOf(form.body);
    const isSame = numbersOf(question) === numbersOf(next);
    set(this.verdict, { text: "", class: "fa-verdict", tabindex: null });
    set(this.check, { text: form.act ?? t("check"), class: "fa-small is-main" });
    set(this.next, { text: isSame ? t("another") : t("try_again") });
    set(this.asksHint, { "aria-expanded": false });
    set(this.hint, { text: "" });
    this.check.hidden = false;
    this.next.hidden = true;
    this.asksHint.hidden = !question.hint;
    const legend = el("legend", {}, [el("b", { text: question.words })]);
    const row = [this.check, this.next, question.hint ? this.asksHint : null, this.verdict];
    this.field.replaceChildren(legend, form.body, el("div", { class: "fa-check" }, row));
    if (question.hint) this.field.append(this.hint);
    if (form.output) this.field.append(form.output);
    for (const name of ["input", "change", "click", "keyup"])
      form.body.addEventListener(name, () => this.touched(name));
    form.output?.addEventListener("fa:given", () => this.showOutput());
    this.lesson?.classList.remove("is-tight");
    return form;
  }

  toggleHint() {
    const isOpen = !this.hint.textContent;
    const { hint = "" } = this.questions[this.at % this.questions.length];
    set(this.hint, { text: isOpen ? hint : "" });
    set(this.asksHint, { "aria-expanded": isOpen });
    this.reach(this.hint);
  }

  /** Something was chosen, typed or moved: there is something to check. On a phone a choice is the answer.
   * @param {string} name of the event */
  touched(name) {
    const now = stateOf(this.form.body);
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
    const hasOthers = this.questions.length > 1;
    this.isJudged = true;
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
    this.progress.record(this.key, right);
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

  /** Shows a sentence. Where the question and its verdict need more than their part of the screen, the lesson's links make room.
   * @param {keyof typeof SIGNS} kind @param {string} words */
  notify(kind, words) {
    set(this.verdict, { text: SIGNS[kind] + words, class: `fa-verdict is-${kind}` });
    const { mount, lesson } = this;
    lesson?.classList.remove("is-tight");
    lesson?.classList.toggle("is-tight", mount.scrollHeight > mount.clientHeight);
    this.reach(this.verdict);
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
