// The chips of a mask: a line a term, a hue a term, numbers edited in them, and the menu from which another comes.

import { el, set } from "../lib/dom.js";
import { added, fieldsOf, named, nudged, removed, renumbered } from "../model/mask.js";
import { Menu } from "./menu.js";

const BY = { ArrowUp: 1, ArrowDown: -1 };

export class Chips {
  /** @param act {edit(draft), pick(term, k)}: the chips say otherwise; a chip of tiles is chosen */
  constructor(act) {
    this.act = act;
    this.root = el("div", { class: "fa-mask-terms" });
    this.menu = new Menu();
  }

  /** What the server knows of predicates, by name, and how many of them there may be. */
  learn({ predicates, most }) {
    this.known = Object.fromEntries(predicates.map((one) => [one.name, one]));
    this.most = most;
    this.menu.fill(predicates);
  }

  /** @param draft the terms @param picked "term.k" of the chip whose tiles are toggled, or null */
  draw(draft, picked) {
    const shape = JSON.stringify([draft.map((term) => term.map(({ name }) => name)), picked]);
    this.draft = draft;
    if (shape !== this.shape) this.build(picked);
    this.shape = shape;
    for (const field of this.root.querySelectorAll("input")) {
      const { term, k, at } = field.dataset;
      const piece = draft[term][k];
      const value = fieldsOf(piece, this.known[piece.name].numbers?.length ?? null)[at];
      if (document.activeElement !== field) field.value = value;
      field.style.setProperty("--wide", `${Math.max(1, field.value.length)}ch`);
    }
    for (const button of this.root.querySelectorAll(".fa-mask-tiles")) set(button, { text: named(draft[button.dataset.term][button.dataset.k]) });
  }

  /** Anew, for other chips than before; the keyboard stays where it was. */
  build(picked) {
    const { dataset } = document.activeElement ?? {};
    const held = this.root.contains(document.activeElement) ? dataset.held : null;
    const lines = this.draft.flatMap((term, t) => [el("p", { class: "fa-mask-or", text: t ? "or" : "a key is kept if it is" }), this.line(term, t, picked)]);
    if (this.draft.length < this.most.terms && !this.isFull()) {
      const or = this.plus(this.draft.length, "or one that is …");
      lines.push(el("div", { class: "fa-mask-term fa-mask-more", "data-hue": this.draft.length }, [el("span", { class: "fa-mask-or", text: "or" }), or]));
    }
    this.root.replaceChildren(...lines);
    if (held) this.root.querySelector(`[data-held="${held}"]`)?.focus();
  }

  isFull() {
    return this.draft.length === 1 && this.draft[0][0].name === "full";
  }

  line(term, t, picked) {
    const chips = term.flatMap((piece, k) => [...(k ? [el("span", { class: "fa-mask-and", text: "and" })] : []), this.chip(piece, t, k, picked)]);
    const plus = term.length < this.most.predicates ? this.plus(t, this.isFull() ? "a predicate instead" : "and …") : null;
    return el("div", { class: "fa-mask-term", role: "group", "aria-label": t ? `or, term ${t + 1}` : "kept if it is", "data-hue": t }, [...chips, plus]);
  }

  chip(piece, t, k, picked) {
    const { name } = piece;
    const { numbers } = this.known[name];
    const place = { "data-term": t, "data-k": k };
    const parts = [];
    if (name === "block") {
      const on = picked === `${t}.${k}`;
      const button = el("button", { type: "button", class: "fa-mask-tiles", "aria-pressed": String(on), "data-held": `tiles.${t}.${k}`, ...place, title: "Choose, then click tiles of the map to keep or hide them" });
      button.addEventListener("click", () => this.act.pick(on ? null : `${t}.${k}`));
      parts.push(button);
    } else {
      parts.push(el("span", { class: "fa-mask-name", text: name }));
      const fields = fieldsOf(piece, numbers?.length ?? null);
      if (piece.numbers || numbers?.length) fields.forEach((_, at) => parts.push(...(at ? [","] : []), this.field(place, at, numbers?.[at], name)));
    }
    if (!this.isFull()) {
      const close = el("button", { type: "button", class: "fa-mask-close", "aria-label": `Remove ${named(piece)}`, text: "×", "data-held": `close.${t}.${k}` });
      close.addEventListener("click", () => this.take(t, k));
      parts.push(close);
    }
    const chip = el("span", { class: "fa-mask-chip", "data-name": name }, parts);
    if (!this.isFull()) chip.addEventListener("keydown", (event) => {
      if (event.key !== "Delete" || event.target.matches("input")) return;
      event.preventDefault();
      this.take(t, k);
    });
    return chip;
  }

  /** A number, or the list of them where there may be any. @param range {low, high, word}, of a number */
  field(place, at, range, name) {
    const label = range ? `${name}: ${range.word}` : `${name}: numbers`;
    const input = el("input", { type: "text", inputmode: range ? "numeric" : "text", autocomplete: "off", spellcheck: "false", "aria-label": label, "data-at": at, "data-held": `${name}.${place["data-term"]}.${place["data-k"]}.${at}`, ...place });
    input.addEventListener("input", () => this.type(input));
    input.addEventListener("focus", () => input.select());
    input.addEventListener("blur", () => this.draw(this.draft, this.picked));
    input.addEventListener("keydown", (event) => {
      const by = BY[event.key];
      if (!by || !range) return;
      event.preventDefault();
      input.value = nudged(input.value, by * (event.shiftKey ? 10 : 1), range);
      this.type(input);
    });
    return input;
  }

  type(input) {
    const { term, k } = input.dataset;
    const all = [...this.root.querySelectorAll(`input[data-term="${term}"][data-k="${k}"]`)];
    input.style.setProperty("--wide", `${Math.max(1, input.value.length)}ch`);
    this.act.edit(renumbered(this.draft, Number(term), Number(k), all.map(({ value }) => value.trim()).join(",")), input);
  }

  plus(t, label) {
    const button = el("button", { type: "button", class: "fa-mask-plus", "aria-label": label, title: label, "aria-haspopup": "menu", "aria-expanded": "false", "data-held": `plus.${t}`, text: "+" });
    button.addEventListener("click", () => {
      const taken = (this.draft[t] ?? []).map(({ name }) => name);
      this.menu.open(button, ({ name }) => !taken.includes(name), ({ name, start }) => this.add(t, { name, numbers: start }));
    });
    return button;
  }

  /** The new chip has the keyboard: its first number, or what takes it away again. */
  add(t, piece) {
    const draft = added(this.draft, t, piece);
    this.act.edit(draft);
    const at = draft[Math.min(t, draft.length - 1)].length - 1;
    const there = (kind) => this.root.querySelector(`[data-held="${kind}.${t}.${at}${kind === piece.name ? ".0" : ""}"]`);
    (there(piece.name) ?? there("tiles") ?? there("close") ?? this.root.querySelector(`[data-held="plus.${t}"]`))?.focus();
    if (piece.name === "block") this.act.pick(`${t}.${at}`);
  }

  take(t, k) {
    this.act.edit(removed(this.draft, t, k));
    (this.root.querySelector(`[data-held="plus.${t}"]`) ?? this.root.querySelector('[data-held="plus.0"]'))?.focus();
  }

  /** The line of a term, for what is said beside it. */
  row(t) {
    return this.root.querySelectorAll(".fa-mask-term")[t] ?? null;
  }
}
