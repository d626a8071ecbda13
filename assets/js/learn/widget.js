// What is live in a card of the Learn page: a widget, which is its controls, the question to the
// server and the blocks it answers with.

import { el, set } from "../lib/dom.js";
import { emit } from "../lib/events.js";
import { buildUrl } from "../lib/build.js";
import { request } from "../lib/server.js";
import { draw } from "./blocks.js";
import { build } from "./controls.js";
import { show } from "./pictures.js";
import { recall, remember } from "./progress.js";
import { Transport } from "../views/transport.js";
import { t } from "./texts.js";

const WAIT_MS = 60;
const BEAT_MS = 700;
const LONG = 69; // characters: so many names are only counted
export const SILENT = t("silent");

/** After blocks came: only what really scrolls is a stop for the keyboard, even by less than a px. */
export function settle(root) {
  for (const box of root.querySelectorAll(".fa-scroll")) {
    const wide = box.scrollWidth > box.clientWidth + 1;
    set(box, {
      tabindex: wide ? "0" : "-1",
      role: wide ? "group" : null,
      "aria-label": wide ? box.dataset.name : null,
    });
    box.onscroll ??= () => edges(box);
    edges(box);
  }
}

/** Where there is more to scroll to, sideways: the style sheet fades that edge. */
function edges(box) {
  const left = box.scrollLeft > 1;
  const right = box.scrollLeft < box.scrollWidth - box.clientWidth - 1;
  box.dataset.more = [left && "left", right && "right"].filter(Boolean).join(" ");
}

/** What a screen reader says of blocks: their sentences, and the words of a picture. */
export const spokenText = (blocks) =>
  blocks
    .filter(({ type, kind }) => type === "picture" || (type === "text" && kind !== "fine"))
    .map(({ words }) => words)
    .join(" ");

/** Of words the sentences that were not among those before, or all: what a reader has heard is not said again. */
export function newSentences(words, before) {
  const parts = (said) => said.split(/(?<=[.;:?!])\s+/);
  const heard = new Set(parts(before));
  return (
    parts(words)
      .filter((part) => !heard.has(part))
      .join(" ") || words
  );
}

/** What the server answers for a widget with these values, [key, value] each: {blocks} or {error}. */
export async function requestBlocks(key, values, signal) {
  return (await request(buildUrl("learn", [["w", key], ...values]), { signal })).json();
}

/** One widget in its place: `<div data-widget="KEY" data-controls="[…]">`. */
export class Widget {
  constructor(mount, state = null, fresh = false) {
    this.key = mount.dataset.widget;
    const lesson = mount.closest(".fa-printed") ? null : mount.closest(".fa-lesson")?.dataset.key;
    this.name = lesson && `picture ${lesson}`; // a lesson's is kept for who comes back
    this.list = JSON.parse(mount.dataset.controls || "[]");
    this.parts = this.list.map((control) => build(control, () => this.changed(control)));
    const part = (key) => this.parts[this.list.findIndex((control) => control.key === key)];
    this.api = {
      value: (key) => part(key)?.read(),
      move: (values) => this.put(values),
      label: mount.getAttribute("aria-label") ?? "",
    };
    this.blocks = el("div", { class: "fa-blocks" });
    this.error = el("p", { class: "fa-widget-error", role: "alert", hidden: true });
    this.said = el("p", { class: "fa-sr", role: "status" });
    const step = this.list.find((control) => control.key === "step" && control.kind === "range");
    if (step) this.steps(step);
    this.reset = el("button", { type: "button", class: "fa-small fa-reset", text: t("reset") });
    this.reset.addEventListener("click", () => this.restart());
    const controls = el(
      "div",
      { class: "fa-widget-controls", role: "group", "aria-label": t("controls") },
      [...this.parts.map((part) => part.root).filter(Boolean), this.reset],
    );
    this.root = el("div", { class: "fa-widget-body" }, [
      this.list.length ? controls : null,
      this.error,
      this.blocks,
      this.said,
    ]);
    mount.replaceChildren(this.root);
    this.close();
    new ResizeObserver((_, observer) =>
      this.root.isConnected ? this.resized() : observer.disconnect(),
    ).observe(this.blocks);
    this.write((this.name && recall(this.name)) || {});
    if (state) this.present(state, fresh, false);
    this.loaded = this.ask(false);
  }

