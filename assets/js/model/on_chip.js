// What a tile needs on chip against what a thread block of a card may use, in words. Pure.

import { bytes } from "../lib/format.js";

/** Of the header's `sram`, for the card of this key and a Problem of n rows:
 * {fits, shares: [tensor, per cent of the wider of need and room], text, title, warning}.
 * @param {import("./types.js").Sram} sram @param {string} key @param {number} n */
export function onChip({ parts, total, cards }, key, n) {
  const card = cards[key];
  const fits = total <= card.bytes;
  const full = Math.max(total, card.bytes);
  const list = parts.map(([tensor, shape, size]) => `${tensor === "l" ? "ℓ" : tensor} ${shape.join("×")} ${bytes(size)}`).join(", ");
  const most = Math.min(card.largest, n);
  const advice = most ? `Br = Bc = ${most} would be the largest.` : "no tile would, at this d.";
  return {
    fits,
    shares: parts.map(([tensor, , size]) => [tensor, (100 * size) / full]),
    text: `${bytes(total)} of ${bytes(card.bytes)}`,
    title: `On chip: ${list}; a thread block of the ${card.name} may use ${bytes(card.bytes)}.`,
    warning: fits ? "" : `Does not fit: this tile needs ${bytes(total)}, a thread block of the ${card.name} has ${bytes(card.bytes)}; ${advice}`,
  };
}
