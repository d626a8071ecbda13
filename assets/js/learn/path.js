// The path that the reader is on: which one, where it goes on, what comes after its end.

import { browserStorage } from "../lib/storage.js";
import { t } from "./texts.js";

const PATH = "fa-learn-path";
const START = "fa-learn-start"; // the answers of the self-test: {"right": [true, false, …]}
export const COURSE = "course";

/** The path that the reader has chosen, null before that. */
export const chosenPath = () => browserStorage.get(PATH);
/** @param {string} path */
export const choosePath = (path) => browserStorage.set(PATH, path);

/** What was known in the self-test, question by question. */
export const testAnswers = () => browserStorage.getJson(START)?.right ?? [];

/** @param {boolean[]} right */
export const keepAnswers = (right) => browserStorage.set(START, JSON.stringify({ right }));

/** The lesson that the self-test leads to, null before it was begun. */
const advised = ({ starts }) => {
  const right = testAnswers();
  return right.length ? starts[right.filter(Boolean).length] : null;
};

/** Where a path goes on: its first stop that is not done; in the course from where the self-test leads. */
export function nextStop(outline, path, done) {
  const keys = outline.paths[path];
  const from = path === COURSE ? Math.max(0, keys.indexOf(advised(outline))) : 0;
  const left = keys.filter((key) => !done(key));
  return left.find((key) => keys.indexOf(key) >= from) ?? left[0] ?? null;
}

/** The path to go next: this one while it has stops left, else the one after it, around the end; null if none has. */
export function nextPath(outline, path, done) {
  const all = Object.keys(outline.paths);
  const at = Math.max(0, all.indexOf(path));
  return (
    [...all.slice(at), ...all.slice(0, at)].find((one) => nextStop(outline, one, done)) ?? null
  );
}

/** "1 hour" in a sentence: "on the 1-hour path"; "The course": "in the course". */
const inWords = (title) =>
  /^\d/.test(title)
    ? t("path.on", { title: title.replace(/ (\w+?)s?$/, "-$1") })
    : t("path.in", { title: title.replace(/^The/, "the") });

/**
 * What to say at the end of a path, null before it: {done, and of the next path its key, where it goes on, in words}.
 * @param {(key: string) => boolean} done
 */
export function ending(outline, path, done) {
  if (!outline.paths[path] || nextStop(outline, path, done)) return null;
  const next = nextPath(outline, path, done);
  const [title] = outline.ends[next] ?? [];
  return {
    done: t("path.done", { what: outline.ends[path][1] }),
    path: next,
    key: next && nextStop(outline, next, done),
    words: title && inWords(title),
  };
}
