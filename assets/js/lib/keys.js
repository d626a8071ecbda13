// Keys of the player. Arrows and clickers; native controls inside keep their own keys.

import { isPresenting, targetOf } from "./dom.js";
import declared from "./keys.json" with { type: "json" };

/** @typedef {"next" | "back" | "phaseNext" | "phaseBack" | "forward" | "backward" | "first" | "last" | "toggle"} Action `forward`
 * and `backward` are a clicker's, which has two keys */

/** @type {{actions: Record<string, any>, arrows: Record<string, any>, strides: Record<string, number[]>, turns: Record<string, number>}} */
const { actions: ACTIONS, arrows, strides: STRIDES, turns: TURNS } = declared;

/** Is it a shortcut of the browser's or of the system's? @param {KeyboardEvent} event */
export const isShortcut = ({ ctrlKey, metaKey, altKey }) => ctrlKey || metaKey || altKey;

/** Which action a key event asks for, or null when it belongs to something else. @param {KeyboardEvent} event */
export function actionOf(event) {
  const target = targetOf(event);
  if (isShortcut(event) || target.closest("select, .fa-guess")) return null;
  if (event.key === " " && target.closest("button")) return null;
  return ACTIONS[event.key] ?? null;
}

/** Where an arrow leads on a grid: [down, to the right]. @type {Record<string, [number, number]>} */
export const ARROWS = arrows;

/** How many steps [to the right, up] a key moves what can be dragged: ten with Shift, all there are with Home and End.
 * Null for any other key; and in presentation mode a clicker's keys turn the slide.
 * @param {KeyboardEvent} event @returns {[number, number] | null} */
export function strideOf({ key, shiftKey }) {
  if (!STRIDES[key] || (key.startsWith("Page") && isPresenting())) return null;
  const [right, up] = STRIDES[key];
  const times = shiftKey && key.startsWith("Arrow") ? 10 : 1;
  return [right * times, up * times];
}

/** How many slides a key turns on or back, in presentation mode; else 0. @param {KeyboardEvent} event */
export const turnOf = ({ key }) => TURNS[key] ?? 0;

/** Does a browser open this link in another tab or window? @param {MouseEvent} event */
export const isElsewhere = ({ ctrlKey, metaKey, shiftKey }) => ctrlKey || metaKey || shiftKey;

/** Is it this letter, and no shortcut of the browser's? @param {KeyboardEvent} event @param {string} letter */
export const isLetter = (event, letter) => event.key === letter && !isShortcut(event);

const FIELDS =
  "input, textarea, select, [contenteditable=true], [role=listbox], [role=menu], dialog, .fa-controls";

/** Does a key belong to a field, or to what lies over the page? Inside a player its own fields pass keys on.
 * @param {Event} event */
export function isTaken(event) {
  const target = targetOf(event);
  return Boolean(
    document.querySelector("dialog[open]") ||
    (!target.closest?.(".fa-player") && target.closest?.(FIELDS)),
  );
}
