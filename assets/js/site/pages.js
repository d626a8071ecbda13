// Which page is on screen: its tab, Back and Forward; and what the page still waits for while it opens.

import { all } from "../lib/dom.js";
import { address, readAddress } from "./address.js";
import { listen, nextEvent, emit } from "../lib/events.js";
import { pending } from "../lib/pending.js";

// A page may be named tab as well: from here on it is called page.
const given = new URL(window.location.href);
if (given.searchParams.has("tab") && !given.searchParams.has("page")) {
  given.searchParams.set("page", given.searchParams.get("tab") ?? "");
  given.searchParams.delete("tab");
  window.history.replaceState(window.history.state, "", given);
}

const fromAddress = () => readAddress("page") ?? "step";
/** @param {string} name */
const tabOf = (name) =>
  all(document, "#pages > .tab-wrapper [role=tab]").find((tab) => tab.dataset.tabId === name);
/** @param {string} name */
const isChosen = (name) => tabOf(name)?.getAttribute("aria-selected") === "true";

const requested = fromAddress(); // the tab to open with
let onScreen = ["run", "memory", "parallel", "learn"].includes(requested) ? requested : "step"; // the tab on screen
let arrived = onScreen === "step"; // the tab that the address names has been shown
// Until the page is open: the controls of two pages follow the address, a bad address is said, the tab is there.
const opening = new Set([
  "step",
  ...(arrived ? [] : ["tab"]),
  ...(onScreen === "learn" ? ["learn"] : []),
]);
pending("opening", true);

/** A part of the page has taken what the address says. @param {string} part */
export function partOpened(part) {
  opening.delete(part);
  pending("opening", opening.size > 0);
  emit("fa:opened", part);
}

/** @param {string} name */
export const isOnScreen = (name) => onScreen === name;

/** Whether the page that the address names has been shown. */
export const hasArrived = () => arrived;

/** Resolves once this page is on screen, to stay. @param {string} name */
export const onPage = async (name) => isOnScreen(name) || nextEvent("fa:page", name);

/** @param {string} name */
function choose(name) {
  if (!isChosen(name)) tabOf(name)?.click();
}

/** Shows the page of this name; resolves once it is laid out. @param {string} name */
export async function toPage(name) {
  if (isChosen(name)) return;
  const there = nextEvent("fa:page", name);
  choose(name);
  await there;
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}

/** Gradio is ready: the page that the address names. Its tabs may come later, or go back to the first one once more: until
 * this page has been shown, it is chosen again whenever another one is. */
export function openRequestedPage() {
  if (arrived) return;
  const changes = new MutationObserver(() => (arrived ? changes.disconnect() : choose(requested)));
  changes.observe(document.body, {
    subtree: true,
    childList: true,
    attributeFilter: ["aria-selected"],
  });
  choose(requested);
}

/** A tab was chosen. While the page opens Gradio first selects its first tab, which is no choice: until the tab that
 * the address names has been shown, another one does not count.
 * @param {string} name */
export function chooseTab(name) {
  arrived ||= name === requested;
  if (!arrived) return;
  onScreen = name;
  partOpened("tab");
  emit("fa:page", name);
  const place = {
    page: name === "step" ? null : name,
    ...(name === "learn" ? {} : { lesson: null }),
  };
  if (name === fromAddress()) address.write(place);
  else address.push(place);
}

window.addEventListener("popstate", () => {
  address.restore();
  choose(fromAddress());
});
