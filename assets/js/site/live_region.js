// What is said to those who listen: one sentence at a time, in a place that is there from the start.

import { findVisible } from "../lib/dom.js";

/** @param {string | null | undefined} text */
export function announce(text) {
  const place = document.querySelector(".fa-live");
  if (place && text) place.textContent = text;
}

/** The sentence that stands first in this part of the page, once its answer is there. @param {string} place */
export const announceFirst = (place) => announce(findVisible(document, `${place} p`)?.textContent);
