// The plot library takes a second to start: it is fetched when somebody heads for a page of charts. A chart that has
// its place and is not drawn yet is waited for.

import { all, around, el, on } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { pending } from "../lib/pending.js";

const CHARTED = new Set(["run", "memory", "parallel"]);

/** @param {Event} event */
function fetchPlots(event) {
  const address = document.querySelector("meta[name=fa-plots]")?.getAttribute("content");
  if (!address || !CHARTED.has(around(event, "[role=tab]")?.dataset.tabId ?? "")) return;
  for (const kind of ["pointerover", "focusin"]) document.removeEventListener(kind, fetchPlots);
  document.head.append(
    el("script", { type: "module", src: new URL(address, document.baseURI).href }),
  ); // Gradio's own import finds it
}
on(document, ["pointerover", "focusin"], fetchPlots);

const BLANK = ".fa-run-page .fa-plot:not(:has(.main-svg))";
const look = () =>
  pending(
    "plots",
    all(document, BLANK).some((place) => place.checkVisibility()),
  );
const drawn = new MutationObserver(look);
listen("fa:page", (name) => {
  drawn.disconnect();
  const pages = CHARTED.has(name) ? document.querySelectorAll(".fa-run-page") : [];
  for (const page of pages)
    drawn.observe(page, { childList: true, subtree: true, attributeFilter: ["class"] });
  look();
});
