// What the kit draws over its boxes: arrows between those of a flow, arcs between the words of a sentence.

import { all, find, set, svg } from "../../lib/dom.js";
import { hueClass, placeIn } from "./parts.js";

/** @import { Mark } from "./parts.js" */

/** Arrows between the boxes of a flow. @param {HTMLElement} lines the drawing over them */
export function layArrows(lines) {
  const box = /** @type {HTMLElement} */ (lines.parentElement);
  const { fontSize, flexDirection } = getComputedStyle(box);
  const laid = { box, type: parseFloat(fontSize), isAcross: flexDirection === "row" };
  /** @type {Mark[]} */
  const arrows = JSON.parse(lines.dataset.arrows ?? "");
  set(lines, { viewBox: `0 0 ${box.offsetWidth} ${box.offsetHeight}` });
  lines.replaceChildren(...arrows.map((arrow) => drawArrow(arrow, laid)));
}

/** An arrow from the nearer side of one box to that of another, its words at its middle.
 * @param {Mark} arrow @param {{box: HTMLElement, type: number, isAcross: boolean}} laid type in px, columns beside each other */
function drawArrow({ start, end, text, hue, amount = 0 }, { box, type, isAcross }) {
  const [from, to] = [start, end].map((key) => {
    const node = find(box, `[data-node="${key}"]`);
    if (!node) throw new RangeError(`no box ${key}`);
    return placeIn(node, box);
  });
  const center = (/** @type {ReturnType<typeof placeIn>} */ { left, right, top, bottom }) => [
    (left + right) / 2,
    (top + bottom) / 2,
  ];
  const [[ax, ay], [bx, by]] = [center(from), center(to)];
  const gap = type * 0.35;
  const isLevel = isAcross && (from.right <= to.left || to.right <= from.left);
  const [x1, y1, x2, y2] = isLevel
    ? bx > ax
      ? [from.right + 2, ay, to.left - gap, by]
      : [from.left - 2, ay, to.right + gap, by]
    : by > ay
      ? [ax, from.bottom + 2, bx, to.top - gap]
      : [ax, from.top - 2, bx, to.bottom + gap];
  const [mx, my] = [(x1 + x2) / 2, (y1 + y2) / 2];
  const curve = isLevel
    ? `C${mx} ${y1} ${mx} ${y2} ${x2} ${y2}`
    : `C${x1} ${my} ${x2} ${my} ${x2} ${y2}`;
  const width = 1.6 + 8 * amount;
  const tip = 4 + width;
  const turn = isLevel ? (x2 > x1 ? 0 : 180) : y2 > y1 ? 90 : -90;
  return svg("g", { class: hueClass(hue) }, [
    svg("path", { d: `M${x1} ${y1}${curve}`, style: `stroke-width:${width}` }),
    svg("path.fa-kit-tip", {
      d: `M0 0l${-tip} ${-tip * 0.55}v${tip * 1.1}z`,
      transform: `translate(${x2 + (isLevel ? Math.sign(x2 - x1) * gap : 0)} ${y2 + (isLevel ? 0 : Math.sign(y2 - y1) * gap)}) rotate(${turn})`,
    }),
    text &&
      svg("text", {
        x: mx,
        y: my - (isLevel ? width : 0) - 3,
        text,
      }),
  ]);
}

/** Arcs from one word to all, as thick as their weights; the one to itself is a loop. @param {HTMLElement} arcs the drawing over the words */
export function layArcs(arcs) {
  const box = /** @type {HTMLElement} */ (arcs.parentElement);
  const at = Number(arcs.dataset.at);
  /** @type {number[]} */
  const weights = JSON.parse(arcs.dataset.arcs ?? "");
  const spots = all(box, "thead th").map((node) => placeIn(node, box));
  const middle = (/** @type {number} */ k) => (spots[k].left + spots[k].right) / 2;
  const foot = spots[at].top - 2;
  set(arcs, { viewBox: `0 0 ${box.offsetWidth} ${box.offsetHeight}` });
  const widest = Math.max(1, ...weights.map((_, k) => Math.abs(middle(k) - middle(at))));
  const loop = (spots[at].right - spots[at].left) * 0.24;
  const lines = weights.map((weight, k) => {
    const [a, b] = [middle(at), middle(k)];
    const high = foot * (0.3 + (0.68 * Math.abs(a - b)) / widest);
    const d =
      k === at
        ? `M${a - loop} ${foot}C${a - loop} ${foot - loop * 2.6} ${a + loop} ${foot - loop * 2.6} ${a + loop} ${foot}`
        : `M${a} ${foot}C${a} ${foot - high * 1.3} ${b} ${foot - high * 1.3} ${b} ${foot}`;
    const style = `stroke-width:${(0.8 + 15 * weight).toFixed(2)};opacity:${(0.35 + 0.5 * weight).toFixed(2)}`;
    return svg("path", { d, style });
  });
  arcs.replaceChildren(...lines);
}
