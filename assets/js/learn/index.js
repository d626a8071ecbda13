// Mounts the Learn page: makes the server's cards live, keeps contents, progress and address in step.

import { address } from "../site/address.js";
import { isOnScreen, opened } from "../site/pages.js";
import { BUILD } from "../lib/build.js";
import { el, hall, set } from "../lib/dom.js";
import { tell } from "../lib/events.js";
import { reach } from "../lib/fetched.js";
import { draw } from "./blocks.js";
import { mountClaim, mountQuestion, Progress } from "./questions.js";
import { provide } from "./pictures.js";
import { settle, Widget } from "./widget.js";
import { during } from "../lib/pending.js";

// A widget is asked for before it is seen
const NEAR = "600px 0px";
const NARROW = "(max-width: 900px)";
const ID = "learn-";
// In a lecture hall: px that a press does not go for; of a screen, the most that a press goes, and
// how much too tall is made to fit; characters that need no screen of their own; what is left out.
const SLIGHT = 24;
const MOST = 0.92;
const CLOSE = 0.16;
const BRIEF = 260;
const NOT_SHOWN = ["facts", "glossary", "papers", "handout"];

const shown = (card) => !NOT_SHOWN.includes(card.id.slice(ID.length));

/** One card at a time in a lecture hall; a card that does not fit is shown in parts. */
class Slides {
  constructor(learn) {
    this.learn = learn;
    this.on = false;
    new MutationObserver(() => this.follow()).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  }

  follow() {
    const { root } = this.learn;
    const on = document.body.classList.contains("fa-present") && root.isConnected && root.offsetParent !== null;
    if (on === this.on) return;
    this.on = on;
    root.classList.toggle("is-presenting", on);
    if (on) this.go(this.learn.cards.indexOf(this.learn.current), 0);
    else {
      for (const card of this.learn.cards) delete card.dataset.part;
      this.learn.visit(this.learn.current);
    }
  }

  parts(card) {
    const has = (kind) => card.querySelector(`:scope > .fa-${kind}`);
    if (!has("widget")) return ["all"];
    this.lay(card, "both");
    const fits = [card, ...card.querySelectorAll(".fa-scroll")].every((box) => box.scrollHeight <= box.clientHeight + 1 && box.scrollWidth <= box.clientWidth + 1);
    const isBrief = (has("rung-text")?.textContent.length ?? 0) < BRIEF;
    return [...(fits || isBrief ? ["both"] : ["text", "widget"]), ...(has("question") ? ["question"] : [])];
  }

  /** Shows this part of a card from its top; from its end if it was come back to. */
  lay(card, part, back) {
    card.dataset.part = part;
    card.classList.remove("is-tight");
    this.fit(card);
    card.scrollTop = back ? card.scrollHeight : 0;
  }

  /** What is a little too tall gets smaller gaps and cells. */
  fit(card) {
    const over = card.scrollHeight - card.clientHeight;
    if (over > 1 && over < card.clientHeight * CLOSE) card.classList.add("is-tight");
  }

  /** The k-th card; `part` counts in it, −1 is its last. */
  go(k, part) {
    return during("card", this.lead(k, part));
  }

  async lead(k, part) {
    const { cards } = this.learn;
    this.at = Math.max(0, Math.min(cards.length - 1, k));
    const card = cards[this.at];
    cards.forEach((other) => other !== card && delete other.dataset.part);
    card.dataset.part = "both";
    await Promise.all(this.learn.wake(card));
    if (card !== cards[this.at]) return; // another one was asked for meanwhile
    this.list = this.parts(card);
    this.part = part < 0 ? this.list.length - 1 : Math.min(part, this.list.length - 1);
    this.show(card, part < 0);
    this.learn.follow(card);
  }

  /** The part that it is at; the keyboard stays with what is seen. */
  show(card, back) {
    this.lay(card, this.list[this.part], back);
    settle(card);
    const focused = document.activeElement;
    if (!card.contains(focused) || !focused.checkVisibility()) card.querySelector("h2, h3")?.focus({ preventScroll: true });
  }

  /** On or back: through what does not fit, through the card's parts, to the next card. */
  turn(by) {
    const card = this.learn.cards[this.at];
    const left = by > 0 ? card.scrollHeight - card.clientHeight - card.scrollTop : card.scrollTop;
    if (left > SLIGHT) return card.scrollBy(0, (by * left) / Math.ceil(left / (card.clientHeight * MOST)));
    const part = this.part + by;
    if (part >= 0 && part < this.list.length) {
      this.part = part;
      return this.show(card, by < 0);
    }
    const next = this.learn.cards[by > 0 ? "findIndex" : "findLastIndex"]((card, k) => (k - this.at) * by > 0 && shown(card));
    if (next >= 0) this.go(next, by < 0 ? -1 : 0);
  }

