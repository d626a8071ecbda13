// The glossary on every page: the pointer rests on a symbol or a word, or a marked word has the
// focus, and its entry is shown. Escape closes it. The entries are fetched when first wanted.

import { el, setText, targetOf } from "../lib/dom.js";
import { during, pending } from "../lib/pending.js";
import { openDialog } from "./dialog.js";
import { t, texts } from "./texts.js";

/** An entry of the glossary. @typedef {{key: string, symbol: string, name: string, words: string}} Term */
/** A place in a text that an entry may be about. @typedef {{word: string, name: string, start: number, end: number}} Found */
/** What is shown: the entry, where it is from, and the title that stood there. @typedef {{term: Term, node: HTMLElement, box: DOMRect, titled: HTMLElement | null, title?: string}} Shown */

// Cards that use a letter in another sense.
/** @type {Record<string, string[]>} */
const OTHER_SENSE = {
  "#learn-matmul": ["B", "i", "j"],
  "#learn-formats": ["m", "N", "K"],
};
const MARKED = "abbr[data-term], tspan[data-term]";
const REST_MS = 400; // of the pointer, before it counts as a question
const HIDE_MS = 150; // time to reach the entry itself
const NEAR_PX = 3;
const WORD = /[\p{L}\p{N}_]+/gu; // subscripts and ℓ, α, ᵀ are letters or numbers too
const TAIL = /(?:_(?:new|old|i|j))?[₀-₉ᵢⱼᵀ]*$/u; // m_new, Q₂ and Kᵀ are m, Q and K
const RUN = /^(?:[αℓΣQKVSPO][₀-₉ᵢⱼᵀ]*)+$/u; // symbols side by side: αℓ, P₂₁V₁
const PIECE = /[αℓΣQKVSPO][₀-₉ᵢⱼᵀ]*/gu;

/** Looks words up: which entry, if any, a place in a text belongs to. */
export class Index {
  /** @param {{terms: Term[], spelled: Record<string, string>}} glossary `spelled`: {as it is written: key} */
  constructor({ terms, spelled }) {
    this.entries = new Map(terms.map((term) => [term.key, term]));
    this.symbols = new Map(
      terms.filter(({ symbol }) => symbol).map(({ symbol, key }) => [symbol, key]),
    );
    this.spelled = new Map(Object.entries(spelled));
    const longest = [...this.spelled.keys()]
      .sort((a, b) => b.length - a.length)
      .map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    this.pattern = new RegExp(
      `(?<![\\p{L}\\p{N}_–-])(${longest.join("|")})s?(?![\\p{L}\\p{N}_–-])`,
      "gu",
    );
  }

  /** What may be meant at `offset`, the best first: [{key, start, end}]. An offset lies between two characters. @param {string} text @param {number} offset */
  find(text, offset) {
    const over = (/** @type {RegExp} */ pattern, from = 0, of = text) =>
      [...of.matchAll(pattern)]
        .map(({ 0: word, 1: name, index }) => ({
          word,
          name,
          start: from + index,
          end: from + index + word.length,
        }))
        .filter(({ start, end }) => start <= offset && offset <= end);
    const names = over(this.pattern).map((found) => ({
      ...found,
      key: this.spelled.get(found.name),
    }));
    const words = over(WORD).flatMap((found) => {
      if (this.keyOf(found)) return this.isOther(found, text) ? [] : [found];
      return RUN.test(found.word) ? over(PIECE, found.start, found.word) : [];
    });
    return [...names, ...words.map((found) => ({ ...found, key: this.keyOf(found) }))].filter(
      ({ key }) => key,
    );
  }

  /** @param {Found} found */
  keyOf({ word }) {
    return this.symbols.get(word.replace(TAIL, ""));
  }

  /** Is the symbol a unit (256 B, 16 K), or the O of O(N²)? @param {Found} found @param {string} text */
  isOther({ word, start, end }, text) {
    return /[\d.,]\s?$/.test(text.slice(0, start)) || (word === "O" && text[end] === "(");
  }
}

/** Words in parts: the first place of each term that is not yet `marked` becomes a node of its own.
 * @param {string} words @param {Index} index @param {Set<string>} marked keys of terms @param {(attributes: Record<string, string>) => Node} make */
