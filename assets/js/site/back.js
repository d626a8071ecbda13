// The way back from a page to the lesson of Learn whose link led there, and the lessons that explain the page on screen.

import { isOnScreen, toPage } from "./pages.js";
import { all, around, get, set } from "../lib/dom.js";
import { lessonOf } from "../model/query.js";
import { listen, emit } from "../lib/events.js";
import { isElsewhere } from "../lib/keys.js";
import { LEARN_SCREEN, LEFT_LESSON, MOVE_FOCUS, tabStorage } from "../lib/storage.js";
import { t } from "./texts.js";

/** In the bar: the link back, and in its menu the lessons of this page. @param {HTMLElement} bar */
export function mountBack(bar) {
  const back = get(bar, ".fa-to-lesson");
  const show = () => {
    const from = tabStorage.getJson(LEFT_LESSON);
    back.hidden = !from || isOnScreen("learn");
    if (from) {
      const words = t("back", { number: from[1], title: from[2] });
      set(back, {
        href: `?page=learn&lesson=${from[0]}`,
        text: from[1],
        "aria-label": words,
        title: words,
      });
    }
    for (const part of all(bar, "[data-explains]"))
      part.hidden = !isOnScreen(part.dataset.explains ?? "");
  };
  bar.addEventListener("click", async (event) => {
    const link = around(event, "a[href^='?page=learn']");
    if (!link || isElsewhere(event)) return;
    event.preventDefault();
    const key = lessonOf(link.getAttribute("href") ?? "") ?? "";
    /** @type {HTMLDetailsElement} */ (get(bar, ".fa-menu")).open = false;
    tabStorage.set(LEARN_SCREEN, key); // Learn may be opened only now
    tabStorage.set(MOVE_FOCUS, "1");
    await toPage("learn");
    emit("fa:lesson", key);
  });
  listen("fa:page", show);
  show();
}
