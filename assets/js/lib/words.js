// A problem as one line of words. Each opens the choices of its fields beside it, a sheet at the foot of a phone's screen.

import { button, el, find, findVisible, on, set, setText } from "./dom.js";
import { clamp, integer } from "./format.js";
import { labelOf, makeWordControl, t } from "./word_control.js";
import stored from "../../texts/words_scripts.json" with { type: "json" };
import declared from "./words.json" with { type: "json" };

/** @import { Values, WordField } from "./word_control.js" */
/** Takes changed fields; resolves with a sentence where the server refuses them.
 * @typedef {(changes: Values) => Promise<string | void> | void} Change */

/** @type {{word: Record<string, string>, one: Record<string, string>}} */
const { word: PHRASES, one: SINGLE } = stored;
/** The lines of the Run page. */
export const LINES = { run: stored.run, phone: stored["run.phone"], masks: stored["run.masks"] };
const ALL = "all";
/** `parts`: the fields of a word that has several; `word_of`: names of words by the field that a chapter may name them after; `rare`:
 * fields that the line names only where they are set.
 * @type {{parts: Record<string, string[]>, word_of: Record<string, string>, rare: string[]}} */
const { parts: PARTS, word_of: WORD_OF, rare: RARE } = declared;
const MARGIN = 8;

/** @typedef {ReturnType<typeof makeProblemWords>} ProblemWords */

/** Make the line of words. `hasAll`: a last word, ⋯, opens all fields. @param {WordField[]} list of the fields, as `/fa/words` has them
 * @param {Change} onChange @param {boolean} hasAll */
