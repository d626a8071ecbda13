// A bar as long as its bytes, filled by what was read and written of them so far.

import { hueOf } from "../lib/colors.js";
import { el } from "../lib/dom.js";
import { bytes } from "../lib/format.js";
import { t } from "../model/texts.js";

/** @import { Moved } from "../model/types.js" */

/** A bar on its rail. @param {string} look its class @param {number} width per cent of the rail
 * @param {HTMLElement[]} [filled] */
export const track = (look, width, filled) =>
  el("span.fa-rail-track", [
    el(`span.fa-track.${look}`, { style: `width:${width.toFixed(2)}%` }, filled),
  ]);

export class ByteTrack {
  /** @param {number} total @param {string} look @param {number} width see track */
  constructor(total, look, width) {
    this.total = total;
    this.read = el("i.fa-read");
    this.write = el("i.fa-write");
    this.draw(0, 0);
    this.root = track(look, width, [this.read, this.write]);
  }

  /** @param {number} read @param {number} written bytes so far */
  draw(read, written) {
    this.read.style.width = `${((100 * read) / this.total).toFixed(2)}%`;
    this.write.style.width = `${((100 * written) / this.total).toFixed(2)}%`;
  }
}

/** A bar as long as its bytes, a part for each tensor, and what was saved. @param {Record<string, Moved>} totals @param {number} most
 * @param {boolean} saves */
export function stacked(totals, most, saves) {
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
  const rest = saves && el("em", t("end.on_chip"));
  return el("div.fa-result-bar", [...parts, rest]);
}
