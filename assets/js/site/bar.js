// The bar above all pages. Its buttons are about the Step page and lead there first.

import { fetchJson } from "../lib/build.js";
import { all, copyText, get, set, targetOf } from "../lib/dom.js";
import { emit, listen } from "../lib/events.js";
import { mountArrival } from "./arrival.js";
import { mountBack } from "./back.js";
import { embedCode } from "./embed.js";
import { isOnScreen, toPage } from "./pages.js";
import { makeTerms, showSymbols } from "./terms.js";
import { t } from "./texts.js";

const terms = makeTerms(() => fetchJson("glossary"));

const FRAMES = ["png", "svg"];

/** @param {string} name of an event @param {unknown} [detail] */
const onStep = (name, detail) => toPage("step").then(() => emit(name, detail));

/** @param {{element: HTMLElement}} component */
export function mountBar({ element }) {
  mountBack(element);
  mountArrival(/** @type {HTMLElement} */ (element.closest("#top")));
  /** @type {HTMLDetailsElement} */
  const menu = get(element, ".fa-menu");
  const onClick = (
    /** @type {string} */ selector,
    /** @type {(target: HTMLElement) => void} */ act,
  ) => get(element, selector).addEventListener("click", (event) => act(targetOf(event)));
  /** @param {string} selector @param {() => string} text @param {string} otherwise what to do where there is no clipboard */
  const copies = (selector, text, otherwise) =>
    onClick(selector, (target) => copyText(target, text, t("copied"), () => otherwise));
  onClick(".fa-start-tour", () => onStep("fa:tour"));
  onClick(".fa-start-predict", () => {
    menu.open = false;
    onStep("fa:predict");
  });
  onClick(".fa-pass", ({ dataset }) => dataset.pass && onStep("fa:pass", dataset.pass));
  const showPass = () => (get(element, ".fa-pass").hidden = !isOnScreen("step"));
  listen("fa:page", showPass);
  showPass();
  listen("fa:passed", (pass) => {
    for (const node of all(element, "[data-pass]"))
      set(node, { "aria-pressed": node.dataset.pass === pass });
  });
  onClick(".fa-start-present", () => {
    menu.open = false;
    return isOnScreen("step") ? onStep("fa:present") : emit("fa:present-here");
  });
  onClick(".fa-start-symbols", () => {
    menu.open = false;
    return showSymbols(terms, get(menu, "summary"));
  });
  copies(".fa-copy", () => window.location.href, t("copy.link")); // which always holds the Problem and the step
  copies(".fa-copy-embed", embedCode, t("copy.embed"));
  onClick(".fa-menu", ({ dataset }) => {
    if (!dataset.save) return;
    menu.open = false;
    // A frame is of the page on screen, the files are of the Step page's run.
    if (FRAMES.includes(dataset.save)) emit("fa:save", dataset.save);
    else onStep("fa:save", dataset.save);
  });
  document.addEventListener("click", (event) => {
    menu.open &&= menu.contains(targetOf(event));
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    get(menu, "summary").focus();
  });
}
