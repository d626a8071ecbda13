// The Problem as one line of words. Each opens the page's control of it where it stands; one key opens all of them.

import { around, button, el, find, findVisible, giveFocus, on } from "../lib/dom.js";
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
    block_table,
  },
) => ({
  n: integer(n),
  d: String(d),
  tiles: `${block_q} × ${block_k}`,
  data: inputs,
  dtype: dtype === USUAL ? "" : dtype === "e4m3" ? t("words.fp8") : dtype,
  mask: shortly(mask),
  score: score === "none" ? "" : shortly(score),
  sink: sink === null ? "" : t("words.sink", { sink }),
  heads: heads ? t("words.head", { h: heads.head, of: heads.q_heads }) : "",
  rope: rope ? t("words.rope", { base: rope }) : "",
  dropout: dropout ? t("words.dropout", { p: dropout }) : "",
  kv: block_table ? t("words.paged") : "",
  order: ALGORITHMS[order].label,
});
/** The control of a word that has none of its own name. @type {Record<string, string>} */
const CONTROLS = { sink: "score", rope: "heads", dropout: "heads" };

/** Make a Problem's line of words.
 * @param {Opens | undefined} open what shows a control, or all for "all", beside a button; none: the words are only read @param {() => void} [turn] shows
 * the other pass, where no bar does */
export function makeWords(open, turn) {
  /** @type {string | undefined} */
  let written;

  const all = open && word("all", t("words.all"), t("words.all"), t("words.all.key"));
  /** What opens all controls: a player has it in its menu. @type {HTMLElement[]} */
  const more = all ? [all] : [];
  const root = el("p.fa-problem", { role: "group", "aria-label": t("words.name") });

  function layout(/** @type {Trace} */ { problem, header: { pass } }) {
    const words = wordsOf(problem);
    const now = JSON.stringify([pass, words]);
    if (written === now) return;
    written = now;
    const listed = Object.keys(words).filter((name) => words[name]);
    const { n, d, tiles, data, dtype, ...others } = recordOf(listed, (name) => `[${name}]`);
    const line = t(problem.n === 1 ? "words.one" : "words", {
      n,
      d,
      tiles,
      data,
      dtype: dtype ? t("words.in", { dtype }) : "",
      more: Object.values(others).join(", "),
    });
    const nodes = placed(
      line,
      recordOf(listed, (name) => word(CONTROLS[name] ?? name, words[name])),
    );
    if (turn) nodes.unshift(passSwitch(pass));
    else nodes.push(...more);
    root.replaceChildren(...nodes);
  }

  /** For a page whose bar has no room for it, or that has no bar. @param {Pass} pass */
  function passSwitch(pass) {
    const text = t(pass === "forward" ? "words.forward" : "words.backward");
    const attributes = { class: "fa-word fa-word-pass", title: t("words.turn") };
    return button(text, () => turn?.(), attributes);
  }

  /** @param {string} key @param {string} text @param {string} [label] @param {string} [title] */
  function word(key, text, label, title) {
    if (!open) return el("b", text);
    const node = button(text, () => open?.(key, node), {
      class: `fa-word fa-word-${key}`,
      "data-control": key,
      title,
      "aria-label": label,
      "aria-haspopup": "dialog",
    });
    return node;
  }

  return { root, more, layout };
}

/** Show one of Gradio's controls, or all of them, where a word stands. */
export function makeControls() {
  /** @type {string | null} */
  let openKey = null;
  /** @type {HTMLElement | undefined} */
  let opener;
  let closing = false;

  /** @param {string[]} names @param {(event: any) => void} act before all other listeners */
  const first = (names, act) => on(document, names, act, { capture: true });
  first(["pointerdown"], (event) => {
    if (!openKey || around(event, ".fa-controls, .fa-word, [role=listbox]"))
      return (closing = false);
    closing = Boolean(column()?.checkVisibility()); // not on another page, to which one of them may have led
    close();
  });
  // The click that closes them does nothing else; one from the keyboard, which counts none, is another.
  first(["mousedown", "click"], (event) => {
    if (!closing || !event.detail) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  });
  first(["keydown"], (event) => {
    if (event.key !== "Escape" || !openKey || event.defaultPrevented) return;
    event.preventDefault();
    done();
  });
  const head = el("header.fa-sheet-head", [
    el("b", t("words.name")),
    button(t("words.done"), done),
  ]); // on a phone

  function column() {
    return find(document, ".fa-step-controls");
  }

  /** The same word again closes it. @param {string} key @param {HTMLElement} [from] */
  function open(key, from) {
    if (openKey === key) return close();
    const sheet = column();
    if (!sheet) return;
    close();
    from?.closest("details")?.removeAttribute("open");
    openKey = key;
    opener = from;
    sheet.prepend(head);
    sheet.dataset.open = key;
    from?.setAttribute("aria-expanded", "true");
    if (from && key !== "all") beside(sheet, from.getBoundingClientRect());
    else sheet.style.cssText = "";
    sheet.tabIndex = -1; // of all controls none is singled out: the first is a menu, which would unfold over the others
    const first = key === "all" ? sheet : findVisible(sheet, "input, textarea, button");
    giveFocus(first);
  }

  /** Above the word where there is room for it, else below; within the window. @param {HTMLElement} sheet @param {DOMRect} word */
  function beside(sheet, word) {
    const { innerWidth, innerHeight } = window;
    const left = clamp(word.left - MARGIN, MARGIN, innerWidth - sheet.offsetWidth - MARGIN);
    const over = word.top > innerHeight / 2;
    sheet.style.cssText = `left:${left}px;${over ? `bottom:${innerHeight - word.top + MARGIN}px` : `top:${word.bottom + MARGIN}px`}`;
  }

  /** Closed from within: the keyboard is back on the word. */
  function done() {
    const word = opener && `.fa-word-${openKey}`; // made anew since, if the Problem changed
    close();
    const menu = opener?.closest("details");
    if (word) (findVisible(document, word) ?? (menu && find(menu, "summary")))?.focus();
  }

  function close() {
    // At once: a browser takes the focus from what is hidden only with the next frame, and a key may come before
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    if (column()?.contains(focused)) focused?.blur();
    openKey = null;
    opener?.removeAttribute("aria-expanded");
    delete column()?.dataset.open;
  }

  return { open, close };
}
