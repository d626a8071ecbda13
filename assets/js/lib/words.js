// A problem as one line of words. Each opens the choices of its fields beside it, a sheet at the foot of a phone's screen.

import { button, el, find, findVisible, on, set, setText } from "./dom.js";
import { clamp, integer } from "./format.js";
import { textsOf } from "./texts.js";
import { WordControl } from "./word_control.js";
import stored from "../../texts/words_scripts.json" with { type: "json" };

/** @import { Values, WordField } from "./word_control.js" */
/** Takes changed fields; resolves with a sentence where the server refuses them.
 * @typedef {(changes: Values) => Promise<string | void> | void} Change */

const t = textsOf(stored);
/** @type {{word: Record<string, string>, one: Record<string, string>}} */
const { word: PHRASES, one: SINGLE } = stored;
/** The lines of the Run page. @type {{run: string, masks: string}} */
export const LINES = { run: stored.run, masks: stored["run.masks"] };
const ALL = "all";
/** The fields of a word that has several. @type {Record<string, string[]>} */
const PARTS = { tiles: ["br", "bc"], heads: ["h", "b"], data: ["data", "seed", "gain", "text"] };
/** Names of words by the field that a chapter may name them after. @type {Record<string, string>} */
const WORD_OF = { br: "tiles", bc: "tiles", h: "heads", b: "heads" };
// Fields that the line names only where they are set.
const RARE = ["heads", "hk", "pass", "score", "sink", "rope", "dropout", "gain"];
const MARGIN = 8;

export class ProblemWords {
  /** The word whose choices are open. @type {string | null} */
  key = null;
  /** @type {Values} */
  values = {};
  /** @type {Map<string, WordControl>} */
  controls = new Map();
  line = "";

  /** `hasAll`: a last word, ⋯, opens all fields. @param {WordField[]} fields as `/fa/words` has them @param {Change} onChange @param {boolean} hasAll */
  constructor(fields, onChange, hasAll = false) {
    this.fields = new Map(fields.map((field) => [field.key, field]));
    this.onChange = onChange;
    this.hasAll = hasAll;
    this.text = el("p.fa-words-line");
    this.title = el("b");
    this.body = el("div.fa-words-fields");
    this.refusal = el("p.fa-words-refusal", { role: "alert", hidden: true });
    const head = el("header", [this.title, button(t("done"), () => this.close())]);
    this.popover = el("div.fa-words-popover", { popover: "manual", role: "dialog" }, [
      head,
      this.body,
      this.refusal,
    ]);
    this.root = el("div.fa-words-of", { role: "group", "aria-label": t("name") }, [
      this.text,
      this.popover,
    ]);
    this.popover.addEventListener("keydown", (event) => this.keyed(event));
    on(document, ["pointerdown"], ({ target }) => {
      if (this.key && !this.root.contains(target)) this.close(false);
    });
    this.root.addEventListener("focusout", ({ relatedTarget }) => {
      const to = /** @type {Node | null} */ (relatedTarget);
      if (this.key && to && !this.root.contains(to)) this.close(false);
    });
  }

  /** Show these values: in a line of text with the names of words in brackets, or as a list of words.
   * @param {Values} values by the keys of the fields @param {string | string[]} line @param {Values} [defaults] of the page, in place of the fields' own */
  show(values, line, defaults = {}) {
    for (const [key, value] of Object.entries(defaults)) {
      const field = this.fields.get(key);
      if (field) field.default = value;
    }
    const fields = [...this.fields.values()];
    this.values = Object.fromEntries(
      fields.map((one) => [one.key, values[one.key] ?? one.default]),
    );
    for (const control of this.controls.values()) control.show(this.values);
    const text = this.lineOf(line);
    const said = JSON.stringify([text, this.values]);
    if (said === this.line) return;
    this.line = said;
    // What follows a word without a space stays beside it, so that no line begins with a comma
    const parts = text.split(/\[(\w+)\](\S*)/);
    const nodes = parts.map((part, k) => {
      if (k % 3 !== 1) return k % 3 ? "" : part;
      const word = this.word(part, this.textOf(part));
      return el("span.fa-words-part", [word, parts[k + 1]]);
    });
    if (this.hasAll) nodes.push(" ", this.word(ALL, "⋯"));
    const focused = /** @type {HTMLElement | null} */ (find(this.text, ":focus"))?.dataset.word;
    this.text.replaceChildren(...nodes);
    if (focused) this.wordOf(focused)?.focus();
  }

