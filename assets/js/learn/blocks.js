// Drawers for the blocks that the server computes: {"type", "label", …} to DOM. Text goes in as text.

import { figureOf, scaleOf, ticks } from "../lib/axis.js";
import { level, range, viridis } from "../lib/colors.js";
import { button, copyText, el, svg, table } from "../lib/dom.js";
import { drawPlot, hue } from "./plot.js";
import { show } from "./pictures.js";
import { t } from "./texts.js";

/** @import { Api, BarsBlock, BitsBlock, Block, Cell, CellsBlock, CodeBlock, FormulaBlock, LinkBlock, MatrixBlock, PictureBlock, TableBlock, TextBlock, TimelineBlock } from "./types.js" */
/** @import { Children } from "../lib/dom.js" */

/** @param {unknown} x @returns {x is number} */
const isFinite = (x) => Number.isFinite(x);
/** @param {string} text */
const forEar = (text) => el("span", { class: "fa-sr", text });
/** @param {string} text */
const remark = (text) => text && el("p", { class: "fa-fine", text });

/** A figure with its label above; `aside` stands beside the label.
 * @param {string} kind @param {string} label @param {Children} body @param {Node | string | null} aside */
const figure = (kind, label, body, aside = null) =>
  el("figure", { class: `fa-block-of fa-${kind}-block` }, [
    el("figcaption", {}, [el("b", { text: label }), aside]),
    ...body,
  ]);

/** What may be wider than its place scrolls inside; widget.js makes it a stop for the keyboard.
 * @param {string} label @param {Node} body */
const scroller = (label, body) => el("div", { class: "fa-scroll", "data-name": label }, [body]);

/** @type {Record<string, string>} */
const SIGNS = { good: "✓", bad: "✗" };

/** @param {Pick<TextBlock, "words" | "kind">} block */
function drawText({ words, kind }) {
  const sign =
    SIGNS[kind] && el("span", { class: "fa-sign", "aria-hidden": "true", text: SIGNS[kind] });
  return el("p", { class: `fa-block-of fa-text-block is-${kind}` }, [
    sign,
    el("span", { text: words }),
  ]);
}

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

/** @param {BarsBlock} block */
function drawBars({ label, items, colour, log, limit }) {
  const valueOf = (/** @type {Cell} */ v) => (v === "∞" ? Infinity : isFinite(v) ? v : 0);
  const values = items.map(([, v]) => valueOf(v));
  const at = scaleOf(limit === null ? values : [...values, limit], log);
  const zero = log ? 0 : at(0);
  const percent = (/** @type {number} */ x) => `${(x * 100).toFixed(2)}%`;
  const lines = items.map(([name, value, beside], k) => {
    const end = values[k] === Infinity ? 1 : at(values[k]);
    const style = `left:${percent(Math.min(zero, end))};right:auto;width:${percent(Math.abs(end - zero))}`;
    return el("li", {}, [
      el("span", { class: "fa-bar-name", text: name }),
      el("span", { class: "fa-run-track", "aria-hidden": "true" }, [
        el("i", { class: `fa-fill${value === "∞" ? " is-endless" : ""}`, style }),
        limit !== null && el("i", { class: "fa-limit", style: `left:${percent(at(limit))}` }),
      ]),
      el("b", { class: "fa-bar-figure", text: beside }),
    ]);
  });
  const signs = [log && t("logarithmic"), limit !== null && t("limit")].filter(Boolean).join(" · ");
  const list = el("ul", { class: hue(colour) }, lines);
  return figure("bars", label, [list], signs && el("span", { text: signs }));
}

/** Cells of levels "1" to "9"; a stroke where there is none. `more` is drawn above them.
 * @param {string[]} levels @param {Children} more */
export function drawLevels(levels, more = []) {
  /** @type {Map<string, string>} */
  const paths = new Map();
  levels.forEach((row, i) =>
    [...row].forEach((at, j) => {
      const cell =
        at === "." ? `M${j + 0.3} ${i + 0.7}l.4-.4` : `M${j + 0.05} ${i + 0.05}h.9v.9h-.9z`;
      paths.set(at, (paths.get(at) ?? "") + cell);
    }),
  );
  const looks = (/** @type {string} */ at) =>
    at === "." ? { class: "is-hidden" } : { "fill-opacity": (0.19 + 0.09 * Number(at)).toFixed(2) };
  const size = `${levels[0].length + 0.2} ${levels.length + 0.2}`;
  return svg("svg", { class: "fa-picture", viewBox: `-.1 -.1 ${size}`, "aria-hidden": "true" }, [
    ...[...paths].map(([at, d]) => svg("path", { d, ...looks(at) })),
    ...more,
  ]);
}

