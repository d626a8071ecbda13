// A page that is one picture in presentation mode: the picture alone, in large type.

import { address, readAddress } from "./address.js";
import { findVisible, isPresenting, setPresenting } from "../lib/dom.js";
import { listen } from "../lib/events.js";

const PICTURES = "#pages > [role=tabpanel] .fa-picture-page";

/** @param {boolean} on */
export function present(on) {
  setPresenting(on);
  address.write({ mode: on ? "present" : null });
}

setPresenting(readAddress("mode") === "present"); // before any page asks the server
listen("fa:present-here", () => present(true));
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || !isPresenting()) return;
  if (findVisible(document, PICTURES)) present(false);
});