  key(event) {
    if (!this.on || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      hall(false);
      return address.write({ mode: null });
    }
    if (event.target.closest?.("input, select, textarea, [role=slider]") && !event.key.startsWith("Page")) return;
    const by = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
    const step = { ArrowUp: 1, ArrowDown: -1, ".": 1, ",": -1 }[event.key];
    const widget = step && this.learn.widgetIn(this.learn.cards[this.at]);
    if (!by && !widget) return;
    event.preventDefault();
    if (by) this.turn(by);
    else widget.move(widget.step && event.key.startsWith("Arrow") ? -step : step); // a step list reads downwards
  }
}

class Learn {
  constructor(element) {
    this.element = element;
    this.progress = new Progress();
    this.widgets = new WeakMap();
    this.done = new WeakSet();
    this.abort = new AbortController();
    this.asked = new URLSearchParams(window.location.search).get("rung");
    // Gradio may replace what is inside at any time, and tells nobody.
    this.watching = new MutationObserver(() => this.hydrate());
    this.watching.observe(element, { childList: true, subtree: true });
    this.hydrate();
  }

  /** Makes live what is not; called again whenever the content changes. */
  hydrate() {
    const root = this.element.querySelector(".fa-learn");
    if (!root) return;
    if (root !== this.root) this.adopt(root);
    const fresh = (selector) => [...root.querySelectorAll(selector)].filter((node) => !this.done.has(node) && this.done.add(node));
    for (const node of fresh("[data-widget]")) this.near.observe(node);
    for (const node of fresh("[data-question]")) mountQuestion(node, this.progress);
    for (const node of fresh("[data-claim]")) mountClaim(node, this.progress);
    for (const node of fresh("[data-block]")) node.replaceChildren(...[draw(JSON.parse(node.dataset.block))].filter(Boolean));
    const cards = fresh(".fa-card");
    if (!cards.length) return;
    this.cards = [...root.querySelectorAll(".fa-card")];
    this.current ??= this.cards[0];
    for (const card of cards) if (card.id) this.spy.observe(card);
    this.tell();
    settle(root);
  }

  /** A new root: its contents, its listeners; those of an earlier one end. */
  adopt(root) {
    this.abort.abort();
    this.near?.disconnect();
    this.spy?.disconnect();
    this.abort = new AbortController();
    const { signal } = this.abort;
    Object.assign(this, { root, current: null });
    this.near = new IntersectionObserver((seen) => seen.filter((one) => one.isIntersecting).forEach((one) => this.start(one.target)), { rootMargin: NEAR });
    this.spy = new IntersectionObserver((seen) => this.seen(seen), { rootMargin: "-15% 0px -75% 0px" });
    this.progress.listeners = [() => this.tell()];
    this.contents();
    this.slides ??= new Slides(this);
    document.addEventListener("keydown", (event) => this.element.isConnected ? this.slides.key(event) : this.end(), { signal });
    // What arrives above a card that was gone to must not push it away, until the reader moves on.
    root.addEventListener("fa:blocks", () => {
      if (this.slides.on) this.slides.fit(this.cards[this.slides.at]);
      else this.goal?.scrollIntoView();
    }, { signal });
    for (const name of ["wheel", "touchmove", "pointerdown", "keydown"]) window.addEventListener(name, () => { this.goal = null; }, { signal, passive: true, capture: true });
    const claims = (name) => root.querySelectorAll("[data-claim]").forEach((claim) => tell(name, null, claim));
    window.addEventListener("beforeprint", () => claims("fa:reveal"), { signal });
    window.addEventListener("afterprint", () => { claims("fa:conceal"); root.classList.remove("is-handout"); }, { signal });
    window.addEventListener("resize", () => settle(root), { signal });
    const size = new ResizeObserver(() => root.offsetHeight && this.opened(size));
    size.observe(root);
  }

  /** Gradio has no unmount hook: the first event after it ends everything here. */
  end() {
    this.abort.abort();
    this.watching.disconnect();
  }

  /** The page is on screen for the first time: the rung that the address names is shown. */
  opened(size) {
    size.disconnect();
    const card = isOnScreen("learn") && this.asked && document.getElementById(ID + this.asked);
    if (card && this.root.contains(card)) this.visit(card);
    this.ready = true;
    opened("learn");
    this.slides.follow();
  }

  start(node) {
    this.near.unobserve(node);
    if (!this.widgets.has(node)) this.widgets.set(node, new Widget(node));
    return this.widgets.get(node).loaded;
  }

  /** Starts the widgets inside, seen or not; promises of their first answers. */
  wake(node) {
    return [...node.querySelectorAll("[data-widget]")].map((one) => this.start(one));
  }

  widgetIn(card) {
    const node = card.querySelector("[data-widget]");
    return node?.checkVisibility() && this.widgets.get(node);
  }

  // ---- contents and progress

