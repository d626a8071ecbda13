// A picture of the kit: marks of data (explainer/learn/kit.py), laid out here in the largest type with which all of it has room.

import { all, el, find, onResize } from "../../lib/dom.js";
import { clamp } from "../../lib/format.js";
import { strideOf } from "../../lib/keys.js";
import { roomOf } from "../../lib/svg_canvas.js";
import { drawBars, drawStack, drawTimeline } from "../kit/amounts.js";
import { drawFlow } from "../kit/flow.js";
import { drawGrid, drawWords } from "../kit/grid.js";
import {
  drawCode,
  drawColumn,
  drawFrame,
  drawNote,
  drawRow,
  drawSign,
  drawTable,
} from "../kit/layout.js";
import { focusHandle, move, places } from "../kit/parts.js";
import { drawPlot } from "../kit/plot.js";
import { settle } from "../widget.js";

/** @import { Api } from "../types.js" */
/** @import { Drawer, Kit, Mark } from "../kit/parts.js" */

/** @type {Record<string, Drawer>} */
const DRAWERS = {
  bars: drawBars,
  code: drawCode,
  column: drawColumn,
  flow: drawFlow,
  frame: drawFrame,
  grid: drawGrid,
  note: drawNote,
  plot: drawPlot,
  row: drawRow,
  sign: drawSign,
  stack: drawStack,
  table: drawTable,
  timeline: drawTimeline,
  words: drawWords,
};
const SIZES = [18, 17, 16, 15, 14, 13, 12]; // px of the type, the largest first
const FIXED = 15; // on a phone, which scrolls, and in presentation mode, which enlarges the whole picture

/** @param {{marks: Mark[]}} data @param {Api} api */
export function draw(data, api) {
  const root = el("div", { class: "fa-kit" });
  /** @type {(() => void)[]} */
  let lays = [];
  let size = "";
  /** @type {Kit} */
  const kit = {
    api,
    render(mark) {
      const node = DRAWERS[mark.mark](mark, kit);
      if (mark.key) node.dataset.key = mark.key;
      if (mark.aside) node.classList.add("is-aside");
      return node;
    },
    later: (lay) => lays.push(lay),
  };
  const lay = () => {
    size = `${root.clientWidth} ${Math.round(roomOf(root))}`;
    fit(root);
    for (const one of lays) one();
    settle(root);
  };
  const update = (/** @type {{marks: Mark[]}} */ { marks }) => {
    const before = places(root);
    const focused = find(root, "[data-handle]:focus")?.dataset.handle;
    lays = [];
    root.replaceChildren(...marks.map(kit.render));
    if (root.isConnected) {
      lay();
      move(root, before);
    }
    focusHandle(root, focused);
  };
  root.addEventListener("keydown", (event) => {
    const node = event.target instanceof Element && event.target.closest("[data-group]");
    const by = strideOf(event);
    if (!node || !by) return;
    event.preventDefault();
    event.stopPropagation(); // in presentation mode the arrows turn the slide
    const group = all(root, `[data-group="${/** @type {HTMLElement} */ (node).dataset.group}"]`);
    const at = group.indexOf(/** @type {HTMLElement} */ (node)) + (by[0] || -by[1]);
    group[clamp(at, 0, group.length - 1)].focus();
  });
  update(data);
  onResize(root, root, () => `${root.clientWidth} ${Math.round(roomOf(root))}` !== size && lay());
  return Object.assign(root, { update, refit: lay });
}

/** Sets the type: the largest with which the picture needs no more than its room. @param {HTMLElement} root */
function fit(root) {
  const write = (/** @type {number} */ size) => (root.style.fontSize = `${size}px`);
  if (root.closest(".fa-present, .fa-printed") || !window.matchMedia("(min-width: 961px)").matches)
    return write(FIXED);
  const room = roomOf(root);
  const isWide = (/** @type {Element} */ node) => node.scrollWidth > node.clientWidth + 1;
  for (const size of SIZES) {
    write(size);
    if (
      root.scrollHeight <= room &&
      ![root, ...all(root, ".fa-scroll, .fa-kit-words thead :is(button, span), [data-node]")].some(
        isWide,
      )
    )
      return;
  }
}
