// What moves lies on a layer over a player, and leaves nothing behind: the state below is drawn already. Everything runs on
// the browser's own animations, so that one call ends it and a paused one shows any instant.

import { boxStyle, el, set } from "../../lib/dom.js";

/** @import { Timing } from "../types.js" */
/** @import { Box } from "../types.js" */

export class Layer {
  /** @type {Map<Element, DOMRect>} */
  boxes;
  /** @type {Map<Element, boolean>} */
  visible;
  /** @type {Animation[]} */
  running;
  /** @type {((ms: number) => void)[]} */
  painters;
  /** @type {Animation | null} */
  clock;
  /** @type {number} */
  frameRequest;
  /** Called when the motion is over or was ended. @type {(() => void) | undefined} */
  onStop;
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.node = el("div.fa-motion", { "aria-hidden": "true" });
    this.running = [];
    this.painters = [];
    set(root, { "data-moving": "false" });
  }

  /** Where each of these is and whether it is seen, read before anything is written: a reading after a writing makes the
   * browser lay out the page once more. @param {Element[]} nodes */
  read(nodes) {
    this.boxes = new Map();
    this.visible = new Map();
    for (const node of [this.root, ...nodes]) this.box(node);
    for (const node of nodes) this.isSeen(node);
  }

  /** Within the window, as it was when it was read. @param {Element} node */
  box(node) {
    const box = this.boxes.get(node) ?? node.getBoundingClientRect();
    this.boxes.set(node, box);
    return box;
  }

  /** @param {Element} node */
  isSeen(node) {
    if (!this.visible.has(node))
      this.visible.set(node, node.checkVisibility({ visibilityProperty: true }));
    return this.visible.get(node);
  }

  /** Something moves for `ms` between these nodes; whatever moved before is over. @param {number} ms @param {Element[]} nodes */
  begin(ms, nodes) {
    this.stop();
    this.read(nodes);
    this.root.append(this.node);
    set(this.root, { "data-moving": "true" });
    this.clock = this.animate(this.node, { visibility: ["visible", "visible"] }, { ms });
    this.clock.onfinish = () => this.stop();
  }

  /** A rectangle of the window on this layer. */
  place(/** @type {Box} */ { x, y, width, height }) {
    const root = this.box(this.root);
    return { x: x - root.x, y: y - root.y, width, height };
  }

  /** @template {Element} T @param {T} node */
  add(node) {
    this.node.append(node);
    return node;
  }

  /** Adds an element of this class over a box of the window. @param {DOMRect} box @param {string} name */
  cover(box, name) {
    return this.add(el("div", { class: name, style: boxStyle(this.place(box)) }));
  }

  /** `at`: {start, ms} and what else the browser's own animate takes; before and after it the node is as its style says. @param {Element} node @param {PropertyIndexedKeyframes} keyframes */
  animate(node, keyframes, /** @type {Timing} */ { start = 0, ms, ...more }) {
    const animation = node.animate(keyframes, { delay: start, duration: ms, ...more });
    this.running.push(animation);
    return animation;
  }

  /** Not to be seen meanwhile. @param {Element} node @param {Timing} at */
  hide(node, at) {
    this.animate(node, { opacity: [0, 0] }, at);
  }

  /** `draw(ms)` for every frame from now on, what it shows following from the time alone. @param {(ms: number) => void} draw */
  paint(draw) {
    this.painters.push(draw);
    draw(0);
    if (this.painters.length === 1) this.tick();
  }

  tick() {
    this.frameRequest = requestAnimationFrame(() => {
      for (const draw of this.painters) draw(Number(this.clock?.currentTime ?? 0));
      this.tick();
    });
  }

  stop() {
    if (!this.clock) return;
    cancelAnimationFrame(this.frameRequest);
    this.clock.onfinish = null;
    this.clock = null;
    for (const animation of this.running) animation.cancel();
    [this.running, this.painters] = [[], []];
    this.node.replaceChildren();
    this.node.remove();
    set(this.root, { "data-moving": "false" });
    this.onStop?.();
  }
}
