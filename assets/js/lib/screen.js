// What kind of window this is. A narrow one shows one place at a time; a slide or a course page embeds the picture alone.

import { clamp } from "./format.js";

const NARROW = { page: 960, embedded: 560 }; // px, the widest that is narrow: the largest phone on its side, as in the style sheets

/** Does the address ask for the picture and its transport alone? It is so for as long as the page is open. */
export const isEmbedded = new URLSearchParams(window.location.search).get("mode") === "embed";

/** A page, embedded or not, by the rule of the style sheets. */
export const narrowPage = () => window.matchMedia(`(max-width: ${NARROW.page}px)`);

export const isNarrow = () => window.innerWidth <= NARROW[isEmbedded ? "embedded" : "page"];

/** What one pixel at 1280 × 720 is in this window: the stage and its type grow with it. */
export function unit() {
  if (isNarrow()) return 1;
  const least = isEmbedded ? 0.85 : 0.8;
  return Math.min(3, clamp(window.innerHeight / 720, least, window.innerWidth / 1280));
}

function markRoot() {
  const { classList } = document.documentElement;
  classList.toggle("fa-narrow", isNarrow());
  classList.toggle("fa-embed", isEmbedded);
}

markRoot();
window.addEventListener("resize", markRoot);