export function makeProblemWords(list, onChange, hasAll = false) {
  const fields = new Map(list.map((field) => [field.key, field]));
  /** The word whose choices are open. @type {string | null} */
  let key = null;
  /** @type {Values} */
  let values = {};
  /** @type {ReturnType<typeof makeWordControl>[]} */
  let controls = [];
  let changing = Promise.resolve(); // until the last change is taken or refused
  let written = "";
  const text = el("p.fa-words-line");
  const title = el("b");
  const body = el("div.fa-words-fields");
  const refusal = el("p.fa-words-refusal", { role: "alert", hidden: true });
  const head = el("header", [title, button(t("done"), () => close())]);
  const popover = el("div.fa-words-popover", { popover: "manual", role: "dialog" }, [
    head,
    body,
    refusal,
  ]);
  const root = el("div.fa-words-of", { role: "group", "aria-label": t("name") }, [text, popover]);
  popover.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the page's keys rest
    // At the end of the document nothing takes the focus, so that focusout does not say where it goes
    if (event.key === "Tab")
      setTimeout(async () => {
        await changing;
        if (!root.contains(document.activeElement) && refusal.hidden) close(false);
      });
    if (event.key !== "Escape") return;
    event.preventDefault();
    close();
  });
  on(document, ["pointerdown"], ({ target }) => {
    if (!root.contains(target)) close(false);
  });
  root.addEventListener("focusout", ({ relatedTarget }) => {
    const to = /** @type {Node | null} */ (relatedTarget);
    if (to && !root.contains(to)) close(false);
  });

  /** Show these values: in a line of text with the names of words in brackets, or as a list of words.
   * @param {Values} given by the keys of the fields @param {string | string[]} line @param {Values} [defaults] of the page, in place of the fields' own */
  function show(given, line, defaults = {}) {
    const all = [...fields.values()]; // a chapter may have added words of its own
    for (const field of all) field.default = defaults[field.key] ?? field.default;
    values = Object.fromEntries(all.map((one) => [one.key, given[one.key] ?? one.default]));
    for (const control of controls) control.show(values);
    const words = lineOf(line);
    const now = JSON.stringify([words, values]);
    if (now === written) return;
    written = now;
    // What follows a word without a space stays beside it, so that no line begins with a comma
    const parts = words.split(/\[(\w+)\](\S*)/);
    const nodes = parts.map((part, k) => {
      if (k % 3 !== 1) return k % 3 ? "" : part;
      return el("span.fa-words-part", [word(part, textOf(part)), parts[k + 1]]);
    });
    if (hasAll) nodes.push(" ", word(ALL, "⋯"));
    const focused = find(text, ":focus")?.dataset.word;
    text.replaceChildren(...nodes);
    if (focused) wordOf(focused)?.focus();
  }

  /** @param {string | string[]} line */
  function lineOf(line) {
    const names = Array.isArray(line) ? line.map((name) => WORD_OF[name] ?? name) : [];
    const phrases = [...new Set(names)].map(phrase);
    if (!Array.isArray(line)) {
      const isIn = (/** @type {string} */ name) => line.includes(`[${name}]`);
      const rare = RARE.filter((name) => hasAll && !isIn(name) && isSet(name));
      phrases.push(line, ...rare.map(phrase));
    }
    return phrases.join(", ");
  }

  /** @param {string} name */
  function phrase(name) {
    return (textOf(name) === "1" && SINGLE[name]) || PHRASES[name];
  }

  /** The fields of a word that this page has. @param {string} name */
  function fieldsOf(name) {
    if (name === ALL) return list;
    return (PARTS[name] ?? [name]).flatMap((one) => fields.get(one) ?? []);
  }

  /** @param {string} name */
  function isSet(name) {
    return fieldsOf(name).some((field) => (values[field.key] || field.default) !== field.default);
  }

  /** What a word says. @param {string} name */
  function textOf(name) {
    const label = (/** @type {string} */ one) => {
      const field = fields.get(one);
      return field ? labelOf(field, values) : "";
    };
    if (name === "data" && values.data === "sentence" && values.text) return t("data.typed");
    if (name === "tiles") return `${label("br")} × ${label("bc")}`;
    if (name === "heads") return values.b === "1" ? label("h") : `${label("b")} × ${label("h")}`;
    if (name === "methods") {
      const names = label(name).split(", ");
      if (names.length > 2) return t("methods.many", { n: integer(names.length) });
      return names[1] ? t("methods.two", { first: names[0], second: names[1] }) : names[0];
    }
    return name === "card"
      ? label(name)
      : label(name).replace(/^[A-Z](?=[a-z])/, (x) => x.toLowerCase());
  }

  /** @param {string} name @param {string} words */
  function word(name, words) {
    return button(words, () => (key === name ? close() : open(name)), {
      class: "fa-problem-word",
      "data-word": name,
      "aria-label": name === ALL ? t("all") : null,
      "aria-haspopup": "dialog",
      "aria-expanded": String(key === name),
    });
  }

  /** @param {string} name */
  function wordOf(name) {
    return findVisible(text, `[data-word="${name}"]`);
  }

  /** @param {string} name */
  function open(name) {
    close(false);
    const opener = wordOf(name);
    const own = fieldsOf(name);
    if (!opener || !own.length) return;
    key = name;
    const label = name === ALL ? t("all") : own[0].label;
    setText(title, label);
    set(popover, { "aria-label": label, "data-word": name });
    controls = own.map((field) =>
      makeWordControl(field, (value) => {
        changing = change(field, value, own.length === 1);
      }),
    );
    for (const control of controls) control.show(values);
    body.replaceChildren(...controls.map((control) => control.root));
    set(body, { "data-fields": own.length });
    refuse("");
    popover.showPopover();
    set(opener, { "aria-expanded": "true" });
    place(opener.getBoundingClientRect());
    controls[0].focus();
  }

  /** Above the word where there is more room, else below; within the window. @param {DOMRect} box */
  function place(box) {
    const { innerWidth, innerHeight } = window;
    const left = clamp(box.left - MARGIN, MARGIN, innerWidth - popover.offsetWidth - MARGIN);
    const isAbove = box.top > innerHeight / 2;
    const edges = isAbove
      ? `--fa-top:auto;--fa-bottom:${innerHeight - box.top + MARGIN}px`
      : `--fa-top:${box.bottom + MARGIN}px;--fa-bottom:auto`;
    const room = isAbove ? box.top : innerHeight - box.bottom;
    popover.style.cssText = `--fa-left:${left}px;${edges};--fa-room:${room - 2 * MARGIN}px`;
  }

  /** @param {boolean} isBack gives the keyboard back to the word */
  function close(isBack = true) {
    if (!key) return;
    const opener = wordOf(key);
    key = null;
    if (opener) set(opener, { "aria-expanded": "false" });
    controls = [];
    popover.hidePopover();
    if (isBack) opener?.focus();
  }

  /** @param {string} sentence */
  function refuse(sentence) {
    setText(refusal, sentence);
    refusal.hidden = !sentence;
  }

  /** @param {WordField} field @param {string} value @param {boolean} isLast closes where it is taken */
  async function change(field, value, isLast) {
    const opened = key;
    refuse("");
    if (value !== values[field.key]) {
      set(popover, { "aria-busy": "true" });
      const sentence = await onChange({ [field.key]: value });
      set(popover, { "aria-busy": "false" });
      refuse(sentence || "");
      if (sentence) return;
    }
    if (isLast && key === opened) close();
  }

  return { root, fields, show };
}
