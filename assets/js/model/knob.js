// Where a knob stands on its track, and the value of a place there.

/** @typedef {{ low?: number, high?: number, step?: number, span?: number }} Track */

/** Where on its track of `span` units a knob stands that has this value, from its left end. @param {Track} knob @param {number} value */
export function placeOf({ low = 0, high = 1, span = 1 }, value) {
  return high > low ? ((Math.max(low, Math.min(high, value)) - low) / (high - low)) * span : 0;
}

/** The nearest allowed value to a place on the track. @param {Track} knob @param {number} at */
export function valueAt({ low = 0, high = 1, span = 1, step = 1 }, at) {
  const value = low + (Math.max(0, Math.min(span, at)) / span) * (high - low);
  return Number(Math.min(high, low + Math.round((value - low) / step) * step).toFixed(6));
}
