// A picture of the kit: the HTML of its marks (explainer/views/learn_kit.py), in the largest type with which all of it has
// room. What is measured is drawn here.

import { viridis } from "../../lib/colors.js";
import { all, around, el, find, giveFocus, onResize } from "../../lib/dom.js";
import { clamp } from "../../lib/format.js";
import { strideOf } from "../../lib/keys.js";
import { roomOf } from "../../lib/svg_canvas.js";
import { layArcs, layArrows } from "../kit/lines.js";
import { move, places } from "../kit/parts.js";
import { layPlot } from "../kit/plot.js";
import { settle } from "../widget.js";

/** @import { Api } from "../types.js" */

const SIZES = [18, 17, 16, 15, 14, 13, 12]; // px of the type, the largest first
const FIXED = 15; // on a phone, which scrolls, and in presentation mode, which enlarges the whole picture

/** @param {{html: string}} data @param {Api} api */
export function draw(data, api) {
  const root = el("div.fa-kit");
  let size = "";
  const sizeNow = () => `${root.clientWidth} ${Math.round(roomOf(root))}`;
  const lay = () => {
    size = sizeNow();
    fit(root);
    all(root, "[data-plot]").forEach(layPlot);
    all(root, "[data-arrows]").forEach(layArrows);
    all(root, "[data-arcs]").forEach(layArcs);
    all(root, ".fa-kit-lanes").forEach(layLanes);
    settle(root);
  };
  const update = (/** @type {{html: string}} */ { html }) => {
    const before = places(root);
    const focused = find(root, "[data-handle]:focus")?.dataset.handle;
    root.innerHTML = html; // our own server's
    for (const cell of all(root, "[data-heat]")) {
      const at = Number(cell.dataset.heat);
      cell.style.cssText = `background:${viridis.css[at]};color:${viridis.dark[at] ? "#fff" : "#000"}`;
    }
    if (root.isConnected) {
      lay();
      move(root, before);
    }
    if (focused) giveFocus(find(root, `[data-handle="${focused}"]`));
  };
  // A button sets its control; in a row whose name is one, all of it
  root.addEventListener("click", (event) => {
    const row = around(event, "tbody tr");
    const chosen = around(event, "[data-handle]") ?? (row && find(row, "th > [data-handle]"));
    const [pick, k] = chosen?.dataset.handle?.split(" ") ?? [];
    if (pick) api.move({ [pick]: Number(k) });
  });
  root.addEventListener("keydown", (event) => {
    const node = around(event, "[data-group]");
    const by = strideOf(event);
    if (!node || !by) return;
    event.preventDefault();
    event.stopPropagation(); // in presentation mode the arrows turn the slide
    const group = all(root, `[data-group="${node.dataset.group}"]`);
    group[clamp(group.indexOf(node) + (by[0] || -by[1]), 0, group.length - 1)].focus();
  });
  update(data);
  onResize(root, root, () => sizeNow() !== size && lay());
  return Object.assign(root, { update, refit: lay });
}

/** Hides the ticks and the words of a timeline that have no room. @param {HTMLElement} box */
function layLanes(box) {
  let edge = -Infinity;
  for (const tick of all(box, ".fa-kit-axis span")) {
    const { left, right } = tick.getBoundingClientRect();
    tick.classList.toggle("is-cut", left < edge);
    if (left >= edge) edge = right + 6;
  }
  for (const node of all(box, "li:not(.is-dot)"))
    node.classList.toggle("is-tight", node.scrollWidth > node.clientWidth);
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
