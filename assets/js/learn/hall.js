// The Learn page in a lecture hall: of a rung the sentence, four lines and the picture on one slide, its question on the
// next; other screens as they are, in large type.

import { address } from "../site/address.js";
import { el, hall, set } from "../lib/dom.js";
import { hallUnit } from "./easel.js";
import { settle } from "./widget.js";

const TURNS = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 };
const STEPS = { ArrowUp: 1, ArrowDown: -1, ".": 1, ",": -1 };
const SLIGHT = 24; // px that a press does not go for
const MOST = 0.92; // of a screen, the most that a press goes
const DRAWN = 440; // px, the narrowest that a picture is drawn before it is enlarged
const EASEL = 1.1; // a drawn picture lays itself out for its type, whatever its size
const LARGEST = 2.4;
const SMALLEST = 0.4;
const GAIN = 1.12; // how much larger the picture, or its least type, must come below the lines, to stand there

/** Draws what is in the sheet at one size; true if all of it is in its place and no panel is drawn too small. */
function enlarge(sheet, place, zoom) {
  const { clientWidth: width, clientHeight: height } = place;
  sheet.style.cssText = `width:${width / zoom}px;scale:${zoom};transform-origin:0 0;--zoom:${zoom}`;
  for (const panel of sheet.querySelectorAll(".fa-scene-panel")) panel.style.setProperty("--drawn", panel.getScreenCTM().a);
  for (const node of sheet.querySelectorAll(".fa-easel")) node.refit?.();
  const isWide = (node) => node.scrollWidth > node.clientWidth + 1;
  const isSmall = (panel) => panel.getBoundingClientRect().width < parseFloat(panel.style.getPropertyValue("--w")) * zoom - 1;
  const { right } = place.getBoundingClientRect();
  const isOutside = (node) => node.getBoundingClientRect().right > right + 1;
  if ([...sheet.querySelectorAll("svg text")].some(isOutside)) return false;
  if ([sheet, ...sheet.querySelectorAll(".fa-scroll")].some(isWide) || [...sheet.querySelectorAll(".fa-scene-panel")].some(isSmall)) return false;
  return sheet.scrollHeight * zoom <= height - 2 && place.scrollHeight <= height + 1 && place.scrollWidth <= width + 1;
}

/** The largest size, at most `zoom`, at which the sheet is in its place. */
function largest(sheet, place, zoom) {
  const most = sheet.querySelector(".fa-easel") ? EASEL * hallUnit() : place.clientWidth / DRAWN;
  let found = Math.min(zoom, Math.max(1, most));
  while (!enlarge(sheet, place, found) && found > SMALLEST) found -= 0.03;
  return found;
}

/** What is drawn for its type says how well it is laid out by the least of it. */
const leastType = (sheet) => {
  const sizes = [...sheet.querySelectorAll(".fa-easel text")].map((node) => parseFloat(node.style.fontSize)).filter(Boolean);
  return sizes.length ? Math.min(...sizes) : 1;
};

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
    window.addEventListener("resize", () => {
      this.isLaid = false;
      this.fit();
    }, { signal: learn.abort.signal });
    new MutationObserver(() => this.follow()).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  }

  follow() {
    const { root } = this.learn;
    const on = document.body.classList.contains("fa-present") && root.isConnected && root.offsetParent !== null;
    if (on === this.on) return;
    this.on = on;
    root.classList.toggle("is-presenting", on);
    if (on) this.opener = document.activeElement;
    this.shown();
    if (!on && root.offsetParent) this.leads();
  }

  /** Who leaves comes back to what opened the hall, or to the button of the screen that is here now. */
  leads() {
    const { opener, learn: { root } } = this;
    const places = [opener !== document.body && opener, root.querySelector(".fa-to-hall"), root.querySelector("h2")];
    places.find((node) => node && node.isConnected && node.checkVisibility())?.focus({ preventScroll: true });
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
    this.isLaid = false;
    screen.dataset.part = this.parts[part];
    this.play.hidden = !(this.parts[part] === "picture" && this.learn.screen.widget?.step);
    const focused = document.activeElement;
    if (!screen.contains(focused) || !focused.checkVisibility()) this.enter(screen);
    this.fit();
    settle(screen);
  }

  /** The slide's first words have the keyboard. */
  enter(screen) {
    const words = [...screen.querySelectorAll("h2, .fa-headline, legend")].find((node) => node.checkVisibility());
    if (!words) return;
    set(words, { tabindex: "-1" });
    words.focus({ preventScroll: true });
  }

  /** The picture, drawn as on a desk, is enlarged as a whole until its place is full; while it is shown it only shrinks. */
  fit() {
    const body = this.learn.root.querySelector(".fa-rung > .fa-rung-body");
    const place = body?.querySelector(":scope > .fa-widget");
    const sheet = place?.firstElementChild;
    if (!sheet) return;
    if (!this.on || this.parts?.[this.part] !== "picture") return sheet.removeAttribute("style");
    this.play.hidden = !this.learn.screen.widget?.step;
    if (!this.isLaid) this.arrange(body, sheet, place);
    this.zoom = largest(sheet, place, this.zoom);
    this.isLaid = Boolean(sheet.querySelector(".fa-blocks > *")) && !sheet.querySelector(".fa-moving:empty");
  }

  /** The lines beside the picture, or above it where that makes the picture clearly larger. */
  arrange(body, sheet, place) {
    delete body.dataset.over;
    const size = () => largest(sheet, place, LARGEST) * leastType(sheet);
    const beside = size();
    body.dataset.over = "";
    if (size() < beside * GAIN) delete body.dataset.over;
    this.zoom = LARGEST;
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
