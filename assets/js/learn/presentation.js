// The Learn page in presentation mode: of a lesson the sentence, four lines and the picture on one slide, its question on the
// next; a claim, then its verdict; other screens as they are, in large type.

import {
  all,
  button,
  el,
  find,
  get,
  isPresenting,
  onTheme,
  set,
  setPresenting,
  targetOf,
} from "../lib/dom.js";
import { clamp } from "../lib/format.js";
import { turnOf } from "../lib/keys.js";
import { address, readAddress } from "../site/address.js";
import { PictureFit } from "./picture_fit.js";
import { PresentedClaims } from "./presented_claims.js";
import { PresentedQuestion } from "./presented_question.js";
import { t } from "./texts.js";
import { unbroken } from "./unbroken.js";
import { settle } from "./widget.js";

/** @import { Learn } from "./index.js" */
/** @import { Values } from "./types.js" */

/** @type {Record<string, number>} */
const STEPS = { ArrowUp: 1, ArrowDown: -1, ".": 1, ",": -1 };
const SLIGHT = 24; // px that a press does not go for
const MOST = 0.92; // of a screen, the most that a press goes

export class Presentation {
  /** @param {Learn} learn */
  constructor(learn) {
    this.learn = learn;
    this.isOn = false;
    this.first = Number(readAddress("part") ?? 1) - 1; // the slide that the address opens with
    this.opensPage = readAddress("mode") === "present"; // nobody has been at the desk
    /** The parts of the screen, and which of them is shown. @type {string[]} */
    this.parts = [];
    this.part = 0;
    /** @type {PresentedQuestion | null} */
    this.question = null;
    /** @type {PresentedClaims | null} */
    this.claims = null;
    /** @type {PictureFit | null} */
    this.picture = null;
    /** What had the keyboard before. @type {Element | null} */
    this.opener = null;
    const key = (
      /** @type {string} */ label,
      /** @type {string} */ sign,
      /** @type {() => void} */ act,
    ) => button(sign, act, { "aria-label": label, title: label });
    this.place = el("span.fa-present-place");
    this.play = key(t("present.play"), "▶", () => this.learn.screen?.widget?.togglePlay());
    this.bar = el("div.fa-present-bar", [
      this.place,
      el("span.fa-present-keys", [
        key(t("present.back"), "‹", () => this.turn(-1)),
        key(t("present.on"), "›", () => this.turn(1)),
        this.play,
        key(t("present.leave"), "×", () => this.leave()),
      ]),
    ]);
    const { signal } = learn.abort;
    window.addEventListener(
      "resize",
      () => {
        if (this.picture) this.picture.isLaid = false;
        this.fit();
      },
      { signal },
    );
    onTheme(() => this.follow());
  }

  /** The screen's element. */
  get node() {
    return get(this.learn.root, ":scope > *");
  }

  /** The name of the part that is shown. */
  get name() {
    return this.parts[this.part];
  }

  follow() {
    const { root } = this.learn;
    const on = isPresenting() && root.isConnected && root.offsetParent !== null;
    if (on === this.isOn) return;
    this.isOn = on;
    root.classList.toggle("is-presenting", on);
    if (on) this.opener = document.activeElement;
    if (on) this.show({ isFresh: this.opensPage });
    else this.clear();
    this.opensPage = false;
    if (!on && root.offsetParent) this.returnFocus();
  }

  /** Gives the keyboard back to what opened the presentation, or to the button of the screen that is here now. */
  returnFocus() {
    const { root } = this.learn;
    const { opener } = this;
    const places = [
      opener instanceof HTMLElement && opener !== document.body ? opener : null,
      find(root, ".fa-to-present"),
      find(root, "h2"),
    ];
    const place = places.find((node) => node && node.isConnected && node.checkVisibility());
    place?.focus({ preventScroll: true });
  }

  /** Shows a screen, from the one before it or (back) from the one after. If fresh, its picture is as the course has it,
   * whatever was done with it at the desk; else as it was left there. @param {{back?: boolean, isFresh?: boolean}} move */
  show({ back = false, isFresh = true } = {}) {
    this.clear();
    const { root, router, screen } = this.learn;
    if (!screen || !this.isOn) return;
    const { node } = this;
    const names = router.outline.lessons[node.dataset.key ?? ""];
    set(this.place, { text: names ? names.join(", ") : "" });
    root.append(this.bar);
    const question = find(node, ".fa-present-asked");
    if (question) {
      /** @type {Values} */
      const state = JSON.parse(question.dataset.state ?? "");
      this.question = new PresentedQuestion(question);
      this.picture = new PictureFit(get(node, ".fa-lesson-body"));
      screen.present(state, isFresh);
      for (const line of all(node, ".fa-headline, .fa-slide li"))
        set(line, { text: unbroken(line.textContent ?? "") });
    }
    this.claims =
      screen.claims && new PresentedClaims(node, screen.claims.claims, () => this.turn(1));
    this.showSession(node);
    this.parts = question ? ["picture", "question"] : (this.claims?.parts ?? ["all"]);
    const last = this.parts.length - 1;
    this.lay(clamp(this.first || (back ? last : 0), 0, last));
    this.first = 0;
  }

