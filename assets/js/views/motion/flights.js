// Bytes on their way between HBM and the chip: a block that leaves its home as a dashed slot, along a ribbon as wide as its
// bytes, with ghosts behind it.

import { hueOf } from "../../lib/colors.js";
import { boxStyle, el, svg } from "../../lib/dom.js";
import { EASING, passage, ribbon } from "../../model/motion.js";
import { isPerRow, tensorOf } from "../../model/tensors.js";

/** @import { Passage, Timing } from "../types.js" */
/** @import { Layer } from "../types.js" */
/** @import { Box } from "../types.js" */
/** @import { Flight, Point } from "../../model/motion.js" */

const UNCOLORED = ["S", "dS"];
const GHOSTS = 4;
const THREAD = 4; // px, at most
const LATE = 0.035; // of the flight, one ghost behind the other

/** @param {string} tensor */
const hues = (tensor) => {
  const hue = UNCOLORED.includes(tensorOf(tensor)) ? null : hueOf(tensor);
  return `--fa-hue:var(--fa-${hue ?? "quiet"});--fa-hue-ink:var(--fa-ink-${hue ?? "s"}, var(--fa-hue))`;
};

/** The same box, moved and resized by transforms alone. @param {Box[]} boxes */
const transforms = (boxes, /** @type {{width: number, height: number}} */ { width, height }) => ({
  transform: boxes.map(
    (box) =>
      `translate(${box.x.toFixed(1)}px, ${box.y.toFixed(1)}px) scale(${(box.width / width).toFixed(4)}, ${(box.height / height).toFixed(4)})`,
  ),
});

/** A place that is empty while its block is away. @param {Layer} layer @param {string} tensor @param {Box} box @param {string} name @param {Timing} at when */
export function slot(layer, tensor, box, name, at) {
  const node = layer.add(
    el("div.fa-slot", { style: `${boxStyle(box)};${hues(tensor)}`, text: name }),
  );
  layer.animate(node, { opacity: [1, 1, 0], offset: [0, 0.9, 1] }, at);
}

/** @param {Flight} flight of model/motion.js. `what`: {home, seat: boxes on the layer, points: the way between their middles, picture:
 * canvas | null, name, unit, start, scale, stays: whether it is still to be seen where it arrives, ghosts} @param {Layer} layer
 * @returns the animation of its block */
export function fly(
  layer,
  flight,
  /** @type {Passage} */ {
    home,
    seat,
    points,
    picture = null,
    name,
    unit,
    start = 0,
    scale = 1,
    stays = true,
    ghosts = GHOSTS,
  },
) {
  const { tensor, op, bytes } = flight;
  const at = { start: start + flight.start * scale, ms: flight.ms * scale };
  const slim = isPerRow(tensor); // a thread: no card, no ghosts, no name
  const [a, b, c, d] = points.map((point) => point.map((x) => x.toFixed(1)).join(" "));
  const line = svg("path", {
    d: `M${a} C${b}, ${c}, ${d}`,
    style: hues(tensor),
    "stroke-width": (ribbon(bytes, slim ? THREAD : undefined) * unit).toFixed(1),
  });
  const lines = layer.add(svg("svg.fa-ribbons", [line])); // as a whole: what animates parts of an SVG can hang Chromium
  layer.animate(lines, { opacity: [0, 1, 1, 0], offset: [0, 0.12, 0.8, 1] }, at);
  const size = {
    width: Math.max(home.width, seat.width),
    height: Math.max(home.height, seat.height),
  };
  const boxes = passage(points, home, seat, op !== "read");
  const block = (/** @type {string} */ kind, /** @type {number} */ late) => {
    const node = layer.add(
      el("div", {
        class: `fa-flight ${kind}${slim ? " is-slim" : ""}`,
        style: `width:${size.width}px;height:${size.height}px;${hues(tensor)}`,
      }),
    );
    const delay = late * at.ms;
    const move = layer.animate(node, transforms(boxes, size), {
      ...at,
      start: at.start + delay,
      endDelay: -delay, // it ends with the flight, wherever it is then
      easing: EASING,
      fill: "both",
    });
    return { node, move };
  };
  for (let k = slim ? 0 : ghosts; k > 0; k--) {
    const { node } = block("is-ghost", k * LATE);
    layer.animate(
      node,
      { opacity: [0, 0.34 - 0.06 * k, 0.34 - 0.06 * k, 0], offset: [0, 0.1, 0.6, 0.9] },
      at,
    );
  }
  const { node, move } = block("is-block", 0);
  layer.animate(
    node,
    { opacity: stays ? [1, 1] : [1, 1, 0], offset: stays ? [0, 1] : [0, 0.85, 1] },
    at,
  );
  if (picture) node.append(picture);
  if (slim || !name) return move;
  const word = layer.add(el("b.fa-flight-name", { style: hues(tensor), text: name }));
  layer.animate(
    word,
    {
      transform: boxes.map(
        (box) =>
          `translate(${(box.x + box.width + 6).toFixed(1)}px, ${(box.y + box.height / 2).toFixed(1)}px) translateY(-50%)`,
      ),
    },
    { ...at, easing: EASING },
  );
  layer.animate(word, { opacity: [0, 1, 1, 0], offset: [0, 0.15, 0.75, 0.95] }, at);
  return move;
}
