// Mounts the Learn page: the router's screens made live, one at a time; its keys and its links.

import {
  all,
  around,
  el,
  find,
  findVisible,
  get,
  giveFocus,
  isPresenting,
  setPresenting,
  targetOf,
} from "../lib/dom.js";
import { fetchJson } from "../lib/build.js";
import { listen } from "../lib/events.js";
import { isElsewhere, isShortcut } from "../lib/keys.js";
import { download, frameOf } from "../lib/save.js";
import { narrowPage } from "../lib/screen.js";
import { MOVE_FOCUS, tabStorage } from "../lib/storage.js";
import { lessonOf } from "../model/query.js";
import { address, readAddress } from "../site/address.js";
import { wayOut } from "../site/embed.js";
import { isOnScreen, onPage, partOpened } from "../site/pages.js";
import { copyCode } from "./blocks.js";
import { makeEntrance } from "./entrance.js";
import { mountGlossarySearch } from "./glossary_search.js";
import { provide } from "./pictures.js";
import { makePresentation } from "./presentation.js";
import { printPages } from "./print.js";
import { Progress, setSolutions } from "./progress.js";
import { layQuestionPanel } from "./question_panel.js";
import { ENTRANCE, makeRouter } from "./router.js";
import { makeScreen } from "./screen.js";
import { settle } from "./widget.js";

/** @import { Screen } from "./screen.js" */
/** @import { Loaders } from "./pictures.js" */
/** @import { Move } from "./router.js" */

/** Make the page in its place. @param {HTMLElement} place */
async function makeLearn(place) {
  const root = el("div.fa-run.fa-learn", { "data-testid": "learn" });
  place.replaceChildren(root, wayOut() ?? "");
  setSolutions(readAddress("solutions"));
  const progress = new Progress();
  if (!isOnScreen("learn")) await onPage("learn");
  const router = makeRouter(await fetchJson("course"), show);
  const abort = new AbortController();
  const { signal } = abort;
  /** @type {Screen | null} */
  let screen = null;
  const own = {
    root,
    router,
    progress,
    signal,
    get screen() {
      return screen;
    },
  };
  const presentation = makePresentation(own);
  const narrow = narrowPage();
  narrow.addEventListener("change", lay);
  root.addEventListener("click", clicked);
  document.addEventListener("keydown", (event) => (root.isConnected ? key(event) : abort.abort()), {
    signal,
  });
  window.addEventListener("resize", () => settle(root), { signal });
  root.addEventListener("fa:blocks", presentation.fit);
  listen("fa:save", save);
  await router.start();
  const size = new ResizeObserver(() => {
    if (!root.offsetHeight) return;
    size.disconnect();
    partOpened("learn");
    if (tabStorage.get(MOVE_FOCUS)) focusHeading();
    presentation.follow();
  });
  size.observe(root);

  /** Shows a screen in the place of the one before; its heading has the keyboard.
   * @param {string} key @param {string} html @param {Move} move */
  function show(key, html, { moved, back }) {
    screen?.end();
    progress.listeners = [];
    root.innerHTML = html;
    root.dataset.screen = key;
    const node = get(root, ":scope > *");
    screen = makeScreen(node, own);
    if (key === ENTRANCE) makeEntrance(node, own);
    mountGlossarySearch(node);
    lay();
    if (moved) window.scrollTo(0, 0);
    if (moved || tabStorage.get(MOVE_FOCUS)) focusHeading();
    presentation.show({ back });
  }

  /** Gives the screen's heading the keyboard, once it can be seen. */
  function focusHeading() {
    const title = find(root, "h2");
    giveFocus(title);
    if (title && document.activeElement === title) tabStorage.set(MOVE_FOCUS, "");
  }

  /** Moves the keyboard to a part of the screen: its heading, or its first field. @param {string} selector */
  function jump(selector) {
    const part = get(root, selector);
    const field = part.matches("[tabindex]")
      ? part
      : all(part, "input, select, button").find(
          (node) => node.tabIndex >= 0 && node.checkVisibility(),
        );
    field?.focus();
    if (field instanceof HTMLInputElement && field.type === "text") field.select(); // what was typed gives way to what is typed
  }

  /** Lays the screen out for this window: on a phone the question is a panel from below. */
  function lay() {
    root.classList.toggle("is-phone", narrow.matches);
    const question = find(root, ".fa-lesson > .fa-lesson-body > .fa-question");
    if (question) layQuestionPanel(question, narrow.matches);
  }

  /** Links of this page change its screen; those of the handout print it. @param {MouseEvent} event */
  function clicked(event) {
    if (around(event, ".fa-to-present")) return present();
    const copy = around(event, "[data-copy-code]");
    if (copy) return copyCode(copy);
    const { jump: part, print } = around(event, "[data-jump], [data-print]")?.dataset ?? {};
    if (part) return jump(part);
    if (print) return void printPages(own, print);
    const query = around(event, "a[href^='?']")?.getAttribute("href") ?? "";
    const params = new URLSearchParams(query);
    if (isElsewhere(event) || params.get("page") !== "learn") return;
    if (params.has("solutions")) return; // the page opens anew
    event.preventDefault();
    router.go(router.keyOf(lessonOf(query)));
    if (params.get("mode") === "present") present({ path: params.get("path") });
  }

  /** Presents in presentation mode, with the slides of a path or a session; by default what the address says.
   * @param {{path?: string | null}} list */
  function present(list = {}) {
    setPresenting(true);
    address.write({ mode: "present", ...list });
    address.flush();
  }

  /** Saves the lesson's picture, or a screen that has none as a whole. @param {string} kind */
  async function save(kind) {
    if ((kind !== "png" && kind !== "svg") || !root.checkVisibility()) return;
    const whole = get(root, ":scope > *");
    const picture = findVisible(whole, ".fa-lesson-body .fa-blocks") ?? whole;
    const words = all(whole, "h2, .fa-ground").map(({ textContent }) => textContent.trim());
    const file = await frameOf(picture, kind, words.join(". "), ".fa-screen-foot");
    download(/** @type {Blob} */ (file), `flashattention-${router.key}.${kind}`);
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    if (!isOnScreen("learn") || event.defaultPrevented || isShortcut(event)) return;
    if (isPresenting()) return presentation.key(event);
    const typing = targetOf(event).closest?.("input, select, textarea, [role=slider], dialog");
    if (!typing && screen?.claims?.key(event)) event.preventDefault();
  }
}

/** Mounts the page once in the element that holds it; `pictures` fetch their modules.
 * @param {{element: HTMLElement} & Loaders} component */
export function mountLearn({ element, ...pictures }) {
  provide(pictures);
  const place = get(element, ".fa-mount");
  if (!find(place, ".fa-learn")) makeLearn(place);
}
