// Every method over N, as recorded, with a marker that is moved; words above it choose what is drawn.

import { fetchJson } from "../lib/build.js";
import { button, el, set } from "../lib/dom.js";
import { bytes, clamp, integer } from "../lib/format.js";
import { during } from "../lib/pending.js";
import { radios, replaceRadios } from "../lib/radios.js";
import { circle, group, ink, path, rect, stroke, svgCanvas, text } from "../lib/svg_canvas.js";
import { Tip } from "../story/tip.js";
import { openTables } from "../story/tables.js";
import {
  NAIVE,
  callsOf,
  choiceFor,
  chosen,
  figure,
  lengthsOf,
  naive,
  nearestLength,
  ours,
  recordOf,
  rowsOf,
  said,
  seriesOf,
} from "./records.js";
import { typeOf, widthOf } from "./shapes.js";
import { t, texts } from "./texts.js";

/** @import { Canvas, Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Choice, Row, Series, Table } from "./records.js" */
/** @typedef {{rows: Row[], choice: Choice, methods: Record<string, string>, own: number, at: Map<string, number[]>, move: (n: number) => void}} Scene */

const HEIGHT = { share: 1.1, least: 260, most: 640 };
const GLIDE_MS = 300;
/** @type {Record<string, string>} */
const HUES = { naive: "ink", hopper: "accent", fa2: "accent" };
const still = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Chart {
  /** @type {Choice | undefined} */
  choice;
  /** @type {Row[]} */
  rows = [];
  /** @type {Table | undefined} */
  table;
  /** @type {Canvas | undefined} */
  canvas;
  own = 0; // the N of the visitor's Problem
  /** Where each line stands now, as shares of the height. @type {Map<string, number[]>} */
  at = new Map();
  glide = 0;

  /** @param {import("./index.js").RunFrame} page */
  constructor(page) {
    this.page = page;
    this.words = el("div", { class: "fa-run-words" });
    this.provenance = el("p", { class: "fa-story-provenance" });
    this.measure = button(t("measure"), () => this.page.sweep(), {
      class: "fa-run-plain",
      hidden: true,
    });
    const more = button("⋯", () => this.openTable(more), {
      class: "fa-story-more",
      "aria-label": t("table"),
      title: t("table"),
      "aria-haspopup": "dialog",
    });
    this.place = el("div", { class: "fa-story-picture" });
    const above = el("div", { class: "fa-run-above" }, [
      this.words,
      this.provenance,
      this.measure,
      more,
    ]);
    this.root = el("div", { class: "fa-run-record" }, [above, this.place]);
    this.tip = new Tip(this.place);
  }

  /** Take the records; resolves with nothing. */
  async load() {
    if (this.table) return;
    this.table = /** @type {Table} */ (await during("records", fetchJson("records")));
    this.rows = rowsOf(this.table);
  }

  /** Show what comes nearest to a run, or what an address names. @param {Record<string, string>} values of the run @param {string | undefined} named */
  follow(values, named) {
    if (!this.table) return;
    this.own = Number(values.n);
    const plain = choiceFor(values, this.rows);
    this.plain = String(this.nameOf(plain));
    this.show(named ? this.choiceOf(named, plain) : plain);
  }

  /** A choice as an address has it. @param {Choice} choice */
  nameOf = ({ quantity, pass, mask, d, dtype, n }) => [quantity, pass, mask, d, dtype, n].join();

  /** @param {string} name @param {Choice} plain @returns {Choice} */
  choiceOf(name, plain) {
    const [quantity, pass, mask, d, dtype, n] = name.split(",");
    const choice = /** @type {any} */ ({ quantity, pass, mask, d: Number(d), dtype });
    const lengths = quantity in texts.quantities ? lengthsOf(this.rows, choice) : [];
    return lengths.length ? { ...choice, n: nearestLength(lengths, Number(n)) } : plain;
  }

  /** Take rows that were measured here in place of the records. @param {Row[]} rows @param {string} device */
  measured(rows, device) {
    this.device = device;
    this.rows = [...this.rows.filter((row) => row.record !== null), ...rows];
    if (this.choice) this.show(this.choice);
  }

  /** @param {Partial<Choice>} change */
  choose(change) {
    const choice = /** @type {Choice} */ ({ ...this.choice, ...change });
    if (choice.pass === "backward") Object.assign(choice, { dtype: "bf16" });
    if (choice.pass === "backward" && choice.quantity === "memory") choice.quantity = "time";
    choice.n = nearestLength(lengthsOf(this.rows, choice), choice.n);
    this.show(choice);
    this.page.writeChart(this.nameOf(choice) === this.plain ? null : this.nameOf(choice));
  }

  /** @param {Choice} choice */
  show(choice) {
    this.choice = choice;
    this.drawWords(choice);
    const live = chosen(this.rows, choice).some((row) => row.record === null);
    const { device, date } = /** @type {Table} */ (this.table).records[recordOf(choice.pass)];
    const card = device.replace("NVIDIA ", "");
    const of = live
      ? t("measured", { device: this.device ?? "", dtype: choice.dtype })
      : t("recorded", { card, date, dtype: choice.dtype });
    set(this.provenance, { text: of });
    this.measure.hidden = !this.page.note?.gpu || choice.pass === "backward";
    this.say();
    this.draw(this.targets(choice));
  }

  say() {
    if (!this.choice || !this.table || this.page.view !== "record") return;
    const { headline, sentence } = said(this.rows, this.choice, this.table.methods);
    this.page.say(headline, sentence);
  }

  /** @param {Choice} choice */
  drawWords({ quantity, pass, mask, d, dtype }) {
    const of = (/** @type {Record<string, string>} */ named, why = {}) =>
      Object.entries(named).map(([value, text]) => ({
        value,
        text,
        disabled: /** @type {Record<string, string>} */ (why)[value],
      }));
    const isBack = pass === "backward";
    const look = "fa-run-choice";
    replaceRadios(this.words, [
      radios(
        t("quantity"),
        of(texts.quantities, isBack ? { memory: t("no_memory") } : {}),
        quantity,
        (x) => this.choose({ quantity: /** @type {any} */ (x) }),
        look,
      ),
      radios(t("pass"), of(texts.passes), pass, (x) => this.choose({ pass: x }), look),
      radios(
        t("mask"),
        of({ full: "full", causal: "causal" }),
        mask,
        (x) => this.choose({ mask: x }),
        look,
      ),
      radios(
        t("d"),
        of({ 64: "d 64", 128: "128" }),
        String(d),
        (x) => this.choose({ d: Number(x) }),
        look,
      ),
      radios(
        t("dtype"),
        of({ bf16: "bf16", fp16: "fp16" }, isBack ? { fp16: t("no_fp16") } : {}),
        dtype,
        (x) => this.choose({ dtype: x }),
        look,
      ),
    ]);
  }

  /** @returns {Scene} */
  get scene() {
    const { rows, own, at } = this;
    const choice = /** @type {Choice} */ (this.choice);
    const { methods } = /** @type {Table} */ (this.table);
    return { rows, choice, methods, own, at, move: (n) => this.choose({ n }) };
  }

  /** Where the lines of a choice stand. @param {Choice} choice */
  targets(choice) {
    const series = seriesOf(this.rows, choice, /** @type {Table} */ (this.table).methods);
    const scale = scaleOf(series, choice);
    return new Map(
      series.map(({ method, points }) => [method, points.map(({ value }) => scale.share(value))]),
    );
  }

  /** Lines glide from where they are to where they belong. @param {Map<string, number[]>} to */
  draw(to) {
    cancelAnimationFrame(this.glide);
    const from = this.at;
    const isSame = [...to].every(([key, ys]) => String(from.get(key)) === String(ys));
    const began = performance.now();
    const frame = (/** @type {number} */ now) => {
      const share = isSame || still() || !from.size ? 1 : clamp((now - began) / GLIDE_MS, 0, 1);
      const eased = 1 - (1 - share) ** 3;
      this.at = new Map(
        [...to].map(([key, ys]) => {
          const old = from.get(key);
          const fits = old?.length === ys.length;
          return [key, ys.map((y, k) => (fits && old ? old[k] + (y - old[k]) * eased : y))];
        }),
      );
      this.paint();
      if (share < 1) this.glide = requestAnimationFrame(frame);
    };
    frame(began);
  }

  paint() {
    if (!this.canvas) {
      this.canvas = svgCanvas(this.scene, { label: t("chart") }, HEIGHT, paint);
      this.place.replaceChildren(this.canvas, this.tip.root);
    } else this.canvas.redraw(this.scene);
  }

  /** A key of the page moves the marker; returns whether it did. @param {string} action */
  act(action) {
    if (!this.choice) return false;
    const lengths = lengthsOf(this.rows, this.choice);
    const at = lengths.indexOf(this.choice.n);
    /** @type {Record<string, number>} */
    const to = {
      next: at + 1,
      forward: at + 1,
      back: at - 1,
      backward: at - 1,
      first: 0,
      last: lengths.length - 1,
    };
    if (!(action in to)) return false;
    this.choose({ n: lengths[clamp(to[action], 0, lengths.length - 1)] });
    return true;
  }

  /** All figures of the choice as a table. @param {HTMLElement} opener */
  openTable(opener) {
    const { choice, table } = this;
    if (!choice || !table) return;
    const found = chosen(this.rows, choice).sort((a, b) => a.n - b.n);
    const columns = ["median_ms", "p20_ms", "p80_ms", "loop_ms", "tflops", "peak_bytes", "error"];
    const kept = columns.filter((column) => found.some((row) => row[column] !== null));
    const head = [t("table.method"), "N", ...kept.map((column) => texts.columns[column])];
    const rows = found.map((row) => [
      table.methods[row.method],
      row.n,
      ...(row.refused ? [row.refused] : kept.map((column) => row[column])),
    ]);
    const { headline } = said(this.rows, choice, table.methods);
    const shown = {
      table: [{ title: this.provenance.textContent ?? "", head, rows }],
      links: [],
      label: t("chart"),
      headline,
      beats: [{}],
    };
    openTables(/** @type {any} */ (shown), 0, "flashattention-records", opener, null);
  }
}

