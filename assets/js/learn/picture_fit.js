// How large presentation mode draws a lesson's picture: as on a desk, then enlarged as a whole until its place is full.

import { all, find, get } from "../lib/dom.js";
import { presentationUnit } from "../lib/svg_canvas.js";

/** @import { Canvas } from "../lib/svg_canvas.js" */

const CANVAS = ".fa-svg-canvas";
/** Lets what is drawn fit its place anew. @param {ParentNode} root */
function refit(root) {
  for (const canvas of /** @type {NodeListOf<Canvas>} */ (root.querySelectorAll(CANVAS)))
    canvas.refit();
}

// At 1280 × 720; on a larger screen all of it in proportion, so that its slides are laid out alike
const MOST = 1.4; // the kit's type is then 21 px, as the rest; what is larger has no room for its words
const LEAST = 0.4;
const BY = 0.01;
const DRAWN = 440; // px, the narrowest that a picture is drawn before it is enlarged
const CANVAS_ZOOM = 1.1; // a drawn picture lays itself out for its type, whatever its size
const GAIN = 1.04; // how much larger the picture, or its least type, must come below the lines, to stand there

/** Draws what is in the sheet at one size; true if all of it is in its place.
 * @param {HTMLElement} sheet @param {HTMLElement} place @param {number} zoom */
function enlarge(sheet, place, zoom) {
  const { clientWidth: width, clientHeight: height } = place;
  sheet.style.cssText = `width:${width / zoom}px;scale:${zoom};transform-origin:0 0;--zoom:${zoom}`;
  refit(sheet);
  const isWide = (/** @type {Element} */ node) => node.scrollWidth > node.clientWidth + 1;
  const { right } = place.getBoundingClientRect();
  const isOutside = (/** @type {Element} */ node) => node.getBoundingClientRect().right > right + 1;
  return (
    !all(sheet, "svg text").some(isOutside) &&
    ![sheet, ...all(sheet, ".fa-scroll, .fa-kit-stack li, .fa-kit-words button")].some(isWide) &&
    sheet.scrollHeight * zoom <= height - 2 &&
    place.scrollHeight <= height + 1 &&
    place.scrollWidth <= width + 1
  );
}

/** The largest size, at most `zoom`, at which the sheet is in its place.
 * @param {HTMLElement} sheet @param {HTMLElement} place @param {number} zoom */
function largest(sheet, place, zoom) {
  const unit = presentationUnit();
  const most = find(sheet, CANVAS) ? CANVAS_ZOOM * unit : place.clientWidth / DRAWN;
  const first = Math.min(zoom, Math.max(unit, most));
  const fits = (/** @type {number} */ step) => enlarge(sheet, place, first - step * BY * unit);
  if (fits(0)) return first;
  // Halves what is left between a step that is too large and one that fits: each try lays out the page
  let [over, within] = [0, Math.ceil((first / unit - LEAST) / BY)];
  while (within - over > 1) {
    const middle = (over + within) >> 1;
    if (fits(middle)) within = middle;
    else over = middle;
  }
  fits(within);
  return first - within * BY * unit;
}

/** What is drawn for its type says how well it is laid out by the least of it. @param {HTMLElement} sheet */
const leastType = (sheet) => {
  const sizes = all(sheet, `${CANVAS} text`)
    .map((node) => parseFloat(node.style.fontSize))
    .filter(Boolean);
  return sizes.length ? Math.min(...sizes) : 1;
};

/** Fit the picture of one slide. While it is shown it only shrinks. @param {HTMLElement} body */
export function makePictureFit(body) {
  const place = get(body, ":scope > .fa-widget");
  let zoom = Infinity;
  let isLaid = false; // its lines have their side

  function lay() {
    const sheet = find(place, ":scope > *");
    if (!sheet) return;
    if (!isLaid) arrange(sheet);
    zoom = largest(sheet, place, zoom);
    isLaid =
      Boolean(sheet.querySelector(".fa-blocks > *")) && !sheet.querySelector(".fa-moving:empty");
  }

  /** The lines beside the picture, or above it where that makes the picture clearly larger. @param {HTMLElement} sheet */
  function arrange(sheet) {
    delete body.dataset.over;
    const size = () => largest(sheet, place, MOST * presentationUnit()) * leastType(sheet);
    const beside = size();
    body.dataset.over = "";
    if (size() < beside * GAIN) delete body.dataset.over;
    zoom = MOST * presentationUnit();
  }

  /** As on a desk again. */
  function clear() {
    delete body.dataset.over;
    const sheet = find(place, ":scope > *");
    if (!sheet) return;
    sheet.removeAttribute("style");
    for (const blocks of all(sheet, ".fa-blocks")) blocks.style.minHeight = "";
    refit(sheet);
  }

  /** Let its lines choose their side again. */
  function forget() {
    isLaid = false;
  }

  return { lay, clear, forget };
}
