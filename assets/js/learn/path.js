// The path that the reader is on: which one, where it goes on, what comes after its end.

import { browserStorage } from "../lib/storage.js";
import { t } from "./texts.js";

/** @import { Outline } from "./types.js" */
/** @import { Progress } from "./progress.js" */
/** @typedef {(key: string) => boolean} IsDone whether a lesson's question was answered */

const PATH = "fa-learn-path";
export const COURSE = "course";

/** The path that the reader has chosen, "" before that. */
export const chosenPath = () => browserStorage.get(PATH) ?? "";
/** @param {string} path */
export const choosePath = (path) => browserStorage.set(PATH, path);

/** The lesson that the self-test leads to, by its first question that was not answered right; "" before it was begun.
 * @param {Outline} outline @param {Pick<Progress, "of">} progress */
export function advised({ starts, after }, progress) {
  if (!starts.some(([question]) => progress.of(question))) return "";
  return starts.find(([question]) => progress.of(question) !== "right")?.[1] ?? after;
}

/** Where a path goes on: its first stop that is not done; in the course from where the self-test leads, or else from the first
 * lesson that was done.
 * @param {Outline} outline @param {string} path @param {IsDone} isDone @param {string} start @returns {string | null} */
export function nextStop(outline, path, isDone, start) {
  const keys = outline.paths[path];
  const first = start ? keys.indexOf(start) : keys.findIndex(isDone);
  const from = path === COURSE ? Math.max(0, first) : 0;
  const left = keys.filter((key) => !isDone(key));
  return left.find((key) => keys.indexOf(key) >= from) ?? left[0] ?? null;
}

/** The path to go next: this one while it has stops left, else the one after it, around the end; null if none has.
 * @param {Outline} outline @param {string} path @param {IsDone} isDone @param {string} start */
export function nextPath(outline, path, isDone, start) {
  const paths = Object.keys(outline.paths);
  const at = Math.max(0, paths.indexOf(path));
  const order = [...paths.slice(at), ...paths.slice(0, at)];
  return order.find((one) => nextStop(outline, one, isDone, start)) ?? null;
}

/** "1 hour" in a sentence: "on the 1-hour path"; "The course": "in the course". @param {string} title */
const inWords = (title) =>
  /^\d/.test(title)
    ? t("path.on", { title: title.replace(/ (\w+?)s?$/, "-$1") })
    : t("path.in", { title: title.replace(/^The/, "the") });

/** What to say at the end of a path, null before it: `done`, and of the next path, if there is one, its key, where it goes
 * on, and both in words.
 * @param {Outline} outline @param {string} path @param {IsDone} isDone @param {string} start */
export function ending(outline, path, isDone, start) {
  if (!outline.paths[path] || nextStop(outline, path, isDone, start)) return null;
  const next = nextPath(outline, path, isDone, start);
  const key = next && nextStop(outline, next, isDone, start);
  return {
    done: outline.ends[path][1],
    next: next && key ? { path: next, key, words: inWords(outline.ends[next][0]) } : null,
  };
}
