// The Learn page in a lecture hall: of a rung the sentence, four lines and the picture on one slide, its question on the
// next; other screens as they are, in large type.

import { address } from "../site/address.js";
import { el, hall, set } from "../lib/dom.js";
import { settle } from "./widget.js";

const TURNS = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 };
const STEPS = { ArrowUp: 1, ArrowDown: -1, ".": 1, ",": -1 };
const SLIGHT = 24; // px that a press does not go for
const MOST = 0.92; // of a screen, the most that a press goes
const SMALLEST = 0.7; // of the picture's large type, before it scrolls

export class Hall {
  constructor(learn) {
    this.learn = learn;
    this.on = false;
    const button = (label, text, act) => {
      const node = el("button", { type: "button", "aria-label": label, title: label, text });
      node.addEventListener("click", act);
      return node;
    };
    this.place = el("span", { class: "fa-hall-place" });
    this.bar = el("div", { class: "fa-hall-bar" }, [this.place, el("span", { class: "fa-hall-keys" }, [
      button("Back", "‹", () => this.turn(-1)), button("On", "›", () => this.turn(1)),
      (this.play = button("Play", "▶", () => this.plays())), button("Leave", "×", () => this.leave()),
    ])]);
    new MutationObserver(() => this.follow()).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  }

  follow() {
    const { root } = this.learn;
    const on = document.body.classList.contains("fa-present") && root.isConnected && root.offsetParent !== null;
    if (on === this.on) return;
    this.on = on;
    root.classList.toggle("is-presenting", on);
    this.shown();
  }

  /** A screen has come, from the one before it or (back) from the one after. */
  shown(back) {
    const { root } = this.learn;
    this.bar.remove();
    const screen = root.firstElementChild;
    if (!screen) return;
    delete screen.dataset.part;
    if (!this.on) return;
    const names = this.learn.router.outline.rungs[screen.dataset.key];
    set(this.place, { text: names ? names.join(", ") : "" });
    root.append(this.bar);
    this.parts = screen.matches(".fa-rung") ? ["picture", "question"] : ["all"];
    this.lay(back ? this.parts.length - 1 : 0);
  }

  lay(part) {
    const screen = this.learn.root.firstElementChild;
    this.part = part;
    screen.dataset.part = this.parts[part];
    this.play.hidden = !(this.parts[part] === "picture" && this.learn.screen.widget?.step);
    const focused = document.activeElement;
    if (!screen.contains(focused) || !focused.checkVisibility()) screen.querySelector("h2")?.focus({ preventScroll: true });
    this.fit();
    settle(screen);
  }

  /** The picture takes the size that its place has, no smaller than can be read from behind. */
  fit() {
    const blocks = this.learn.root.querySelector(".fa-rung > .fa-rung-body > .fa-widget .fa-blocks");
    if (!blocks) return;
    blocks.style.removeProperty("zoom");
    if (!this.on || this.parts?.[this.part] !== "picture") return;
    this.play.hidden = !this.learn.screen.widget?.step;
    const box = blocks.closest(".fa-widget");
    for (let zoom = 1; box.scrollHeight > box.clientHeight + 1 && zoom > SMALLEST; ) {
      zoom = Math.max(SMALLEST, zoom - 0.06);
      blocks.style.zoom = zoom;
    }
  }

  plays() {
    const { widget } = this.learn.screen;
    if (widget?.transport?.timer) widget.pause();
    else widget?.play();
  }

  /** On or back: through what does not fit, through the parts, to the next screen. */
  turn(by) {
    const screen = this.learn.root.firstElementChild;
    const left = by > 0 ? screen.scrollHeight - screen.clientHeight - screen.scrollTop : screen.scrollTop;
    if (this.parts[0] === "all" && left > SLIGHT) return screen.scrollBy(0, (by * left) / Math.ceil(left / (screen.clientHeight * MOST)));
    const part = this.part + by;
    if (part >= 0 && part < this.parts.length) return this.lay(part);
    const { router } = this.learn;
    const { keys } = router.outline;
    const next = keys[keys.indexOf(router.key) + by];
    return next && router.go(next, { back: by < 0 });
  }

  leave() {
    hall(false);
    address.write({ mode: null });
  }

  key(event) {
    if (event.key === "Escape") return this.leave();
    if (event.target.closest?.("input, select, textarea, [role=slider]") && !event.key.startsWith("Page")) return undefined;
    const by = TURNS[event.key];
    const step = STEPS[event.key];
    const { widget } = this.learn.screen;
    if (!by && !(step && widget)) return undefined;
    event.preventDefault();
    if (by) return this.turn(by);
    return widget.move(widget.step && event.key.startsWith("Arrow") ? -step : step); // a step list reads downwards
  }
}
