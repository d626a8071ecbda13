// Amounts of the kit: bars, parts of a whole, lanes of intervals.

import { all, el } from "../../lib/dom.js";
import { figure, hueClass } from "./parts.js";

/** @import { Drawer, Mark } from "./parts.js" */

const share = (/** @type {number} */ part) =>
  `${(100 * Math.max(0, Math.min(1, part))).toFixed(2)}%`;

/** @type {Drawer} */
export function drawBars(mark) {
  const { items, log, limit, upright } = mark;
  const known = items.map((/** @type {Mark} */ { value }) => value);
  const high = mark.high ?? Math.max(...known, limit?.[0] ?? 0);
  const low = log ? Math.min(...known.filter((/** @type {number} */ x) => x > 0)) / 10 : 0;
  const of = (/** @type {number} */ x) =>
    log ? Math.log(Math.max(x, low) / low) / Math.log(high / low) : x / (high || 1);
  const side = upright ? "height" : "width";
  const row = (/** @type {Mark} */ { name, value, text, hue, on, key }) =>
    el("li", { class: `${hueClass(hue)}${on ? " is-on" : ""}` }, [
      el("span", { class: "fa-kit-name", text: name }),
      el("span", { class: "fa-kit-track" }, [
        el("i", {
          class: "fa-kit-fill",
          "data-key": key ?? null,
          style: `${side}:${share(of(value))}`,
        }),
        limit &&
          el("i", {
            class: "fa-kit-limit",
            style: `${upright ? "bottom" : "left"}:${share(of(limit[0]))}`,
          }),
      ]),
      el("span", { class: "fa-kit-value", text }),
    ]);
  return figure(upright ? "bars is-upright" : "bars", mark, [
    el("ul", {}, items.map(row)),
    limit && el("p", { class: "fa-kit-limit-text", text: limit[1] }),
  ]);
}

/** @type {Drawer} */
export function drawStack(mark) {
  const { parts, whole = 0 } = mark;
  const used = parts.reduce(
    (/** @type {number} */ sum, /** @type {Mark} */ { amount }) => sum + amount,
    0,
  );
  const left = Math.max(0, whole - used);
  const box = (/** @type {Mark} */ { name, amount, text, hue, key }) =>
    el("li", { class: hueClass(hue), "data-key": key ?? null, style: `flex-grow:${amount}` }, [
      el("b", { text: name }),
      text && el("span", { text }),
    ]);
  return figure("stack", mark, [
    el("ol", { class: whole && used > whole ? "is-over" : null }, [
      ...parts.map(box),
      left > 0 && el("li", { class: "is-free", style: `flex-grow:${left}` }),
    ]),
  ]);
}

/** @type {Drawer} */
export function drawTimeline(mark, { later }) {
  const { lanes, unit, ticks, now, low = 0 } = mark;
  const ends = lanes.flatMap((/** @type {Mark} */ { spans = [] }) =>
    spans.map((/** @type {Mark} */ { end }) => end),
  );
  const high = mark.high ?? Math.max(...ends, 1e-9);
  const at = (/** @type {number} */ x) => (x - low) / (high - low);
  const between = (/** @type {number} */ start, /** @type {number} */ end) =>
    `left:${share(at(start))};width:${share(at(end) - at(start))}`;
  const bar = (/** @type {Mark} */ { start, end, text, hue, look, key }) =>
    el("li", {
      class: `${hueClass(hue)}${look ? ` is-${look}` : ""}`,
      "data-key": key ?? null,
      style: between(start, end),
      text: text ?? "",
    });
  const lane = (/** @type {Mark} */ { name, spans = [] }) => [
    el("span", { class: "fa-kit-name", text: name }),
    el("ul", { class: "fa-kit-lane" }, spans.map(bar)),
  ];
  const axis = el("div", { class: "fa-kit-axis" }, [
    ...(ticks ?? []).map((/** @type {[number, string]} */ [value, text]) =>
      el("span", { style: `left:${share(at(value))}`, text }),
    ),
    unit && el("em", { text: unit }),
  ]);
  const frame =
    now &&
    el("i", {
      class: "fa-kit-now",
      "data-key": "now",
      style: between(now[0], now[1]),
    });
  const box = el("div", { class: "fa-kit-lanes" }, [
    ...lanes.flatMap(lane),
    el("span"),
    axis,
    frame && el("div", { class: "fa-kit-nows" }, [frame]),
  ]);
  later(() => {
    let edge = -Infinity;
    for (const tick of all(axis, "span")) {
      const { left, right } = tick.getBoundingClientRect();
      tick.classList.toggle("is-cut", left < edge);
      if (left >= edge) edge = right + 6;
    }
    for (const node of all(box, "li:not(.is-dot)"))
      node.classList.toggle("is-tight", node.scrollWidth > node.clientWidth);
  });
  return figure("timeline", mark, [box]);
}