  /** ◀ play ▶ before the control "step", with the Step page's own keys. */
  steps(control) {
    const part = this.parts[this.list.indexOf(control)];
    this.step = { ...control, part };
    const act = (name) =>
      name !== "toggle"
        ? this.move(name === "next" ? 1 : -1)
        : this.transport.timer
          ? this.pause()
          : this.play();
    this.transport = new Transport({ act, beat: () => this.beat() }, BEAT_MS, {
      label: "",
      choices: [],
      hint: "",
    });
    const [, back, , next] = this.transport.buttons.children;
    // The range beside them has the arrow keys for both, and for the number
    for (const [node, words] of [
      [back, t("step.back")],
      [next, t("step.next")],
    ])
      set(node, { "aria-label": words, title: words, tabindex: "-1" });
    set(part.root.querySelector("input[type=number]"), { tabindex: "-1" });
    this.transport.buttons.replaceChildren(back, this.transport.play, next);
    part.root.classList.add("is-step");
    part.root.prepend(this.transport.buttons);
  }

  /** What the question's answer opens: before it, those choices cannot be taken. */
  open() {
    for (const node of this.shut) node.disabled = false;
    this.closed?.remove();
    this.tie(null);
    this.shut = [];
  }

  /** Closes the controls, or the choices, that would give the answer away. */
  close() {
    this.shut = this.list.flatMap(({ closed }, k) => {
      if (!closed) return [];
      const nodes = [...this.parts[k].root.querySelectorAll("input, select, option, button")];
      return closed === true
        ? nodes
        : nodes.filter((node) => node.tagName !== "SELECT" && closed.includes(node.value));
    });
    if (!this.shut.length) return;
    for (const node of this.shut) node.disabled = true;
    const names = this.list.flatMap(({ closed, choices, label }) =>
      closed === true
        ? [label]
        : (choices ?? []).filter(([value]) => closed?.includes(value)).map(([, text]) => text),
    );
    const last = names.at(-1);
    const all = t("closed.all", { names: names.slice(0, -1).join(", "), last });
    const [{ label }] = this.list.filter(({ closed }) => closed);
    const said =
      names.length < 2
        ? t("closed.one", { name: last })
        : all.length > LONG
          ? t("closed.more", { n: names.length, label })
          : all;
    this.closed = el("p", { class: "fa-fine fa-closed", id: "fa-closed", text: said });
    this.tie(this.closed.id);
    this.root.querySelector(".fa-widget-controls").append(this.closed);
  }

  /** What still opens of a control has the line that says why the rest does not. */
  tie(id) {
    const all = this.list.flatMap(({ closed }, k) =>
      closed ? [...this.parts[k].root.querySelectorAll("input, select")] : [],
    );
    for (const node of all) set(node, { "aria-describedby": id });
  }

  /** @param {Record<string, any>} values by key; what is not there is as at first */
  write(values = {}) {
    this.list.forEach(({ key, value }, k) => this.parts[k].write(values[key] ?? value));
  }

  /** Sets controls for a lecture hall, closed ones too, and fresh the others as at first; null gives them back as they were. */
  present(state, fresh = false, asks = true) {
    const read = () =>
      Object.fromEntries(this.list.map(({ key }, k) => [key, this.parts[k].read()]));
    const before = read();
    if (!state && !this.desk) return;
    const values = state ?? this.desk;
    this.desk = state && (this.desk ?? before);
    if (fresh) this.write(values);
    else this.set(values);
    if (asks && JSON.stringify(read()) !== JSON.stringify(before)) this.restarted();
  }

  /** A control that changes nothing of what is shown, as the others stand, is out of sight. */
  isIdle({ serves }) {
    return Boolean(serves) && !serves[1].includes(this.api.value(serves[0]));
  }

  restart() {
    this.write();
    this.restarted();
  }

  restarted() {
    this.pause();
    this.blocks.style.minHeight = "";
    this.ask(true);
  }