/** Where a value stands on the height of a chart, and its ticks. @param {Series[]} series @param {Choice} choice */
function scaleOf(series, { quantity }) {
  const values = series.flatMap(({ points }) => points.map(({ value }) => value));
  if (quantity === "tflops") {
    const top = Math.ceil(Math.max(...values, 1) / 100) * 100;
    const ticks = Array.from({ length: Math.floor(top / 200) + 1 }, (_, k) => k * 200);
    return {
      share: (/** @type {number} */ x) => x / top,
      ticks: ticks.map((x) => /** @type {[number, string]} */ ([x, String(x)])),
    };
  }
  const base = quantity === "memory" ? 4 : 10;
  const log = (/** @type {number} */ x) => Math.log(x) / Math.log(base);
  const low = log(Math.min(...values)) - 0.12;
  const high = log(Math.max(...values)) + (quantity === "time" ? 0.42 : 0.75);
  const first = Math.ceil(low);
  const ticks = Array.from({ length: Math.floor(high) - first + 1 }, (_, k) => base ** (first + k));
  const label = (/** @type {number} */ x) =>
    quantity === "memory" ? bytes(x) : x < 0.1 ? `${x * 1000} µs` : `${x} ms`;
  return {
    share: (/** @type {number} */ x) => (log(x) - low) / (high - low),
    ticks: ticks.map((x) => /** @type {[number, string]} */ ([x, label(x)])),
  };
}

