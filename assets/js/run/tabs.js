// The details of a run: errors, tiles, times, the roofline, why PyTorch picks its backend, the script. The server's templates make them;
// here are their pictures and buttons.

import { scale, widthOf } from "../lib/chart.js";
import { all, copyText, get, parseHtml } from "../lib/dom.js";
import { download } from "../lib/save.js";
import { path, rect, stroke, text, tipped } from "../lib/svg_canvas.js";
import { csv } from "../model/table.js";
import { paintMap } from "./claims.js";
import { picture } from "./picture.js";
import { t } from "./result_texts.js";
import { paintRoofline } from "./roofline.js";
import { decades } from "./shapes.js";

/** @import { Paper } from "../lib/svg_canvas.js" */

const PLOT = { share: 0.5, least: 130, most: 300, fills: true };

/** What is drawn at a place of a tab: of its data, and of several the how manieth. @type {Record<string, (tab: any, k: number) => Node>} */
const PICTURES = {
  histogram: ({ histogram }) =>
    picture(t("histogram.label"), (paper) => paintHistogram(histogram, paper), PLOT),
  cost: ({ cost }) => picture(t("cost.label"), (paper) => paintCost(cost, paper), PLOT),
  map: ({ maps }, k) => {
    const none = () => {};
    const it = { map: { ...maps[k], steps: [] }, note: "", chosen: -1, choose: none, open: none };
    return picture(t("map.label"), (paper, pen) => paintMap(it, paper, pen), PLOT);
  },
  roofline: (roofline) =>
    picture(t("roofline.label"), (paper) => paintRoofline(roofline, paper), {
      ...PLOT,
      share: 0.9,
    }),
};

/** What a button of a tab does. @type {Record<string, (tab: any, page: HTMLElement, button: HTMLElement) => void>} */
const ACTS = {
  csv: ({ name, data }) => save(`${name}.csv`, csv({ rows: data.table }), "text/csv"),
  json: ({ name, data }) => save(`${name}.json`, JSON.stringify(data, null, 1), "application/json"),
  save: ({ name }, page) => save(name, get(page, "code").textContent ?? "", "text/x-python"),
  copy(tab, page, button) {
    const otherwise = () => {
      ACTS.save(tab, page, button);
      return t("save");
    };
    void copyText(button, () => get(page, "code").textContent ?? "", t("copied"), otherwise);
  },
};

/** @param {string} name @param {string} content @param {string} type */
const save = (name, content, type) => download(new Blob([content], { type }), name);

/** Show a tab. @param {HTMLElement} page @param {any} tab */
export function drawTab(page, tab) {
  page.replaceChildren(...parseHtml(tab.html));
  for (const place of all(page, "[data-picture]")) {
    const { picture: name = "", k } = place.dataset;
    place.replaceWith(PICTURES[name](tab, Number(k)));
  }
  for (const button of all(page, "[data-act]"))
    button.addEventListener("click", () => ACTS[button.dataset.act ?? ""](tab, page, button));
  // What is opened by a press then lies in sight
  for (const node of all(page, "details"))
    node.addEventListener(
      "toggle",
      () => node.hasAttribute("open") && node.scrollIntoView({ block: "nearest" }),
    );
}

/** @typedef {{low: number, high: number, series: {name: string, main: boolean, shares: number[], texts: string[]}[]}} Histogram */

/** Filled: our kernel; the line: naive attention; their names above, where no error is drawn. @param {Histogram} histogram @param {Paper} paper */
function paintHistogram({ low, high, series }, { width, height, narrow, type }) {
  const size = narrow ? type - 1 : type;
  const [top, bottom] = [size * 2, height - size * 1.9];
  const y = scale([0, Math.max(...series.flatMap(({ shares }) => shares), 1e-9)], [bottom, top]);
  const wide = width / (series[0]?.shares.length ?? 1);
  const [sign, between] = [size * 1.2, size * 1.6];
  let left = 0; // of a name
  return [
    series.map(({ name, main, shares, texts }) => {
      const isFilled = main || series.length === 1;
      const steps = shares.map((share, k) => `${k * wide} ${y(share)}h${wide}`).join("L");
      const x = left;
      left += sign + 6 + widthOf(name, size) + between;
      return [
        shares.map((share, k) => {
          const [x, at] = [k * wide, y(share)];
          const shape = isFilled
            ? rect(x + 1, at, wide - 2, bottom - at, "accent", { opacity: 0.45 }, 2)
            : rect(x, at, wide, 6, "", { fill: "transparent" });
          return tipped(shape, texts[k]);
        }),
        !isFilled && path(`M${steps}`, stroke("ink", 1.75)),
        isFilled
          ? rect(x, 2, sign, size * 0.85, "accent", { opacity: 0.45 }, 2)
          : path(`M${x} ${size * 0.6}h${sign}`, stroke("ink", 1.75)),
        text(x + sign + 6, size, name, size, main ? "semi accent-ink" : "semi"),
      ];
    }),
    path(`M0 ${bottom}H${width}`, stroke("hatch")),
    decades(low, high, scale([low, high], [0, width]), bottom + size * 1.5, size - 1),
  ];
}

const PARTS = ["o", "k", "minus"]; // hues, by size

/** @typedef {{parts: {share: number, text: string}[], error: number, text: string}} Cost */

/** What rounding may cost, in parts, and below the error that there is, to the same scale. @param {Cost} cost @param {Paper} paper */
function paintCost({ parts, error, text: words }, { width, type: size }) {
  const high = 32;
  const y = 4 + high + size * 3.4;
  const long = Math.max(3, width * error);
  let at = 0;
  const small = parts.filter((part) => widthOf(part.text, size) > width * part.share - 12);
  return [
    parts.map((part, k) => {
      const x = at;
      at += width * part.share;
      return tipped(
        [
          rect(x, 4, width * part.share - 2, high, PARTS[k], { opacity: 0.55 }, 3),
          !small.includes(part) &&
            text(x + 10, 4 + high / 2 + size * 0.36, part.text, size, "semi"),
        ],
        part.text,
      );
    }),
    text(
      width,
      4 + high + size * 1.4,
      small.map((part) => part.text).join("; "),
      size - 1,
      "quiet end",
    ),
    rect(0, y - size, long, size * 1.2, "accent", {}, 3),
    text(long + 10, y, words, size, "semi accent-ink halo"),
  ];
}