  changed(control) {
    if (control.key === "step") this.pause();
    if (!["range", "number"].includes(control.kind)) this.blocks.style.minHeight = "";
    this.root.setAttribute("aria-busy", "true");
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.ask(true), WAIT_MS);
  }

  /** One step on or back; also what ↑ and ↓ do in a lecture hall, there with any first range. */
  move(by, playing = false) {
    if (!playing) this.pause();
    const control = this.step ?? this.list.find(({ kind }) => kind === "range");
    if (!control || this.isIdle(control)) return false;
    const part = control.part ?? this.parts[this.list.indexOf(control)];
    const wanted = Number(part.read()) + by * control.step;
    const value = Number(Math.max(control.low, Math.min(control.high, wanted)).toFixed(6));
    if (by > 0 && control === this.step) this.from ??= Number(part.read());
    part.write(value);
    this.ask(true);
    return value < control.high;
  }

  play() {
    if (this.ended || Number(this.step.part.read()) >= this.step.high)
      this.step.part.write(this.step.low - this.step.step);
    if (this.beat()) this.transport.start();
  }

  beat() {
    return this.root.isConnected && this.move(1, true);
  }

  pause() {
    this.transport?.stop();
  }

  resized() {
    if (this.width === this.blocks.clientWidth) return;
    this.width = this.blocks.clientWidth;
    this.blocks.style.minHeight = "";
    settle(this.blocks);
  }

  /** Asks for the blocks of these values; the last question asked is the one that counts. */
  async ask(aloud) {
    this.root.setAttribute("aria-busy", "true");
    this.waiting = clearTimeout(this.waiting);
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    const values = this.list.map(({ key }, k) => [key, this.parts[k].read()]);
    this.list.forEach(
      (control, k) => this.parts[k].root && (this.parts[k].root.hidden = this.isIdle(control)),
    );
    if (aloud && this.name && !this.desk) remember(this.name, Object.fromEntries(values));
    try {
      const found = await requestBlocks(this.key, values, asking.signal);
      if (asking.signal.aborted) return;
      if (found.blocks && !this.stay(found.blocks)) this.show(found.blocks, aloud);
      this.refuse(found.blocks ? "" : (found.error ?? SILENT));
    } catch (error) {
      if (error.name !== "AbortError") this.refuse(SILENT);
    } finally {
      if (this.asking === asking && !this.waiting) this.root.removeAttribute("aria-busy");
    }
  }

  /** True if a step further on has nothing new to show: then it stays where it was. */
  stay(blocks) {
    const said = JSON.stringify(blocks);
    const same = this.from !== undefined && said === this.last;
    if (same) {
      this.pause();
      this.step.part.write(this.from);
    }
    Object.assign(this, { last: said, from: undefined, ended: same });
    return same;
  }

  /** A picture that is already there takes the new data, even in the middle of a drag. */
  again(block, kept) {
    const at = kept.findIndex(
      (node) => block.type === "picture" && node.dataset.picture === block.name,
    );
    if (at < 0) return null;
    const [root] = kept.splice(at, 1);
    set(root.querySelector("figcaption b"), { text: block.label });
    set(root.querySelector(":scope > .fa-sr"), { text: block.words });
    show(root, block, this.api);
    return root;
  }

  set(values) {
    this.list.forEach(
      (control, k) => control.key in values && this.parts[k].write(values[control.key]),
    );
  }

  /** Sets controls, as a picture does that is dragged: {key: value}. */
  put(values) {
    this.asking?.abort(); // its answer is about a place where the hand no longer is
    this.set(values);
    this.changed(this.list.find(({ key }) => key in values) ?? {});
  }

  /** One sentence above the last good blocks, or none. */
  refuse(sentence) {
    set(this.error, { text: sentence });
    this.error.hidden = !sentence;
    if (sentence) this.pause();
  }

  /** The place never shrinks while a slider moves, and the keyboard stays in the block where it was. */
  show(blocks, aloud) {
    const at = [...this.blocks.children].findIndex((block) =>
      block.contains(document.activeElement),
    );
    const kept = [...this.blocks.querySelectorAll(":scope > [data-picture]")];
    const next = blocks
      .map((block) => this.again(block, kept) ?? draw(block, this.api))
      .filter(Boolean);
    // What stays must not leave the page for a moment: a drag would end.
    for (const node of [...this.blocks.children]) if (!next.includes(node)) node.remove();
    next.forEach(
      (node, k) =>
        node !== this.blocks.children[k] &&
        this.blocks.insertBefore(node, this.blocks.children[k] ?? null),
    );
    this.blocks.style.minHeight = `${this.blocks.offsetHeight}px`;
    settle(this.blocks);
    const block = this.blocks.children[at];
    if (block && !block.contains(document.activeElement))
      block.querySelector("[tabindex='0'], button, a")?.focus({ preventScroll: true });
    const words = spokenText(blocks);
    if (aloud) set(this.said, { text: newSentences(words, this.words ?? "") });
    this.words = words;
    emit("fa:blocks", null, this.root);
  }
}