/** @param {Scene} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
function paint({ rows, choice, methods, own, at, move }, paper, pen) {
  const { narrow, big } = paper;
  const size = typeOf(paper) - (big ? 0 : 1);
  const series = seriesOf(rows, choice, methods);
  const lengths = lengthsOf(rows, choice);
  const scale = scaleOf(series, choice);
  const left = narrow ? 56 : Math.max(92, size * 6.2);
  const right = paper.width - (narrow ? 74 : Math.max(248, size * 15));
  const [top, bottom] = [size * 1.2, paper.height - (narrow ? 40 : size * 5)];
  const x = (/** @type {number} */ n) =>
    lengths.length > 1
      ? left + 8 + ((right - left - 8) * Math.log2(n / lengths[0])) / spanOf(lengths)
      : (left + right) / 2;
  const yOf = (/** @type {number} */ share) => bottom - clamp(share, 0, 1) * (bottom - top);
  const here = x(choice.n);
  const grid = scale.ticks.map(([value, label]) => {
    const y = yOf(scale.share(value));
    return [
      path(`M${left} ${y}H${right}`, stroke("line")),
      text(left - 12, y + size * 0.35, label, size, "quiet end"),
    ];
  });
  const lines = series.map((one) => {
    const shares = at.get(one.method) ?? [];
    /** @type {[number, number][]} */
    const points = one.points.map(({ n }, k) => [x(n), yOf(shares[k] ?? 0)]);
    return { ...one, points_: points, end: points[points.length - 1] };
  });
  const isNamed = lines.some(({ method, refused }) => method === NAIVE && refused);
  const beside = isNamed && !narrow ? top + size * 3.4 : top;
  return [
    grid,
    path(`M${left} ${bottom}H${right}`, stroke("hatch")),
    axis(lengths, choice, x, bottom, size, left, narrow),
    own < lengths[0] && !narrow
      ? text(0, bottom + size * 1.6, t("own.below", { n: own }), size, "semi accent-ink")
      : null,
    own > lengths[lengths.length - 1] && !narrow
      ? text(right + 60, bottom + size * 1.6, t("own.above", { n: own }), size, "semi accent-ink")
      : null,
    narrow ? null : drawCalls(rows, choice, x, bottom + size * 3.6, size, left),
    lines.map((one) => drawLine(one, choice)),
    lines.map((one) => one.refused && drawRefused(one, x, yOf, scale, right, size, narrow)),
    drawNames(lines, choice, right, size, narrow, [beside, bottom]),
    nameNaive(lines, here, size, narrow),
    drawMarker(
      { rows, choice, methods, lines, here, top, bottom, size, narrow, lengths },
      move,
      x,
      pen,
    ),
  ];
}

