// Asking our own server: what it refuses and what cannot be reached is one sentence.

import { textsOf } from "./texts.js";
import texts from "../../texts/lib.json" with { type: "json" };

const say = textsOf(texts);

const TIMES = 2; // asked again when the server is busy
const MOST_S = 20; // that a visitor waits for it each time

/** @type {(address: string | URL, how?: RequestInit) => Promise<Response>} */
let answering = (address, how) => fetch(address, how);

/** A page that came with its answers has no server: this one answers in its place.
 * @param {typeof answering} other */
export const answersFrom = (other) => void (answering = other);

/** Every question of the pages goes through here. @type {typeof answering} */
export const reach = (address, how) => answering(address, how);

/** Resolves after so many seconds. */
const pause = (seconds) => new Promise((done) => void setTimeout(done, 1000 * seconds));

/** The answer to this address, if the server gives one; raises what it says instead. A server that
 * is busy is asked again when it says; `busy` is told its sentence meanwhile.
 * @param {string | URL} address
 * @param {AbortSignal} [signal]
 * @param {(sentence: string) => void} [busy]
 * @param {(seconds: number) => Promise<unknown>} [wait] */
export async function asked(address, signal, busy, wait = pause) {
  for (let again = TIMES; ; again -= 1) {
    const response = await reach(address, { signal });
    if (response.ok) return response;
    const sentence =
      (await response.json().catch(() => null))?.error ??
      say("answered", { status: response.status });
    const after = Number(response.headers.get("Retry-After"));
    if (response.status !== 503 || !again || !(after > 0 && after <= MOST_S))
      throw new Error(sentence);
    busy?.(sentence);
    await wait(after);
  }
}

/** What to say of an error: fetch() raises a TypeError where there is no network. */
export const sentenceOf = (error) =>
  error instanceof TypeError ? say("unreached") : error.message;
