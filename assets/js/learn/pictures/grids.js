// Matrices in a row with what happens between them; a row of a matrix can be chosen, words can be joined by their weights.

import { level, viridis } from "../../lib/colors.js";
import {
  digits,
  group,
  ink,
  INKS,
  path,
  rect,
  stroke,
  svgCanvas,
  text,
  wrapped,
} from "../../lib/svg_canvas.js";
import { broken, cellOf, fixed, headOf, restOf, rowsOf, WORDS } from "../grid_layout.js";
import { textsOf } from "../../lib/texts.js";
import texts from "../../../texts/picture_grids.json" with { type: "json" };

const t = textsOf(texts);

/** @import { Api, Cell, GridItem, GridsData } from "../types.js" */
/** @import { Pen, Drawn } from "../../lib/svg_canvas.js" */

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

/** A matrix with its names and sums; of one whose rows can be chosen, each row is a knob.
 * @param {GridItem} item @param {[number, number]} cell its width and height
 * @param {number} left @param {number} top @param {number} type px @param {Pen<GridsData>} pen @param {Api} api */
function grid(item, [cw, ch], left, top, type, pen, api) {
  const { cells = [], cols, rows, sums, pick, changed, row: followed } = item;
  const names = fixed({ ...item, sums: undefined }, type) - 10;
  const wordsOf = (/** @type {Cell} */ x) =>
    typeof x === "number" ? digits(x, item.digits ?? 2) : (x ?? "");
  const longest = Math.max(...cells.flat().map((x) => wide(wordsOf(x))));
  const size = Math.min(
    type,
    cw / (longest * (followed === undefined ? 1 : 1.1) + 0.25),
    ch * 0.85,
  );
  const name = item.name.replace(/ {2}.*/, "");
  const sumLook = (/** @type {"rows" | "cols"} */ side) =>
    `semi ${sums?.one === side ? "ink-v" : "quiet"}`;
  const cell = (
    /** @type {Cell} */ x,
    /** @type {number} */ left,
    /** @type {boolean} */ isBold,
  ) => {
    const paint = colour(x, item);
    const words = wordsOf(x);
    const look = isBold ? "bold middle" : "middle";
    const label = text(left + cw / 2, ch / 2 + size * 0.36, words, size, look);
    label.style.fill = paint?.ink ?? ink("quiet");
    return [
      rect(left + 1, 1, cw - 2, ch - 2, "", { fill: paint?.fill ?? ink("empty") }, 3),
      (words === "−∞" || words === "hidden") &&
        path(`M${left + 4} ${ch - 4}L${left + cw - 4} 4`, stroke("hatch")),
      label,
    ];
  };
  const drawn = cells.map((row, r) => {
    const isFollowed = followed === r;
    const [end, base] = [cw * row.length, ch / 2 + type * 0.33];
    const nodes = [
      row.map((x, c) => cell(x, c * cw, isFollowed)),
      rows && text(-7, base, rows[r], type - 1, isFollowed ? "bold end" : "end quiet"),
      isFollowed && rect(0, 0, end, ch, "", stroke("ink", 2.5), 4),
      sums?.rows && text(end + 8, base, `Σ ${sums.rows[r]}`, type - 1, sumLook("rows")),
    ];
    if (!pick) return group(0, r * ch, nodes);
    const knob = {
      key: `${item.name} ${r}`,
      group: item.name,
      chosen: isFollowed,
      label: rows ? t("row.named", { r, name: rows[r], grid: name }) : t("row", { r, grid: name }),
      text: isFollowed ? t("followed") : "",
      press: () => api.move({ [pick]: r }),
    };
    const place = rect(-names, 0, names + end, ch, "paper", { "fill-opacity": 0 });
    return group(0, r * ch, pen.knob(knob, [place, nodes]));
  });
  const look = `bold ${INKS[item.hue] ?? "ink"}`;
  const nodes = [
    text(0, type - headOf(type), item.name, type, look),
    cols?.map((name, c) => {
      const size = Math.min(type - 2, cw / (name.length * 0.64 || 1));
      return text((c + 0.5) * cw, -5, name, size, "middle quiet");
    }),
    drawn,
    sums?.cols?.map((sum, c) => {
      const size = Math.min(type - 1, cw / 2.5);
      return text((c + 0.5) * cw, cells.length * ch + type, sum, size, `middle ${sumLook("cols")}`);
    }),
    changed?.map(([r, c]) => rect(c * cw + 2, r * ch + 2, cw - 4, ch - 4, "", stroke("o", 2.5), 3)),
  ];
  return group(left + names, top + headOf(type), nodes);
}

