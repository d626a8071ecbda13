// The Learn page in presentation mode: of a lesson the sentence, four lines and the picture on one slide, its question on the
// next; a claim, then its verdict; other screens as they are, in large type.

import {
  all,
  button,
  el,
  find,
  get,
  giveFocus,
  isPresenting,
  on,
  onTheme,
  set,
  setPresenting,
  setText,
  targetOf,
} from "../lib/dom.js";
import { clamp } from "../lib/format.js";
import { turnOf } from "../lib/keys.js";
import { address, readAddress } from "../site/address.js";
import { makePictureFit } from "./picture_fit.js";
import { makePresentedClaims } from "./presented_claims.js";
import { makePresentedQuestion } from "./presented_question.js";
import { t } from "./texts.js";
import { unbroken } from "./unbroken.js";
import { settle } from "./widget.js";

/** @import { Progress } from "./progress.js" */
/** @import { Router } from "./router.js" */
/** @import { Screen } from "./screen.js" */
/** The page, and its screen now. @typedef {{root: HTMLElement, router: Router, progress: Progress, signal: AbortSignal, readonly screen: Screen | null}} Learn */
/** @import { Values } from "./types.js" */

/** @type {Record<string, number>} */
const STEPS = { ArrowUp: 1, ArrowDown: -1, ".": 1, ",": -1 };
const SLIGHT = 24; // px that a press does not go for
const MOST = 0.92; // of a screen, the most that a press goes

