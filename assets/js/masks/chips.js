// The chips of a mask: a line a term, a hue a term, numbers edited in them, and the menu from which another comes.

import { all, button, el, find, set, setText, targetOf } from "../lib/dom.js";
import { named } from "../model/predicates.js";
import { added, fieldsOf, nudgedAt, removed, renumbered, textOf } from "../model/mask.js";
import { makeMenu } from "./menu.js";
import { t } from "./texts.js";

/** @import { Attributes } from "../lib/dom.js" */
/** @import { Draft, Piece } from "../model/predicates.js" */
/** Of a chip, as a number or as its dataset has it. @typedef {[term: string | number | undefined, k?: string | number]} Place */
/** @import { Most, Palette, Predicate } from "./types.js" */
/** `word`: what a number is that stands alone in its field. @typedef {{low: number, high: number, word?: string, words: string}} Range */

/** @type {Record<string, number>} */
const BY = { ArrowUp: 1, ArrowDown: -1 };

/** Make the lines of chips. `edit` is told what they now say, `pick` which chip of tiles is chosen, "term.k", or none.
 * @param {{edit: (draft: Draft, field?: HTMLElement | null) => void, pick: (place: string | null) => void}} act */
export function makeChips(act) {
  /** @type {Draft} */
  let draft = [];
  /** @type {string | null} */
  let picked = null;
  /** Which chips stand there. @type {string | undefined} */
  let shape;
  /** By name. @type {Record<string, Predicate>} */
  let known;
  /** @type {Most} */
  let most;
  const root = el("div.fa-mask-terms");
  const menu = makeMenu();

  /** What the server knows of predicates, by name, and how many of them there may be. @param {Palette} palette */
  function learn(palette) {
    known = Object.fromEntries(palette.predicates.map((one) => [one.name, one]));
    most = palette.most;
    menu.fill(palette.predicates);
  }

  /** @param {Draft} next the terms @param {string | null} place "term.k" of the chip whose tiles are toggled, or null */
  function draw(next, place) {
    const names = JSON.stringify([next.map((term) => term.map(({ name }) => name)), place]);
    const active = document.activeElement;
    /** @type {DOMStringMap} */
    const focused = active instanceof HTMLElement && root.contains(active) ? active.dataset : {};
    const before = draft[Number(focused.term)]?.[Number(focused.k)];
    draft = next;
    picked = place;
    if (names !== shape) build();
    shape = names;
    if (focused.kind) restoreFocus(focused, before);
    for (const field of root.querySelectorAll("input")) {
      const piece = pieceOf(field);
      const value = fieldsOf(piece, known[piece.name].numbers)[Number(field.dataset.at)];
      if (document.activeElement !== field) field.value = value;
      field.style.setProperty("--wide", `${Math.max(1, field.value.length)}ch`);
    }
    for (const button of all(root, ".fa-mask-tiles")) setText(button, named(pieceOf(button)));
  }

  /** The predicate of the chip that a control is in. @param {HTMLElement} control */
  function pieceOf({ dataset: { term, k } }) {
    return draft[Number(term)][Number(k)];
  }

  /** Focus the chip again that had the focus, wherever it stands now. @param {DOMStringMap} focused the dataset of the control in it
   * @param {Piece | undefined} piece */
  function restoreFocus({ kind, term, k, at }, piece) {
    const same = (/** @type {Piece} */ one) => piece !== undefined && textOf(one) === textOf(piece);
    const now = piece ? draft.findIndex((pieces) => pieces.some(same)) : -1;
    /** @type {Place} */
    const place = now < 0 ? [term, k] : [now, draft[now].findIndex(same)];
    focus([kind, ...place, at], ["close", ...place], ["plus", term], ["plus", 0]);
  }

  /** Focus the first of these controls that exists: [kind, term, k, at]. @param {(string | number | undefined)[][]} places */
  function focus(...places) {
    const node = places
      .map((place) => {
        const selectors = ["kind", "term", "k", "at"].map((name, p) =>
          place[p] === undefined ? "" : `[data-${name}="${place[p]}"]`,
        );
        return find(root, selectors.join(""));
      })
      .find(Boolean);
    if (node !== document.activeElement) node?.focus();
  }

  /** Make all lines anew, for other chips than before. */
  function build() {
    const lines = draft.flatMap((term, index) => [
      el("p.fa-mask-or", t(index ? "chip.or" : "kept_if")),
      line(term, index),
    ]);
    if (draft.length < most.terms && !isFull()) {
      const or = plus(draft.length, t("plus.or"));
      lines.push(
        el("div.fa-mask-term.fa-mask-more", { "data-hue": draft.length }, [
          el("span.fa-mask-or", t("chip.or")),
          or,
        ]),
      );
    }
    root.replaceChildren(...lines);
    set(root, { "data-dense": draft.length > 2 ? "" : null });
  }

  function isFull() {
    return draft.length === 1 && draft[0][0].name === "full";
  }

  /** @param {Piece[]} term @param {number} index */
  function line(term, index) {
    const chips = term.flatMap((piece, k) => [
      ...(k ? [el("span.fa-mask-and", t("chip.and"))] : []),
      chip(piece, index, k),
    ]);
    const more =
      term.length < most.predicates && plus(index, t(isFull() ? "plus.instead" : "plus.and"));
    return el(
      "div.fa-mask-term",
      {
        role: "group",
        "aria-label": index ? t("term", { k: index + 1 }) : t("term.first"),
        "data-hue": index,
      },
      [...chips, more],
    );
  }

  /** @param {Piece} piece @param {number} index @param {number} k */
  function chip(piece, index, k) {
    const { name } = piece;
    const { numbers, low, high, words } = known[name];
    const place = { "data-term": index, "data-k": k };
    /** @type {HTMLElement[]} */
    const parts = [];
    if (name === "block") {
      const on = picked === `${index}.${k}`;
      const toggle = button("", () => act.pick(on ? null : `${index}.${k}`), {
        class: "fa-mask-tiles",
        "aria-pressed": String(on),
        "data-kind": "tiles",
        "data-about": "tiles",
        ...place,
        title: t("toggle"),
      });
      parts.push(toggle);
    } else {
      parts.push(el("span.fa-mask-name", name));
      fieldsOf(piece, numbers).forEach((_, at) =>
        parts.push(
          ...(at ? [el("span.fa-mask-comma", ",")] : []),
          field(name, { ...place, "data-at": at }, { low, high, word: numbers?.[at], words }),
        ),
      );
    }
    if (!isFull()) {
      const close = button("×", () => take(index, k), {
        class: "fa-mask-close",
        "aria-label": t("remove", { piece: named(piece) }),
        "data-kind": "close",
        ...place,
      });
      parts.push(close);
    }
    const chip = el("span.fa-mask-chip", { "data-name": name, "data-about": name }, parts);
    if (!isFull())
      chip.addEventListener("keydown", (event) => {
        if (event.key !== "Delete" || targetOf(event).matches("input")) return;
        event.preventDefault();
        take(index, k);
      });
    return chip;
  }

  /** A number, or the list of them where there may be any.
   * @param {string} name @param {Attributes} place @param {Range} range */
  function field(name, place, range) {
    const alone = range.word !== undefined;
    const label = t("number", { name, what: range.word ?? t("numbers") });
    const input = el("input", {
      type: "text",
      inputmode: alone ? "numeric" : "text",
      autocomplete: "off",
      spellcheck: "false",
      "aria-label": label,
      "aria-description": range.words,
      "data-kind": "number",
      ...place,
    });
    input.addEventListener("input", () => type(input));
    input.addEventListener("focus", () => input.select());
    input.addEventListener("blur", () =>
      setTimeout(() => input.isConnected && draw(draft, picked)),
    );
    input.addEventListener("keydown", (event) => {
      const by = BY[event.key];
      if (!by) return;
      event.preventDefault();
      const caret = input.selectionEnd ?? 0;
      input.value = nudgedAt(input.value, caret, by * (event.shiftKey ? 10 : 1), range);
      input.setSelectionRange(caret, caret);
      type(input);
    });
    return input;
  }

  /** @param {HTMLInputElement} input */
  function type(input) {
    const { term, k } = input.dataset;
    const fields = [...root.querySelectorAll("input")].filter(
      ({ dataset }) => dataset.term === term && dataset.k === k,
    );
    input.style.setProperty("--wide", `${Math.max(1, input.value.length)}ch`);
    act.edit(
      renumbered(draft, Number(term), Number(k), fields.map(({ value }) => value.trim()).join(",")),
      input,
    );
  }

  /** @param {number} index @param {string} label */
  function plus(index, label) {
    const node = button(
      "+",
      () => {
        const taken = (draft[index] ?? []).map(({ name }) => name);
        menu.open(
          node,
          ({ name }) => name !== "full" && !taken.includes(name),
          ({ name, start }) => add(index, { name, numbers: start }),
        );
      },
      {
        class: "fa-mask-plus",
        "aria-label": label,
        title: label,
        "aria-haspopup": "menu",
        "aria-expanded": "false",
        "data-kind": "plus",
        "data-term": index,
      },
    );
    return node;
  }

  /** The new chip has the keyboard: its first number, or what takes it away again. @param {number} index @param {Piece} piece */
  function add(index, piece) {
    const longer = added(draft, index, piece);
    const k = longer[index].length - 1;
    act.edit(longer);
    focus(...["number", "tiles", "close"].map((kind) => [kind, index, k]), ["plus", index]);
    if (piece.name === "block") act.pick(`${index}.${k}`);
  }

  /** @param {number} index @param {number} k */
  function take(index, k) {
    act.edit(removed(draft, index, k));
    focus(["plus", index], ["plus", 0]);
  }

  return { root, menu, learn, draw };
}
