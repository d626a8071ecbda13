// The controls of a widget, which explainer/views/templates/learn/widget.html writes: what each says, and how it is set.

import { all, el, get, set } from "../lib/dom.js";
import { t } from "./texts.js";

/** @import { Control, ControlView } from "./types.js" */

let count = 0; // of radio groups

/** Gives radio buttons a name of their own. @param {HTMLInputElement[]} inputs */
export function nameGroup(inputs) {
  count += 1;
  for (const input of inputs) input.name = `fa-learn-${count}`;
}

/** A slider with a box for its number. @param {HTMLElement} root @param {Control} control @returns {ControlView} */
function range(root, { key, low, high }) {
  /** @type {HTMLInputElement} */
  const slider = get(root, "[type=range]");
  /** @type {HTMLInputElement} */
  const box = get(root, "[type=number]");
  const fill = () => {
    const share = high > low ? ((Number(slider.value) - low) / (high - low)) * 100 : 100;
    slider.style.setProperty("--fa-progress", `${share}%`);
    if (key === "step") set(slider, { "aria-valuetext": t("at", { k: slider.value, n: high }) });
  };
  const write = (/** @type {string | number} */ value) => {
    box.value = String(value);
    slider.value = String(value);
    fill();
  };
  slider.addEventListener("input", () => {
    box.value = slider.value;
    fill();
  });
  box.addEventListener("input", (event) => {
    // Being typed
    if (box.value === "") return event.stopPropagation();
    slider.value = box.value;
    fill();
  });
  box.addEventListener("change", () => box.value === "" && write(slider.value));
  return { root, read: () => box.value || slider.value, write };
}

/** The view of a control in its root, null for one that a picture moves. It calls `changed` when the reader moved it.
 * @param {HTMLElement | null} root @param {Control} control @param {() => void} changed @returns {ControlView} */
export function viewControl(root, control, changed) {
  root?.addEventListener("input", changed);
  if (root && control.kind === "range") return range(root, control);
  const inputs = /** @type {HTMLInputElement[]} */ (
    root ? all(root, "input, select") : [el("input")] // of what a picture moves there is nothing to see
  );
  const [input] = inputs;
  if (input.type === "checkbox")
    return {
      root,
      read: () => (input.checked ? "1" : "0"),
      write(value) {
        input.checked = String(value) === "1";
      },
    };
  if (input.type !== "radio")
    return {
      root,
      read: () => input.value,
      write(value) {
        input.value = String(value);
      },
    };
  nameGroup(inputs);
  return {
    root,
    read: () => inputs.find((radio) => radio.checked)?.value ?? String(control.value),
    write(value) {
      for (const radio of inputs) radio.checked = radio.value === String(value);
    },
  };
}
