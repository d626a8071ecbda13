// Key blocks that are dragged into another order, and what m and ℓ of one row become on the way, beside the usual order.

import { clamp } from "../../lib/format.js";
import { button, el, on, set, svg } from "../../lib/dom.js";
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
      event.stopPropagation(); // in a lecture hall the arrows turn the slide
      if (by) shift(block, order.indexOf(block) + by);
      const at = clamp(order.indexOf(block) - up, 0, order.length - 1);
      stop = order[at];
      paint();
      cards[stop].focus();
    });
    node.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      event.preventDefault();
      stop = block;
      node.focus({ preventScroll: true });
      dragged = block;
      const over = (/** @type {PointerEvent} */ { clientX }) => {
        const box = page.getBoundingClientRect();
        const x = ((clientX - box.left) / box.width) * at.width;
        shift(block, Math.round((x - at.left - at.card / 2) / (at.card + at.gap)));
        node.style.transform = `translate(${x - at.card / 2}px, ${ROW}px)`;
      };
      const done = () => {
        dragged = null;
        document.removeEventListener("pointermove", over);
        for (const name of ["pointerup", "pointercancel"]) document.removeEventListener(name, done);
        paint();
      };
      document.addEventListener("pointermove", over);
      on(document, ["pointerup", "pointercancel"], done);
    });
    return node;
  });
  row.append(...cards);

  function paint() {
    const usual = walk(
      now,
      order.map((_, k) => k),
    );
    const yours = walk(now, order);
    const parts = [];
    for (const name of /** @type {("m" | "l")[]} */ (["m", "l"])) {
      const values = [...usual, ...yours].map((x) => x[name]);
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const [top, base] = RANGES[name];
      const y = (/** @type {number} */ v) =>
        base - 12 - ((v - low) / (high - low || 1)) * (base - top - 24);
      const way = (/** @type {{m: number, l: number}[]} */ list) =>
        list
          .map(
            (x, k) =>
              `${k ? "L" : "M"}${place(k) - at.gap / 2} ${y(x[name]).toFixed(1)}h${at.card + at.gap}`,
          )
          .join("");
      parts.push(
        svg("text", {
          class: `fa-scene-text is-big is-hue fa-hue-${name}`,
          x: at === PHONE ? 4 : 12,
          y: (top + base) / 2 + 6,
          text: name === "l" ? "ℓ" : "m",
        }),
      );
      parts.push(svg("path", { class: `fa-scene-path fa-hue-${name} is-faded`, d: way(usual) }));
      parts.push(svg("path", { class: `fa-scene-path fa-hue-${name} is-dashed`, d: way(yours) }));
      const end = yours[yours.length - 1][name];
      parts.push(
        svg("circle", {
          class: `fa-scene-dot fa-hue-${name}`,
          r: 6,
          cx: place(order.length) - at.gap,
          cy: y(end),
        }),
      );
      parts.push(
        svg("text", {
          class: `fa-scene-text is-bold is-hue fa-hue-${name}`,
          x: place(order.length) + 8,
          y: y(end) + 5,
          text: end.toFixed(2),
        }),
      );
    }
    parts.push(
      svg("path", { class: "fa-scene-path is-thin", d: `M${at.left} 102H${place(order.length)}` }),
    );
    order.forEach((_, k) =>
      parts.push(
        svg("text", {
          class: "fa-scene-text is-small is-quiet is-middle",
          x: place(k) + at.card / 2,
          y: 214,
          text: at === PHONE ? String(k + 1) : t("visit", { k: k + 1 }),
        }),
      ),
    );
    if (at === PHONE)
      parts.push(
        svg("text", {
          class: "fa-scene-text is-small is-quiet",
          x: 0,
          y: 214,
          text: t("visits"),
        }),
      );
    parts.push(
      svg("text", {
        class: "fa-scene-text is-small is-quiet",
        x: at.left,
        y: 14,
        text: t("lines"),
      }),
    );
    back.replaceChildren(...parts);
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

  const shuffle = button(
    t("shuffle"),
    () => {
      order = now.next.map(Number);
      paint();
      send();
    },
    { class: "fa-small" },
  );
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
  const watch = new ResizeObserver(() => (page.isConnected ? lay() : watch.disconnect()));
  watch.observe(page);
  const update = (/** @type {Data} */ next) => {
    now = next;
    if (dragged === null) order = [...next.order];
    paint();
  };
  return Object.assign(el("div", {}, [page, shuffle]), { update });
}
