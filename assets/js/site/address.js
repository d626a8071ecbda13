// Problem and position are written to the address bar, which query.js reads.

import { pending } from "../lib/pending.js";

/** By keys of the address; null takes a key out. @typedef {Record<string, any>} AddressValues */
import { OLD_LESSON } from "../model/query.js";

/** A value of the address. @param {string} key */
export const readAddress = (key) => new URLSearchParams(window.location.search).get(key);

/** What the address says under a prefix, without it: [key, value] each. @param {string} prefix @returns {[string, string][]} */
export const readPrefixed = (prefix) =>
  [...new URLSearchParams(window.location.search)]
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, value]) => [key.slice(prefix.length), value]);

/** Writes at most five times a second: browsers stop pages that rewrite their address faster. */
export class Address {
  constructor(wait = 200) {
    this.wait = wait;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {AddressValues | null} */
    this.pending = null;
    /** @type {AddressValues} */
    this.known = {}; // all that was written, but for where in the site the reader is
  }

  /** @param {AddressValues} values */
  write(values) {
    this.pending = { ...this.pending, ...values };
    const { page, lesson, ...rest } = values;
    Object.assign(this.known, rest);
    pending("address", true);
    this.timer ??= setTimeout(() => this.flush(), this.wait);
  }

  /** Writes values under a prefix; what is as in `plain` takes its key out.
   * @param {string} prefix @param {Record<string, string | number | null>} values @param {Record<string, string>} plain */
  writePrefixed(prefix, values, plain) {
    const entries = Object.entries(values).map(([key, value]) => [
      prefix + key,
      value === null || String(value) === plain[key] ? null : String(value),
    ]);
    this.write(Object.fromEntries(entries));
  }

  /** Another place of the site: Back leads to the one before. @param {AddressValues} values */
  push(values) {
    this.flush();
    this.write(values);
    this.flush("pushState");
  }

  /** After Back or Forward: the page's parts are as they were last, whatever the older address says. */
  restore() {
    this.pending = null;
    this.write(this.known);
  }

  flush(how = /** @type {"replaceState" | "pushState"} */ ("replaceState")) {
    clearTimeout(this.timer);
    this.timer = undefined;
    pending("address", false);
    if (!this.pending) return;
    const params = new URLSearchParams(window.location.search);
    for (const [key, value] of Object.entries(this.pending))
      if (value === null) params.delete(key);
      else params.set(key, value);
    if ("lesson" in this.pending) params.delete(OLD_LESSON);
    this.pending = null;
    window.history[how](window.history.state, "", `?${params}${window.location.hash}`);
  }
}

export const address = new Address();
