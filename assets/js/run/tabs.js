// The details of a run: errors, tiles, times, the roofline, why PyTorch picks its backend, the script.

import { scale, widthOf } from "../lib/chart.js";
import { button, copyText, el } from "../lib/dom.js";
import { download } from "../lib/save.js";
import { path, rect, stroke, text, tipped } from "../lib/svg_canvas.js";
import { csv } from "../model/table.js";
import { drawTable } from "../story/tables.js";
import { paintMap } from "./claims.js";
import { picture } from "./picture.js";
import { t } from "./result_texts.js";
import { paintRoofline } from "./roofline.js";
import { decades } from "./shapes.js";

/** @import { Paper } from "../lib/svg_canvas.js" */
/** @import { Table } from "../story/chapters.js" */

const PLOT = { share: 0.5, least: 130, most: 300, fills: true };

/** @param {string} words */
const paragraph = (words) => el("p", { text: words });

/** A table that scrolls sideways. @param {Table} table */
const grid = (table) =>
  el("div.fa-run-grid", { tabindex: "0", role: "group", "aria-label": table.title }, [
    drawTable(table),
  ]);

/** @param {[boolean | null, string][]} lines a sign and a sentence each */
const drawLines = (lines) =>
  el(
    "ul.fa-run-lines",
    lines.map(([is, words]) =>
      el("li", [
        el("b", {
          text: is === null ? "·" : is ? "✓" : "✗",
          class: is === false ? "is-wrong" : "",
        }),
        words,
      ]),
    ),
  );

/** @param {string} title @param {Node} drawn */
const figure = (title, drawn) => el("figure", [el("figcaption", title), drawn]);

/** What is opened by a press, and then lies in sight. @param {string} name @param {Node[]} parts */
function opening(name, parts) {
  const node = /** @type {HTMLDetailsElement} */ (el("details", [el("summary", name), ...parts]));
  node.addEventListener("toggle", () => node.open && node.scrollIntoView({ block: "nearest" }));
  return node;
}

/** @type {Record<string, (tab: any, state: any) => (Node | false | null)[]>} */
const TABS = {
  errors: ({ histogram, cost, table, texts }) => [
    el("div.fa-run-two", [
      figure(
        histogram.title,
        picture(t("histogram.label"), (paper) => paintHistogram(histogram, paper), PLOT),
      ),
      figure(
        cost.title,
        picture(t("cost.label"), (paper) => paintCost(cost, paper), PLOT),
      ),
    ]),
    opening(t("rules"), [grid(table), ...texts.map(paragraph)]),
  ],
  tiles: ({ lines, maps, notes, grids, repeat }) => [
    drawLines(lines),
    el(
      "div.fa-run-maps",
      maps.map((/** @type {any} */ map) =>
        figure(
          map.name,
          picture(
            t("map.label"),
            (paper, pen) => {
              const none = () => {};
              return paintMap(
                { map: { ...map, steps: [] }, note: "", chosen: -1, choose: none, open: none },
                paper,
                pen,
              );
            },
            PLOT,
          ),
        ),
      ),
    ),
    ...notes.map(paragraph),
    ...grids.map(grid),
    repeat && grid(repeat),
    repeat && paragraph(repeat.text),
  ],
  time: ({ table, texts, name, data }) => [
    grid(table),
    el("p.fa-run-files", [
      button(t("csv"), () => save(`${name}.csv`, csv({ rows: data.table }), "text/csv")),
      button(t("json"), () =>
        save(`${name}.json`, JSON.stringify(data, null, 1), "application/json"),
      ),
    ]),
    ...texts.map(paragraph),
  ],
  roofline: (roofline) =>
    roofline
      ? [
          picture(t("roofline.label"), (paper) => paintRoofline(roofline, paper), {
            ...PLOT,
            share: 0.9,
            most: 300,
          }),
          ...roofline.texts.map(paragraph),
        ]
      : [paragraph(t("no_roofline"))],
  backend: (backend) =>
    backend ? [drawLines(backend.lines), paragraph(backend.note)] : [paragraph(t("no_backend"))],
  script: ({ code, name, text: words }) => [
    el("p.fa-run-files", [
      button(t("copy"), (event) => {
        const node = /** @type {HTMLElement} */ (event.currentTarget);
        void copyText(
          node,
          () => code,
          t("copied"),
          () => {
            save(name, code, "text/x-python");
            return t("save");
          },
        );
      }),
      button(t("save"), () => save(name, code, "text/x-python")),
    ]),
    paragraph(words),
    el("pre", { tabindex: "0", "aria-label": name }, [el("code", { text: code })]),
  ],
};

/** @param {string} name @param {string} content @param {string} type */
const save = (name, content, type) => download(new Blob([content], { type }), name);

/** The parts of a tab. @param {string} tab @param {any} data @param {any} state */
export const drawTab = (tab, data, state) =>
  /** @type {Node[]} */ (TABS[tab](data, state).filter(Boolean));

/** @typedef {{low: number, high: number, series: {name: string, main: boolean, shares: number[], texts: string[]}[]}} Histogram */

/** Filled: our kernel; the line: naive attention; their names above, where no error is drawn. @param {Histogram} histogram @param {Paper} paper */
function paintHistogram({ low, high, series }, { width, height, type: size }) {
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
