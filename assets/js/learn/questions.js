// A question of the Learn page: its words, the form of its answer, and one place for what is said of it: the verdict or the
// hint. Each try after a wrong answer asks the next variant.

import { button, el, find, giveFocus, on, set, setText } from "../lib/dom.js";
import { emit } from "../lib/events.js";
import { clamp } from "../lib/format.js";
import { KINDS } from "./kinds.js";
import { hidesSolutions, recall, remember } from "./progress.js";
import { t } from "./texts.js";

/** @import { Form, Question as QuestionData, Verdict } from "./types.js" */
/** @import { Progress } from "./progress.js" */

const TRIES = 2; // wrong answers after which what stands next to a question opens all the same

/** A question without its numbers: what its variants share if they differ in numbers alone. @param {QuestionData} question */
const pattern = ({ words }) => words.replace(/\d[\d.,]*/g, "#");

/** Make a `<div data-question="{…}">` live. It emits "fa:answered" {key, right}, which bubbles. @param {HTMLElement} mount @param {Progress} progress */
export function makeQuestion(mount, progress) {
  /** @type {QuestionData} */
  const { variants = [], ...first } = JSON.parse(mount.dataset.question ?? "");
  const { key } = first;
  const questions = [first, ...variants];
  /** The form of each. */
  const bodies = [...mount.querySelectorAll("template")];
  const name = `question ${key}`;
  /** @type {HTMLElement | null} */
  const lesson = mount.closest(".fa-lesson");
  mount.classList.add(`is-${first.kind}`);
  progress.listeners.push(() => {
    if (!progress.of(key)) clear(); // all answers were forgotten
  });
  // What is printed is as at first
  const saved = (mount.closest(".fa-printed") ? null : recall(name)) ?? {};
  let { at = 0, wrong = 0 } = saved; // how many tries came before, and wrong answers
  let isJudged = false;
  const verdict = el("p.fa-verdict", { "aria-live": "polite" });
  const check = button("", submit);
  const next = button("", again, { class: "fa-small" });
  const asksHint = button(t("hint"), () => notify("hint", questionNow().hint ?? ""), {
    class: "fa-small is-plain",
  });
  const field = el("fieldset");
  mount.replaceChildren(field);
  /** @type {Form} */
  let form;
  let state = "";
  ask();
  resume();

  /** Shows the answer that stood here last, and what was said of it. */
  function resume() {
    if (saved.values) form.write(saved.values);
    state = read();
    const found = saved.judged ? form.check() : null;
    if (found && "right" in found) judge(found);
    else if (progress.of(key) === "right" && !hidesSolutions()) notify("before", t("right.before"));
  }

  /** The variant whose turn it is, or one that comes later. */
  function questionNow(later = 0) {
    return questions[(at + later) % questions.length];
  }

  /** What stands in the form, as text. */
  function read() {
    return JSON.stringify(form.read());
  }

  function save() {
    remember(name, { at, wrong, judged: isJudged, values: form.read() });
  }

  /** Asks the variant whose turn it is. */
  function ask() {
    const question = questionNow();
    const other = questionNow(1);
    const { content } = bodies[at % questions.length];
    const body = /** @type {HTMLElement} */ (content.firstElementChild?.cloneNode(true));
    form = KINDS[question.kind](question, body, submit);
    isJudged = false;
    state = read();
    const isSame = pattern(question) === pattern(other) && question.words !== other.words;
    set(verdict, { text: "", class: "fa-verdict", tabindex: null });
    set(check, { text: form.act ?? t("check"), class: "fa-small is-main" });
    setText(next, t(isSame ? "try_again" : "another"));
    check.hidden = false;
    next.hidden = true;
    const hasHint = question.hint && !hidesSolutions();
    asksHint.hidden = !hasHint;
    const legend = el("legend", [el("b", question.words)]);
    const row = [check, next, hasHint ? asksHint : null, verdict];
    field.replaceChildren(legend, form.body, el("div.fa-check", row), form.output ?? "");
    on(form.body, ["input", "change", "click", "keyup", "pointerup"], touched);
    form.output?.addEventListener("fa:given", showOutput);
    requestAnimationFrame(makeRoom);
  }

  /** Something was chosen, typed or moved: there is something to check. On a phone a choice is the answer. */
  function touched(/** @type {Event} */ { type }) {
    const now = read();
    if (now !== state) {
      state = now;
      clear();
      check.classList.add("is-ready");
      save();
    }
    if (type === "change" && form.atOnce && !isJudged && isOnPhone()) submit();
  }

  function isOnPhone() {
    return Boolean(mount.closest(".is-phone"));
  }

  /** A verdict holds for what was checked, not for what has changed since. */
  function clear() {
    isJudged = false;
    check.hidden = false;
    next.hidden = true;
    asksHint.hidden = false;
    form.clear?.();
    set(verdict, { text: "", class: "fa-verdict", tabindex: null });
  }

  /** Shows the verdict, and what can be done next: after a right answer there is nothing to check and nothing to hint at.
   * @param {Verdict} verdict */
  function judge({ right, because }) {
    isJudged = true;
    if (hidesSolutions()) {
      form.clear?.();
      check.hidden = true;
      return notify("noted", t("noted"));
    }
    const hasOthers = questions.length > 1;
    check.hidden = right || hasOthers;
    next.hidden = right || !hasOthers;
    asksHint.hidden = right;
    notify(right ? "right" : "wrong", because);
  }

  function submit() {
    if (check.hidden) return;
    const found = form.check();
    if ("again" in found) return notify("again", found.again);
    const hadFocus = document.activeElement === check;
    judge(found);
    if (hadFocus && check.hidden) moveFocus();
    const { right } = found;
    wrong += Number(!right);
    progress.record(key, right, {
      lesson: lesson?.dataset.key ?? "",
      question: questionNow().words,
      answer: form.text(),
    });
    save();
    emit("fa:answered", { key, right: right || wrong >= TRIES }, mount);
  }

  /** What was pressed is gone: the keyboard goes to the next try, or waits at the verdict. */
  function moveFocus() {
    if (next.hidden) set(verdict, { tabindex: -1 });
    giveFocus(next.hidden ? verdict : next);
  }

  function again() {
    at += 1;
    ask();
    save();
    giveFocus(find(field, "input, button, select"));
  }

  /** Brings what is below the question's own part of the screen into it; of what is above no more than `most` px go.
   * @param {Element} node */
  function reach(node, most = Infinity) {
    const below = node.getBoundingClientRect().bottom - mount.getBoundingClientRect().bottom;
    mount.scrollTop += clamp(below, 0, most);
  }

  /** Shows a sentence in place of the one before.
   * @param {"right" | "wrong" | "again" | "before" | "hint" | "noted"} kind @param {string} words */
  function notify(kind, words) {
    const sign = kind === "right" || kind === "wrong" ? `${t(kind)} ` : "";
    set(verdict, { text: sign + words, class: `fa-verdict is-${kind}` });
    makeRoom();
    reach(verdict);
  }

  /** Where the question needs more than its part of the screen, the lesson's links make room. */
  function makeRoom() {
    lesson?.classList.remove("is-tight");
    lesson?.classList.toggle("is-tight", mount.scrollHeight > mount.clientHeight);
  }

  /** What a right answer gives is read from the verdict on; in a phone's panel what a wrong one gives too. */
  function showOutput() {
    const { output } = form;
    if (!output || (!check.hidden && !isOnPhone())) return;
    const handle = field.previousElementSibling; // a panel's
    const top = handle ? handle.getBoundingClientRect().bottom : mount.getBoundingClientRect().top;
    reach(output, verdict.getBoundingClientRect().top - top);
  }
}
