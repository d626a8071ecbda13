// A picture that fills its place.

import { el } from "../lib/dom.js";
import { svgCanvas } from "../lib/svg_canvas.js";

/** @import { Drawn, Height, Paper, Pen } from "../lib/svg_canvas.js" */

/** @type {Height} */
const FILLS = { share: 0.9, least: 120, most: 800, fills: true };

/** @param {string} label @param {(paper: Paper, pen: Pen<any>) => Drawn} draw @param {Height} [height] */
export function picture(label, draw, height = FILLS) {
  const canvas = svgCanvas(null, { label }, height, (_, paper, pen) => draw(paper, pen));
  return Object.assign(el("div.fa-story-picture", [canvas]), { canvas });
}
