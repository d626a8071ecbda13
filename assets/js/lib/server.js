// Requests to our own server. What it refuses and what cannot be reached is one sentence.

import { t } from "./texts.js";

const RETRIES = 2; // of a request that found the server busy
const LONGEST_WAIT_S = 20; // that a visitor waits each time

/** The address of what the server has under this name.
 * @param {string} name @param {ConstructorParameters<typeof URLSearchParams>[0]} [query] */
export function serverUrl(name, query) {
  const url = new URL(`fa/${name}`, document.baseURI);
  url.search = String(new URLSearchParams(query));
  return url;
}

/** The name of the learner's file that the app was started with, "" without one. */
export const kernelFile = () =>
  document.querySelector('meta[name="fa-kernel"]')?.getAttribute("content") ?? "";

/** @type {(address: string | URL, options?: RequestInit) => Promise<Response>} */
let send = (address, options) => fetch(address, options);

/** Lets this function answer in the server's place, in a page that came with its answers.
 * @param {typeof send} other */
export const answerInstead = (other) => void (send = other);

/** Every request of the pages goes through here. @type {typeof send} */
export const request = (address, options) => send(address, options);

/** @param {number} seconds */
const pause = (seconds) => new Promise((done) => void setTimeout(done, 1000 * seconds));

/** The response of this address. Raises the server's sentence where it refuses. A busy server is asked again after the
 * seconds that it names; meanwhile `onBusy` gets its sentence.
 * @param {string | URL} address
 * @param {AbortSignal} [signal]
 * @param {(sentence: string) => void} [onBusy]
 * @param {(seconds: number) => Promise<unknown>} [wait] */
export async function requestOk(address, signal, onBusy, wait = pause) {
  for (let left = RETRIES; ; left -= 1) {
    const response = await request(address, { signal });
    if (response.ok) return response;
    const sentence =
      (await response.json().catch(() => null))?.error ??
      t("answered", { status: response.status });
    const after = Number(response.headers.get("Retry-After"));
    if (response.status !== 503 || !left || !(after > 0 && after <= LONGEST_WAIT_S))
      throw new Error(sentence);
    onBusy?.(sentence);
    await wait(after);
  }
}

/** The JSON of this address, or as requestOk() refuses it. @param {string | URL} address @param {AbortSignal} [signal] */
export const requestJson = async (address, signal) => (await requestOk(address, signal)).json();

/** The sentence of an error: fetch() raises a TypeError where there is no network. @param {unknown} error */
export const errorText = (error) =>
  error instanceof TypeError ? t("unreached") : /** @type {Error} */ (error).message;
