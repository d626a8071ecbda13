// A bar as long as its bytes, filled by what was read and written of them so far.

import { hueOf } from "../lib/colors.js";
import { el } from "../lib/dom.js";
import { bytes } from "../lib/format.js";

/** @import { Moved } from "../model/types.js" */

/** A bar on its rail. @param {string} look its class @param {number} width per cent of the rail
 * @param {HTMLElement[]} [filled] */
export const track = (look, width, filled) =>
  el("span.fa-rail-track", [
    el(`span.fa-track.${look}`, { style: `width:${width.toFixed(2)}%` }, filled),
  ]);

/** Make a bar as long as its bytes. @param {number} total @param {string} look @param {number} width see track */
export function makeByteTrack(total, look, width) {
  const read = el("i.fa-read");
  const write = el("i.fa-write");
  draw(0, 0);
  const root = track(look, width, [read, write]);

  /** @param {number} reads @param {number} writes bytes so far */
  function draw(reads, writes) {
    read.style.width = `${((100 * reads) / total).toFixed(2)}%`;
    write.style.width = `${((100 * writes) / total).toFixed(2)}%`;
  }

  return { root, read, write, draw };
}

/** A bar as long as its bytes, a part for each tensor, and what was saved. @param {Record<string, Moved>} totals @param {number} most
 * @param {string} saved what stayed on chip, in words, if it is to be drawn */
export function stacked(totals, most, saved) {
  const parts = Object.entries(totals).map(([tensor, [read, written]]) => {
    const share = (100 * (read + written)) / most;
    const name = tensor === "l" ? "ℓ" : tensor;
    const part = {
      class: `fa-hue-${hueOf(tensor)}`,
      style: `width:${share.toFixed(2)}%`,
      title: `${name} ${bytes(read + written)}`,
    };
    return el("i", part, [el("span", name)]);
  });
  const rest = saved && el("em", saved);
  return el("div.fa-result-bar", [...parts, rest]);
}
