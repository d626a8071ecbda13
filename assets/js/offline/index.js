// All pages without a server, from files beside them: the app's own parts, and in Gradio's place tabs, choices and answers.

import { all, get } from "../lib/dom.js";
import { mountLearn } from "../learn/index.js";
import { answerInstead } from "../lib/server.js";
import { mountBar } from "../site/bar.js";
import {} from "../site/code_dialog.js";
import {} from "../site/presentation.js";
import { chooseTab, openRequestedPage, partOpened } from "../site/pages.js";
import { mount as video } from "../step/video.js";
import { mountRunPage } from "../run/index.js";
import { mountStoryMemory } from "../story/memory.js";
import { mountStoryParallel } from "../story/parallel.js";
import { mount as mountStep } from "../step/index.js";
import { Answers } from "./answers.js";

/** @import { Loaders } from "../learn/pictures.js" */

/** @type {Record<string, number>} */
const MOVES = { ArrowRight: 1, ArrowLeft: -1 };

/** One page at a time; the address and its listeners are those of site/pages.js. */
function mountTabs() {
  const tabs = all(document, "#pages > .tab-wrapper [role=tab]");
  const choose = (/** @type {HTMLElement} */ tab) => {
    for (const other of tabs) {
      const now = other === tab;
      other.setAttribute("aria-selected", String(now));
      other.tabIndex = now ? 0 : -1;
      other.classList.toggle("selected", now);
      get(document, `#${other.getAttribute("aria-controls")}`).hidden = !now;
    }
    chooseTab(tab.dataset.tabId ?? "");
  };
  for (const tab of tabs) {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const by = MOVES[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation(); // it is no step of the player
      const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length];
      next.focus();
      next.click();
    });
  }
}

/** A component as Gradio mounts it: with a value of its own that nothing changes. @param {string} id */
const still = (id) => ({
  element: get(document, `#${id}`),
  props: { value: "" },
  watch: () => {},
  trigger: () => {},
});

/** The page: its parts as in the app, and in #content what answers.js takes. @param {Loaders} pictures */
export function start(pictures) {
  if (
    matchMedia("(prefers-color-scheme: dark)").matches &&
    !document.body.classList.contains("fa-present")
  )
    document.body.classList.add("dark");
  const answers = new Answers(JSON.parse(get(document, "#content").textContent));
  answerInstead((address) => answers.answer(address));
  mountBar(still("top"));
  mountTabs();
  mountStep("step", {
    ...still("player"),
    video: () => Promise.resolve({ mount: video }),
  });
  mountRunPage({ element: get(document, "#run") });
  mountStoryMemory({ element: get(document, "#memory") });
  mountStoryParallel({ element: get(document, "#parallel") });
  mountLearn(Object.assign(still("learn"), pictures));
  openRequestedPage();
  partOpened("step");
}
