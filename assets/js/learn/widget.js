// A widget of the Learn page: its controls, the request to the server and the blocks that it answers with.

import { buildUrl } from "../lib/build.js";
import { all, find, get, giveFocus, onResize, set, setText } from "../lib/dom.js";
import { emit } from "../lib/events.js";
import { clamp } from "../lib/format.js";
import { request } from "../lib/server.js";
import { makeTransport } from "../views/transport.js";
import { draw } from "./blocks.js";
import { viewControl } from "./controls.js";
import { show } from "./pictures.js";
import { recall, remember } from "./progress.js";
import { t } from "./texts.js";

/** @import { Answer, Api, Block, Control, Values } from "./types.js" */

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
export const spokenText = (blocks) => blocks.flatMap(({ words }) => words || []).join(" ");

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

/** Make a widget in its place, which explainer/views/templates/learn/widget.html writes.
 * @param {HTMLElement} mount @param {Values | null} [lecture] its values @param {boolean} [fresh] the other controls are as at first */
export function makeWidget(mount, lecture = null, fresh = false) {
  const lesson = mount.closest(".fa-printed")
    ? null
    : /** @type {HTMLElement | null} */ (mount.closest(".fa-lesson"))?.dataset.key;
  const name = lesson ? `picture ${lesson}` : ""; // a lesson's values are stored for a reader who comes back
  /** @type {Control[]} */
  const list = JSON.parse(mount.dataset.controls || "[]");
  const controls = list.map((control) => {
    const place = find(mount, `[data-control="${control.key}"]`);
    return { ...control, ...viewControl(place, control, () => changed(control)) };
  });
  /** @type {Api} */
  const api = {
    value: (key) => controls.find((control) => control.key === key)?.read(),
    move: put,
    label: mount.getAttribute("aria-label") ?? "",
  };
  /** The reader's values while a lecture has others. @type {Record<string, string> | null} */
  let desk = null;
  const root = get(mount, ".fa-widget-body");
  const blocks = get(mount, ".fa-blocks");
  const error = get(mount, ".fa-widget-error");
  const live = get(mount, "[role=status]");
  let words = "";
  let width = 0; // of the blocks' place
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  /** @type {AbortController | undefined} */
  let asking;
  const step = controls.find(({ key, kind, root }) => key === "step" && kind === "range" && root);
  const transport = step && addTransport(/** @type {HTMLElement} */ (step.root));
  find(mount, ".fa-reset")?.addEventListener("click", restart);
  onResize(blocks, root, resized);
  write((name && recall(name)) || {});
  if (lecture) present(lecture, fresh, false);
  const loaded = ask(false);

  /** Puts ◀ play ▶ before the control "step", with the Step page's own keys. @param {HTMLElement} place */
  function addTransport(place) {
    const act = (/** @type {string} */ action) =>
      action !== "toggle" ? move(action === "next" ? 1 : -1) : togglePlay();
    const made = makeTransport({ act, beat, go() {} }, BEAT_MS);
    const { buttons, play } = made;
    const [, back, , next] = buttons.children;
    // The range beside them has the arrow keys for both, and for the number
    set(back, { "aria-label": t("step.back"), title: t("step.back"), tabindex: "-1" });
    set(next, { "aria-label": t("step.next"), title: t("step.next"), tabindex: "-1" });
    set(get(place, "input[type=number]"), { tabindex: "-1" });
    buttons.replaceChildren(back, play, next);
    place.classList.add("is-step");
    place.prepend(buttons);
    return made;
  }

  function togglePlay() {
    if (transport?.timer) pause();
    else play();
  }

  /** Opens what the question's answer opens: before it, those choices cannot be taken. */
  function open() {
    for (const node of all(root, "[data-closed]")) node.removeAttribute("disabled");
    for (const node of all(root, "[aria-describedby=fa-closed]"))
      node.removeAttribute("aria-describedby");
    find(root, ".fa-closed")?.remove();
  }

  /** The values of the controls now. @returns {Record<string, string>} */
  function read() {
    return Object.fromEntries(controls.map((control) => [control.key, control.read()]));
  }

  /** @param {Values} values by key; what is not there is as at first */
  function write(values = {}) {
    for (const control of controls) control.write(values[control.key] ?? control.value);
  }

  /** @param {Values} values of some of the controls */
  function change(values) {
    for (const { key, write } of controls) if (key in values) write(values[key]);
  }

  /** Sets controls in presentation mode, closed ones too, and if fresh the others as at first; null gives them back as they were.
   * @param {Values | null} state @param {boolean} isFresh @param {boolean} asks whether the server is asked at once */
  function present(state, isFresh = false, asks = true) {
    const before = read();
    const values = state ?? desk;
    if (!values) return;
    desk = state && (desk ?? before);
    (isFresh ? write : change)(values);
    if (asks && JSON.stringify(read()) !== JSON.stringify(before)) restarted();
  }

  /** A control that changes nothing of what is shown, as the others stand, is out of sight. @param {Control} control */
  function isIdle({ serves }) {
    return Boolean(serves && !serves[1].includes(api.value(serves[0]) ?? ""));
  }

  function restart() {
    write();
    restarted();
  }

  function restarted() {
    pause();
    blocks.style.minHeight = "";
    ask(true);
  }

  /** @param {Control} [control] */
  function changed(control) {
    if (control?.key === "step") pause();
    if (control?.kind !== "range") blocks.style.minHeight = "";
    root.setAttribute("aria-busy", "true");
    clearTimeout(waiting);
    waiting = setTimeout(() => ask(true), WAIT_MS);
  }

  /** Moves one step on or back; also what ↑ and ↓ do in presentation mode, there with any first range. Returns true if there
   * is more to come. @param {number} by @param {boolean} isPlaying */
  function move(by, isPlaying = false) {
    if (!isPlaying) pause();
    const control = step ?? controls.find(({ kind }) => kind === "range");
    if (!control || isIdle(control)) return false;
    const wanted = Number(control.read()) + by * control.step;
    const value = Number(clamp(wanted, control.low, control.high).toFixed(6));
    control.write(value);
    ask(true);
    return value < control.high;
  }

  function play() {
    if (!step) return;
    if (Number(step.read()) >= step.high) step.write(step.low - step.step);
    if (beat()) transport?.start();
  }

  function beat() {
    return root.isConnected && move(1, true);
  }

  function pause() {
    transport?.stop();
  }

  function resized() {
    if (width === blocks.clientWidth) return;
    width = blocks.clientWidth;
    blocks.style.minHeight = "";
    settle(blocks);
  }

  /** Asks for the blocks of these values; the last question asked is the one that counts. @param {boolean} aloud */
  async function ask(aloud) {
    root.setAttribute("aria-busy", "true");
    clearTimeout(waiting);
    waiting = undefined;
    asking?.abort();
    const now = (asking = new AbortController());
    const values = read();
    for (const control of controls) if (control.root) control.root.hidden = isIdle(control);
    if (aloud && name && !desk) remember(name, values);
    try {
      const key = mount.dataset.widget ?? "";
      const found = await requestBlocks(key, Object.entries(values), now.signal);
      if (now.signal.aborted) return;
      if (found.blocks) showBlocks(found.blocks, aloud);
      refuse(found.blocks ? "" : (found.error ?? SILENT));
    } catch (error) {
      if (/** @type {Error} */ (error).name !== "AbortError") refuse(SILENT);
    } finally {
      if (asking === now && !waiting) root.removeAttribute("aria-busy");
    }
  }

  /** Sets controls, as a picture does that is dragged. @param {Values} values */
  function put(values) {
    asking?.abort(); // its answer is about a place where the hand no longer is
    change(values);
    changed(controls.find(({ key }) => key in values));
  }

  /** Shows one sentence above the last good blocks, or none. @param {string} sentence */
  function refuse(sentence) {
    setText(error, sentence);
    error.hidden = !sentence;
    if (sentence) pause();
  }

  /** Shows blocks. The place never shrinks while a slider moves, and the keyboard stays in the block where it was. A picture
   * that is already there takes the new data, even in the middle of a drag. @param {Block[]} found @param {boolean} aloud */
  function showBlocks(found, aloud) {
    const at = [...blocks.children].findIndex((block) => block.contains(document.activeElement));
    const pictures = all(blocks, ":scope > [data-picture]");
    const nodes = found.flatMap((block) => {
      const k =
        block.type === "picture"
          ? pictures.findIndex((node) => node.dataset.picture === block.name)
          : -1;
      if (block.type !== "picture" || k < 0) return draw(block, api);
      const [figure] = pictures.splice(k, 1);
      setText(get(figure, "figcaption b"), block.label);
      setText(get(figure, ":scope > .fa-sr"), block.words);
      show(figure, block, api);
      return figure;
    });
    // What stays must not leave the page for a moment: a drag would end.
    for (const node of all(blocks, ":scope > *")) if (!nodes.includes(node)) node.remove();
    nodes.forEach((node, k) => {
      const there = blocks.children[k] ?? null;
      if (node !== there) blocks.insertBefore(node, there);
    });
    blocks.style.minHeight = getComputedStyle(blocks).height; // to the fraction of a pixel
    settle(blocks);
    const block = blocks.children[at];
    if (block && !block.contains(document.activeElement))
      giveFocus(find(block, "[tabindex='0'], button, a"));
    const text = spokenText(found);
    if (aloud) setText(live, newSentences(text, words));
    words = text;
    emit("fa:blocks", null, root);
  }

  return { loaded, open, present, move, togglePlay, step };
}
