// What a tile needs on chip against what a thread block of a card may use, in words. Pure.

import { bytes } from "../lib/format.js";
import { sum } from "../lib/lists.js";
import { t } from "./texts.js";
import { listed } from "./wording.js";

/** @import { OnChip, Sram } from "./types.js" */
/** @type {OnChip[]} */
const PLACES = ["shared memory", "registers"];

/** What the header's `sram` lacks on the card of this key, and the largest tile that would fit a Problem of n rows; ""
 * where it fits. @param {Sram} sram @param {string} key @param {number} n */
export function lacking({ parts, cards }, key, n) {
  const { name, room, largest } = cards[key];
  const needs = (/** @type {OnChip} */ place) =>
    sum(parts.filter((part) => part[3] === place).map(([, , size]) => size));
  const short = PLACES.filter((place) => needs(place) > room[place]);
  const lacks = listed(
    short.map((place) =>
      t(place === "registers" ? "chip.lack.registers" : "chip.lack.shared", {
        need: bytes(needs(place)),
        card: name,
        room: bytes(room[place]),
      }),
    ),
  );
  if (!short.length) return "";
  const most = Math.min(largest, n);
  return most ? t("chip.lacks", { lacks, most }) : t("chip.lacks.all", { lacks });
}