  /** Shows the screen as on a desk. */
  clear() {
    const { root, screen } = this.learn;
    this.bar.remove();
    this.claims = null;
    this.question = null;
    const node = find(root, ":scope > *");
    if (node) delete node.dataset.part;
    if (!this.isOn) screen?.present(null);
    if (!this.isOn) this.picture?.clear();
    this.picture = null;
  }

  /** @param {number} part */
  lay(part) {
    const { node } = this;
    this.part = part;
    node.dataset.part = this.name;
    this.writeAddress(part ? String(part + 1) : null);
    if (this.picture) this.picture.isLaid = false;
    this.question?.show(false);
    if (this.claims) set(this.place, { text: this.claims.lay(part) });
    this.showPlay();
    const focused = document.activeElement;
    if (!focused || !node.contains(focused) || !focused.checkVisibility()) this.focusWords(node);
    this.fit();
    settle(node);
  }

  showPlay() {
    this.play.hidden = !(this.name === "picture" && this.learn.screen?.widget?.step);
  }

  /** Lets the address name the slide at once: who reloads, or copies it, comes back to this one. @param {string | null} part */
  writeAddress(part) {
    if (readAddress("part") === part) return;
    address.write({ part });
    address.flush();
  }

  /** On a lecture's map shows what of the course it has, and its title. @param {HTMLElement} node */
  showSession(node) {
    const session = this.learn.router.outline.sessions[readAddress("path") ?? ""];
    const title = find(node, ".fa-session");
    if (!title) return;
    set(title, { text: session?.title ?? "" });
    for (const stop of all(node, ".fa-halt")) {
      const isAside = session && !session.stops.includes(stop.dataset.lesson ?? "");
      stop.classList.toggle("is-aside", Boolean(isAside));
    }
  }

  /** Gives the slide's first words the keyboard. @param {HTMLElement} node */
  focusWords(node) {
    const words = all(node, "h2, .fa-headline, .fa-present-asked h3").find((one) =>
      one.checkVisibility(),
    );
    if (!words) return;
    set(words, { tabindex: "-1" });
    words.focus({ preventScroll: true });
  }

  /** The picture has come, or its place has another size. */
  fit() {
    if (!this.isOn || this.name !== "picture") return;
    this.showPlay();
    this.picture?.lay();
  }

  /** Turns on or back: through what does not fit, through the parts, to the next screen of the lecture. @param {number} by */
  turn(by) {
    const { node } = this;
    const { scrollHeight, scrollTop, clientHeight } = node;
    const left = by > 0 ? scrollHeight - clientHeight - scrollTop : scrollTop;
    if (this.parts[0] === "all" && left > SLIGHT)
      return node.scrollBy(0, (by * left) / Math.ceil(left / (clientHeight * MOST)));
    const part = this.part + by;
    if (part >= 0 && part < this.parts.length) return this.lay(part);
    const { router } = this.learn;
    const slides = router.slides();
    const next = slides[slides.indexOf(router.key) + by];
    if (slides.includes(router.key) && next) router.go(next, { back: by < 0 });
  }

  leave() {
    setPresenting(false);
    address.write({ mode: null, part: null }); // its list stays for a lecturer who goes on with it
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { key } = event;
    if (key === "Escape") return this.leave();
    const field = targetOf(event).closest?.("input, select, textarea, [role=slider]");
    if (field && !key.startsWith("Page")) return;
    const by = turnOf(event) || (this.claims?.key(event, this.part) ?? 0);
    const isQuestion = this.name === "question" && this.question?.key(event);
    const widget = this.learn.screen?.widget;
    const step = widget ? STEPS[key] : 0;
    if (!by && !isQuestion && !step) return;
    event.preventDefault();
    if (isQuestion) return;
    if (by) return this.turn(by);
    widget?.move(widget.step && key.startsWith("Arrow") ? -step : step); // a step list reads downwards
  }
}
