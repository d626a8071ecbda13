// Where the browser's pure modules lie; every test takes them from here.

export * from "../../assets/js/lib/axis.js";
export { isUnitOf, meets, precision, readings, split } from "../../assets/js/learn/numbers.js";
export * from "../../assets/js/model/algorithms.js";
export * from "../../assets/js/model/backward.js";
export { bytes, number } from "../../assets/js/lib/format.js";
export { textsOf } from "../../assets/js/lib/texts.js";
export * from "../../assets/js/model/controls.js";
export * from "../../assets/js/model/decode.js";
export * from "../../assets/js/model/exact.js";
export * from "../../assets/js/model/explain.js";
export * from "../../assets/js/model/frame.js";
export * from "../../assets/js/model/heads.js";
export * from "../../assets/js/model/links.js";
export * from "../../assets/js/model/mask.js";
export * from "../../assets/js/model/motion.js";
export * from "../../assets/js/model/on_chip.js";
export * from "../../assets/js/model/phases.js";
export { VALUES } from "../../assets/js/model/phrases.js";
export { crossings } from "../../assets/js/model/phases_backward.js";
export * from "../../assets/js/model/places.js";
export * from "../../assets/js/model/predicates.js";
export * from "../../assets/js/model/query.js";
export * from "../../assets/js/model/questions.js";
export * from "../../assets/js/model/race_clock.js";
export * from "../../assets/js/model/scores.js";
export * from "../../assets/js/model/row_view.js";
export * from "../../assets/js/model/table.js";
export * from "../../assets/js/model/why.js";
export * from "../../assets/js/model/tensors.js";
export * from "../../assets/js/model/tiles.js";
export { heightOf } from "../../assets/js/lib/svg_canvas.js";
export { measure, plane } from "../../assets/js/learn/pictures/arrows.js";
export { places as placesOf } from "../../assets/js/learn/pictures/gpu.js";
export { unbroken } from "../../assets/js/learn/unbroken.js";
export { scales } from "../../assets/js/learn/pictures/pyramid.js";
export { axes as roofs } from "../../assets/js/learn/pictures/roofline.js";
export {
  along as barAt,
  arrow as arrowWidth,
  slots as arrowSlots,
  widest as widestOf,
} from "../../assets/js/learn/pictures/trips.js";