export function markTerms(words, { pattern, spelled }, marked, make) {
  /** @type {(string | Node)[]} */
  const parts = [];
  let end = 0;
  for (const match of words.matchAll(pattern)) {
    const key = spelled.get(match[1]) ?? "";
    if (marked.has(key)) continue;
    marked.add(key);
    const node = make({ "data-term": key, tabindex: "0", text: match[0] });
    parts.push(words.slice(end, match.index), node);
    end = match.index + match[0].length;
  }
  return [...parts, words.slice(end)];
}

/** The text and the place in it under the pointer, or null. @param {number} x @param {number} y */
function under(x, y) {
  const at = document.caretPositionFromPoint?.(x, y);
  if (at) return { node: at.offsetNode, offset: at.offset };
  const range = document.caretRangeFromPoint?.(x, y);
  return range && { node: range.startContainer, offset: range.startOffset };
}

/** @param {DOMRectReadOnly | {left: number, right: number, top: number, bottom: number}} box @param {number} x @param {number} y */
const inside = (box, x, y, by = 0) =>
  x >= box.left - by && x <= box.right + by && y >= box.top - by && y <= box.bottom + by;

/** Explain terms wherever they stand: once for the whole document. `load()` → promise of what Index takes.
 * @param {() => Promise<{terms: Term[], spelled: Record<string, string>}>} load */
export function makeTerms(load) {
  const title = el("b");
  const words = el("span");
  const more = el("span.fa-fine");
  const pop = el("div.fa-term", { role: "tooltip", id: "fa-term", hidden: true }, [
    title,
    words,
    more,
  ]);
  /** @type {Shown | null} */
  let current = null;
  /** Where the pointer was pressed, until it leaves the place.
   * @type {{left: number, right: number, top: number, bottom: number} | null} */
  let pressedAt = null;
  /** @type {Promise<Index | null> | null} */
  let loading = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let resting;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let leaving;
  const quiet = { passive: true };
  document.addEventListener(
    "pointermove",
    (event) => event.pointerType !== "touch" && moved(event),
    quiet,
  );
  document.addEventListener("focusin", (event) => focused(targetOf(event)), quiet);
  document.addEventListener("focusout", hide, quiet);
  document.addEventListener("pointerdown", pressed, quiet);
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape" || !current) return;
      hide();
      event.stopImmediatePropagation();
    },
    { capture: true },
  );
  window.addEventListener("scroll", scrolled, { passive: true, capture: true });

  /** The index, fetched once; a failure is forgotten, so that the next rest tries again. */
  function ready() {
    return (loading ??= load().then(
      (found) => new Index(found),
      () => (loading = null),
    ));
  }

  /** The pointer moved or was pressed: it does not rest. */
  function stir() {
    clearTimeout(resting);
    pending("rest", false);
  }

  /** A press is no question: the pointer must leave the place first, whatever appears under it. @param {PointerEvent} event */
  function pressed(event) {
    const { clientX: x, clientY: y } = event;
    stir();
    pressedAt = { left: x, right: x, top: y, bottom: y };
    if (!pop.contains(targetOf(event))) hide();
  }

  /** @param {PointerEvent} event */
  function moved(event) {
    const { clientX: x, clientY: y } = event;
    const target = targetOf(event);
    stir();
    if (pressedAt && inside(pressedAt, x, y, NEAR_PX)) return;
    pressedAt = null;
    if (current) {
      const stays =
        inside(pop.getBoundingClientRect(), x, y, 6) || inside(current.box, x, y, NEAR_PX);
      if (stays || current.node === document.activeElement) return clearTimeout(leaving);
      leaving = setTimeout(hide, HIDE_MS);
    }
    const marked = target.closest?.(MARKED);
    pending("rest", true);
    resting = setTimeout(
      () => {
        pending("rest", false);
        during("entry", rested(target, x, y));
      },
      marked ? 0 : REST_MS,
    );
  }

  /** @param {HTMLElement} target @param {number} x @param {number} y */
  async function rested(target, x, y) {
    const isElsewhere = target.closest?.(
      "#top, [role=tab], input, textarea, select, option, dialog, .fa-term",
    );
    if (!target.isConnected || isElsewhere) return;
    const index = await ready();
    if (!index) return;
    /** @type {HTMLElement | null} */
    const node = target.closest?.("[data-term]");
    if (node)
      return show(index.entries.get(node.dataset.term ?? ""), node.getClientRects()[0], node);
    const { node: text, offset } = under(x, y) ?? {};
    if (!(text instanceof Text) || offset === undefined || !target.contains(text)) return;
    const senses = Object.entries(OTHER_SENSE).find(([place]) => target.closest(place));
    const taken = senses?.[1] ?? [];
    const range = document.createRange();
    for (const { key, start, end } of index
      .find(text.data, offset)
      .filter((found) => !taken.includes(found.key ?? ""))) {
      range.setStart(text, start);
      range.setEnd(text, end);
      const box = [...range.getClientRects()].find((one) => inside(one, x, y));
      if (box && text.parentElement)
        return show(index.entries.get(key ?? ""), box, text.parentElement);
    }
  }

  /** @param {HTMLElement} target */
  async function focused(target) {
    hide();
    if (!target.matches?.(MARKED)) return;
    const index = await ready();
    if (index && document.activeElement === target)
      show(index.entries.get(target.dataset.term ?? ""), target.getClientRects()[0], target);
  }

  /** @param {Term | undefined} term @param {DOMRect | undefined} box @param {HTMLElement} node */
  function show(term, box, node) {
    clearTimeout(leaving);
    if (!term || !box || (current?.term === term && current.node === node)) return;
    hide();
    /** @type {HTMLElement | null} */
    const titled = node.closest("[title]");
    const around = document.querySelector(".gradio-container") ?? document.body;
    if (pop.parentNode !== around) around.append(pop);
    setText(title, term.symbol ? `${term.symbol} · ${term.name}` : term.name);
    setText(words, term.words);
    setText(more, titled?.title ?? "");
    more.hidden = !titled?.title;
    pop.hidden = false;
    current = { term, node, box, titled, title: titled?.title };
    titled?.removeAttribute("title"); // else the browser shows it too
    if (node.matches("[data-term]")) node.setAttribute("aria-describedby", pop.id);
    place(box);
  }

  /** The pointer's entry goes; that of a word with the focus, which itself scrolls, goes along. */
  function scrolled() {
    if (!current) return;
    if (current.node !== document.activeElement) return hide();
    current.box = current.node.getClientRects()[0];
    place(current.box);
  }

  /** Below the word's box, above it where there is no room, or beside it: never over it. @param {DOMRect} box */
  function place(box) {
    const { offsetWidth: wide, offsetHeight: high } = pop;
    const right = document.documentElement.clientWidth - wide - 8;
    const below = box.bottom + 6 + high < window.innerHeight;
    const over = below || box.top - 6 - high >= 8;
    const beside = box.right + 6 <= right ? box.right + 6 : box.left - 6 - wide;
    const top = below ? box.bottom + 6 : over ? box.top - 6 - high : window.innerHeight - high - 8;
    pop.style.left = `${Math.max(8, over ? Math.min(box.left, right) : beside)}px`;
    pop.style.top = `${Math.max(8, top)}px`;
  }

  function hide() {
    clearTimeout(leaving);
    if (!current) return;
    const { node, titled, title: tip } = current;
    if (node.matches("[data-term]")) node.removeAttribute("aria-describedby");
    if (tip && titled && !titled.hasAttribute("title")) titled.setAttribute("title", tip);
    current = null;
    pop.hidden = true;
  }

  return { ready };
}