/** Make the presentation of the page. @param {Learn} learn */
export function makePresentation(learn) {
  let isOn = false;
  let first = Number(readAddress("part") ?? 1) - 1; // the slide that the address opens with
  let opensPage = readAddress("mode") === "present"; // nobody has been at the desk
  /** The parts of the screen, and which of them is shown. @type {string[]} */
  let parts = [];
  let part = 0;
  /** @type {ReturnType<typeof makePresentedQuestion> | null} */
  let question = null;
  /** @type {ReturnType<typeof makePresentedClaims> | null} */
  let claims = null;
  /** @type {ReturnType<typeof makePictureFit> | null} */
  let picture = null;
  /** What had the keyboard before. @type {Element | null} */
  let opener = null;
  const tool = (
    /** @type {"back" | "on" | "play" | "leave"} */ name,
    /** @type {string} */ sign,
    /** @type {() => void} */ act,
  ) => {
    const label = t(`present.${name}`);
    return button(sign, act, { "aria-label": label, title: label });
  };
  const place = el("span.fa-present-place");
  const play = tool("play", "▶", () => learn.screen?.widget?.togglePlay());
  const bar = el("div.fa-present-bar", [
    place,
    el("span.fa-present-keys", [
      tool("back", "‹", () => turn(-1)),
      tool("on", "›", () => turn(1)),
      play,
      tool("leave", "×", leave),
    ]),
  ]);
  const resized = () => {
    picture?.forget();
    fit();
  };
  on(window, ["resize"], resized, learn);
  onTheme(follow);

  /** The screen's element. */
  function screenNode() {
    return get(learn.root, ":scope > *");
  }

  /** The name of the part that is shown. */
  function partName() {
    return parts[part];
  }

  function follow() {
    const { root } = learn;
    const isVisible = isPresenting() && root.isConnected && root.offsetParent !== null;
    if (isVisible === isOn) return;
    isOn = isVisible;
    root.classList.toggle("is-presenting", isOn);
    if (isOn) {
      opener = document.activeElement;
      show({ isFresh: opensPage });
    } else {
      clear();
      if (root.offsetParent) returnFocus();
    }
    opensPage = false;
  }

  /** Gives the keyboard back to what opened the presentation, or to the button of the screen that is here now. */
  function returnFocus() {
    const { root } = learn;
    const places = [
      opener instanceof HTMLElement && opener !== document.body ? opener : null,
      find(root, ".fa-to-present"),
      find(root, "h2"),
    ];
    const target = places.find((node) => node?.checkVisibility());
    giveFocus(target);
  }

  /** Shows a screen, from the one before it or (back) from the one after. If fresh, its picture is as the course has it,
   * whatever was done with it at the desk; else as it was left there. @param {{back?: boolean, isFresh?: boolean}} move */
  function show({ back = false, isFresh = true } = {}) {
    clear();
    const { root, router, screen } = learn;
    if (!screen || !isOn) return;
    const node = screenNode();
    const names = router.outline.lessons[node.dataset.key ?? ""];
    setText(place, names ? names.join(", ") : "");
    root.append(bar);
    const questionBox = find(node, ".fa-present-asked");
    if (questionBox) {
      /** @type {Values} */
      const state = JSON.parse(questionBox.dataset.state ?? "");
      question = makePresentedQuestion(questionBox);
      picture = makePictureFit(get(node, ".fa-lesson-body"));
      screen.present(state, isFresh);
      for (const line of all(node, ".fa-headline, .fa-slide li"))
        line.textContent = unbroken(line.textContent);
    }
    claims = screen.claims && makePresentedClaims(node, screen.claims.claims, () => turn(1));
    showSession(node);
    parts = questionBox ? ["picture", "question"] : (claims?.parts ?? ["all"]);
    const last = parts.length - 1;
    lay(clamp(first || (back ? last : 0), 0, last));
    first = 0;
  }

  /** Shows the screen as on a desk. */
  function clear() {
    const { root, screen } = learn;
    bar.remove();
    claims = null;
    question = null;
    const node = find(root, ":scope > *");
    if (node) delete node.dataset.part;
    if (!isOn) screen?.present(null);
    if (!isOn) picture?.clear();
    picture = null;
  }

  /** Shows a part. @param {number} k */
  function lay(k) {
    const node = screenNode();
    part = k;
    node.dataset.part = partName();
    writeAddress(k ? String(k + 1) : null);
    picture?.forget();
    question?.show(false);
    if (claims) setText(place, claims.lay(k));
    showPlay();
    const focused = document.activeElement;
    if (!focused || !node.contains(focused) || !focused.checkVisibility()) focusWords(node);
    fit();
    settle(node);
  }

  function showPlay() {
    play.hidden = !(partName() === "picture" && learn.screen?.widget?.step);
  }

  /** Lets the address name the slide at once: who reloads, or copies it, comes back to this one. @param {string | null} part */
  function writeAddress(part) {
    if (readAddress("part") === part) return;
    address.write({ part });
    address.flush();
  }

  /** On a lecture's map shows what of the course it has, and its title. @param {HTMLElement} node */
  function showSession(node) {
    const session = learn.router.outline.sessions[readAddress("path") ?? ""];
    const title = find(node, ".fa-session");
    if (!title) return;
    setText(title, session?.title ?? "");
    for (const stop of all(node, ".fa-halt")) {
      const isAside = session && !session.stops.includes(stop.dataset.lesson ?? "");
      stop.classList.toggle("is-aside", Boolean(isAside));
    }
  }

  /** Gives the slide's first words the keyboard. @param {HTMLElement} node */
  function focusWords(node) {
    const words = all(node, "h2, .fa-headline, .fa-present-asked h3").find((one) =>
      one.checkVisibility(),
    );
    if (!words) return;
    set(words, { tabindex: "-1" });
    giveFocus(words);
  }

  /** The picture has come, or its place has another size. */
  function fit() {
    if (!isOn || partName() !== "picture") return;
    showPlay();
    picture?.lay();
  }

  /** Turns on or back: through what does not fit, through the parts, to the next screen of the lecture. @param {number} by */
  function turn(by) {
    const node = screenNode();
    const { scrollHeight, scrollTop, clientHeight } = node;
    const left = by > 0 ? scrollHeight - clientHeight - scrollTop : scrollTop;
    if (parts[0] === "all" && left > SLIGHT)
      return node.scrollBy(0, (by * left) / Math.ceil(left / (clientHeight * MOST)));
    const k = part + by;
    if (k >= 0 && k < parts.length) return lay(k);
    const { router } = learn;
    const slides = router.slides();
    const next = slides[slides.indexOf(router.key) + by];
    if (slides.includes(router.key) && next) router.go(next, { back: by < 0 });
  }

  function leave() {
    setPresenting(false);
    address.write({ mode: null, part: null }); // its list stays for a lecturer who goes on with it
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    const { key } = event;
    if (key === "Escape") return leave();
    const field = targetOf(event).closest?.("input, select, textarea, [role=slider]");
    if (field && !key.startsWith("Page")) return;
    const by = turnOf(event) || (claims?.key(event) ?? 0);
    const isQuestion = partName() === "question" && question?.key(event);
    const widget = learn.screen?.widget;
    const step = widget ? STEPS[key] : 0;
    if (!by && !isQuestion && !step) return;
    event.preventDefault();
    if (isQuestion) return;
    if (by) return turn(by);
    widget?.move(widget.step && key.startsWith("Arrow") ? -step : step); // a step list reads downwards
  }

  return { show, follow, fit, key };
}
