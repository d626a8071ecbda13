// A matrix of the kit, and a sentence with what stands under each of its words.

import { el, set, svg } from "../../lib/dom.js";
import {
  cellText,
  choice,
  figure,
  hueClass,
  largest,
  overlay,
  paint,
  placeIn,
  t,
} from "./parts.js";

/** @import { Cell } from "../types.js" */
/** @import { Drawer, Kit, Mark } from "./parts.js" */

const MANY = 20; // rows, of which each cell is a dot
const FEW = 4; // words that a phone has room for side by side

/** The heading of a row: its name, as a button where rows can be chosen. @param {Mark} mark @param {number} r @param {Kit} kit */
function rowHead({ name, rows, pick, at }, r, kit) {
  const text = rows?.[r] ?? String(r);
  if (!pick) return el("th", { scope: "row", text });
  const label = t("row", { name: text, grid: name ?? "" });
  return el("th", { scope: "row" }, [choice(pick, r, at === r, label, kit, [text])]);
}

/** @param {Mark} mark @param {string} text @param {number} c @param {Kit} kit */
function columnHead({ name, pick_column, column_at }, text, c, kit) {
  if (!pick_column) return el("th", { scope: "col", text });
  const label = t("column", { name: text, grid: name ?? "" });
  return el("th", { scope: "col" }, [choice(pick_column, c, column_at === c, label, kit, [text])]);
}

/** @type {Drawer} */
export function drawGrid(mark, kit) {
  const { name, cells, rows, cols, digits = 2, heat, most, at, pick, size } = mark;
  const full = most ?? largest(cells);
  const isIn = (
    /** @type {number[][] | undefined} */ list,
    /** @type {number} */ r,
    /** @type {number} */ c,
  ) => list?.some(([i, j]) => i === r && j === c);
  const cell = (/** @type {Cell} */ x, /** @type {number} */ r, /** @type {number} */ c) => {
    const text = cellText(x, digits);
    const looks = [
      x === null && "is-empty",
      ["−∞", "−1e9", "NaN"].includes(String(text)) && "is-odd",
      isIn(mark.on, r, c) && "is-on",
      isIn(mark.pale, r, c) && "is-pale",
      mark.column_at === c && "is-column",
    ];
    return el("td", {
      class: looks.filter(Boolean).join(" ") || null,
      style: paint(x, heat, full) || null,
      text: size === "small" ? "" : text,
    });
  };
  const hasHeads = Boolean(rows || pick);
  const head = cols && [
    hasHeads && el("td"),
    ...cols.map((/** @type {string} */ text, /** @type {number} */ c) =>
      columnHead(mark, text, c, kit),
    ),
    mark.row_sums && el("td"),
  ];
  const body = cells.map((/** @type {Cell[]} */ line, /** @type {number} */ r) => {
    const node = el("tr", { class: at === r ? "is-at" : null }, [
      hasHeads && rowHead(mark, r, kit),
      ...line.map((x, c) => cell(x, r, c)),
      mark.row_sums && el("td", { class: "fa-kit-sum", text: mark.row_sums[r] }),
    ]);
    if (pick) node.addEventListener("click", () => kit.api.move({ [pick]: r }));
    return node;
  });
  const sums = mark.column_sums && [
    hasHeads && el("td"),
    ...mark.column_sums.map((/** @type {string} */ text) =>
      el("td", { class: "fa-kit-sum", text }),
    ),
  ];
  const table = el(
    "table",
    { class: size ? `is-${size}${cells.length > MANY ? " is-many" : ""}` : null },
    [
      head && el("thead", {}, [el("tr", {}, head)]),
      el("tbody", {}, body),
      sums && el("tfoot", {}, [el("tr", {}, sums)]),
    ],
  );
  return figure("grid", { ...mark, title: name }, [
    el("div", { class: "fa-scroll", "data-name": name ?? "" }, [table]),
  ]);
}

