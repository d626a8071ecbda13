// A widget of the Learn page: its controls, the request to the server and the blocks that it answers with.

import { buildUrl } from "../lib/build.js";
import { all, find, get, onResize, set } from "../lib/dom.js";
import { emit } from "../lib/events.js";
import { clamp } from "../lib/format.js";
import { request } from "../lib/server.js";
import { Transport } from "../views/transport.js";
import { draw } from "./blocks.js";
import { viewControl } from "./controls.js";
import { show } from "./pictures.js";
import { recall, remember } from "./progress.js";
import { t } from "./texts.js";

/** @import { Answer, Api, Block, Control, ControlView, Values } from "./types.js" */

const WAIT_MS = 60;
const BEAT_MS = 700;
export const SILENT = t("silent");

/** After blocks came: only what really scrolls is a stop for the keyboard, even by less than a px. @param {ParentNode} root */
export function settle(root) {
  for (const box of all(root, ".fa-scroll")) {
    const isWide = box.scrollWidth > box.clientWidth + 1;
    set(box, {
      tabindex: isWide ? "0" : "-1",
      role: isWide ? "group" : null,
      "aria-label": isWide ? (box.dataset.name ?? "") : null,
    });
    box.onscroll ??= () => markEdges(box);
    markEdges(box);
  }
}

/** Says where there is more to scroll to, sideways: the style sheet fades that edge. @param {HTMLElement} box */
function markEdges(box) {
  const left = box.scrollLeft > 1;
  const right = box.scrollLeft < box.scrollWidth - box.clientWidth - 1;
  box.dataset.more = [left && "left", right && "right"].filter(Boolean).join(" ");
}

/** What a screen reader says of blocks: their sentences, and the words of a picture. @param {Block[]} blocks */
export const spokenText = (blocks) =>
  blocks.flatMap((block) => ("words" in block ? block.words || [] : [])).join(" ");

/** The sentences of a text that were not in the one before, or all: what a reader has heard is not repeated.
 * @param {string} text @param {string} before */
export function newSentences(text, before) {
  const split = (/** @type {string} */ words) => words.split(/(?<=[.;:?!])\s+/);
  const heard = new Set(split(before));
  return (
    split(text)
      .filter((part) => !heard.has(part))
      .join(" ") || text
  );
}

/** What the server answers for a widget with these values, [key, value] each.
 * @param {string} key @param {[string, string][]} values @param {AbortSignal} [signal] @returns {Promise<Answer>} */
export async function requestBlocks(key, values, signal) {
  return (await request(buildUrl("learn", [["w", key], ...values]), { signal })).json();
}

/** One widget in its place, which explainer/views/templates/learn/widget.html writes. */
export class Widget {
  /** @param {HTMLElement} mount @param {Values | null} [state] of a lecture @param {boolean} [isFresh] the other controls are as at first */
  constructor(mount, state = null, isFresh = false) {
    this.key = mount.dataset.widget ?? "";
    const lesson = mount.closest(".fa-printed")
      ? null
      : /** @type {HTMLElement | null} */ (mount.closest(".fa-lesson"))?.dataset.key;
    this.name = lesson ? `picture ${lesson}` : ""; // a lesson's values are stored for a reader who comes back
    /** @type {Control[]} */
    this.list = JSON.parse(mount.dataset.controls || "[]");
    /** @type {Map<string, ControlView>} */
    this.views = new Map(
      this.list.map((control) => {
        const root = find(mount, `[data-control="${control.key}"]`);
        return [control.key, viewControl(root, control, () => this.changed(control))];
      }),
    );
    /** @type {Api} */
    this.api = {
      value: (key) => this.views.get(key)?.read(),
      move: (values) => this.put(values),
      label: mount.getAttribute("aria-label") ?? "",
    };
    /** The reader's values while a lecture has others. @type {Record<string, string> | null} */
    this.desk = null;
    this.root = get(mount, ".fa-widget-body");
    this.blocks = get(mount, ".fa-blocks");
    this.error = get(mount, ".fa-widget-error");
    this.live = get(mount, "[role=status]");
    this.words = "";
    this.width = 0; // of the blocks' place
    const step = this.list.find(({ key, kind }) => key === "step" && kind === "range");
    if (step) this.addTransport(step);
    find(mount, ".fa-reset")?.addEventListener("click", () => this.restart());
    onResize(this.blocks, this.root, () => this.resized());
    this.write((this.name && recall(this.name)) || {});
    if (state) this.present(state, isFresh, false);
    this.loaded = this.ask(false);
  }