/** @param {CellsBlock} block */
function drawCells({ label, words, levels, row, block, kinds }) {
  const tiles = kinds.flatMap((across, i) =>
    across.flatMap((kind, j) => {
      const place = { x: j * block, y: i * block, width: block, height: block };
      const middle = `translate(${(j + 0.5) * block} ${(i + 0.5) * block + 0.35}) scale(.046)`;
      return [
        svg("rect", { class: `is-${kind}`, ...place, rx: 0.2 }),
        kind === "skipped" && block > 2 && svg("text", { transform: middle, text: t("skip") }),
      ];
    }),
  );
  const line =
    row !== null &&
    svg("rect", { class: "is-row", x: 0, y: row, width: levels[0].length, height: 1 });
  const box = el("div", { role: "img", "aria-label": `${label}. ${words}` }, [
    drawLevels(levels, [...tiles, line]),
  ]);
  return figure("cells", label, [box, remark(words)]);
}

/** @param {TableBlock} block */
function drawTable({ label, head, rows }) {
  const isNumber = (/** @type {number} */ k) =>
    rows.every(
      (row) => /^([−\-+±≈~<>]? ?[\d.∞]|NaN|–|—|$)/.test(row[k] ?? "") && (row[k] ?? "").length < 18,
    );
  const kinds = (rows[0] ?? head).map((_, k) => (k && isNumber(k) ? "is-number" : null));
  const heads = head.map((text, k) =>
    text ? el("th", { scope: "col", class: kinds[k], text }) : el("td"),
  );
  const grid = table(
    { class: "fa-facts" },
    [el("caption", { class: "fa-sr", text: label })],
    heads.length ? heads : null,
    rows.map((row) =>
      el(
        "tr",
        {},
        row.map((text, k) =>
          k ? el("td", { class: kinds[k], text }) : el("th", { scope: "row", text }),
        ),
      ),
    ),
  );
  return figure("table", label, [scroller(label, grid)]);
}

/** @param {BitsBlock} block */
function drawBits({ label, value, ...block }) {
  const group = (
    /** @type {"sign" | "exponent" | "mantissa"} */ part,
    /** @type {string} */ colour,
  ) => {
    const digits = block[part];
    const name = t(`bits.${part}`);
    const fours = (digits.match(/.{1,4}/g) ?? []).map((four) =>
      el(
        "span",
        {},
        [...four].map((bit) => el("i", { class: bit === "1" ? "is-one" : null, text: bit })),
      ),
    );
    return (
      digits &&
      el("span", { class: `fa-bit-group ${hue(colour)}` }, [
        el("span", {
          class: "fa-bit-name",
          text: digits.length > 1 ? `${name} · ${digits.length}` : name,
        }),
        el("span", { class: "fa-bit-cells" }, fours),
      ])
    );
  };
  const none = t("bits.none");
  const { sign, exponent, mantissa } = block;
  const text = t("bits", {
    label,
    sign: sign || none,
    exponent: exponent || none,
    mantissa: mantissa || none,
  });
  const row = el("div", { class: "fa-bit-row", role: "img", "aria-label": text }, [
    group("sign", "o"),
    group("exponent", "q"),
    group("mantissa", "v"),
  ]);
  return figure("bits", label, [row, remark(block.remark)], el("strong", { text: value }));
}

