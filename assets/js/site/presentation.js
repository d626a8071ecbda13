// A page that is one picture in presentation mode: the picture alone, in large type. The keys of any page are shown faintly while a mouse
// moves or a finger taps.

import { address, readAddress } from "./address.js";
import { findVisible, isPresenting, on, setPresenting } from "../lib/dom.js";
import { listen } from "../lib/events.js";

const PICTURES = "#pages > [role=tabpanel] .fa-picture-page";
const KEYS_MS = 2000; // for which keys are shown after the mouse has moved
/** @type {ReturnType<typeof setTimeout> | undefined} */
let still;

/** @param {boolean} isOn */
export function present(isOn) {
  setPresenting(isOn);
  address.write({ mode: isOn ? "present" : null });
}

setPresenting(readAddress("mode") === "present"); // before any page asks the server
listen("fa:present-here", () => present(true));
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || !isPresenting()) return;
  if (findVisible(document, PICTURES)) present(false);
});
on(document, ["pointermove", "pointerdown"], (/** @type {any} */ event) => {
  if (!isPresenting() || (event.type === "pointermove" && !event.movementX && !event.movementY))
    return; // what moved was the page below a resting mouse
  document.documentElement.dataset.pointing = "";
  clearTimeout(still);
  still = setTimeout(() => delete document.documentElement.dataset.pointing, KEYS_MS);
});
