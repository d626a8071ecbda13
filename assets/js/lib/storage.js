// What this browser or this tab remembers. A browser may refuse its storage: then nothing is remembered, and the page works on.

/** In the tab: [key, number, title] of the lesson whose link led to another page. */
export const LEFT_LESSON = "fa-learn-from";
/** In the tab: the screen that the Learn page shows, or showed last. */
export const LEARN_SCREEN = "fa-learn-place";
/** In the tab: "1" or "key" after a link was followed, until the place that it leads to has the keyboard. */
export const MOVE_FOCUS = "fa-learn-led";

/** @param {() => Storage} store whose name alone may raise an error */
const storage = (store) => ({
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
      // no room or no permission
    }
  },
  /** The JSON under this name; null where there is none that can be read. @param {string} name */
  getJson(name) {
    try {
      return JSON.parse(this.get(name) ?? "null");
    } catch {
      return null;
    }
  },
});

export const browserStorage = storage(() => window.localStorage);
export const tabStorage = storage(() => window.sessionStorage);
