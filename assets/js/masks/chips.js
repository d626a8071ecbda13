// The chips of a mask: a line a term, a hue a term, numbers edited in them, and the menu from which another comes.

import { all, button, el, find, set, targetOf } from "../lib/dom.js";
import { named } from "../model/predicates.js";
import { added, fieldsOf, nudgedAt, removed, renumbered, textOf } from "../model/mask.js";
import { Menu } from "./menu.js";
import { t } from "./texts.js";

/** @import { Attributes } from "../lib/dom.js" */
/** @import { Draft, Piece } from "../model/predicates.js" */
/** Of a chip, as a number or as its dataset has it. @typedef {[term: string | number | undefined, k?: string | number]} Place */
/** @import { Most, Palette, Predicate } from "./types.js" */
/** `word`: what a number is that stands alone in its field. @typedef {{low: number, high: number, word?: string, words: string}} Range */

/** @type {Record<string, number>} */
const BY = { ArrowUp: 1, ArrowDown: -1 };

export class Chips {
  /** @type {Draft} */
  draft = [];
  /** @type {string | null} */
  picked = null;
  /** Which chips stand there. @type {string | undefined} */
  shape;
  /** By name. @type {Record<string, Predicate>} */
  known;
  /** @type {Most} */
  most;

  /** The chips say otherwise; a chip of tiles is chosen, "term.k", or none.
   * @param {{edit: (draft: Draft, field?: HTMLElement | null) => void, pick: (place: string | null) => void}} act */
  constructor(act) {
    this.act = act;
    this.root = el("div.fa-mask-terms");
    this.menu = new Menu();
  }

  /** What the server knows of predicates, by name, and how many of them there may be. @param {Palette} palette */
  learn({ predicates, most }) {
    this.known = Object.fromEntries(predicates.map((one) => [one.name, one]));
    this.most = most;
    this.menu.fill(predicates);
  }

  /** @param {Draft} draft the terms @param {string | null} picked "term.k" of the chip whose tiles are toggled, or null */
  draw(draft, picked) {
    const shape = JSON.stringify([draft.map((term) => term.map(({ name }) => name)), picked]);
    const active = document.activeElement;
    /** @type {DOMStringMap} */
    const focused =
      active instanceof HTMLElement && this.root.contains(active) ? active.dataset : {};
    const before = this.draft[Number(focused.term)]?.[Number(focused.k)];
    this.draft = draft;
    this.picked = picked;
    if (shape !== this.shape) this.build();
    this.shape = shape;
    if (focused.kind) this.restoreFocus(focused, before);
    for (const field of this.root.querySelectorAll("input")) {
      const piece = this.pieceOf(field);
      const value = fieldsOf(piece, this.known[piece.name].numbers)[Number(field.dataset.at)];
      if (document.activeElement !== field) field.value = value;
      field.style.setProperty("--wide", `${Math.max(1, field.value.length)}ch`);
    }
    for (const button of all(this.root, ".fa-mask-tiles"))
      set(button, { text: named(this.pieceOf(button)) });
  }

  /** The predicate of the chip that a control is in. @param {HTMLElement} control */
  pieceOf({ dataset: { term, k } }) {
    return this.draft[Number(term)][Number(k)];
  }

  /** Focus the chip again that had the focus, wherever it stands now. @param {DOMStringMap} focused the dataset of the control in it
   * @param {Piece | undefined} piece */
  restoreFocus({ kind, term, k, at }, piece) {
    const same = (/** @type {Piece} */ one) => piece !== undefined && textOf(one) === textOf(piece);
    const now = piece ? this.draft.findIndex((pieces) => pieces.some(same)) : -1;
    /** @type {Place} */
    const place = now < 0 ? [term, k] : [now, this.draft[now].findIndex(same)];
    this.focus([kind, ...place, at], ["close", ...place], ["plus", term], ["plus", 0]);
  }

  /** Focus the first of these controls that exists: [kind, term, k, at]. @param {(string | number | undefined)[][]} places */
  focus(...places) {
    const node = places
      .map((place) => {
        const selectors = ["kind", "term", "k", "at"].map((name, p) =>
          place[p] === undefined ? "" : `[data-${name}="${place[p]}"]`,
        );
        return find(this.root, selectors.join(""));
      })
      .find(Boolean);
    if (node !== document.activeElement) node?.focus();
  }