/** @param {[string, string][]} list */
const rowsOf = (list) =>
  el(
    "dl.fa-terms",
    list.map(([term, words]) => el("div", [el("dt", term), el("dd", words)])),
  );

/** @param {string} title @param {[string, string][]} list */
const part = (title, list) => (list.length ? [el("h3", title), rowsOf(list)] : []);

/** The symbols, the phases and the keys in one dialog, for a reader who has no pointer to rest.
 * @param {ReturnType<typeof makeTerms>} terms @param {HTMLElement} opener */
export async function showSymbols(terms, opener) {
  const index = await terms.ready();
  const entries = index ? [...index.entries.values()] : [];
  /** @type {[string, string][]} */
  const symbols = entries
    .filter(({ symbol }) => symbol)
    .map(({ symbol, name, words }) => [t("symbol", { symbol, name }), words]);
  /** @type {[string, string][]} */
  const phases = entries
    .filter(({ name }) => name.startsWith("phase "))
    .map(({ name, words }) => [name.slice(6), words]);
  const label = t("symbols.all");
  const body = el("div.fa-symbols-body", { tabindex: 0, role: "group", "aria-label": label }, [
    ...part(t("symbols.keys"), Object.entries(texts.keys)),
    ...part(t("symbols.symbols"), symbols),
    ...part(t("symbols.phases"), phases),
    el("p.fa-fine", t(index ? "symbols.rest" : "symbols.none")),
  ]);
  openDialog({ title: t("symbols"), look: "fa-symbols", body }, opener);
}
