// The picture in a frame of another page: the code that puts it there, and the way out of the frame.

import { address } from "./address.js";
import { OLD_LESSON } from "../model/query.js";
import { el, on } from "../lib/dom.js";
import { isEmbedded } from "../lib/screen.js";
import { isOnScreen } from "./pages.js";
import { t } from "./texts.js";

const SIZES = { step: [800, 500], other: [1080, 640] }; // px; a lesson has its words and its question beside its picture

/** What is on screen, with or without all that stands around the picture. @param {string | null} mode */
function addressOf(mode) {
  address.flush();
  const url = new URL(window.location.href);
  const others = isOnScreen("step") ? ["page", "lesson", OLD_LESSON] : [];
  for (const key of ["mode", ...others]) url.searchParams.delete(key);
  if (mode) url.searchParams.set("mode", mode);
  return url.href;
}

/** HTML for a slide or a course page. */
export function embedCode() {
  const [width, height] = SIZES[isOnScreen("step") ? "step" : "other"];
  const src = addressOf("embed");
  return el("iframe", { src, width, height, style: "border:0", title: document.title }).outerHTML;
}

/** In a frame: a link to the same place in full. It is told its address when somebody comes near. */
export function wayOut() {
  if (!isEmbedded) return null;
  const link = el("a.fa-open-full", {
    target: "_blank",
    rel: "noopener",
    href: addressOf(null),
    text: t("full"),
  });
  on(link, ["pointerenter", "focus", "click"], () => (link.href = addressOf(null)));
  return link;
}
