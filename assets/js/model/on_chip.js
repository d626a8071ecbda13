// What a tile needs on chip against what a thread block of a card may use, in words. Pure.

const kib = (count) => (count < 1024 ? `${count} B` : `${(count / 1024).toFixed(count < 10240 ? 1 : 0)} KiB`);

/** Of the header's `sram`, for the card of this key and a Problem of n rows:
 * {fits, shares: [tensor, per cent of the wider of need and room], text, title, warning}.
 * @param {import("./types.js").Sram} sram @param {string} key @param {number} n */
export function onChip({ parts, total, cards }, key, n) {
  const card = cards[key];
  const fits = total <= card.bytes;
  const full = Math.max(total, card.bytes);
  const list = parts.map(([tensor, shape, bytes]) => `${tensor === "l" ? "ℓ" : tensor} ${shape.join("×")} ${kib(bytes)}`).join(", ");
  const most = Math.min(card.largest, n);
  const advice = most ? `Br = Bc = ${most} would be the largest.` : "no tile would, at this d.";
  return {
    fits,
    shares: parts.map(([tensor, , bytes]) => [tensor, (100 * bytes) / full]),
    text: `${(total / 1024).toFixed(total < 10240 ? 1 : 0)} of ${card.bytes / 1024} KiB`,
    title: `On chip: ${list}; a thread block of the ${card.name} may use ${kib(card.bytes)}.`,
    warning: fits ? "" : `Does not fit: this tile needs ${kib(total)}, a thread block of the ${card.name} has ${kib(card.bytes)}; ${advice}`,
  };
}
