// The controls of a widget: each is made of its description, and calls `changed` when the reader moved it.

import { el, set } from "../lib/dom.js";
import { t } from "./texts.js";

/** @import { Control, ControlView } from "./types.js" */
/** @typedef {() => void} Changed */

const MOST_SEGMENTS = 4;
// For ids
let count = 0;

/** @param {Control} control @param {Changed} changed @returns {ControlView} */
function range({ key, low: min, high: max, step, label }, changed) {
  const slider = el("input", {
    type: "range",
    class: "fa-scrub",
    min,
    max,
    step,
    "aria-label": label,
  });
  const box = el("input", {
    type: "number",
    min,
    max,
    step: "any",
    "aria-label": t("as_number", { label }),
  });
  const fill = () => {
    const share = max > min ? ((Number(slider.value) - min) / (max - min)) * 100 : 100;
    slider.style.setProperty("--fa-progress", `${share}%`);
    if (key === "step") set(slider, { "aria-valuetext": t("at", { k: slider.value, n: max }) });
  };
  const write = (/** @type {string | number} */ value) => {
    box.value = String(value);
    slider.value = String(value);
    fill();
  };
  slider.addEventListener("input", () => {
    box.value = slider.value;
    fill();
    changed();
  });
  box.addEventListener("input", () => {
    // Being typed
    if (box.value === "") return;
    slider.value = box.value;
    fill();
    changed();
  });
  box.addEventListener("change", () => box.value === "" && write(slider.value));
  const root = el("div", { class: "fa-control is-range" }, [
    el("div", { class: "fa-control-head" }, [el("span", { text: label }), box]),
    slider,
  ]);
  return { root, read: () => box.value || slider.value, write };
}

/** A field or a menu with its label before it; `event` says that the reader moved it.
 * @param {Control} control @param {HTMLInputElement | HTMLSelectElement} node @param {string} event
 * @param {Changed} changed @returns {ControlView} */
function labelled({ kind, label }, node, event, changed) {
  node.id = `fa-learn-${++count}`;
  node.addEventListener(event, changed);
  return {
    root: el("div", { class: `fa-control is-${kind}` }, [
      el("label", { for: node.id, text: label }),
      node,
    ]),
    read: () => node.value,
    write: (value) => {
      node.value = String(value);
    },
  };
}

/** @param {Control} control @param {Changed} changed */
function field(control, changed) {
  const look = { type: "text", maxlength: 400, spellcheck: "false", autocomplete: "off" };
  return labelled(control, el("input", look), "input", changed);
}

/** @param {Control} control @param {Changed} changed */
function menu(control, changed) {
  const options = control.choices.map(([value, text]) => el("option", { value, text }));
  return labelled(control, el("select", {}, options), "change", changed);
}

/** @param {Control} control @param {Changed} changed @returns {ControlView} */
function segments({ label, choices, value: first }, changed) {
  const name = `fa-learn-${++count}`;
  const inputs = choices.map(([value]) => el("input", { type: "radio", name, value }));
  for (const input of inputs) input.addEventListener("change", changed);
  const labels = choices.map(([, text], k) => el("label", {}, [inputs[k], el("span", { text })]));
  return {
    root: el("fieldset", { class: "fa-control is-choice" }, [
      el("legend", { text: label }),
      el("div", { class: "fa-segments" }, labels),
    ]),
    read: () => inputs.find((input) => input.checked)?.value ?? String(first),
    write(value) {
      for (const input of inputs) input.checked = input.value === String(value);
    },
  };
}

/** @param {Control} control @param {Changed} changed @returns {ControlView} */
function toggle({ label }, changed) {
  const input = el("input", { type: "checkbox", role: "switch" });
  input.addEventListener("change", changed);
  return {
    root: el("label", { class: "fa-control is-toggle" }, [input, el("span", { text: label })]),
    read: () => (input.checked ? "1" : "0"),
    write(value) {
      input.checked = String(value) === "1";
    },
  };
}

/** Of what a picture moves there is nothing to see here. @returns {ControlView} */
function unseen() {
  let now = "";
  return {
    root: null,
    read: () => now,
    write(value) {
      now = String(value);
    },
  };
}

/** The control that this description asks for. @param {Control} control @param {Changed} changed */
export function buildControl(control, changed) {
  const { kind, drawn, choices } = control;
  if (drawn) return unseen();
  if (kind === "range") return range(control, changed);
  if (kind === "toggle") return toggle(control, changed);
  if (kind !== "choice") return field(control, changed);
  return choices.length <= MOST_SEGMENTS ? segments(control, changed) : menu(control, changed);
}