/** Rows below the words, by their kind. @type {Record<string, (row: Mark, hasLead: boolean) => HTMLElement[]>} */
const ROWS = {
  cells({ names, values, hue, digits = 1, title, lead }, hasLead) {
    const [most, full] = [largest(values), largest([lead ?? []])];
    return values.map((/** @type {Cell[]} */ line, /** @type {number} */ r) =>
      el("tr", { class: `${hueClass(hue)}${r ? "" : " fa-kit-first"}` }, [
        el("th", { scope: "row" }, [r === 0 && title && el("b", { text: title }), names[r]]),
        hasLead &&
          el("td", { class: "fa-kit-lead" }, [
            lead &&
              el("span", {
                class: hueClass("q"),
                style: paint(lead[r], undefined, full),
                text: shortText(lead[r], digits),
              }),
          ]),
        ...line.map((x) =>
          el("td", { style: paint(x, undefined, most), text: shortText(x, digits) }),
        ),
      ]),
    );
  },
  numbers({ name, values, digits = 2 }, hasLead) {
    const most = Math.max(...values.filter((/** @type {Cell} */ x) => typeof x === "number"));
    const line = values.map((/** @type {Cell} */ x) =>
      el("td", { class: x === most ? "is-most" : null, text: cellText(x, digits) }),
    );
    return [row("fa-kit-numbers", name, hasLead, line)];
  },
  shares({ name, values, hue, digits = 2 }, hasLead) {
    const line = values.map((/** @type {number} */ x, /** @type {number} */ k) =>
      el("td", {}, [
        el("span", { text: cellText(x, digits) }),
        el("i", {
          class: "fa-kit-fill",
          "data-key": `${name} ${k}`,
          style: `height:${(2.6 * x).toFixed(3)}em`,
        }),
      ]),
    );
    return [row(`fa-kit-shares ${hueClass(hue)}`, name, hasLead, line)];
  },
};

/** @param {string} look @param {string} name @param {boolean} hasLead @param {HTMLElement[]} line */
const row = (look, name, hasLead, line) =>
  el("tr", { class: `${look} fa-kit-first` }, [
    el("th", { scope: "row", text: name }),
    hasLead && el("td", { class: "fa-kit-lead" }),
    ...line,
  ]);

/** A whole number needs no digits behind the point. @param {Cell} x @param {number} digits */
const shortText = (x, digits) =>
  cellText(x, typeof x === "number" && Number.isInteger(x) ? 0 : digits);

/** @type {Drawer} */
export function drawWords(mark, kit) {
  const { words, rows = [], at, weights, hidden = [], pick, head, lead } = mark;
  const heads = words.map((/** @type {string} */ word, /** @type {number} */ k) => {
    const looks = [at === k && "is-at", hidden.includes(k) && "is-masked"]
      .filter(Boolean)
      .join(" ");
    const inner = pick
      ? choice(pick, k, at === k, t("word", { word }), kit, [word])
      : el("span", { text: word });
    return el("th", { scope: "col", class: looks || null }, [inner]);
  });
  const hasNames = rows.length > 0 || head;
  const table = el("table", { class: words.length > FEW ? "is-many" : null }, [
    el("thead", {}, [
      el("tr", {}, [
        hasNames && el("td", { class: "fa-kit-head", text: head ?? "" }),
        lead && el("td", { class: "fa-kit-lead fa-hue-q" }, [el("b", { text: lead })]),
        ...heads,
      ]),
    ]),
    el(
      "tbody",
      {},
      rows.flatMap((/** @type {Mark} */ one) => ROWS[one.mark](one, Boolean(lead))),
    ),
  ]);
  const box = el("div", { class: "fa-kit-arcs" }, [table]);
  if (weights && at !== undefined) {
    const arcs = overlay();
    box.append(arcs);
    kit.later(() => drawArcs(arcs, box, heads, weights, at));
  }
  if (at !== undefined) box.classList.add("has-arcs");
  return figure("words", mark, [
    el("div", { class: "fa-scroll", "data-name": t("sentence") }, [box]),
  ]);
}

/** Arcs from one word to all, as thick as their weights; the one to itself is a loop.
 * @param {SVGElement} arcs @param {HTMLElement} box @param {HTMLElement[]} heads @param {number[]} weights @param {number} at */
function drawArcs(arcs, box, heads, weights, at) {
  const spots = heads.map((node) => placeIn(node, box));
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
