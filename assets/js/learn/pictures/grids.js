// Matrices in a row with what happens between them; a row of a matrix can be chosen, words can be joined by their weights.

import { level, viridis } from "../../lib/colors.js";
import { digits, svgCanvas, ink, path, rect, stroke, text, wrapped } from "../svg_canvas.js";
import { svg } from "../../lib/dom.js";
import { LABEL, broken, cellOf, fixed } from "../grid_layout.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_grids.json" with { type: "json" };

const t = textsOf(texts);

/** @import { Api, Cell, GridItem, GridsData } from "../types.js" */
/** @import { Paper, Pen, Drawn } from "../svg_canvas.js" */

/** @type {Record<string, string>} */
const INKS = { q: "accent-ink", k: "ink-k", v: "ink-v", o: "ink-o", m: "ink-m", l: "l" };
/** @param {Cell} x @param {GridItem} item */
function colour(x, item) {
  if (typeof x !== "number") return null;
  if (item.heat) {
    const at = level(x, item.heat[0], item.heat[1]);
    return { fill: viridis.css[at], ink: viridis.dark[at] ? "#fff" : "#000" };
  }
  const share = Math.round(8 + 38 * Math.min(1, Math.abs(x) / (item.most || 1)));
  return {
    fill: `color-mix(in srgb, ${ink(item.hue ?? "quiet")} ${share}%, ${ink("paper")})`,
    ink: ink("ink"),
  };
}

/** How wide a number or a word is, in ems. @param {string} words */
const wide = (words) =>
  [...words].reduce((sum, sign) => sum + (sign === "." ? 0.32 : sign === "−" ? 0.84 : 0.64), 0);

/** @param {GridItem} item @param {number} left @param {number} top @param {[number, number]} cell its width and height
 * @param {Paper} paper @param {Pen<GridsData>} pen @param {Api} api */
function grid(item, left, top, [cw, ch], paper, pen, api) {
  /** @type {Drawn[]} */
  const nodes = [];
  const { type } = paper;
  const { cells = [], sums, pick } = item;
  const names = fixed({ ...item, sums: undefined }, type) - 10;
  const x0 = left + names;
  const y0 = top + type * 1.35 * LABEL;
  const longest = Math.max(
    ...cells
      .flat()
      .map((x) => wide(typeof x === "number" ? digits(x, item.digits ?? 2) : (x ?? ""))),
  );
  const size = Math.min(
    type,
    cw / (longest * (item.row === undefined ? 1 : 1.1) + 0.25),
    ch * 0.85,
  );
  nodes.push(text(x0, top + type, item.name, type, `bold ${INKS[item.hue] ?? "ink"}`));
  (item.cols ?? []).forEach((name, c) =>
    nodes.push(
      text(
        x0 + (c + 0.5) * cw,
        y0 - 5,
        name,
        Math.min(type - 2, cw / (name.length * 0.64 || 1)),
        "middle quiet",
      ),
    ),
  );
  cells.forEach((row, r) => {
    /** @type {Drawn[]} */
    const drawn = row.map((x, c) => {
      const paint = colour(x, item);
      const [px, py] = [x0 + c * cw, y0 + r * ch];
      const words = typeof x === "number" ? digits(x, item.digits ?? 2) : (x ?? "");
      const box = svg("rect", {
        x: px + 1,
        y: py + 1,
        width: cw - 2,
        height: ch - 2,
        rx: 3,
        style: paint ? `fill:${paint.fill}` : `fill:${ink("empty")}`,
      });
      const label = svg("text", {
        x: px + cw / 2,
        y: py + ch / 2 + size * 0.36,
        "text-anchor": "middle",
        style: `font-size:${size}px;fill:${paint?.ink ?? ink("quiet")};font-weight:${item.row === r ? 700 : 400}`,
        text: words,
      });
      const isHidden = words === "−∞" || words === "hidden";
      return [
        box,
        isHidden && path(`M${px + 4} ${py + ch - 4}L${px + cw - 4} ${py + 4}`, stroke("hatch", 1)),
        label,
      ];
    });
    if (item.rows)
      drawn.push(
        text(
          x0 - 7,
          y0 + (r + 0.5) * ch + type * 0.33,
          item.rows[r],
          type - 1,
          `${item.row === r ? "bold" : ""} end ${item.row === r ? "" : "quiet"}`,
        ),
      );
    if (item.row === r)
      drawn.push(rect(x0, y0 + r * ch, cw * row.length, ch, "", stroke("ink", 2.5), 4));
    if (sums?.rows)
      drawn.push(
        text(
          x0 + cw * row.length + 8,
          y0 + (r + 0.5) * ch + type * 0.33,
          `Σ ${sums.rows[r]}`,
          type - 1,
          `semi ${sums.one === "rows" ? "ink-v" : "quiet"}`,
        ),
      );
    nodes.push(
      pick
        ? pen.knob(
            {
              key: `${item.name} ${r}`,
              group: item.name,
              chosen: item.row === r,
              label: item.rows
                ? t("row.named", { r, name: item.rows[r], grid: item.name.replace(/ {2}.*/, "") })
                : t("row", { r, grid: item.name.replace(/ {2}.*/, "") }),
              text: item.row === r ? t("followed") : "",
              press: () => api.move({ [pick]: r }),
            },
            [
              rect(left, y0 + r * ch, x0 - left + cw * row.length, ch, "", {
                "fill-opacity": 0,
                fill: ink("paper"),
              }),
              drawn,
            ],
          )
        : drawn,
    );
  });
  if (sums?.cols)
    sums.cols.forEach((sum, c) =>
      nodes.push(
        text(
          x0 + (c + 0.5) * cw,
          y0 + cells.length * ch + type,
          sum,
          Math.min(type - 1, cw / 2.5),
          `semi middle ${sums.one === "cols" ? "ink-v" : "quiet"}`,
        ),
      ),
    );
  if (item.changed)
    for (const [r, c] of item.changed)
      nodes.push(rect(x0 + c * cw + 2, y0 + r * ch + 2, cw - 4, ch - 4, "", stroke("o", 2.5), 3));
  return {
    nodes,
    width: names + cw * (cells[0]?.length ?? 0) + (sums?.rows ? type * 3.1 : 0) + 10,
    middle: y0 + (cells.length * ch) / 2,
  };
}

