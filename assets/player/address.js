// The URL is the document: Problem and position are read from it and written back to it.

import { pending } from "./pending.js";

export const PROBLEM_KEYS = ["n", "d", "br", "bc", "mask", "order", "dtype", "data", "seed", "text", "gain"];

/** The Problem's part of a query string, so that one Problem is one cache entry. */
export function problemOf(search) {
  const params = new URLSearchParams(search);
  return new URLSearchParams(PROBLEM_KEYS.filter((k) => params.has(k)).map((k) => [k, params.get(k)])).toString();
}

export function position(search) {
  const params = new URLSearchParams(search);
  const step = params.get("step");
  return { step: /^\d{1,9}$/.test(step ?? "") ? Number(step) : undefined, phase: params.get("phase") ?? undefined };
}

/** Writes at most five times a second: browsers stop pages that rewrite their address faster. */
export class Address {
  constructor(wait = 200) {
    this.wait = wait;
    this.timer = null;
    this.pending = null;
    this.known = {}; // all that was written, but for where in the site the reader is
  }

  write(values) {
    this.pending = { ...this.pending, ...values };
    const { page, rung, ...rest } = values;
    Object.assign(this.known, rest);
    pending("address", true);
    this.timer ??= setTimeout(() => this.flush(), this.wait);
  }

  /** Another place of the site: Back leads to the one before. */
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

  flush(how = "replaceState") {
    clearTimeout(this.timer);
    this.timer = null;
    pending("address", false);
    if (!this.pending) return;
    const params = new URLSearchParams(window.location.search);
    for (const [key, value] of Object.entries(this.pending))
      if (value === null) params.delete(key);
      else params.set(key, value);
    this.pending = null;
    window.history[how](window.history.state, "", `?${params}${window.location.hash}`);
  }
}
