// The bar above all pages. Its buttons are about the Step page and lead there first.

import { fetched } from "../lib/build.js";
import { tell } from "../lib/events.js";
import { isOnScreen, toPage } from "./pages.js";
import { showSymbols, Terms } from "./terms.js";

const terms = new Terms(() => fetched("glossary"));

const onStep = (name, detail) => toPage("step").then(() => tell(name, detail));

/** The address bar always holds the Problem and the step; sharing is copying it. */
async function copyLink({ target }) {
  try {
    await navigator.clipboard.writeText(window.location.href);
    target.textContent = "Copied";
  } catch {
    target.textContent = "Copy it from the address bar";
  }
  setTimeout(() => { target.textContent = "Copy link"; }, 1600);
}

export function mountBar({ element }) {
  const menu = element.querySelector(".fa-menu");
  const on = (name, act) => element.querySelector(name).addEventListener("click", act);
  on(".fa-start-tour", () => onStep("fa:tour"));
  on(".fa-start-predict", () => {
    menu.open = false;
    onStep("fa:predict");
  });
  on(".fa-start-present", () => (isOnScreen("step") ? onStep("fa:present") : tell("fa:present-here")));
  on(".fa-start-symbols", () => showSymbols(terms, document.activeElement));
  on(".fa-copy", copyLink);
  on(".fa-menu", ({ target }) => {
    const kind = target.dataset.save;
    if (!kind) return;
    menu.open = false;
    onStep("fa:save", kind);
  });
  document.addEventListener("click", ({ target }) => { menu.open &&= menu.contains(target); });
  menu.addEventListener("keydown", (event) => { if (event.key === "Escape") menu.open = false; });
}
