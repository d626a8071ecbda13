// The Learn page in a lecture hall: of a lesson the sentence, four lines and the picture on one slide, its question on the
// next; a claim, then its verdict; other screens as they are, in large type.

import { clamp } from "../lib/format.js";
import { address } from "../site/address.js";
import { all, button, el, set, setPresenting } from "../lib/dom.js";
import { PresentedClaims } from "./presented_claims.js";
import { PictureFit } from "./picture_fit.js";
import { PresentedQuestion } from "./presented_question.js";
import { ofAddress } from "./router.js";
import { writeUnbroken } from "./unbroken.js";
import { settle } from "./widget.js";
import { t } from "./texts.js";

const TURNS = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 };
const STEPS = { ArrowUp: 1, ArrowDown: -1, ".": 1, ",": -1 };
const SLIGHT = 24; // px that a press does not go for
const MOST = 0.92; // of a screen, the most that a press goes

export class Presentation {
  constructor(learn) {
    this.learn = learn;
    this.on = false;
    this.first = Number(ofAddress("part") ?? 1) - 1; // the slide that the address opens with
    this.opens = ofAddress("mode") === "present"; // nobody has been at the desk
    const button = (label, text, act) => {
      const node = button(text, act, { "aria-label": label, title: label });
      return node;
    };
    this.place = el("span", { class: "fa-hall-place" });
    this.bar = el("div", { class: "fa-hall-bar" }, [
      this.place,
      el("span", { class: "fa-hall-keys" }, [
        button(t("hall.back"), "‹", () => this.turn(-1)),
        button(t("hall.on"), "›", () => this.turn(1)),
        (this.play = button(t("hall.play"), "▶", () => this.plays())),
        button(t("hall.leave"), "×", () => this.leave()),
      ]),
    ]);
    window.addEventListener(
      "resize",
      () => {
        if (this.picture) this.picture.isLaid = false;
        this.fit();
      },
      { signal: learn.abort.signal },
    );
    new MutationObserver(() => this.follow()).observe(document.body, {
      attributes: true,
      attributeFilter: ["class"],
    });
  }

  follow() {
    const { root } = this.learn;
    const on =
      document.body.classList.contains("fa-present") &&
      root.isConnected &&
      root.offsetParent !== null;
    if (on === this.on) return;
    this.on = on;
    root.classList.toggle("is-presenting", on);
    if (on) this.opener = document.activeElement;
    if (on) this.shown({ fresh: this.opens });
    else this.clear();
    this.opens = false;
    if (!on && root.offsetParent) this.leads();
  }

  /** Who leaves comes back to what opened the hall, or to the button of the screen that is here now. */
  leads() {
    const {
      opener,
      learn: { root },
    } = this;
    const places = [
      opener !== document.body && opener,
      root.querySelector(".fa-to-hall"),
      root.querySelector("h2"),
    ];
    places
      .find((node) => node && node.isConnected && node.checkVisibility())
      ?.focus({ preventScroll: true });
  }

  /** A screen has come, from the one before it or (back) from the one after: fresh, its picture is as the course has it,
   * whatever was done with it at the desk; else as it was left there. */
  shown({ back = false, fresh = true } = {}) {
    this.clear();
    const { root, router, screen: live } = this.learn;
    const screen = root.firstElementChild;
    if (!screen || !this.on) return;
    const names = router.outline.lessons[screen.dataset.key];
    set(this.place, { text: names ? names.join(", ") : "" });
    root.append(this.bar);
    const asked = screen.querySelector("[data-hall]");
    if (asked) {
      const { question, state } = JSON.parse(asked.dataset.hall);
      this.question = new PresentedQuestion(asked, question);
      this.picture = new PictureFit(screen.querySelector(".fa-lesson-body"));
      live.present(state, fresh);
      for (const node of all(screen, ".fa-headline, .fa-slide li"))
        writeUnbroken(node, node.textContent);
    }
    this.claims = live.claims && new PresentedClaims(screen, live.claims.cards, () => this.turn(1));
    this.tells(screen);
    this.parts = asked ? ["picture", "question"] : (this.claims?.parts ?? ["all"]);
    const last = this.parts.length - 1;
    this.lay(clamp(this.first || (back ? last : 0), 0, last));
    this.first = 0;
  }

