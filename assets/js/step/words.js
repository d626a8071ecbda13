// The Problem as one line of words. Each opens the page's control of it where it stands; one key opens all of them.

import { around, button, el, find, findVisible, on } from "../lib/dom.js";
import { recordOf } from "../lib/lists.js";
import { ALGORITHMS } from "../model/algorithms.js";
import { clamp, integer } from "../lib/format.js";
import { t } from "../model/texts.js";
import { placed } from "../views/rich.js";

/** @import { Pass, Problem, Trace } from "../model/types.js" */
/** @import { Opens } from "./types.js" */

const MARGIN = 8;
const USUAL = "fp32"; // which goes without saying

const LONG = 28; // characters of a mask in the line
/** @param {string} text */
const shortly = (text) =>
  text.length > LONG ? `${text.slice(0, LONG).replace(/[&|][^&|]*$/, "")} …` : text;

/** The words of a Problem by their names; those that go without saying are "".
 * @returns {Record<string, string>} */
const wordsOf = (
  /** @type {Problem} */ {
    n,
    d,
    block_q,
    block_k,
    mask,
    order,
    inputs,
    dtype,
    score,
    sink,
    heads,
    dropout,
    rope,
  },
) => ({
  n: integer(n),
  d: String(d),
  tiles: `${block_q} × ${block_k}`,
  data: inputs,
  dtype: dtype === USUAL ? "" : dtype,
  mask: shortly(mask),
  score: score === "none" ? "" : shortly(score),
  sink: sink === null ? "" : t("words.sink", { sink }),
  heads: heads ? t("words.head", { h: heads.head, of: heads.q_heads }) : "",
  rope: rope ? t("words.rope", { base: rope }) : "",
  dropout: dropout ? t("words.dropout", { p: dropout }) : "",
  order: ALGORITHMS[order].label,
});
/** The control of a word that has none of its own name. @type {Record<string, string>} */
const CONTROLS = { sink: "score", rope: "heads", dropout: "heads" };

export class Words {
  /** @type {Opens | undefined} */
  open;
  /** @type {(() => void) | undefined} */
  turn;
  /** @type {string | undefined} */
  written;
  /** @param {Opens | undefined} open what shows a control, or all for "all", beside a button; none: the words are only read @param {() => void} [turn] shows
   * the other pass, where no bar does */
  constructor(open, turn) {
    Object.assign(this, { open, turn });
    const all = this.open && this.word("all", t("words.all"), t("words.all"), t("words.all.key"));
    /** What opens all controls: a player has it in its menu. @type {HTMLElement[]} */
    this.more = all ? [all] : [];
    this.root = el("p.fa-problem", { role: "group", "aria-label": t("words.name") });
  }

  layout(/** @type {Trace} */ { problem, header: { pass } }) {
    const words = wordsOf(problem);
    const written = JSON.stringify([pass, words]);
    if (this.written === written) return;
    this.written = written;
    const said = Object.keys(words).filter((name) => words[name]);
    const { n, d, tiles, data, dtype, ...more } = recordOf(said, (name) => `[${name}]`);
    const line = t(problem.n === 1 ? "words.one" : "words", {
      n,
      d,
      tiles,
      data,
      dtype: dtype ? t("words.in", { dtype }) : "",
      more: Object.values(more).join(", "),
    });
    const nodes = placed(
      line,
      recordOf(said, (name) => this.word(CONTROLS[name] ?? name, words[name])),
    );
    if (this.turn) nodes.unshift(this.switch(pass));
    else nodes.push(...this.more);
    this.root.replaceChildren(...nodes);
  }

  /** For a page whose bar has no room for it, or that has no bar. @param {Pass} pass */
  switch(pass) {
    const text = t(pass === "forward" ? "words.forward" : "words.backward");
    const attributes = { class: "fa-word fa-word-pass", title: t("words.turn") };
    return button(text, () => this.turn?.(), attributes);
  }

  /** @param {string} key @param {string} text @param {string} [label] @param {string} [title] */
  word(key, text, label, title) {
    if (!this.open) return el("b", text);
    const node = button(text, () => this.open?.(key, node), {
      class: `fa-word fa-word-${key}`,
      "data-control": key,
      title,
      "aria-label": label,
      "aria-haspopup": "dialog",
    });
    return node;
  }
}

/** The column of Gradio's controls, of which one, or all, are shown where a word stands. */
export class Controls {
  /** @type {string | null} */
  key;
  /** @type {HTMLElement | undefined} */
  from;
  /** @type {boolean} */
  closing;
  constructor() {
    /** @param {string[]} names @param {(event: any) => void} act before all other listeners */
    const first = (names, act) => on(document, names, act, { capture: true });
    first(["pointerdown"], (event) => {
      if (!this.key || around(event, ".fa-controls, .fa-word, [role=listbox]"))
        return (this.closing = false);
      this.closing = Boolean(this.column?.checkVisibility()); // not on another page, to which one of them may have led
      this.close();
    });
    // The click that closes them does nothing else; one from the keyboard, which counts none, is another.
    first(["mousedown", "click"], (event) => {
      if (!this.closing || !event.detail) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    });
    first(["keydown"], (event) => {
      if (event.key !== "Escape" || !this.key || event.defaultPrevented) return;
      event.preventDefault();
      this.done();
    });
    this.head = el("header.fa-sheet-head", [
      el("b", t("words.name")),
      button(t("words.done"), () => this.done()),
    ]); // on a phone
  }

  get column() {
    return find(document, ".fa-step-controls");
  }

  /** The same word again closes it. @param {string} key @param {HTMLElement} [from] */
  open(key, from) {
    if (this.key === key) return this.close();
    const { column } = this;
    if (!column) return;
    this.close();
    from?.closest("details")?.removeAttribute("open");
    Object.assign(this, { key, from });
    column.prepend(this.head);
    column.dataset.open = key;
    from?.setAttribute("aria-expanded", "true");
    if (from && key !== "all") this.beside(column, from.getBoundingClientRect());
    else column.style.cssText = "";
    column.tabIndex = -1; // of all controls none is singled out: the first is a menu, which would unfold over the others
    const first = key === "all" ? column : findVisible(column, "input, textarea, button");
    first?.focus({ preventScroll: true });
  }

  /** Above the word where there is room for it, else below; within the window. @param {HTMLElement} column @param {DOMRect} word */
  beside(column, word) {
    const { innerWidth, innerHeight } = window;
    const left = clamp(word.left - MARGIN, MARGIN, innerWidth - column.offsetWidth - MARGIN);
    const over = word.top > innerHeight / 2;
    column.style.cssText = `left:${left}px;${over ? `bottom:${innerHeight - word.top + MARGIN}px` : `top:${word.bottom + MARGIN}px`}`;
  }

  /** Closed from within: the keyboard is back on the word. */
  done() {
    const { from } = this;
    const word = from && `.fa-word-${this.key}`; // made anew since, if the Problem changed
    this.close();
    const menu = from?.closest("details");
    if (word) (findVisible(document, word) ?? (menu && find(menu, "summary")))?.focus();
  }

  close() {
    // At once: a browser takes the focus from what is hidden only with the next frame, and a key may come before
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    if (this.column?.contains(focused)) focused?.blur();
    this.key = null;
    this.from?.removeAttribute("aria-expanded");
    delete this.column?.dataset.open;
  }
}
