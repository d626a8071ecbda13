// The picture in a frame of another page: the code that puts it there, and the way out of the frame.

import { address } from "./address.js";
import { OLD_LESSON } from "../model/query.js";
import { el, on } from "../lib/dom.js";
import { isEmbedded } from "../lib/screen.js";
import { t } from "./texts.js";

const SIZE = [800, 500];

/** What is on screen, with or without all that stands around the picture. @param {string | null} mode */
function addressOf(mode) {
  address.flush();
  const url = new URL(window.location.href);
  for (const key of ["mode", "page", "lesson", OLD_LESSON]) url.searchParams.delete(key);
  if (mode) url.searchParams.set("mode", mode);
  return url.href;
}

/** HTML for a slide or a course page. */
export const embedCode = () =>
  el("iframe", {
    src: addressOf("embed"),
    width: SIZE[0],
    height: SIZE[1],
    style: "border:0",
    title: document.title,
  }).outerHTML;

/** In a frame: a link to the same place in full. It is told its address when somebody comes near. */
export function wayOut() {
  if (!isEmbedded) return null;
  const link = el("a", {
    class: "fa-open-full",
    target: "_blank",
    rel: "noopener",
    href: addressOf(null),
    text: t("full"),
  });
  on(link, ["pointerenter", "focus", "click"], () => (link.href = addressOf(null)));
  return link;
}
