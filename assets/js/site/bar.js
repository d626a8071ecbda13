// The bar above all pages. Its buttons are about the Step page and lead there first.

import { embedCode } from "./embed.js";
import { fetchJson } from "../lib/build.js";
import { all, set } from "../lib/dom.js";
import { listen, emit } from "../lib/events.js";
import { mountArrival } from "./arrival.js";
import { mountBack } from "./back.js";
import { isOnScreen, toPage } from "./pages.js";
import { showSymbols, Terms } from "./terms.js";
import { t } from "./texts.js";

const terms = new Terms(() => fetchJson("glossary"));

const onStep = (name, detail) => toPage("step").then(() => emit(name, detail));

/** Copies what `text` gives; the button says that it did, or what to do instead. */
async function copy({ target }, text, instead) {
  const label = target.textContent;
  try {
    await navigator.clipboard.writeText(text());
    target.textContent = t("copied");
  } catch {
    target.textContent = instead;
  }
  setTimeout(() => {
    target.textContent = label;
  }, 1600);
}

export function mountBar({ element }) {
  mountBack(element);
  mountArrival(element.closest("#top"));
  const menu = element.querySelector(".fa-menu");
  const on = (name, act) => element.querySelector(name).addEventListener("click", act);
  on(".fa-start-tour", () => onStep("fa:tour"));
  on(".fa-start-predict", () => {
    menu.open = false;
    onStep("fa:predict");
  });
  on(".fa-pass", ({ target }) => target.dataset.pass && onStep("fa:pass", target.dataset.pass));
  const shown = () => (element.querySelector(".fa-pass").hidden = !isOnScreen("step"));
  listen("fa:page", shown);
  shown();
  const passes = all(element, "[data-pass]");
  listen("fa:passed", (pass) =>
    passes.forEach((button) => set(button, { "aria-pressed": button.dataset.pass === pass })),
  );
  on(".fa-start-present", () =>
    isOnScreen("step") ? onStep("fa:present") : emit("fa:present-here"),
  );
  on(".fa-start-symbols", () => showSymbols(terms, document.activeElement));
  on(".fa-copy", (event) => copy(event, () => window.location.href, t("copy.link"))); // which always holds the Problem and the step
  on(".fa-copy-embed", (event) => copy(event, embedCode, t("copy.embed")));
  on(".fa-menu", ({ target }) => {
    const kind = target.dataset.save;
    if (!kind) return;
    menu.open = false;
    onStep("fa:save", kind);
  });
  document.addEventListener("click", ({ target }) => {
    menu.open &&= menu.contains(target);
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}
