// A page of figures in a lecture hall: the picture alone, made anew in large type; keys change the view.

import { address } from "./address.js";
import { all, around, findVisible, setPresenting } from "../lib/dom.js";
import { listen, emit } from "../lib/events.js";

const FIGURES = "#pages > [role=tabpanel] .fa-figure-page";
const figurePage = () => findVisible(document, FIGURES);

const inHall = () => document.body.classList.contains("fa-present");

/** Whether this is a lecture hall, as the server wants it said. */
export const presentMode = () => (inHall() ? "present" : "");

/** @param {boolean} on */
function present(on) {
  setPresenting(on);
  address.write({ mode: on ? "present" : null });
  emit("fa:pick", "");
}

setPresenting(new URLSearchParams(window.location.search).get("mode") === "present"); // before any page asks the server
listen("fa:present-here", () => present(true));
listen("fa:leave-hall", () => present(false));
document.addEventListener("keydown", (event) => {
  const page = inHall() && figurePage();
  if (!page || event.defaultPrevented || around(event, "[data-testid=warps]")) return;
  const step = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
  if (event.key === "Escape") present(false);
  if (!step) return;
  event.preventDefault();
  const views = /** @type {HTMLInputElement[]} */ (
    all(page, ".fa-views fieldset:first-of-type input")
  );
  views[
    Math.min(views.length - 1, Math.max(0, views.findIndex((view) => view.checked) + step))
  ].click();
});