  /** The view of a control. @param {Control} control */
  viewOf({ key }) {
    return /** @type {ControlView} */ (this.views.get(key));
  }

  /** Puts ◀ play ▶ before the control "step", with the Step page's own keys. @param {Control} control */
  addTransport(control) {
    const { root } = this.viewOf(control);
    if (!root) return;
    this.step = control;
    const act = (/** @type {string} */ name) =>
      name !== "toggle" ? this.move(name === "next" ? 1 : -1) : this.togglePlay();
    const player = { act, beat: () => this.beat(), go() {} };
    this.transport = new Transport(player, BEAT_MS, { label: "", choices: [], hint: "" });
    const { buttons, play } = this.transport;
    const [, back, , next] = buttons.children;
    // The range beside them has the arrow keys for both, and for the number
    set(back, { "aria-label": t("step.back"), title: t("step.back"), tabindex: "-1" });
    set(next, { "aria-label": t("step.next"), title: t("step.next"), tabindex: "-1" });
    set(get(root, "input[type=number]"), { tabindex: "-1" });
    buttons.replaceChildren(back, play, next);
    root.classList.add("is-step");
    root.prepend(buttons);
  }

  togglePlay() {
    if (this.transport?.timer) this.pause();
    else this.play();
  }

  /** Opens what the question's answer opens: before it, those choices cannot be taken. */
  open() {
    for (const node of all(this.root, "[data-closed]")) node.removeAttribute("disabled");
    for (const node of all(this.root, "[aria-describedby=fa-closed]"))
      node.removeAttribute("aria-describedby");
    find(this.root, ".fa-closed")?.remove();
  }

  /** The values of the controls now. @returns {Record<string, string>} */
  read() {
    return Object.fromEntries([...this.views].map(([key, view]) => [key, view.read()]));
  }

  /** @param {Values} values by key; what is not there is as at first */
  write(values = {}) {
    for (const { key, value } of this.list) this.views.get(key)?.write(values[key] ?? value);
  }

  /** @param {Values} values of some of the controls */
  set(values) {
    for (const [key, view] of this.views) if (key in values) view.write(values[key]);
  }

  /** Sets controls in presentation mode, closed ones too, and if fresh the others as at first; null gives them back as they were.
   * @param {Values | null} state @param {boolean} isFresh @param {boolean} asks whether the server is asked at once */
  present(state, isFresh = false, asks = true) {
    const before = this.read();
    const values = state ?? this.desk;
    if (!values) return;
    this.desk = state && (this.desk ?? before);
    if (isFresh) this.write(values);
    else this.set(values);
    if (asks && JSON.stringify(this.read()) !== JSON.stringify(before)) this.restarted();
  }

  /** A control that changes nothing of what is shown, as the others stand, is out of sight. @param {Control} control */
  isIdle({ serves }) {
    return Boolean(serves && !serves[1].includes(this.api.value(serves[0]) ?? ""));
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

  /** @param {Control} [control] */
  changed(control) {
    if (control?.key === "step") this.pause();
    if (!control || control.kind !== "range") this.blocks.style.minHeight = "";
    this.root.setAttribute("aria-busy", "true");
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.ask(true), WAIT_MS);
  }

