// What moves lies on a layer over a player, and leaves nothing behind: the state below is drawn already. Everything runs on
// the browser's own animations, so that one call ends it and a paused one shows any instant.

import { boxStyle, el, set } from "../../lib/dom.js";

/** @import { Timing } from "../types.js" */
/** @import { Box } from "../types.js" */

/** Make the layer over a player.
 * @param {HTMLElement} root @param {() => void} onStop called when the motion is over or was ended */
export function makeLayer(root, onStop) {
  /** @type {Map<Element, DOMRect>} */
  let boxes;
  /** @type {Map<Element, boolean>} */
  let visible;
  /** @type {Animation[]} */
  let running = [];
  /** @type {((ms: number) => void)[]} */
  let painters = [];
  /** @type {Animation | null} */
  let clock;
  /** @type {number} */
  let frameRequest;

  const node = el("div.fa-motion", { "aria-hidden": "true" });
  set(root, { "data-moving": "false" });

  /** Where each of these is and whether it is seen, read before anything is written: a reading after a writing makes the
   * browser lay out the page once more. @param {Element[]} nodes */
  function read(nodes) {
    boxes = new Map();
    visible = new Map();
    for (const node of [root, ...nodes]) box(node);
    for (const node of nodes) isSeen(node);
  }

  /** Within the window, as it was when it was read. @param {Element} node */
  function box(node) {
    const box = boxes.get(node) ?? node.getBoundingClientRect();
    boxes.set(node, box);
    return box;
  }

  /** @param {Element} node */
  function isSeen(node) {
    if (!visible.has(node)) visible.set(node, node.checkVisibility({ visibilityProperty: true }));
    return visible.get(node);
  }

  /** Something moves for `ms` between these nodes; whatever moved before is over. @param {number} ms @param {Element[]} nodes */
  function begin(ms, nodes) {
    stop();
    read(nodes);
    root.append(node);
    set(root, { "data-moving": "true" });
    clock = animate(node, { visibility: ["visible", "visible"] }, { ms });
    clock.onfinish = stop;
  }

  /** A rectangle of the window on this layer. */
  function place(/** @type {Box} */ { x, y, width, height }) {
    const own = box(root);
    return { x: x - own.x, y: y - own.y, width, height };
  }

  /** @template {Element} T @param {T} child */
  function add(child) {
    node.append(child);
    return child;
  }

  /** Adds an element of this class over a box of the window. @param {DOMRect} box @param {string} name */
  function cover(box, name) {
    return add(el("div", { class: name, style: boxStyle(place(box)) }));
  }

  /** `at`: {start, ms} and what else the browser's own animate takes; before and after it the node is as its style says. @param {Element} node @param {PropertyIndexedKeyframes} keyframes */
  function animate(node, keyframes, /** @type {Timing} */ { start = 0, ms, ...more }) {
    const animation = node.animate(keyframes, { delay: start, duration: ms, ...more });
    running.push(animation);
    return animation;
  }

  /** Not to be seen meanwhile. @param {Element} node @param {Timing} at */
  function hide(node, at) {
    animate(node, { opacity: [0, 0] }, at);
  }

  /** `draw(ms)` for every frame from now on, what it shows following from the time alone. @param {(ms: number) => void} draw */
  function paint(draw) {
    painters.push(draw);
    draw(0);
    if (painters.length === 1) tick();
  }

  function tick() {
    frameRequest = requestAnimationFrame(() => {
      paintAt(Number(clock?.currentTime ?? 0));
      tick();
    });
  }

  /** Show what is painted at this instant. @param {number} ms */
  function paintAt(ms) {
    for (const draw of painters) draw(ms);
  }

  function stop() {
    if (!clock) return;
    cancelAnimationFrame(frameRequest);
    clock.onfinish = null;
    clock = null;
    for (const animation of running) animation.cancel();
    [running, painters] = [[], []];
    node.replaceChildren();
    node.remove();
    set(root, { "data-moving": "false" });
    onStop();
  }

  return { node, read, box, isSeen, begin, place, add, cover, animate, hide, paint, paintAt, stop };
}