  /** @param {string | string[]} line */
  lineOf(line) {
    const names = Array.isArray(line) ? line.map((name) => WORD_OF[name] ?? name) : [];
    const phrases = [...new Set(names)].map((name) => this.phrase(name));
    if (!Array.isArray(line)) {
      const isIn = (/** @type {string} */ name) => line.includes(`[${name}]`);
      const set = RARE.filter((name) => this.hasAll && !isIn(name) && this.isSet(name));
      phrases.push(line, ...set.map((name) => this.phrase(name)));
    }
    return phrases.join(", ");
  }

  /** @param {string} name */
  phrase(name) {
    return (this.textOf(name) === "1" && SINGLE[name]) || PHRASES[name];
  }

  /** The fields of a word that this page has. @param {string} name */
  fieldsOf(name) {
    const keys = name === ALL ? [...this.fields.keys()] : (PARTS[name] ?? [name]);
    return keys.flatMap((key) => this.fields.get(key) ?? []);
  }

  /** @param {string} name */
  isSet(name) {
    const fields = this.fieldsOf(name);
    return fields.some(({ key, default: plain }) => (this.values[key] || plain) !== plain);
  }

  /** What a word says. @param {string} name */
  textOf(name) {
    const { values } = this;
    const label = (/** @type {string} */ key) => {
      const field = this.fields.get(key);
      return field ? WordControl.labelOf(field, values) : "";
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

  /** @param {string} name @param {string} text */
  word(name, text) {
    return button(text, () => this.toggle(name), {
      class: "fa-problem-word",
      "data-word": name,
      "aria-label": name === ALL ? t("all") : null,
      "aria-haspopup": "dialog",
      "aria-expanded": String(this.key === name),
    });
  }

  /** @param {string} name */
  wordOf(name) {
    return findVisible(this.text, `[data-word="${name}"]`);
  }

  /** @param {string} name */
  toggle(name) {
    if (this.key === name) this.close();
    else this.open(name);
  }

  /** @param {string} name */
  open(name) {
    this.close(false);
    const word = this.wordOf(name);
    const fields = this.fieldsOf(name);
    if (!word || !fields.length) return;
    this.key = name;
    const { body, title, popover } = this;
    const title_ = name === ALL ? t("all") : fields[0].label;
    setText(title, title_);
    set(popover, { "aria-label": title_, "data-word": name });
    const isAlone = fields.length === 1;
    this.controls = new Map(
      fields.map((field) => [
        field.key,
        new WordControl(field, (value) => this.change(field, value, isAlone)),
      ]),
    );
    for (const control of this.controls.values()) control.show(this.values);
    body.replaceChildren(...[...this.controls.values()].map(({ root }) => root));
    set(body, { "data-fields": fields.length });
    this.refuse("");
    popover.showPopover();
    set(word, { "aria-expanded": "true" });
    this.place(word.getBoundingClientRect());
    (name === ALL ? [...this.controls.values()][0] : this.controls.get(fields[0].key))?.focus();
  }

  /** Above the word where there is more room, else below; within the window. @param {DOMRect} word */
  place(word) {
    const { innerWidth, innerHeight } = window;
    const { style, offsetWidth } = this.popover;
    const left = clamp(word.left - MARGIN, MARGIN, innerWidth - offsetWidth - MARGIN);
    const isAbove = word.top > innerHeight / 2;
    style.setProperty("--fa-left", `${left}px`);
    style.setProperty("--fa-top", isAbove ? "auto" : `${word.bottom + MARGIN}px`);
    style.setProperty("--fa-bottom", isAbove ? `${innerHeight - word.top + MARGIN}px` : "auto");
    const room = isAbove ? word.top : innerHeight - word.bottom;
    style.setProperty("--fa-room", `${room - 2 * MARGIN}px`);
  }

  /** @param {boolean} isBack gives the keyboard back to the word */
  close(isBack = true) {
    const { key } = this;
    if (!key) return;
    this.key = null;
    const word = this.wordOf(key);
    if (word) set(word, { "aria-expanded": "false" });
    this.controls.clear();
    this.popover.hidePopover();
    if (isBack) word?.focus();
  }

  /** @param {string} sentence */
  refuse(sentence) {
    setText(this.refusal, sentence);
    this.refusal.hidden = !sentence;
  }

  /** @param {WordField} field @param {string} value @param {boolean} isLast closes where it is taken */
  async change(field, value, isLast) {
    const { key } = this;
    this.refuse("");
    if (value !== this.values[field.key]) {
      set(this.popover, { "aria-busy": "true" });
      const sentence = await this.onChange?.({ [field.key]: value });
      set(this.popover, { "aria-busy": "false" });
      this.refuse(sentence || "");
      if (sentence) return;
    }
    if (isLast && this.key === key) this.close();
  }

  /** @param {KeyboardEvent} event */
  keyed(event) {
    event.stopPropagation(); // the page's keys rest
    if (event.key !== "Escape") return;
    event.preventDefault();
    this.close();
  }
}