/** Words in a line; bows from the chosen one to all, as thick as their weights.
 * @param {GridItem} item @param {number} width @param {number} type px @param {Pen<GridsData>} pen @param {Api} api */
function joined({ words, weights = [], row = 0, labels = [], pick = "" }, width, type, pen, api) {
  const at = (/** @type {number} */ k) => ((k + 0.5) * width) / words.length;
  const y = 84;
  const bow = (/** @type {number} */ weight, /** @type {number} */ k) => {
    const [a, b] = [at(row), at(k)];
    const d =
      k === row
        ? `M${a - 16} ${y - 24}C${a - 60} ${y - 84} ${a + 60} ${y - 84} ${a + 16} ${y - 24}`
        : `M${a} ${y - 24}Q${(a + b) / 2} ${y - 100} ${b} ${y - 24}`;
    const look = { opacity: 0.35 + 0.6 * weight, "stroke-linecap": "round" };
    return path(d, stroke("q", 1 + 13 * weight, look));
  };
  const knob = (/** @type {string} */ word, /** @type {number} */ k) => {
    const isChosen = k === row;
    const paint = { "fill-opacity": Number(isChosen) };
    return pen.knob(
      {
        key: `word ${k}`,
        group: "words",
        chosen: isChosen,
        label: t("word", { word }),
        text: isChosen ? t("followed") : "",
        press: () => api.move({ [pick]: k }),
      },
      [
        rect(at(k) - 70, y - 26, 140, 44, isChosen ? "accent-pale" : "paper", paint, 8),
        text(at(k), y - 2, word, type + 5, isChosen ? "bold middle" : "middle"),
        text(at(k), y + 15, labels[k], type - 2, "middle quiet"),
      ],
    );
  };
  return [weights.map(bow), words.map(knob)];
}

/** A sentence, one that is bad on a ground of its own; with the height that it takes.
 * @param {GridItem} item @param {number} width @param {number} type px */
function note({ words, tone }, width, type) {
  const size = type + 1;
  const look = `${tone ? "semi" : ""} ${tone === "bad" ? "risen-ink" : ""}`;
  const lines = wrapped(14, size * 1.7, words, width - 30, size, look);
  const high = lines.length * size * 1.4 + size * 1.2;
  return {
    nodes: [tone === "bad" && rect(0, 0, width - 4, high, "risen", {}, 8), lines],
    high,
  };
}

/** {lines: [[item, …], …]}: an item is a grid {name, hue, cells, rows, cols, digits, heat, most, row, pick, sums,
 * changed}, a {kind: "sign"} between two, {kind: "words"} joined by weights, or a {kind: "note"},
 * one that is `aside` not in presentation mode.
 * @param {GridsData} data @param {Api} api */
export function draw(data, api) {
  return svgCanvas(data, api, { share: data.share ?? 1.3 }, (now, paper, pen) => {
    const { width, height, narrow, big } = paper;
    const type = narrow ? 14 : paper.type;
    const all = big ? now.lines.filter(([item]) => !item.aside) : now.lines;
    const lines = broken(all, narrow, big);
    const cell = cellOf(lines, width, height, type);
    let top = 0;
    const place = (/** @type {Drawn} */ nodes, /** @type {number} */ high) => {
      const drawn = group(0, top, nodes);
      top += high;
      return drawn;
    };
    const drawn = lines.map((line) => {
      const [first] = line;
      if (first.kind === "words") return place(joined(first, width, type, pen, api), WORDS);
      if (first.kind === "note") {
        const { nodes, high } = note(first, width, type);
        return place(nodes, high + 10);
      }
      const most = rowsOf(line);
      let left = 0;
      const nodes = line.map((item) => {
        const from = left;
        const wide = fixed(item, type);
        left += wide + cell[0] * (item.cells?.[0].length ?? 0);
        if (item.kind !== "sign")
          return grid(item, cell, from, ((most - rowsOf([item])) * cell[1]) / 2, type, pen, api);
        const middle = headOf(type) + (most * cell[1]) / 2;
        return text(from + wide / 2, middle + 5, item.words, type, "semi middle quiet");
      });
      return place(nodes, restOf(line, type) + most * cell[1]);
    });
    paper.used = Math.ceil(top);
    return drawn;
  });
}
