// What was answered and where the reader is. It stays in this browser, nothing is sent.

// In localStorage: {question key: "right" | "tried"}
const ANSWERS = "fa-learn";
// In this tab: [key, number, title] of the rung whose link led to another page
export const FROM = "fa-learn-from";
// In this tab: the screen that the Learn page shows, or showed last
export const PLACE = "fa-learn-place";
// In this tab: "1" from a link until the place that it leads to has the keyboard
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
    this.keep();
  }

  keep() {
    ever.set(ANSWERS, JSON.stringify(this.known));
    for (const listener of this.listeners) listener();
  }
}
