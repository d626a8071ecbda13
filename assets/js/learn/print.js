// Print: the handout's two pages, or every screen of the course below each other.

import { all, el, get } from "../lib/dom.js";
import { atRest, during } from "../lib/pending.js";
import { makeScreen } from "./screen.js";

/** @import { Learn } from "./presentation.js" */

/** Prints the handout, or all, once every widget of it has answered. @param {Learn} learn @param {string} what */
export const printPages = (learn, what) =>
  during("print", what === "all" ? printAll(learn) : printHandout(learn));

/** @param {Learn} learn @param {string} look the page's class meanwhile @param {() => void} [restore] */
function print({ root }, look, restore) {
  root.classList.add(look);
  const over = () => {
    root.classList.remove(look);
    restore?.();
  };
  window.addEventListener("afterprint", over, { once: true });
  window.print();
}

/** @param {Learn} learn */
async function printHandout(learn) {
  await learn.screen?.wake();
  await atRest("picture");
  print(learn, "is-handout");
}

/** @param {Learn} learn */
async function printAll(learn) {
  const { router, progress } = learn;
  const pages = await Promise.all(router.outline.printed.map((key) => router.html(key)));
  const whole = el("div.fa-printed");
  learn.root.append(whole);
  const { listeners } = progress;
  for (const html of pages) {
    if (!html) continue;
    const place = el("div");
    place.innerHTML = html;
    const node = get(place, ":scope > *");
    for (const one of all(node, "[id]")) one.removeAttribute("id"); // they stand on the page already
    for (const fold of node.querySelectorAll("details")) fold.open = true;
    whole.append(node);
    const screen = makeScreen(node, { progress, router });
    screen.claims?.showAll(true);
    await screen.wake();
  }
  await atRest("picture");
  print(learn, "is-whole", () => {
    whole.remove();
    progress.listeners = listeners;
  });
}
