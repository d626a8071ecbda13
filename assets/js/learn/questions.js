// A question of the Learn page: its words, the form of its answer, a verdict. Each try after a wrong answer asks the
// next variant, with new numbers.

import { el, set } from "../lib/dom.js";
import { tell } from "../lib/events.js";
import { KINDS } from "./kinds.js";
import { recall, remember } from "./progress.js";
import { sayer } from "../lib/texts.js";
import told from "../../texts/learn_scripts.json" with { type: "json" };

const say = sayer(told);

const PASSING = new Set(["Enter", "Tab", "Shift"]); // keys that change nothing
const TRIES = 2; // wrong answers after which what is shown next to a question opens all the same
const SIGNS = { right: `${say("right")} `, wrong: `${say("wrong")} `, again: "" };

/** The numbers that a question is asked with. */
const numbers = ({ words, cells, options }) => String(JSON.stringify([words, cells, options]).match(/\d+(?:\.\d+)?/g));

const filled = (body) => [...body.querySelectorAll("input, select, [aria-pressed]")];
/** What stands in the form: [what is typed, chosen or pressed, …]. */
const read = (body) => filled(body).map((node) => (node.type === "radio" ? node.checked : (node.ariaPressed ?? node.value)));

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
    Object.assign(this, { mount, progress, key: first.key, asked: [first, ...variants], at: 0, wrong: 0 });
    mount.classList.add(`is-${first.kind}`);
    progress.listeners.push(() => this.known());
    const { at = 0, wrong = 0, values } = (this.isPrinted ? null : recall(this.name)) ?? {};
    Object.assign(this, { at, wrong });
    this.ask();
    if (values && this.keeps) write(this.kind.body, values);
    if (progress.of(this.key) === "right") this.say("before", say("right.before"));
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
    remember(this.name, { at: this.at, wrong: this.wrong, ...(this.keeps && { values: read(this.kind.body) }) });
  }

  /** The variant that is its turn. */
  ask() {
    const question = this.asked[this.at % this.asked.length];
    this.said = el("p", { class: "fa-verdict", "aria-live": "polite" });
    this.kind = KINDS[question.kind](question, () => this.submit());
    this.check = button(this.kind.act ?? say("check"), "is-main", () => this.submit());
    const [now, then] = [question, this.asked[(this.at + 1) % this.asked.length]].map(numbers);
    this.next = button(now === then ? say("another") : say("try_again"), "", () => this.again());
    this.next.hidden = true;
    const told = question.hint && el("p", { class: "fa-fine fa-hint", text: question.hint, hidden: true });
    this.hint = question.hint && button(say("hint"), "is-plain", () => {
      told.hidden = !told.hidden;
      this.reach(this.hint);
    });
    const legend = el("legend", {}, [el("b", { text: question.words })]);
    const row = el("div", { class: "fa-check" }, [this.check, this.next, this.hint, this.said]);
    const before = this.field;
    this.field = el("fieldset", {}, [legend, this.kind.body, told, row, this.kind.given]);
    for (const name of ["input", "change", "click", "keyup"]) this.kind.body.addEventListener(name, (event) => this.touched(name, event));
    if (before) before.replaceWith(this.field); // what else stands in the mount stays: a sheet's handle
    else this.mount.replaceChildren(this.field);
  }

  /** Something was chosen or typed: there is something to check. On a phone a choice is the answer. */
  touched(name, { key, target }) {
    if (PASSING.has(key) || (name === "change" && target.type === "text")) return; // what is typed told "input"
    this.rest(false);
    this.check.classList.add("is-ready");
    this.keep();
    if (name === "change" && this.kind.atOnce && this.mount.closest(".is-phone") && this.next.hidden) this.submit();
  }

  /** Answered right, there is nothing to check and nothing to hint at. */
  rest(on) {
    set(this.check, { "aria-disabled": on || null });
    this.check.classList.toggle("is-ready", !on);
    if (this.hint) this.hint.hidden = on;
  }

  submit() {
    if (this.check.hasAttribute("aria-disabled")) return undefined;
    const { right, because, again } = this.kind.check();
    if (again) return this.say("again", again);
    this.say(right ? "right" : "wrong", because);
    this.wrong += Number(!right);
    this.progress.tell(this.key, right);
    this.keep();
    const isHeld = document.activeElement === this.check;
    const others = this.asked.length > 1;
    this.next.hidden = right || !others;
    this.check.hidden = !right && others;
    if (isHeld && this.check.hidden) this.next.focus({ preventScroll: true });
    if (right) this.rest(true);
    return tell("fa:answered", { key: this.key, right: right || this.wrong >= TRIES }, this.mount);
  }

  again() {
    this.at += 1;
    this.ask();
    this.keep();
    this.field.querySelector("input, button, select")?.focus({ preventScroll: true });
  }

  /** Brings what is below the question's own part of the screen into it. */
  reach(node) {
    this.mount.scrollTop += Math.max(0, node.getBoundingClientRect().bottom - this.mount.getBoundingClientRect().bottom);
  }

  say(kind, words) {
    set(this.said, { text: (SIGNS[kind] ?? "") + words, class: `fa-verdict is-${kind}` });
    this.reach(this.said);
  }

  /** All answers were forgotten. */
  known() {
    if (!this.progress.of(this.key)) set(this.said, { text: "", class: "fa-verdict" });
  }
}
