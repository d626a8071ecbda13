// What holds and joins the marks of the kit: rows, columns, frames, signs, sentences, tables, code.

import { el } from "../../lib/dom.js";
import { choice, figure, hueClass } from "./parts.js";

/** @import { Drawer, Mark } from "./parts.js" */

/** @type {Drawer} */
export function drawRow({ of, grow, align }, { render }) {
  const nodes = of.map(render);
  if (grow)
    nodes.forEach(
      (/** @type {HTMLElement} */ node, /** @type {number} */ k) =>
        (node.style.flex = grow[k] ? `${grow[k]} 1 0` : "none"),
    );
  return el("div", { class: `fa-kit-row${align ? ` is-${align}` : ""}` }, nodes);
}

/** @type {Drawer} */
export const drawColumn = ({ of }, { render }) =>
  el("div", { class: "fa-kit-column" }, of.map(render));

/** @type {Drawer} */
export function drawFrame({ title, remark, of = [], look, hue }, { render }) {
  const head =
    title &&
    el("figcaption", {}, [el("b", { text: title }), remark && el("span", { text: remark })]);
  return el("figure", { class: `fa-kit-frame ${hueClass(hue)}${look ? ` is-${look}` : ""}` }, [
    head,
    ...of.map(render),
  ]);
}

/** @type {Drawer} */
export const drawSign = ({ text }) => el("span", { class: "fa-kit-sign", text });

/** @type {Drawer} */
export const drawNote = ({ text, tone }) =>
  el("p", { class: `fa-kit-note${tone ? ` is-${tone}` : ""}`, text });

/** @type {Drawer} */
export function drawTable({ head, rows, at }) {
  const body = rows.map((/** @type {string[]} */ [first, ...others], /** @type {number} */ r) =>
    el("tr", { class: at === r ? "is-at" : null }, [
      el("th", { scope: "row", text: first }),
      ...others.map((/** @type {string} */ text) => el("td", { text })),
    ]),
  );
  return el("div", { class: "fa-kit-table fa-scroll", "data-name": head[0] }, [
    el("table", {}, [
      el("thead", {}, [
        el(
          "tr",
          {},
          head.map((/** @type {string} */ text) => el("th", { scope: "col", text })),
        ),
      ]),
      el("tbody", {}, body),
    ]),
  ]);
}

/** @type {Drawer} */
export function drawCode(mark, kit) {
  const { lines, on = [], pick } = mark;
  const nodes = lines.map((/** @type {string} */ text, /** @type {number} */ k) => {
    const isOn = on.includes(k);
    const inner = pick ? choice(pick, k, isOn, text.trim(), kit, [text]) : text;
    return el(isOn ? "mark" : "span", {}, [inner || " "]);
  });
  return figure("code", mark, [
    el("div", { class: "fa-scroll", "data-name": mark.title ?? "" }, [
      el("pre", {}, [el("code", {}, nodes)]),
    ]),
  ]);
}
