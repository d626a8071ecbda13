// What was answered and where the reader is. It stays in this browser, nothing is sent.

// In localStorage: {question key: "right" | "tried"}
const ANSWERS = "fa-learn";
// In this tab: [key, number, title] of the lesson whose link led to another page
export const FROM = "fa-learn-from";
// In this tab: the screen that the Learn page shows, or showed last
export const PLACE = "fa-learn-place";
// In this tab: what was chosen and typed on each lesson, {name: any}
const STATE = "fa-learn-state";
// In this tab: "1" or "key" from a link until the place that it leads to has the keyboard
export const LED = "fa-learn-led";

/** @param {() => Storage} store a browser may refuse even to name it */
const kept = (store) => ({
  /** @param {string} name */
  get(name) {
    try {
      return store().getItem(name);
    } catch {
      return null;
    }
  },
  /** @param {string} name @param {string} value */
  set(name, value) {
    try {
      store().setItem(name, value);
    } catch {
      // no room or no permission: the page goes on without
    }
  },
});

/** Of this browser, and of this tab. */
export const ever = kept(() => window.localStorage);
export const here = kept(() => window.sessionStorage);

const states = () => {
  try {
    return JSON.parse(here.get(STATE)) ?? {};
  } catch {
    return {}; // nothing that can be read
  }
};

/** What was kept of this part of a lesson, for who comes back from another page; undefined if nothing. @param {string} name */
export const recall = (name) => states()[name];
/** @param {string} name @param {unknown} value */
export const remember = (name, value) =>
  here.set(STATE, JSON.stringify({ ...states(), [name]: value }));

/** What was answered, kept where the browser lets us, else for as long as the page is open. */
export class Progress {
  constructor() {
    this.listeners = [];
    try {
      this.known = JSON.parse(ever.get(ANSWERS)) ?? {};
    } catch {
      this.known = {}; // nothing that can be read
    }
  }

  of(key) {
    return this.known[key];
  }

  tell(key, right) {
    if (this.known[key] !== "right") this.known[key] = right ? "right" : "tried";
    this.keep();
  }

  clear() {
    this.known = {};
    here.set(STATE, "{}");
    this.keep();
  }

  keep() {
    ever.set(ANSWERS, JSON.stringify(this.known));
    for (const listener of this.listeners) listener();
  }
}
