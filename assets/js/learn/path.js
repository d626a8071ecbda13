// The path that the reader is on: which one, where it goes on, what comes after its end.

import { browserStorage } from "../lib/storage.js";
import { t } from "./texts.js";

/** @import { Outline } from "./types.js" */
/** @typedef {(key: string) => boolean} IsDone whether a lesson's question was answered */

const PATH = "fa-learn-path";
const START = "fa-learn-start"; // the answers of the self-test: {right: [true, false, …]}
export const COURSE = "course";

/** The path that the reader has chosen, "" before that. */
export const chosenPath = () => browserStorage.get(PATH) ?? "";
/** @param {string} path */
export const choosePath = (path) => browserStorage.set(PATH, path);

/** What was known in the self-test, question by question. @returns {boolean[]} */
export const testAnswers = () => browserStorage.getJson(START)?.right ?? [];

/** @param {boolean[]} right */
export const storeAnswers = (right) => browserStorage.set(START, JSON.stringify({ right }));

/** The lesson that the self-test leads to, "" before it was begun. @param {Outline} outline */
const advised = ({ starts }) => {
  const right = testAnswers();
  return right.length ? starts[right.filter(Boolean).length] : "";
};

/** Where a path goes on: its first stop that is not done; in the course from where the self-test leads.
 * @param {Outline} outline @param {string} path @param {IsDone} isDone @returns {string | null} */
export function nextStop(outline, path, isDone) {
  const keys = outline.paths[path];
  const from = path === COURSE ? Math.max(0, keys.indexOf(advised(outline))) : 0;
  const left = keys.filter((key) => !isDone(key));
  return left.find((key) => keys.indexOf(key) >= from) ?? left[0] ?? null;
}

/** The path to go next: this one while it has stops left, else the one after it, around the end; null if none has.
 * @param {Outline} outline @param {string} path @param {IsDone} isDone */
export function nextPath(outline, path, isDone) {
  const paths = Object.keys(outline.paths);
  const at = Math.max(0, paths.indexOf(path));
  const order = [...paths.slice(at), ...paths.slice(0, at)];
  return order.find((one) => nextStop(outline, one, isDone)) ?? null;
}

/** "1 hour" in a sentence: "on the 1-hour path"; "The course": "in the course". @param {string} title */
const inWords = (title) =>
  /^\d/.test(title)
    ? t("path.on", { title: title.replace(/ (\w+?)s?$/, "-$1") })
    : t("path.in", { title: title.replace(/^The/, "the") });

/** What to say at the end of a path, null before it: `done`, and of the next path, if there is one, its key, where it goes
 * on, and both in words.
 * @param {Outline} outline @param {string} path @param {IsDone} isDone */
export function ending(outline, path, isDone) {
  if (!outline.paths[path] || nextStop(outline, path, isDone)) return null;
  const next = nextPath(outline, path, isDone);
  const key = next && nextStop(outline, next, isDone);
  return {
    done: t("path.done", { what: outline.ends[path][1] }),
    next: next && key ? { path: next, key, words: inWords(outline.ends[next][0]) } : null,
  };
}