/** @param {TimelineBlock} block */
function drawTimeline({ label, lanes, unit }) {
  const bars = lanes.flatMap(([, found]) => found);
  const end = Math.max(...bars.map(([, stop]) => stop), 0) || 1;
  const percent = (/** @type {number} */ time) => `${((time / end) * 100).toFixed(3)}%`;
  const items = lanes.map(([, found]) =>
    found.map(([start, stop, words, colour, short]) => {
      const span = { from: figureOf(start), to: figureOf(stop), unit };
      const title = words ? t("bar.named", { words, ...span }) : t("bar", span);
      // Of two forms the one that fits is shown, or none: never half a word. The style sheet decides.
      const forms = [words, short ?? ""].filter(Boolean).map((text) =>
        el("span", {
          class: "fa-bar-words",
          "aria-hidden": "true",
          text,
          style: `--n:${text.length};--more:${text === short ? words.length : 999}`,
        }),
      );
      const style = `left:${percent(start)};width:${percent(stop - start)}`;
      return el("li", { class: hue(colour), style, title }, [...forms, forEar(title)]);
    }),
  );
  const kinds = new Map(bars.flatMap(([, , , colour, , kind]) => (kind ? [[kind, colour]] : [])));
  const legend = [...kinds].map(([text, colour]) =>
    el("li", {}, [el("i", { class: `fa-lane-key ${hue(colour)}` }), el("span", { text })]),
  );
  const rows = lanes.flatMap(([name], k) => [
    el("span", { class: "fa-lane-name", text: name }),
    el("ul", { class: "fa-lane-bars", "aria-label": name }, items[k]),
  ]);
  const marks = ticks(0, end, 6, false).map((tick) =>
    el("span", { style: `left:${percent(tick)}`, text: figureOf(tick) }),
  );
  const grid = el("div", { class: "fa-lanes-of" }, [
    ...rows,
    el("span", { class: "fa-lane-name", text: unit }),
    el("div", { class: "fa-lane-axis", "aria-hidden": "true" }, marks),
  ]);
  return figure("timeline", label, [
    legend.length > 0 && el("ul", { class: "fa-plot-legend" }, legend),
    scroller(label, grid),
  ]);
}

const MATHML = "http://www.w3.org/1998/Math/MathML";

/** Our own server's constant MathML; anything in it that is not MathML is shown as the label instead.
 * @param {FormulaBlock} block */
function drawFormula({ label, mathml, source }) {
  const parsed = new DOMParser().parseFromString(
    `<math xmlns="${MATHML}" display="block">${mathml}</math>`,
    "text/html",
  ).body.firstElementChild;
  const isOdd = (/** @type {Element} */ node) =>
    node.namespaceURI !== MATHML ||
    [...node.attributes].some(({ name }) => /^on|href|src/.test(name));
  if (!parsed || [parsed, ...parsed.querySelectorAll("*")].some(isOdd))
    return drawText({ words: label, kind: "plain" });
  const math = document.importNode(parsed, true);
  math.setAttribute("aria-label", label);
  return figure("formula", label, [scroller(label, math), remark(source)]);
}

/** @param {CodeBlock} block */
function drawCode({ label, lines, marked }) {
  const rows = lines
    .replace(/\n$/, "")
    .split("\n")
    .map((line, k) => el(marked?.includes(k) ? "mark" : "span", { text: `${line}\n` }));
  const pre = el("pre", {}, [el("code", {}, rows)]);
  const select = () => {
    window.getSelection()?.selectAllChildren(pre);
    return t("selected");
  };
  const copy = button(t("copy"), () => copyText(copy, () => lines, t("copied"), select), {
    class: "fa-small",
    "aria-label": t("copy.what", { label }),
    "aria-live": "polite",
  });
  return figure("code", label, [scroller(label, pre)], copy);
}

/** @param {LinkBlock} block */
const drawLink = ({ words, query }) =>
  el("p", { class: "fa-block-of fa-text-block" }, [
    el("a", { class: "fa-run-link", href: `?${query}`, text: words }),
  ]);

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

const DRAWERS = /** @type {Record<string, (block: any, api?: Api) => HTMLElement>} */ ({
  text: drawText,
  matrix: drawMatrix,
  bars: drawBars,
  table: drawTable,
  cells: drawCells,
  bits: drawBits,
  formula: drawFormula,
  timeline: drawTimeline,
  code: drawCode,
  link: drawLink,
  plot: drawPlot,
  picture: drawPicture,
});

/** One block as an element; an unknown kind is left out. `api` is what a moving picture has of its widget.
 * @param {Block} block @param {Api} [api] */
export const draw = (block, api) => DRAWERS[block.type]?.(block, api) ?? null;
