// Key blocks that are dragged into another order, and what m and ℓ of one row become on the way, beside the usual order.

import { clamp } from "../../lib/format.js";
import { button, el, onResize, set, svg } from "../../lib/dom.js";
import { onDrag } from "../../lib/drag.js";
import { strideOf } from "../../lib/keys.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_order.json" with { type: "json" };

const t = textsOf(texts);

/**
 * @typedef {{ m: number[], l: number[], order: number[], next: string[] }} Data each block's own m and ℓ, the order of visits
 * @typedef {{ value: (key: string) => string | undefined, move: (values: Record<string, string>) => void, label: string }} Api
 */

const ROW = 222; // y of the cards
const HEIGHT = 280;
const WIDE = { width: 680, left: 56, card: 62, gap: 6, high: 44 };
const PHONE = { width: 392, left: 36, card: 36, gap: 3, high: 50 }; // about a unit a px there, so that type keeps its size
const NARROW = 600; // px
const RANGES = { m: [14, 100], l: [104, 190] }; // y from, to

/** m and ℓ of the row after each visit. @param {Pick<Data, "m" | "l">} blocks @param {number[]} order */
export function walk({ m, l }, order) {
  let [top, sum] = [-Infinity, 0];
  return order.map((j) => {
    const next = Math.max(top, m[j]);
    sum = sum * Math.exp(top - next) + l[j] * Math.exp(m[j] - next);
    top = next;
    return { m: top, l: sum };
  });
}

/** The order after the card at `from` was put at `to`. @param {number[]} order @param {number} from @param {number} to */
export function moved(order, from, to) {
  const next = [...order];
  next.splice(clamp(to, 0, order.length - 1), 0, ...next.splice(from, 1));
  return next;
}

/** @param {number} x @param {number} y @param {string} text @param {string} look */
const label = (x, y, text, look) => svg("text", { class: `fa-scene-text ${look}`, x, y, text });

/** @param {string} d @param {string} look */
const line = (d, look) => svg("path", { class: `fa-scene-path ${look}`, d });

/** @param {Data} data @param {Api} api */
export function draw(data, api) {
  let now = data;
  let order = [...data.order];
  /** @type {number | null} */
  let dragged = null;
  let stop = order[0]; // the card that is the keyboard's
  let at = WIDE;
  const back = svg("g", { "aria-hidden": "true" });
  const row = svg("g", { role: "group", "aria-label": t("cards") });
  const page = /** @type {SVGSVGElement} */ (svg("svg", { class: "fa-scene-panel" }, [back, row]));
  const place = (/** @type {number} */ k) => at.left + k * (at.card + at.gap);
  const send = () => api.move({ order: order.join(",") });

  const shift = (/** @type {number} */ block, /** @type {number} */ to) => {
    const from = order.indexOf(block);
    const next = moved(order, from, to);
    if (next.join() === order.join()) return;
    order = next;
    paint();
    send();
  };

  const cards = data.m.map((_, block) => {
    const node = svg("g", { class: "fa-order-card fa-hue-k", role: "button" }, [
      svg("rect", { rx: 6 }),
      svg("text", { class: "fa-scene-text is-bold is-middle", text: `K${block}` }),
    ]);
    node.addEventListener("keydown", (event) => {
      const [by, up] = strideOf(event) ?? [0, 0];
      if (!by && !up) return;
      event.preventDefault();
      event.stopPropagation(); // in presentation mode the arrows turn the slide
      if (by) shift(block, order.indexOf(block) + by);
      const at = clamp(order.indexOf(block) - up, 0, order.length - 1);
      stop = order[at];
      paint();
      cards[stop].focus();
    });
    onDrag(node, (event) => {
      event.preventDefault();
      stop = block;
      node.focus({ preventScroll: true });
      dragged = block;
      return {
        move({ clientX }) {
          const box = page.getBoundingClientRect();
          const x = ((clientX - box.left) / box.width) * at.width;
          shift(block, Math.round((x - at.left - at.card / 2) / (at.card + at.gap)));
          node.style.transform = `translate(${x - at.card / 2}px, ${ROW}px)`;
        },
        end() {
          dragged = null;
          paint();
        },
      };
    });
    return node;
  });
  row.append(...cards);

  function paint() {
    const isPhone = at === PHONE;
    const usual = walk(
      now,
      order.map((_, k) => k),
    );
    const yours = walk(now, order);
    const right = place(order.length);
    /** The course of m or ℓ in both orders. @param {"m" | "l"} name */
    const course = (name) => {
      const values = [...usual, ...yours].map((x) => x[name]);
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const [top, base] = RANGES[name];
      const y = (/** @type {number} */ v) =>
        base - 12 - ((v - low) / (high - low || 1)) * (base - top - 24);
      const stairs = (/** @type {typeof usual} */ list) =>
        list
          .map((x, k) => {
            const from = `${place(k) - at.gap / 2} ${y(x[name]).toFixed(1)}`;
            return `${k ? "L" : "M"}${from}h${at.card + at.gap}`;
          })
          .join("");
      const hue = `fa-hue-${name}`;
      const end = yours[yours.length - 1][name];
      return [
        label(
          isPhone ? 4 : 12,
          (top + base) / 2 + 6,
          name === "l" ? "ℓ" : "m",
          `is-big is-hue ${hue}`,
        ),
        line(stairs(usual), `${hue} is-faded`),
        line(stairs(yours), `${hue} is-dashed`),
        svg("circle", { class: `fa-scene-dot ${hue}`, r: 6, cx: right - at.gap, cy: y(end) }),
        label(right + 8, y(end) + 5, end.toFixed(2), `is-bold is-hue ${hue}`),
      ];
    };
    const quiet = "is-small is-quiet";
    back.replaceChildren(
      ...course("m"),
      ...course("l"),
      line(`M${at.left} 102H${right}`, "is-thin"),
      ...order.map((_, k) => {
        const visit = isPhone ? String(k + 1) : t("visit", { k: k + 1 });
        return label(place(k) + at.card / 2, 214, visit, `${quiet} is-middle`);
      }),
      isPhone ? label(0, 214, t("visits"), quiet) : "",
      label(at.left, 14, t("lines"), quiet),
    );
    cards.forEach((node, block) => {
      const k = order.indexOf(block);
      set(node.children[0], { width: at.card, height: at.high });
      set(node.children[1], { x: at.card / 2, y: at.high / 2 + 6 });
      if (dragged !== block) node.style.transform = `translate(${place(k)}px, ${ROW}px)`;
      set(node, {
        "aria-label": t("card", { block, k: k + 1, n: order.length }),
        tabindex: block === stop ? "0" : "-1",
        class: `fa-order-card fa-hue-k${dragged === block ? " is-dragged" : ""}`,
      });
    });
  }

  const reorder = () => {
    order = now.next.map(Number);
    paint();
    send();
  };
  const shuffle = button(t("shuffle"), reorder, { class: "fa-small" });
  const lay = () => {
    at = page.clientWidth && page.clientWidth < NARROW ? PHONE : WIDE;
    set(page, { viewBox: `0 0 ${at.width} ${HEIGHT}` });
    Object.assign(page.style, {
      width: "100%",
      maxWidth: `${at.width * 1.5}px`,
      aspectRatio: `${at.width}/${HEIGHT}`,
    });
    paint();
  };
  lay();
  onResize(page, page, lay);
  const update = (/** @type {Data} */ next) => {
    now = next;
    if (dragged === null) order = [...next.order];
    paint();
  };
  return Object.assign(el("div", {}, [page, shuffle]), { update });
}