  contents() {
    this.toc = this.root.querySelector(".fa-toc");
    const list = this.toc?.querySelector("ol");
    if (!list || this.toc.querySelector("details")) return;
    const fold = el("details", { class: "fa-toc-fold" }, [el("summary", { text: "Contents" })]);
    list.replaceWith(fold);
    const tool = (text, act) => {
      const node = el("button", { type: "button", class: "fa-small", text });
      node.addEventListener("click", act);
      return node;
    };
    const tools = el("div", { class: "fa-toc-tools" }, [
      tool("Present", () => this.present()),
      tool("Print the handout", () => this.print(document.getElementById(`${ID}handout`), "is-handout")),
      tool("Print everything", () => this.print(this.root)),
      tool("Forget my answers", () => this.progress.clear()),
    ]);
    fold.append(this.toc.querySelector(".fa-toc-first"), list, tools);
    const narrow = window.matchMedia(NARROW);
    const lay = () => { fold.open = !narrow.matches; };
    narrow.addEventListener("change", lay, { signal: this.abort.signal });
    lay();
    this.root.addEventListener("click", (event) => {
      const link = event.target.closest('a[href^="#"]');
      const card = link && document.getElementById(link.hash.slice(1));
      if (!card || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      if (narrow.matches) fold.open = false;
      this.visit(card);
    });
  }

  /** How many are answered right, and a tick at each rung whose question is. */
  tell() {
    const keys = new Set();
    const entries = [];
    for (const card of this.cards ?? []) {
      const asked = [...card.querySelectorAll("[data-question]")].map((node) => JSON.parse(node.dataset.question).key);
      asked.forEach((key) => keys.add(key));
      this.tick(card.querySelector("h2, .fa-known > h3"), asked);
      const entry = this.linkTo(card);
      if (entry) entries.push([entry, asked]);
      else entries.at(-1)?.[1].push(...asked); // some cards share an entry
    }
    for (const [entry, asked] of entries) this.tick(entry, asked);
    const right = [...keys].filter((key) => this.progress.of(key) === "right").length;
    for (const line of this.root.querySelectorAll("[data-progress]")) {
      set(line, { text: `${right} of ${keys.size} answered right` });
      line.style.setProperty("--fa-share", `${keys.size ? (right / keys.size) * 100 : 0}%`);
    }
  }

  /** Behind a heading or an entry: ✓ if all that is asked there is right, of several how many. */
  tick(place, asked) {
    const right = asked.filter((key) => this.progress.of(key) === "right").length;
    const all = right === asked.length;
    const said = right ? (all ? " ✓" : ` ${right} of ${asked.length}`) : "";
    const mark = place?.querySelector(".fa-tick-mark");
    if (!place || (mark?.firstChild.textContent ?? "") === said) return;
    mark?.remove();
    if (said) place.append(el("span", { class: "fa-tick-mark" }, [el("span", { "aria-hidden": all || null, text: said }), el("span", { class: "fa-sr", text: all ? " answered right" : " right" })]));
  }

  linkTo(card) {
    return card.id && this.toc?.querySelector(`ol a[href$="#${CSS.escape(card.id)}"]`);
  }

  // ---- where the reader is

  visit(card) {
    if (!card) return;
    if (this.slides.on) return this.slides.go(this.cards.indexOf(card), 0);
    this.goal = card;
    this.wake(card);
    card.scrollIntoView();
    card.querySelector("h2")?.focus({ preventScroll: true });
    this.follow(card);
  }

  seen(entries) {
    const now = entries.filter((one) => one.isIntersecting).at(-1)?.target;
    if (now && this.ready && !this.goal && !this.slides.on) this.follow(now);
  }

  /** This card is the one being read: contents and address say so. */
  follow(card) {
    this.current = card;
    for (const link of this.toc?.querySelectorAll("[aria-current]") ?? []) link.removeAttribute("aria-current");
    // Some cards share an entry
    const upTo = this.cards.slice(0, this.cards.indexOf(card) + 1).reverse();
    const link = upTo.map((one) => this.linkTo(one)).find(Boolean);
    if (link) {
      link.setAttribute("aria-current", "location");
      const box = this.toc;
      // In the box, which is sticky
      const at = link.offsetTop;
      if (at < box.scrollTop || at > box.scrollTop + box.clientHeight - 64) box.scrollTop = at - box.clientHeight / 2;
    }
    if (isOnScreen("learn") && card.id.startsWith(ID)) address.write({ rung: card.id.slice(ID.length) });
  }

  present() {
    hall(true);
    address.write({ mode: "present" });
  }

  /** The handout's two pages alone, or everything; the browser's own Print has what was loaded. */
  async print(part, kind) {
    await Promise.all(this.wake(part));
    if (kind) this.root.classList.add(kind);
    window.print();
  }
}

const mounted = new WeakMap();

/** Called once or more often, with the element that holds (or will hold) the page. */
export async function mountLearn({ element, ...how }) {
  provide(how);
  if (!mounted.has(element)) mounted.set(element, new Learn(element));
  const place = element.querySelector(".fa-mount");
  const answer = await reach(new URL(`fa/learn.html?build=${BUILD}`, document.baseURI));
  if (answer.ok) place.innerHTML = await answer.text();
  else place.textContent = "This page could not be loaded: reload it.";
}
