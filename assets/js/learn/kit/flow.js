// A flow of the kit: boxes in columns, and arrows between them.

import { el, find, set, svg } from "../../lib/dom.js";
import { figure, hueClass, overlay, placeIn } from "./parts.js";

/** @import { Drawer, Mark } from "./parts.js" */

/** @type {Drawer} */
export function drawFlow(mark, kit) {
  const { columns, arrows = [] } = mark;
  const node = (/** @type {Mark} */ { key, text, remark, hue, on }) =>
    el(
      "li",
      {
        class: `${hueClass(hue)}${on ? " is-on" : ""}`,
        "data-key": key,
        "data-node": key,
      },
      [el("b", { text }), remark && el("span", { text: remark })],
    );
  const lines = overlay();
  const box = el("div", { class: "fa-kit-flow-box" }, [
    ...columns.map((/** @type {Mark[]} */ column) => el("ul", {}, column.map(node))),
    lines,
  ]);
  kit.later(() => {
    set(lines, { viewBox: `0 0 ${box.offsetWidth} ${box.offsetHeight}` });
    const type = parseFloat(getComputedStyle(box).fontSize);
    lines.replaceChildren(
      ...arrows.flatMap((/** @type {Mark} */ arrow) => drawArrow(arrow, box, type)),
    );
  });
  return figure("flow", mark, [box]);
}

/** An arrow from the nearer side of one box to that of another, its words at its middle.
 * @param {Mark} arrow @param {HTMLElement} box @param {number} type px */
function drawArrow({ start, end, text, hue, amount = 0 }, box, type) {
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
  const isLevel = from.right <= to.left || to.right <= from.left;
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
  return [
    svg("g", { class: hueClass(hue) }, [
      svg("path", { d: `M${x1} ${y1}${curve}`, style: `stroke-width:${width}` }),
      svg("path", {
        class: "fa-kit-tip",
        d: `M0 0l${-tip} ${-tip * 0.55}v${tip * 1.1}z`,
        transform: `translate(${x2 + (isLevel ? Math.sign(x2 - x1) * gap : 0)} ${y2 + (isLevel ? 0 : Math.sign(y2 - y1) * gap)}) rotate(${turn})`,
      }),
      text &&
        svg("text", {
          x: mx,
          y: my - (isLevel ? width : 0) - 3,
          style: `font-size:${type * 0.9}px`,
          text,
        }),
    ]),
  ];
}
