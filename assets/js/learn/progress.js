// What was answered, and what was chosen and typed. It stays in this browser, nothing is sent.

import { browserStorage, tabStorage } from "../lib/storage.js";

// In the browser: {question key: "right" | "tried"}
const ANSWERS = "fa-learn";
// In the tab: what was chosen and typed in each lesson, {name: value}
const STATE = "fa-learn-state";

/** @returns {Record<string, any>} */
const states = () => tabStorage.getJson(STATE) ?? {};

/** What was chosen in this part of a lesson, for a reader who comes back from another page; undefined if nothing. @param {string} name */
export const recall = (name) => states()[name];
/** @param {string} name @param {unknown} value */
export const remember = (name, value) =>
  tabStorage.set(STATE, JSON.stringify({ ...states(), [name]: value }));

/** What was answered: stored where the browser allows it, else for as long as the page is open. */
export class Progress {
  constructor() {
    /** @type {(() => void)[]} */
    this.listeners = [];
    /** @type {Record<string, "right" | "tried">} */
    this.answers = browserStorage.getJson(ANSWERS) ?? {};
  }

  /** @param {string} key */
  of(key) {
    return this.answers[key];
  }

  /** @param {string} key @param {boolean} right */
  record(key, right) {
    if (this.answers[key] !== "right") this.answers[key] = right ? "right" : "tried";
    this.save();
  }

  clear() {
    this.answers = {};
    tabStorage.set(STATE, "{}");
    this.save();
  }

  save() {
    browserStorage.set(ANSWERS, JSON.stringify(this.answers));
    for (const listener of this.listeners) listener();
  }
}
