// A picture that fills its place, with the exact values of what is pointed at.

import { el } from "../lib/dom.js";
import { svgCanvas } from "../lib/svg_canvas.js";
import { makeTip } from "../story/tip.js";

/** @import { Drawn, Height, Paper, Pen } from "../lib/svg_canvas.js" */
/** @typedef {(paper: Paper, pen: Pen<any>) => Drawn} Paint */

/** @type {Height} */
const FILLS = { share: 0.62, least: 120, most: 800, fills: true };

/** @param {string} label @param {Paint} draw @param {Height} [height] */
export function picture(label, draw, height = FILLS) {
  const canvas = svgCanvas(null, { label }, height, (_, paper, pen) => draw(paper, pen));
  const place = el("div.fa-story-picture", [canvas]);
  place.append(makeTip(place));
  return Object.assign(place, { canvas });
}