  /** The screen is as on a desk. */
  clear() {
    const { root, screen } = this.learn;
    this.bar.remove();
    this.claims?.end();
    Object.assign(this, { claims: null, question: null });
    if (root.firstElementChild) delete root.firstElementChild.dataset.part;
    if (!this.on) screen?.present(null);
    if (!this.on) this.picture?.clear();
    this.picture = null;
  }

  lay(part) {
    const screen = this.learn.root.firstElementChild;
    this.part = part;
    screen.dataset.part = this.parts[part];
    this.note(part ? String(part + 1) : null);
    if (this.picture) Object.assign(this.picture, { isLaid: false });
    this.question?.show(false);
    if (this.claims) set(this.place, { text: this.claims.lay(part) });
    this.play.hidden = !(this.parts[part] === "picture" && this.learn.screen.widget?.step);
    const focused = document.activeElement;
    if (!screen.contains(focused) || !focused.checkVisibility()) this.enter(screen);
    this.fit();
    settle(screen);
  }

  /** The address names the slide at once: whoever reloads, or copies it, comes back to this one. */
  note(part) {
    if (ofAddress("part") === part) return;
    address.write({ part });
    address.flush();
  }

  /** On a lecture's map, what of the course it has, and its title. */
  tells(screen) {
    const session = this.learn.router.outline.sessions[ofAddress("path")];
    const title = screen.querySelector(".fa-session");
    if (!title) return;
    set(title, { text: session?.title ?? "" });
    for (const node of all(screen, ".fa-halt"))
      node.classList.toggle(
        "is-aside",
        Boolean(session) && !session.stops.includes(node.dataset.lesson),
      );
  }

  /** The slide's first words have the keyboard. */
  enter(screen) {
    const words = all(screen, "h2, .fa-headline, .fa-hall-asked h3").find((node) =>
      node.checkVisibility(),
    );
    if (!words) return;
    set(words, { tabindex: "-1" });
    words.focus({ preventScroll: true });
  }

  /** The picture has come, or its place has another size. */
  fit() {
    if (!this.on || this.parts?.[this.part] !== "picture") return;
    this.play.hidden = !this.learn.screen.widget?.step;
    this.picture.lay();
  }

  plays() {
    const { widget } = this.learn.screen;
    if (widget?.transport?.timer) widget.pause();
    else widget?.play();
  }

  /** On or back: through what does not fit, through the parts, to the next screen of the lecture. */
  turn(by) {
    const screen = this.learn.root.firstElementChild;
    const left =
      by > 0 ? screen.scrollHeight - screen.clientHeight - screen.scrollTop : screen.scrollTop;
    if (this.parts[0] === "all" && left > SLIGHT)
      return screen.scrollBy(0, (by * left) / Math.ceil(left / (screen.clientHeight * MOST)));
    const part = this.part + by;
    if (part >= 0 && part < this.parts.length) return this.lay(part);
    const { router } = this.learn;
    const slides = router.slides();
    const at = slides.indexOf(router.key);
    return at >= 0 && slides[at + by] && router.go(slides[at + by], { back: by < 0 });
  }

  leave() {
    setPresenting(false);
    address.write({ mode: null, part: null }); // its list is kept for who goes on with it
  }

  key(event) {
    if (event.key === "Escape") return this.leave();
    if (
      event.target.closest?.("input, select, textarea, [role=slider]") &&
      !event.key.startsWith("Page")
    )
      return undefined;
    const by = TURNS[event.key] ?? this.claims?.key(event, this.part) ?? 0;
    const isAsked = this.parts?.[this.part] === "question" && this.question.key(event);
    const step = STEPS[event.key];
    const { widget } = this.learn.screen;
    if (!by && !isAsked && !(step && widget)) return undefined;
    event.preventDefault();
    if (isAsked) return undefined;
    if (by) return this.turn(by);
    return widget.move(widget.step && event.key.startsWith("Arrow") ? -step : step); // a step list reads downwards
  }
}