/** @typedef {Series & {points_: [number, number][], end: [number, number]}} Line */

/** @param {number[]} lengths */
const spanOf = (lengths) => Math.log2(lengths[lengths.length - 1] / lengths[0]);

/** @param {number[]} lengths @param {Choice} choice @param {(n: number) => number} x @param {number} bottom @param {number} size @param {number} left @param {boolean} narrow */
function axis(lengths, { n: now }, x, bottom, size, left, narrow) {
  const room = size * (narrow ? 3.6 : 3.9);
  return [
    lengths.map((n, k) => {
      const isBy = Math.abs(x(n) - x(now)) < room + size * 1.6;
      const skips = narrow && k % 2 === 1 && k !== lengths.length - 1;
      if (isBy || skips) return null;
      const words = narrow && n >= 1024 ? `${n / 1024} k` : integer(n);
      return text(x(n), bottom + size * 1.6, words, size, "quiet middle");
    }),
    !narrow &&
      now !== lengths[lengths.length - 1] &&
      text(
        x(lengths[lengths.length - 1]) + size * 2.5,
        bottom + size * 1.6,
        t("tokens"),
        size,
        "quiet",
      ),
    narrow && text(left, bottom + size * 2.9, "", size),
  ];
}

/** How many tokens a call has, below the lengths. @param {Row[]} rows @param {Choice} choice @param {(n: number) => number} x @param {number} y @param {number} size @param {number} left */
function drawCalls(rows, choice, x, y, size, left) {
  return callsOf(rows, choice).map(([first, last, tokens]) => {
    const words = tokens ? t("call", { tokens }) : t("call.one");
    const wide = widthOf(words, size);
    const [from, to] = [tokens ? left + 8 : x(first), x(last)];
    const tick = (/** @type {number} */ at) => path(`M${at} ${y - 9}v8`, stroke("hatch"));
    return tokens
      ? [
          text(from, y, words, size, "quiet"),
          to > from + wide + 12 && [
            path(`M${from + wide + 12} ${y - 5}H${to}`, stroke("line")),
            tick(to),
          ],
        ]
      : [
          path(`M${from} ${y - 5}H${to}`, stroke("line")),
          tick(from),
          text(to + 16, y, words, size, "quiet"),
        ];
  });
}