  /** Make all lines anew, for other chips than before. */
  build() {
    const lines = this.draft.flatMap((term, index) => [
      el("p.fa-mask-or", index ? t("chip.or") : t("kept_if")),
      this.line(term, index),
    ]);
    if (this.draft.length < this.most.terms && !this.isFull()) {
      const or = this.plus(this.draft.length, t("plus.or"));
      lines.push(
        el("div.fa-mask-term.fa-mask-more", { "data-hue": this.draft.length }, [
          el("span.fa-mask-or", t("chip.or")),
          or,
        ]),
      );
    }
    this.root.replaceChildren(...lines);
    set(this.root, { "data-dense": this.draft.length > 2 ? "" : null });
  }

  isFull() {
    return this.draft.length === 1 && this.draft[0][0].name === "full";
  }

  /** @param {Piece[]} term @param {number} index */
  line(term, index) {
    const chips = term.flatMap((piece, k) => [
      ...(k ? [el("span.fa-mask-and", t("chip.and"))] : []),
      this.chip(piece, index, k),
    ]);
    const plus =
      term.length < this.most.predicates
        ? this.plus(index, this.isFull() ? t("plus.instead") : t("plus.and"))
        : null;
    return el(
      "div.fa-mask-term",
      {
        role: "group",
        "aria-label": index ? t("term", { k: index + 1 }) : t("term.first"),
        "data-hue": index,
      },
      [...chips, plus],
    );
  }

  /** @param {Piece} piece @param {number} index @param {number} k */
  chip(piece, index, k) {
    const { name } = piece;
    const { numbers, low, high, words } = this.known[name];
    const place = { "data-term": index, "data-k": k };
    /** @type {HTMLElement[]} */
    const parts = [];
    if (name === "block") {
      const on = this.picked === `${index}.${k}`;
      const toggle = button("", () => this.act.pick(on ? null : `${index}.${k}`), {
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
          this.field(name, { ...place, "data-at": at }, { low, high, word: numbers?.[at], words }),
        ),
      );
    }
    if (!this.isFull()) {
      const close = button("×", () => this.take(index, k), {
        class: "fa-mask-close",
        "aria-label": t("remove", { piece: named(piece) }),
        "data-kind": "close",
        ...place,
      });
      parts.push(close);
    }
    const chip = el("span.fa-mask-chip", { "data-name": name, "data-about": name }, parts);
    if (!this.isFull())
      chip.addEventListener("keydown", (event) => {
        if (event.key !== "Delete" || targetOf(event).matches("input")) return;
        event.preventDefault();
        this.take(index, k);
      });
    return chip;
  }

  /** A number, or the list of them where there may be any.
   * @param {string} name @param {Attributes} place @param {Range} range */
  field(name, place, range) {
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
    input.addEventListener("input", () => this.type(input));
    input.addEventListener("focus", () => input.select());
    input.addEventListener("blur", () =>
      setTimeout(() => input.isConnected && this.draw(this.draft, this.picked)),
    );
    input.addEventListener("keydown", (event) => {
      const by = BY[event.key];
      if (!by) return;
      event.preventDefault();
      const caret = input.selectionEnd ?? 0;
      input.value = nudgedAt(input.value, caret, by * (event.shiftKey ? 10 : 1), range);
      input.setSelectionRange(caret, caret);
      this.type(input);
    });
    return input;
  }

  /** @param {HTMLInputElement} input */
  type(input) {
    const { term, k } = input.dataset;
    const fields = [...this.root.querySelectorAll("input")].filter(
      ({ dataset }) => dataset.term === term && dataset.k === k,
    );
    input.style.setProperty("--wide", `${Math.max(1, input.value.length)}ch`);
    this.act.edit(
      renumbered(
        this.draft,
        Number(term),
        Number(k),
        fields.map(({ value }) => value.trim()).join(","),
      ),
      input,
    );
  }

  /** @param {number} index @param {string} label */
  plus(index, label) {
    const plus = button(
      "+",
      () => {
        const taken = (this.draft[index] ?? []).map(({ name }) => name);
        this.menu.open(
          plus,
          ({ name }) => name !== "full" && !taken.includes(name),
          ({ name, start }) => this.add(index, { name, numbers: start }),
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
    return plus;
  }

  /** The new chip has the keyboard: its first number, or what takes it away again. @param {number} index @param {Piece} piece */
  add(index, piece) {
    const draft = added(this.draft, index, piece);
    const k = draft[index].length - 1;
    this.act.edit(draft);
    this.focus(...["number", "tiles", "close"].map((kind) => [kind, index, k]), ["plus", index]);
    if (piece.name === "block") this.act.pick(`${index}.${k}`);
  }

  /** @param {number} index @param {number} k */
  take(index, k) {
    this.act.edit(removed(this.draft, index, k));
    this.focus(["plus", index], ["plus", 0]);
  }
}
