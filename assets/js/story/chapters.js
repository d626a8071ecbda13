// A chapter of a story as the server sends it, and the place in it. Pure.

/** What the picture needs at a position of the scrubber, and what is said there in place of the chapter's own words.
 * @typedef {{label: string, note: string, headline?: string, sentence?: string, provenance?: string, [key: string]: any}} Beat */
/** `role` "next": Next leads through its choices; "word": it is a word in the chapter's line.
 * @typedef {{key: string, label: string, value: string, choices: [value: string, label: string][], role: "" | "next" | "word"}} Switch */
/** @typedef {{title: string, head: string[], rows: (string | number | null)[][]}} Table */
/** explainer/views/stories/chapter.py says what each part is; `values`: the workload, `defaults`: that of the page.
 * @typedef {object} Chapter
 * @property {string} headline
 * @property {string} sentence
 * @property {string} provenance
 * @property {string} label
 * @property {Switch[]} switches
 * @property {Beat[]} beats
 * @property {number} start
 * @property {string[] | string} [words]
 * @property {Table[]} table
 * @property {[text: string, href: string][]} links
 * @property {any} picture
 * @property {Record<string, string>} values
 * @property {Record<string, string>} defaults
 * @property {Record<string, string>} terms of the glossary, by how they are written */

/** What the views of these pages were called before. @type {Record<string, string>} */
const OLD = {
  levels: "where",
  work: "masks",
  grid: "sms",
  real: "schedule",
  decode: "decoding",
};

/** The chapter that an address names, the first of the page for another name.
 * @param {string[]} chapters @param {string} [name] */
export const chapterOf = (chapters, name = "") =>
  [name, OLD[name]].find((one) => chapters.includes(one)) ?? chapters[0];

/** What is said at this position. @param {Chapter} chapter @param {number} at */
export function textsAt({ headline, sentence, provenance, beats }, at) {
  return { headline, sentence, provenance, ...beats[at] };
}

/** Where Next, or Previous with −1, leads from the end of a chapter: the next choice of the switch that leads, else the next chapter.
 * @param {string[]} names of the chapters @param {string} name @param {Chapter | undefined} chapter @param {1 | -1} by
 * @returns {[name: string, choice: Record<string, string>] | undefined} */
export function beside(names, name, chapter, by) {
  const led = chapter?.switches.find(({ role }) => role === "next");
  if (led) {
    const { key, value, choices } = led;
    const next = choices[choices.findIndex(([one]) => one === value) + by];
    if (next) return [name, { [key]: next[0] }];
  }
  const next = names[names.indexOf(name) + by];
  return next ? [next, {}] : undefined;
}

const PLAYED_MS = 9000; // for a whole chapter, at most

/** How long a position is shown while a chapter of so many plays. @param {number} beats */
export const beatMs = (beats) => Math.max(40, Math.min(1400, PLAYED_MS / beats));
