// A page of figures in presentation mode: the picture alone, made anew in large type; keys change the view.

import { address, readAddress } from "./address.js";
import { all, findVisible, isPresenting, setPresenting } from "../lib/dom.js";
import { listen, emit } from "../lib/events.js";
import { clamp } from "../lib/format.js";
import { turnOf } from "../lib/keys.js";

const FIGURES = "#pages > [role=tabpanel] :is(.fa-figure-page, .fa-picture-page)";
const figurePage = () => findVisible(document, FIGURES);

/** The page's mode, as the server reads it. */
export const presentMode = () => (isPresenting() ? "present" : "");

/** @param {boolean} on */
function present(on) {
  setPresenting(on);
  address.write({ mode: on ? "present" : null });
  emit("fa:pick", "");
}

setPresenting(readAddress("mode") === "present"); // before any page asks the server
listen("fa:present-here", () => present(true));
listen("fa:leave-presentation", () => present(false));
document.addEventListener("keydown", (event) => {
  const page = isPresenting() && figurePage();
  if (!page || event.defaultPrevented) return;
  const step = turnOf(event);
  if (event.key === "Escape") present(false);
  if (!step || page.matches(".fa-picture-page")) return;
  event.preventDefault();
  const views = /** @type {HTMLInputElement[]} */ (
    all(page, ".fa-views fieldset:first-of-type input")
  );
  const at = views.findIndex((view) => view.checked) + step;
  views[clamp(at, 0, views.length - 1)].click();
});
