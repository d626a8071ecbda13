// What a tile needs on chip against what a thread block of a card may use, in words. Pure.

import { bytes } from "../lib/format.js";
import { t } from "./texts.js";
import { listed } from "./wording.js";

/** @import { OnChip, Sram } from "./types.js" */
/** @type {OnChip[]} */
const PLACES = ["shared memory", "registers"];

/** Of the header's `sram`, for the card of this key and a Problem of n rows: {fits, shares: [tensor, per cent of the
 * wider of need and room] of what is in shared memory, text, title, warning}.
 * @param {Sram} sram @param {string} key @param {number} n
 * @returns {{fits: boolean, shares: [string, number][], text: string, title: string, warning: string}} */
export function onChip({ parts, cards }, key, n) {
  const { name, room, largest } = cards[key];
  const inside = (/** @type {OnChip} */ place) => parts.filter((part) => part[3] === place);
  const needs = (/** @type {OnChip} */ place) =>
    inside(place).reduce((sum, [, , size]) => sum + size, 0);
  const list = (/** @type {OnChip} */ place) =>
    inside(place)
      .map(
        ([tensor, shape, size]) =>
          `${tensor === "l" ? "ℓ" : tensor} ${shape.join("×")} ${bytes(size)}`,
      )
      .join(", ");
  const short = PLACES.filter((place) => needs(place) > room[place]);
  const shared = needs("shared memory");
  const full = Math.max(shared, room["shared memory"]);
  const most = Math.min(largest, n);
  const size = { need: bytes(shared), room: bytes(room["shared memory"]) };
  const lacks = listed(
    short.map((place) =>
      t(place === "registers" ? "chip.lack.registers" : "chip.lack.shared", {
        need: bytes(needs(place)),
        card: name,
        room: bytes(room[place]),
      }),
    ),
  );
  return {
    fits: !short.length,
    shares: inside("shared memory").map(([tensor, , size]) => [tensor, (100 * size) / full]),
    text: t("chip", size),
    title: t("chip.title", {
      ...size,
      shared: list("shared memory"),
      registers: list("registers"),
      need2: bytes(needs("registers")),
      room2: bytes(room.registers),
      card: name,
    }),
    warning: !short.length
      ? ""
      : most
        ? t("chip.lacks", { lacks, most })
        : t("chip.lacks.all", { lacks }),
  };
}
