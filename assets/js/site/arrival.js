// Where the keyboard goes: a way past the bar, the pages, the bar's tools and then the page, in the order in which they
// are seen; and to the page itself when a link of Learn has led there.

import { all, around, button, el, giveFocus, set } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { isElsewhere } from "../lib/keys.js";
import { hasArrived, isOnScreen } from "./pages.js";
import { MOVE_FOCUS, tabStorage } from "../lib/storage.js";
import { t } from "./texts.js";

const BY_KEY = "key"; // of a link that was followed by the keyboard, which counts no clicks

const panelOnScreen = () =>
  all(document, "#pages > [role=tabpanel]").find((panel) => panel.checkVisibility());
const nameOf = () =>
  document
    .querySelector("#pages > .tab-wrapper [role=tab][aria-selected=true]")
    ?.textContent.trim() ?? "";

/** The page on screen has the keyboard, and is named; framed (`led`) for who came by it. @param {boolean} led */
function enter(led) {
  const panel = panelOnScreen();
  if (!panel) return false;
  set(panel, { tabindex: "-1", "aria-label": nameOf() });
  panel.classList.toggle("is-led", led);
  giveFocus(panel);
  return document.activeElement === panel;
}

/** The bar moves behind the pages' tabs, which are seen before its tools. @param {HTMLElement} bar @param {HTMLElement} skip */
function order(bar, skip) {
  const tabs = document.querySelector("#pages > .tab-wrapper");
  if (!tabs || tabs.nextElementSibling === bar) return;
  tabs.before(skip);
  tabs.after(bar);
}

/** A link of Learn, or Back, has led here: Learn itself leads to its heading. */
function arrive() {
  if (!tabStorage.get(MOVE_FOCUS) || !hasArrived() || isOnScreen("learn")) return;
  if (document.activeElement !== document.body || enter(tabStorage.get(MOVE_FOCUS) === BY_KEY))
    tabStorage.set(MOVE_FOCUS, "");
}

/** Of the bar, `bar` its block on the page. @param {HTMLElement} bar */
export function mountArrival(bar) {
  const skip = button(t("skip"), () => enter(true), { class: "fa-skip" });
  const [came] = /** @type {PerformanceNavigationTiming[]} */ (
    performance.getEntriesByType("navigation")
  ); // not everywhere
  if (came?.type === "back_forward") tabStorage.set(MOVE_FOCUS, "1");
  window.addEventListener("popstate", () => tabStorage.set(MOVE_FOCUS, "1"), { capture: true });
  const now = () => {
    order(bar, skip);
    arrive();
  };
  for (const event of ["fa:opened", "fa:page"]) listen(event, now);
  now();
  document.addEventListener("click", (event) => {
    const link = around(event, ".fa-learn a[href^='?']");
    if (!link || isElsewhere(event)) return;
    const page = new URLSearchParams(link.getAttribute("href") ?? "").get("page");
    tabStorage.set(MOVE_FOCUS, page === "learn" ? "" : event.detail ? "1" : BY_KEY);
  });
}
