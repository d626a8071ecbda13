// The slider of a chapter whose positions are moments: a playhead on its axis of time.

import { playhead, slider } from "../lib/chart.js";

/** @import { Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */

/** A playhead from `top` to `bottom`, its ring at `ring`. @param {Scene} scene @param {Pen<Scene>} pen @param {number[]} places @param {number} top
 * @param {number} bottom @param {number} ring @param {[number, number][]} [spans] in which it is drawn */
export function timeSlider({ beats, at, go }, pen, places, top, bottom, ring, spans) {
  const { label, note } = beats[at];
  const knob = { key: "time", label: "t", text: `${label}, ${note}`, at, places, go };
  return slider(pen, knob, playhead(places[at], top, bottom, ring, "ink", "", spans));
}
