// What was answered, and what was chosen and typed. It stays in this browser, nothing is sent; a reader may save it as a file.

import { browserStorage, tabStorage } from "../lib/storage.js";

// In the browser: {question key: "right" | "tried"}
const ANSWERS = "fa-learn";
// In the browser: {question key: the last answer to it}
const RESULTS = "fa-learn-results";
// In the tab: what was chosen and typed in each lesson, {name: value}
const STATE = "fa-learn-state";
// In the tab: "hidden" where a teacher's link hides solutions
const SOLUTIONS = "fa-learn-solutions";

/** An answer: where, to what, in words. @typedef {{lesson: string, question: string, answer: string}} Given */
/** @typedef {Given & {right: boolean, tries: number, at: string}} Result */

/** @returns {Record<string, any>} */
const states = () => tabStorage.getJson(STATE) ?? {};

/** What was chosen in this part of a lesson, for a reader who comes back from another page; undefined if nothing. @param {string} name */
export const recall = (name) => states()[name];
/** @param {string} name @param {unknown} value */
export const remember = (name, value) =>
  tabStorage.set(STATE, JSON.stringify({ ...states(), [name]: value }));

/** Whether answers are noted and not judged: as the address said last, in this tab. */
export const hidesSolutions = () => tabStorage.get(SOLUTIONS) === "hidden";
/** @param {string | null} wanted "hidden" or "shown"; null changes nothing */
export const setSolutions = (wanted) => wanted && tabStorage.set(SOLUTIONS, wanted);

/** What was answered: stored where the browser allows it, else for as long as the page is open. */
export class Progress {
  constructor() {
    /** @type {(() => void)[]} */
    this.listeners = [];
    /** @type {Record<string, "right" | "tried">} */
    this.answers = browserStorage.getJson(ANSWERS) ?? {};
    /** @type {Record<string, Result>} */
    this.results = browserStorage.getJson(RESULTS) ?? {};
  }

  /** @param {string} key */
  of(key) {
    return this.answers[key];
  }

  /** Answered right, or where solutions are hidden, answered. @param {string} key */
  isDone(key) {
    return hidesSolutions() ? key in this.answers : this.answers[key] === "right";
  }

  /** @param {string} key @param {boolean} right @param {Given} given */
  record(key, right, given) {
    if (this.answers[key] !== "right") this.answers[key] = right ? "right" : "tried";
    const tries = (this.results[key]?.tries ?? 0) + 1;
    this.results[key] = { ...given, right, tries, at: new Date().toISOString() };
    this.save();
  }

  clear() {
    this.answers = {};
    this.results = {};
    tabStorage.set(STATE, "{}");
    this.save();
  }

  /** One file to hand in: what was answered last, in the course's order, and how much of it is right.
   * @param {Record<string, [string, string]>} lessons key → [number, title] */
  file(lessons) {
    const order = Object.keys(lessons);
    const answers = Object.entries(this.results)
      .map(([key, result]) => ({ key, ...result }))
      .sort((a, b) => order.indexOf(a.lesson) - order.indexOf(b.lesson))
      .map(({ lesson, ...rest }) => ({ lesson: lessons[lesson]?.join(" ") ?? lesson, ...rest }));
    const right = answers.filter((one) => one.right).length;
    const saved = new Date().toISOString();
    const found = { saved, right, answered: answers.length, answers };
    return new Blob([JSON.stringify(found, null, 2)], { type: "application/json" });
  }

  save() {
    browserStorage.set(ANSWERS, JSON.stringify(this.answers));
    browserStorage.set(RESULTS, JSON.stringify(this.results));
    for (const listener of this.listeners) listener();
  }
}
