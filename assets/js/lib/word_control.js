// A field in the popover of a word: its choices as buttons, and a place to type another value.

import { all, button, el, find, giveFocus, set } from "./dom.js";
import { integer, rounded } from "./format.js";
import { ARROWS } from "./keys.js";
import { textsOf } from "./texts.js";
import stored from "../../texts/words_scripts.json" with { type: "json" };

/** By the keys of the fields. @typedef {Record<string, string>} Values */
/** explainer/views/words.py says what each part is.
 * @typedef {{key: string, label: string, choices: [value: string, label: string][], default: string,
 *   kind?: string, templates?: Record<string, string>}} WordField */

export const t = textsOf(stored);
const MANY = "many";
const LONG = 32; // characters of a value in the line
const PARTS = 16; // of the sequence, in which a preset's sizes are given
/** Where documents start, in parts. */
const STARTS = [0, 5, 10];

/** The text of a preset's mask for N tokens, as explainer/learn/presets.py writes it. @param {string} template @param {number} n */
function maskText(template, n) {
  const part = (/** @type {number} */ k) => Math.max(1, rounded((n * k) / PARTS));
  const starts = STARTS.map((k) => k && part(k)).filter((start) => start < n);
  return template
    .replace(/\{parts\[(\d+)\]\}/g, (_, k) => String(part(Number(k))))
    .replace("{starts}", [...new Set(starts)].join(","));
}

/** The choices of a field in this problem. @param {WordField} field @param {Values} values @returns {[value: string, label: string][]} */
const choicesOf = ({ choices, templates }, { n }) =>
  !templates
    ? choices
    : choices.map(([title, label]) => [maskText(templates[title], Number(n)), label]);

/** A value that is none of the choices, in a line. @param {string} value */
function shortly(value) {
  if (/^\d+$/.test(value)) return integer(Number(value));
  return value.length > LONG ? `${value.slice(0, LONG - 1)}…` : value;
}

/** A number as others write it too, “8,192”, “8 192” or “8k”. @param {string} text */
const plainNumber = (text) =>
  text
    .replace(/(?<=\d)[,\s_'’\u202f](?=\d{3}(?!\d))/g, "")
    .replace(/^(\d+)\s?k$/i, (_, thousands) => String(1024 * Number(thousands)));

/** What a field says of itself in a line. @param {WordField} field @param {Values} values */
export function labelOf(field, values) {
  const value = values[field.key];
  const choices = choicesOf(field, values);
  const label = (/** @type {string} */ one) =>
    choices.find(([each]) => each === one)?.[1] ?? shortly(one);
  return field.kind === MANY ? value.split(",").map(label).join(", ") : label(value);
}

/** Make the control of a field. @param {WordField} field @param {(value: string) => void} onChange */
export function makeWordControl(field, onChange) {
  const { key, label, kind, choices } = field;
  let current = "";
  const list = el("div.fa-words-choices", { role: "group", "aria-label": label });
  list.addEventListener("keydown", move);
  const isTyped = kind && kind !== MANY;
  const typed = el(kind === "long" ? "textarea" : "input", {
    class: "fa-words-typed",
    "aria-label": choices.length ? t("typed", { label }) : label,
    placeholder: choices.length ? t("typed.hint") : null,
    inputmode: kind === "whole" ? "numeric" : null,
    rows: kind === "long" ? 4 : null,
    spellcheck: "false",
    autocomplete: "off",
    name: `word-${key}`,
  });
  const input = isTyped ? /** @type {HTMLInputElement} */ (typed) : null;
  typed.addEventListener("change", () => take());
  typed.addEventListener("keydown", (event) => {
    if (/** @type {KeyboardEvent} */ (event).key === "Enter" && kind !== "long") take(true);
  });
  const root = el("section.fa-words-field", { "data-field": key }, [el("h3", label), list, input]);

  /** @param {Values} values */
  function show(values) {
    const offered = choicesOf(field, values);
    current = values[key];
    const chosen = kind === MANY ? current.split(",") : [current];
    const focused = find(list, ":focus")?.dataset.value;
    const nodes = offered.map(([value, name]) =>
      button(
        [el("span", name), field.templates && name.toLowerCase() !== value && el("code", value)],
        () => choose(value),
        {
          "data-value": value,
          "aria-pressed": String(chosen.includes(value)),
          tabindex: -1,
        },
      ),
    );
    list.replaceChildren(...nodes);
    const first = nodes.find(({ ariaPressed }) => ariaPressed === "true") ?? nodes[0];
    if (first) first.tabIndex = 0;
    if (focused !== undefined)
      (nodes.find((node) => node.dataset.value === focused) ?? first)?.focus();
    if (!input || input === document.activeElement) return;
    input.value = offered.some(([value]) => value === current) ? "" : current;
  }

  function focus() {
    const node = find(list, "[tabindex='0']") ?? input;
    giveFocus(node);
    if (node === input) input?.select();
  }

  /** @param {string} value */
  function choose(value) {
    if (kind !== MANY) return onChange(value);
    const chosen = new Set(current.split(",").filter(Boolean));
    if (!chosen.delete(value)) chosen.add(value);
    if (!chosen.size) return; // one at least
    const order = choices.map(([one]) => one);
    onChange(order.filter((one) => chosen.has(one)).join(","));
  }

  /** Takes what was typed; emptied, the default. @param {boolean} isForced also where it is no other value */
  function take(isForced = false) {
    if (!input) return;
    const text = kind === "long" ? input.value : input.value.trim();
    const isOffered = find(list, "[aria-pressed='true']"); // then the place to type is empty
    if (!text && isOffered) return isForced && onChange(current);
    const value = (kind === "whole" ? plainNumber(text) : text) || field.default;
    if (isForced || value !== current) onChange(value);
  }

  /** Arrows lead through the choices. @param {KeyboardEvent} event */
  function move(event) {
    const nodes = all(list, ":scope > *");
    const at = nodes.findIndex((node) => node === document.activeElement);
    const [down, right] = ARROWS[event.key] ?? [0, 0];
    const to =
      { Home: 0, End: nodes.length - 1 }[event.key] ?? (down || right ? at + down + right : -1);
    if (at < 0 || to < 0 || to >= nodes.length) return;
    event.preventDefault();
    set(nodes[at], { tabindex: -1 });
    nodes[to].tabIndex = 0;
    nodes[to].focus();
  }

  return { root, show, focus };
}