/** @param {Line} line @param {Choice} choice */
function drawLine({ method, name, points, points_ }, { quantity, n }) {
  const hue = HUES[method] ?? "minus";
  const here = points.find((point) => point.n === n);
  const words = here ? t("tip", { name, figure: figure(quantity, here.value), n }) : name;
  if (method === "fa4") {
    const rings = points_.map(([px, py], k) => {
      const ring = circle(px, py, 6, { fill: "transparent", ...stroke("ink", 1.5) });
      const one = points[k];
      ring.setAttribute(
        "data-tip",
        t("tip", { name, figure: figure(quantity, one.value), n: one.n }),
      );
      return ring;
    });
    return rings;
  }
  const wide = method === "hopper" ? 3.5 : method === NAIVE ? 2.5 : method === "fa2" ? 1.5 : 1.75;
  const d = `M${points_.map((point) => point.join(" ")).join("L")}`;
  const shape = path(d, {
    ...stroke(hue, wide),
    "stroke-linejoin": "round",
    ...(method === "fa2" ? { "stroke-dasharray": "7 4" } : {}),
  });
  const wider = path(d, { ...stroke(hue, 12), opacity: 0 });
  wider.setAttribute("data-tip", words);
  wider.setAttribute("class", "fa-run-line");
  const dots = points.length < 4;
  return [shape, wider, dots && points_.map(([px, py]) => circle(px, py, 3.5, { fill: ink(hue) }))];
}

/** Where a method needs more memory than there is. @param {Line} line @param {(n: number) => number} x @param {(share: number) => number} yOf
 * @param {ReturnType<typeof scaleOf>} scale @param {number} right @param {number} size @param {boolean} narrow */
function drawRefused({ method, refused, points, end }, x, yOf, scale, right, size, narrow) {
  if (method !== NAIVE || !refused) return null;
  const px = x(refused.n);
  const last = points[points.length - 1];
  const isMemory = last.value === last.row.peak_bytes;
  const isRate = last.value === last.row.tflops;
  const grown = isMemory ? refused.needs_bytes : last.value * 3;
  const py = isRate ? end[1] : yOf(Math.min(0.985, scale.share(grown)));
  const s = 6;
  return [
    path(`M${end.join(" ")}L${px} ${py}`, { ...stroke("ink", 1.5), "stroke-dasharray": "2 5" }),
    path(`M${px - s} ${py - s}l${2 * s} ${2 * s}m0 ${-2 * s}l${-2 * s} ${2 * s}`, {
      ...stroke("risen-ink", 2.5),
      "stroke-linecap": "round",
    }),
    narrow
      ? text(px - 12, py - 4, t("refused"), size - 1, "semi risen-ink end halo")
      : [
          text(Math.max(px + 14, right + 14), py + 4, t("refused"), size, "semi risen-ink"),
          text(
            Math.max(px + 14, right + 14),
            py + 4 + size * 1.4,
            t("refused.why", { needs: bytes(refused.needs_bytes) }),
            size,
            "quiet",
          ),
        ],
  ];
}

/** The names at the right end of the lines, apart from each other. @param {Line[]} lines @param {Choice} choice @param {number} right @param {number} size
 * @param {boolean} narrow @param {[number, number]} between */
function drawNames(lines, { quantity }, right, size, narrow, [top, bottom]) {
  const named = lines
    .filter(({ method, end }) => method !== NAIVE && end[0] > right - 4)
    .filter(({ method }) => !narrow || method === "hopper" || method === "sdpa_cudnn")
    .sort((a, b) => a.end[1] - b.end[1]);
  const least = size * 1.5;
  const heights = named.map(({ end }) => end[1]);
  for (let k = 1; k < heights.length; k++)
    heights[k] = Math.max(heights[k], heights[k - 1] + least);
  const over = (heights.at(-1) ?? 0) - bottom;
  const under = Math.max(0, top - (heights[0] ?? top));
  const ys = heights.map((y) => y + under - Math.max(0, over));
  const shown = named.map(({ method, name, points }, k) => {
    const isMain = method === "hopper";
    const look = isMain ? "bold accent-ink" : method === "fa2" ? "accent-ink" : "quiet";
    const y = ys[k] + size * 0.35;
    const label = narrow ? texts.short[method] : name;
    const value = figure(quantity, points[points.length - 1].value);
    return [
      text(right + 14, y, label, isMain ? size + 1 : size, look),
      !narrow && text(right + Math.max(244, size * 14.8), y, value, size, `${look} end`),
    ];
  });
  const rings = lines.find(({ method }) => method === "fa4");
  const ring = rings?.points_[rings.points_.length - 1];
  const isFree = ring && ring[0] < right - 40;
  const down = ring && ring[1] > bottom - 50 ? -1 : 1;
  return [
    shown,
    rings &&
      ring &&
      isFree &&
      !narrow && [
        path(`M${ring[0] + 5} ${ring[1] + 7 * down}l18 ${26 * down}`, stroke("hatch")),
        text(
          ring[0] + 28,
          ring[1] + (down > 0 ? 42 : -36),
          t("rings", { name: rings.name, n: rings.points.length }),
          size + 1,
          "quiet halo",
        ),
      ],
  ];
}