/** Words in a line; bows from the chosen one to all, as thick as their weights. @param {GridItem} item @param {number} top @param {Paper} paper @param {Pen<GridsData>} pen @param {Api} api */
function joined(item, top, paper, pen, api) {
  const { width, type } = paper;
  const { words = [], weights = [], row = 0, labels = [], pick = "" } = item;
  const step = width / item.words.length;
  const at = (/** @type {number} */ k) => (k + 0.5) * step;
  const y = top + 84;
  /** @type {Drawn[]} */
  const nodes = weights.map((weight, k) => {
    const [a, b] = [at(row), at(k)];
    const d =
      k === row
        ? `M${a - 16} ${y - 24}C${a - 60} ${y - 84} ${a + 60} ${y - 84} ${a + 16} ${y - 24}`
        : `M${a} ${y - 24}Q${(a + b) / 2} ${y - 100} ${b} ${y - 24}`;
    return path(
      d,
      stroke("q", 1 + 13 * weight, { opacity: 0.35 + 0.6 * weight, "stroke-linecap": "round" }),
    );
  });
  /** @type {string[]} */ (words).forEach((word, /** @type {number} */ k) =>
    nodes.push(
      pen.knob(
        {
          key: `word ${k}`,
          group: "words",
          chosen: k === row,
          label: t("word", { word }),
          text: k === row ? t("followed") : "",
          press: () => api.move({ [pick]: k }),
        },
        [
          rect(
            at(k) - 70,
            y - 26,
            140,
            44,
            "",
            {
              fill: ink(k === row ? "accent-pale" : "paper"),
              "fill-opacity": k === row ? 1 : 0,
            },
            8,
          ),
          text(at(k), y - 2, word, type + 5, `${k === row ? "bold" : ""} middle`),
          text(at(k), y + 15, labels[k], type - 2, "middle quiet"),
        ],
      ),
    ),
  );
  return nodes;
}

/** @param {GridItem} item @param {number} left @param {number} top @param {Paper} paper */
function note(item, left, top, paper) {
  const size = paper.type + 1;
  const lines = wrapped(
    left + 14,
    top + size * 1.7,
    item.words,
    paper.width - left - 30,
    size,
    `${item.tone ? "semi" : ""} ${item.tone === "bad" ? "risen-ink" : ""}`,
  );
  const high = lines.length * size * 1.4 + size * 1.2;
  return {
    nodes: [
      item.tone === "bad" && rect(left, top, paper.width - left - 4, high, "risen", {}, 8),
      lines,
    ],
    high,
  };
}

/** {lines: [[item, …], …]}: an item is a grid {name, hue, cells, rows, cols, digits, heat, most, row, pick, sums,
 * changed}, a {kind: "sign"} between two, {kind: "words"} joined by weights, or a {kind: "note"},
 * one that is `aside` not in a lecture hall.
 * @param {GridsData} data @param {Api} api */
export function draw(data, api) {
  return svgCanvas(data, api, { share: data.share ?? 1.3 }, (now, paper, pen) => {
    const type = paper.narrow ? 14 : paper.type;
    const at = { ...paper, type };
    const all = paper.big ? now.lines.filter(([item]) => !item.aside) : now.lines;
    const lines = broken(all, paper.narrow, paper.big);
    const cell = cellOf(lines, paper.width, paper.height, type);
    let top = 0;
    const drawn = lines.map((line) => {
      /** @type {Drawn[]} */
      const nodes = [];
      if (line[0].kind === "words") {
        nodes.push(joined(line[0], top, at, pen, api));
        top += 110;
        return nodes;
      }
      if (line[0].kind === "note") {
        const found = note(line[0], 0, top, at);
        top += found.high + 10;
        return found.nodes;
      }
      const most = Math.max(...line.map((item) => item.cells?.length ?? 0));
      let left = 0;
      for (const item of line) {
        const middle = top + type * 1.35 * LABEL + (most * cell[1]) / 2;
        if (item.kind === "sign") {
          nodes.push(
            text(left + fixed(item, type) / 2, middle + 5, item.words, type, "semi middle quiet"),
          );
          left += fixed(item, type);
          continue;
        }
        const found = grid(
          item,
          left,
          top + ((most - (item.cells?.length ?? 0)) * cell[1]) / 2,
          cell,
          at,
          pen,
          api,
        );
        nodes.push(found.nodes);
        left += found.width;
      }
      top +=
        type * 1.35 * (LABEL + (line.some((item) => item.sums?.cols) ? 1 : 0)) +
        most * cell[1] +
        14;
      return nodes;
    });
    paper.used = Math.ceil(top);
    return drawn;
  });
}
