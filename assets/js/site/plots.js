// The plot library takes a second to start: it is fetched when somebody heads for a page of charts.

import { el } from "../lib/dom.js";

const CHARTED = new Set(["run", "memory", "parallel"]);

function fetchPlots({ target }) {
  const address = document.querySelector("meta[name=fa-plots]")?.content;
  if (!address || !CHARTED.has(target.closest?.("[role=tab]")?.dataset.tabId)) return;
  for (const kind of ["pointerover", "focusin"]) document.removeEventListener(kind, fetchPlots);
  document.head.append(el("script", { type: "module", src: new URL(address, document.baseURI) })); // Gradio's own import finds it
}
for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, fetchPlots);