/** @param {Line[]} lines @param {number} here @param {number} size @param {boolean} narrow */
function nameNaive(lines, here, size, narrow) {
  const line = lines.find(({ method }) => method === NAIVE);
  if (!line) return null;
  const free = line.points_
    .slice(1)
    .filter(([px]) => Math.abs(px - here) > size * (narrow ? 4 : 9));
  const [px, py] = free[Math.min(1, free.length - 1)] ?? line.points_[0];
  return text(
    px,
    py - size * 1.1,
    narrow ? texts.short[NAIVE] : line.name,
    size + 2,
    narrow ? "bold middle halo" : "bold end halo",
  );
}

/** @param {{rows: Row[], choice: Choice, methods: Record<string, string>, lines: Line[], here: number, top: number, bottom: number, size: number, narrow: boolean, lengths: number[]}} it
 * @param {(n: number) => void} move @param {(n: number) => number} x @param {Pen<Scene>} pen */
function drawMarker(it, move, x, pen) {
  const { rows, choice, methods, lines, here, top, bottom, size, narrow, lengths } = it;
  const { quantity, n } = choice;
  const pointOf = (/** @type {string | undefined} */ method) => {
    const line = lines.find((one) => one.method === method);
    const k = line?.points.findIndex((point) => point.n === n) ?? -1;
    return line && k >= 0 ? { y: line.points_[k][1], value: line.points[k].value } : null;
  };
  const mine = pointOf(ours(rows, choice)?.method);
  const slow = naive(rows, choice) && pointOf(NAIVE);
  const { headline, sentence, ratio } = said(rows, choice, methods);
  const wide = size * (integer(n).length * 0.62 + 3.2);
  const at = lengths.indexOf(n);
  const isLeft = here > x(lengths[lengths.length - 1]) - size * (narrow ? 5 : 9);
  const side = isLeft ? -1 : 1;
  const look = isLeft ? "end" : "";
  const big = size * (narrow ? 1.9 : 2.5);
  const bracket = mine &&
    slow && [
      path(`M${here} ${slow.y}V${mine.y}`, stroke("accent", 4.5)),
      quantity === "time" &&
        Math.abs(slow.y - mine.y) > big * 1.5 &&
        text(
          here + side * 16,
          (slow.y + mine.y) / 2 - (mine.y - slow.y) * 0.12,
          ratio,
          big,
          `bold accent-ink halo ${look}`,
        ),
    ];
  const dots = [
    slow && circle(here, slow.y, 6.5, { fill: ink("paper"), ...stroke("ink", 2.5) }),
    mine && circle(here, mine.y, 6.5, { fill: ink("paper"), ...stroke("accent", 3) }),
    slow && text(here - 12, slow.y - size, figure(quantity, slow.value), size + 2, "bold end halo"),
    mine &&
      text(
        here + side * 14,
        mine.y + size * 1.9,
        figure(quantity, mine.value),
        size + 2,
        `bold accent-ink halo ${look}`,
      ),
  ];
  const y = bottom + size * 1.6;
  const pill = group(here, y, [
    rect(-wide / 2, -size * 1.15, wide, size * 2, "ink", {}, size),
    text(0, size * 0.2, `‹  ${integer(n)}  ›`, size, "semi paper middle"),
  ]);
  const nearest = (/** @type {number} */ px) =>
    lengths.reduce((best, one) => (Math.abs(x(one) - px) < Math.abs(x(best) - px) ? one : best));
  return pen.knob(
    {
      key: "n",
      label: t("marker"),
      text: `${t("marker.at", { n })}: ${headline}. ${sentence}`,
      slides: [at, 0, lengths.length - 1],
      keys: (dx, dy) => move(lengths[clamp(at + dx + dy, 0, lengths.length - 1)]),
      drag: (px) => {
        const wanted = nearest(px);
        if (wanted !== n) move(wanted);
      },
    },
    [
      rect(here - 16, top, 32, bottom - top, "", { fill: "transparent", cursor: "ew-resize" }),
      path(`M${here} ${top}V${bottom}`, stroke("ink", 1)),
      bracket,
      dots,
      pill,
    ],
  );
}