  /** Moves one step on or back; also what ↑ and ↓ do in presentation mode, there with any first range. Returns true if there
   * is more to come. @param {number} by @param {boolean} isPlaying */
  move(by, isPlaying = false) {
    if (!isPlaying) this.pause();
    const control = this.step ?? this.list.find(({ kind }) => kind === "range");
    if (!control || this.isIdle(control)) return false;
    const view = this.viewOf(control);
    const wanted = Number(view.read()) + by * control.step;
    const value = Number(clamp(wanted, control.low, control.high).toFixed(6));
    view.write(value);
    this.ask(true);
    return value < control.high;
  }

  play() {
    const { step } = this;
    if (!step) return;
    const view = this.viewOf(step);
    if (Number(view.read()) >= step.high) view.write(step.low - step.step);
    if (this.beat()) this.transport?.start();
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

  /** Asks for the blocks of these values; the last question asked is the one that counts. @param {boolean} aloud */
  async ask(aloud) {
    this.root.setAttribute("aria-busy", "true");
    clearTimeout(this.waiting);
    this.waiting = undefined;
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    const values = this.read();
    for (const control of this.list) {
      const { root } = this.viewOf(control);
      if (root) root.hidden = this.isIdle(control);
    }
    if (aloud && this.name && !this.desk) remember(this.name, values);
    try {
      const found = await requestBlocks(this.key, Object.entries(values), asking.signal);
      if (asking.signal.aborted) return;
      if (found.blocks) this.show(found.blocks, aloud);
      this.refuse(found.blocks ? "" : (found.error ?? SILENT));
    } catch (error) {
      if (/** @type {Error} */ (error).name !== "AbortError") this.refuse(SILENT);
    } finally {
      if (this.asking === asking && !this.waiting) this.root.removeAttribute("aria-busy");
    }
  }

  /** Sets controls, as a picture does that is dragged. @param {Values} values */
  put(values) {
    this.asking?.abort(); // its answer is about a place where the hand no longer is
    this.set(values);
    this.changed(this.list.find(({ key }) => key in values));
  }

  /** Shows one sentence above the last good blocks, or none. @param {string} sentence */
  refuse(sentence) {
    set(this.error, { text: sentence });
    this.error.hidden = !sentence;
    if (sentence) this.pause();
  }

  /** Shows blocks. The place never shrinks while a slider moves, and the keyboard stays in the block where it was. A picture
   * that is already there takes the new data, even in the middle of a drag. @param {Block[]} blocks @param {boolean} aloud */
  show(blocks, aloud) {
    const at = [...this.blocks.children].findIndex((block) =>
      block.contains(document.activeElement),
    );
    const pictures = all(this.blocks, ":scope > [data-picture]");
    const nodes = blocks.flatMap((block) => {
      const k =
        block.type === "picture"
          ? pictures.findIndex((node) => node.dataset.picture === block.name)
          : -1;
      if (block.type !== "picture" || k < 0) return draw(block, this.api);
      const [root] = pictures.splice(k, 1);
      set(get(root, "figcaption b"), { text: block.label });
      set(get(root, ":scope > .fa-sr"), { text: block.words });
      show(root, block, this.api);
      return root;
    });
    // What stays must not leave the page for a moment: a drag would end.
    for (const node of all(this.blocks, ":scope > *")) if (!nodes.includes(node)) node.remove();
    nodes.forEach((node, k) => {
      const there = this.blocks.children[k] ?? null;
      if (node !== there) this.blocks.insertBefore(node, there);
    });
    this.blocks.style.minHeight = getComputedStyle(this.blocks).height; // to the fraction of a pixel
    settle(this.blocks);
    const block = this.blocks.children[at];
    if (block && !block.contains(document.activeElement))
      find(block, "[tabindex='0'], button, a")?.focus({ preventScroll: true });
    const words = spokenText(blocks);
    if (aloud) set(this.live, { text: newSentences(words, this.words) });
    this.words = words;
    emit("fa:blocks", null, this.root);
  }
}
