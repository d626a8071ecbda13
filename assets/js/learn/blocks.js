// Drawers for the blocks that the server answers with. What is still comes as HTML; matrices, plots and pictures as data.

import { level, range, viridis } from "../lib/colors.js";
import { copyText, el, get, table } from "../lib/dom.js";
import { drawPlot, hue } from "./plot.js";
import { show } from "./pictures.js";
import { t } from "./texts.js";

/** @import { Api, Block, Cell, HtmlBlock, MatrixBlock, PictureBlock } from "./types.js" */
/** @import { Children } from "../lib/dom.js" */

/** @param {unknown} x @returns {x is number} */
const isFinite = (x) => Number.isFinite(x);
/** @param {string} text */
const forEar = (text) => el("span", { class: "fa-sr", text });
/** A figure with its label above.
 * @param {string} kind @param {string} label @param {Children} body */
const figure = (kind, label, body) =>
  el("figure", { class: `fa-block-of fa-${kind}-block` }, [
    el("figcaption", {}, [el("b", { text: label })]),
    ...body,
  ]);

/** What may be wider than its place scrolls inside; widget.js makes it a stop for the keyboard.
 * @param {string} label @param {Node} body */
const scroller = (label, body) => el("div", { class: "fa-scroll", "data-name": label }, [body]);

/** A cell's digits; one digit more, or a power of ten, where rounding would leave nothing.
 * @param {Cell} x @param {number} digits */
function digitsOf(x, digits) {
  if (!isFinite(x)) return x ?? "";
  const finer = x.toFixed(digits + 1);
  let text = x.toFixed(digits);
  if (Math.abs(x) >= 1e6) text = x.toExponential(1);
  else if (x && !Number(text)) text = Number(finer) ? finer : x.toExponential(0);
  return text.replace("e+", "e").replaceAll("-", "−");
}

/** @param {Cell} x @param {[number, number]} bounds @param {string} colour */
function heatOf(x, [low, high], colour) {
  if (!isFinite(x)) return "";
  if (colour === "plain" || colour === "s") {
    const at = level(x, low, high);
    return `background:${viridis.css[at]};color:${viridis.dark[at] ? "#fff" : "#000"}`;
  }
  // One hue tells size, not sign
  const at = level(Math.abs(x), 0, Math.max(Math.abs(low), Math.abs(high)));
  return `background:color-mix(in srgb, var(--fa-hue) ${(6 + (at / 255) * 42).toFixed(0)}%, var(--fa-paper))`;
}

/** @param {MatrixBlock} block */
function drawMatrix({ label, rows, row_labels, col_labels, colour, digits, marks, ...looks }) {
  const bounds = range(rows.flat().filter(isFinite));
  const marked = new Set(marks.map((at) => at.join()));
  const cell = (/** @type {Cell} */ x, /** @type {number} */ i, /** @type {number} */ j) => {
    const isMarked = marked.has(`${i},${j}`);
    const kind = `${isFinite(x) ? "" : x === null ? "is-empty" : "is-odd"}${isMarked ? " is-marked" : ""}`;
    const style = looks.heat ? heatOf(x, bounds, colour) : null;
    return el("td", { class: kind.trim() || null, style, text: digitsOf(x, digits) }, [
      isMarked && forEar(` ${t("marked")}`),
    ]);
  };
  const hasNames = row_labels.length > 0;
  const heads = col_labels.map((text) => el("th", { scope: "col", text }));
  const grid = table(
    { class: `fa-cells ${hue(colour)}${looks.gradient ? " is-gradient" : ""}` },
    [el("caption", { class: "fa-sr", text: label })],
    heads.length ? [hasNames && el("td"), ...heads] : null,
    rows.map((row, i) =>
      el("tr", {}, [
        hasNames && el("th", { scope: "row", text: row_labels[i] ?? "" }),
        ...row.map((x, j) => cell(x, i, j)),
      ]),
    ),
  );
  const node = figure("matrix", label, [scroller(label, grid)]);
  node.classList.add(`fa-ink-${colour}`);
  return node;
}

/** A picture that moves under the hand, with its words: its module comes when it is first drawn.
 * @param {PictureBlock} block @param {Api} api */
function drawPicture(block, api) {
  const { name, label, words } = block;
  const box = el("div", { class: "fa-moving", role: "group", "aria-label": label });
  const root = figure("picture", label, [box, el("p", { class: "fa-sr", text: words })]);
  root.dataset.picture = name;
  show(root, block, api);
  return root;
}

/** Our own server's HTML, which explainer/views/templates/learn/blocks.html writes. @param {HtmlBlock} block */
function drawHtml({ html }) {
  const place = el("template");
  place.innerHTML = html;
  return /** @type {HTMLElement} */ (place.content.firstElementChild);
}

/** Copies the code of the figure around this button, or selects it where there is no clipboard. @param {HTMLElement} node */
export function copyCode(node) {
  const code = get(/** @type {Element} */ (node.closest("figure")), "code");
  copyText(
    node,
    () => code.textContent ?? "",
    t("copied"),
    () => {
      window.getSelection()?.selectAllChildren(code);
      return t("selected");
    },
  );
}

const DRAWERS = /** @type {Record<string, (block: any, api?: Api) => HTMLElement>} */ ({
  html: drawHtml,
  matrix: drawMatrix,
  plot: drawPlot,
  picture: drawPicture,
});

/** One block as an element; an unknown kind is left out. `api` is what a moving picture has of its widget.
 * @param {Block} block @param {Api} [api] */
export const draw = (block, api) => DRAWERS[block.type]?.(block, api) ?? null;
