// Every method over N, as recorded, with a marker that is moved; words above it choose what is drawn.

import { fetchJson } from "../lib/build.js";
import { ends, plot, scale, slider, widthOf } from "../lib/chart.js";
import { button, el, set, svg } from "../lib/dom.js";
import { bytes, clamp, integer } from "../lib/format.js";
import { times } from "../lib/lists.js";
import { during } from "../lib/pending.js";
import { radios, replaceRadios } from "../lib/radios.js";
import { circle, hit, ink, nodesOf, path, rect, stroke, text, wrapped } from "../lib/svg_canvas.js";
import { moreButton, openTables } from "../story/tables.js";
import { picture } from "./picture.js";
import {
  DRAWN,
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
  finding,
  seriesOf,
} from "./records.js";
import { t, texts } from "./texts.js";
import declared from "./chart.json" with { type: "json" };

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Choice, Row, Series, Table } from "./records.js" */
/** `own`: the N of the visitor's Problem. @typedef {{rows: Row[], choice: Choice, own: number, move: (n: number) => void}} Scene */

/** @typedef {ReturnType<typeof plot>} Axes */
/** @typedef {import("../lib/chart.js").Box} Box */

/** What a line looks like that is not thin and gray. @type {Record<string, {hue?: string, wide?: number, dash?: string, r?: number, hollow?: boolean}>} */
const STYLES = declared.styles;
/** The words above the chart: of each part of a choice the values and their names. @type {Record<string, Record<string, string>>} */
const WORDS = {
  quantity: texts.quantities,
  pass: texts.passes,
  ...declared.words,
};
/** Why a word cannot be chosen. @type {Record<string, string>} */
const NO_BACKWARD = { memory: t("no_memory"), fp16: t("no_fp16") };
/** How far a key of the page moves the marker, or leads through what there is. @type {Record<string, number>} */
export const MOVES = declared.moves;

/** Make it for the page. @param {import("./index.js").RunFrame} page */
export function makeChart(page) {
  /** @type {Choice | undefined} */
  let choice;
  /** @type {Row[]} */
  let rows = [];
  /** @type {Table | undefined} */
  let table;
  /** @type {ReturnType<typeof picture> | undefined} */
  let drawn;
  let own = 0;
  let plain = ""; // what the chart shows by itself, by name
  let measuredOn = ""; // the device of rows that were measured here

  const words = el("div.fa-run-words");
  const provenance = el("p.fa-story-provenance");
  const measure = button(t("measure"), () => page.sweep(), {
    class: "fa-run-plain",
    hidden: true,
  });
  const more = moreButton(t("table"), openTable);
  const above = el("div.fa-run-above", [words, provenance, measure, more]);
  const root = el("div.fa-run-record", [above]);

  /** Take the records; resolves with nothing. */
  async function load() {
    if (table) return;
    table = /** @type {Table} */ (await during("records", fetchJson("records")));
    rows = rowsOf(table);
  }

  /** Show what comes nearest to a run, or what an address names. @param {Record<string, string>} values of the run @param {string | undefined} named */
  function follow(values, named) {
    if (!table) return;
    own = Number(values.n);
    const nearest = choiceFor(values, rows);
    plain = nameOf(nearest);
    show(named ? choiceOf(named, nearest) : nearest);
  }

  /** @param {string} name @param {Choice} otherwise @returns {Choice} */
  function choiceOf(name, otherwise) {
    const [quantity, pass, mask, d, dtype, n] = name.split(",");
    const named = /** @type {any} */ ({ quantity, pass, mask, d: Number(d), dtype });
    const lengths = quantity in texts.quantities ? lengthsOf(rows, named) : [];
    return lengths.length ? { ...named, n: nearestLength(lengths, Number(n)) } : otherwise;
  }

  /** Take rows that were measured here in place of the records.
   * @param {Pick<Table, "rows" | "columns">} found @param {string} device */
  function measured(found, device) {
    const { methods } = /** @type {Table} */ (table);
    measuredOn = device;
    rows = [...rows.filter((row) => row.record !== null), ...rowsOf({ ...found, methods })];
    if (choice) show(choice);
  }

  /** @param {Record<string, string | number>} change */
  function choose(change) {
    const wanted = /** @type {Choice} */ ({ ...choice, ...change });
    wanted.d = Number(wanted.d);
    if (wanted.pass === "backward") {
      wanted.dtype = "bf16";
      if (wanted.quantity === "memory") wanted.quantity = "time";
    }
    wanted.n = nearestLength(lengthsOf(rows, wanted), wanted.n);
    show(wanted);
    const name = nameOf(wanted);
    page.writeChart(name === plain ? null : name);
  }

  /** @param {Choice} wanted */
  function show(wanted) {
    choice = wanted;
    drawWords(wanted);
    const live = chosen(rows, wanted).some((row) => row.record === null);
    const { device, date } = /** @type {Table} */ (table).records[recordOf(wanted.pass)];
    const card = device.replace("NVIDIA ", "");
    const of = live
      ? t("measured", { device: measuredOn, dtype: wanted.dtype })
      : t("recorded", { card, date, dtype: wanted.dtype });
    set(provenance, { text: of });
    measure.hidden = !page.note?.gpu || wanted.pass === "backward";
    draw();
  }

  function draw() {
    if (!choice || page.view !== "record") return;
    const { headline, sentence } = finding(rows, choice);
    page.say(headline, sentence);
    if (drawn) return drawn.canvas.refit();
    drawn = picture(
      t("chart"),
      (paper, pen) =>
        paint({ rows, choice: /** @type {Choice} */ (choice), own, move }, paper, pen),
      declared.height,
    );
    root.append(drawn);
  }

  /** @param {Choice} choice */
  function drawWords(choice) {
    const why = choice.pass === "backward" ? NO_BACKWARD : {};
    const groups = Object.entries(WORDS).map(([key, named]) => {
      const options = Object.entries(named).map(([value, text]) => ({
        value,
        text,
        disabled: why[value],
      }));
      const value = String(choice[/** @type {keyof Choice} */ (key)]);
      const label = t(/** @type {"quantity" | "pass" | "mask" | "d" | "dtype"} */ (key));
      return radios(label, options, value, (x) => choose({ [key]: x }), "fa-run-choice");
    });
    replaceRadios(words, groups);
  }

  const move = (/** @type {number} */ n) => choose({ n });

  /** A key of the page moves the marker; returns whether it did. @param {string} action */
  function act(action) {
    const by = MOVES[action];
    if (!choice || !by) return false;
    const lengths = lengthsOf(rows, choice);
    const n = lengths[clamp(lengths.indexOf(choice.n) + by, 0, lengths.length - 1)];
    if (n === choice.n) return false;
    move(n);
    return true;
  }

  /** All figures of the choice as a table. @param {HTMLElement} opener */
  function openTable(opener) {
    if (!choice || !table) return;
    const found = chosen(rows, choice);
    const errors = choice.pass === "backward" ? ["dQ", "dK", "dV"] : ["error"];
    const figures = ["median_ms", "p20_ms", "p80_ms", "loop_ms", "tflops", "peak_bytes"];
    const columns = [...figures, ...errors];
    const kept = columns.filter((column) => found.some((row) => row[column] !== null));
    const head = [t("table.method"), "N", ...kept.map((column) => texts.columns[column])];
    const lines = found.map((row) => [
      row.name,
      row.n,
      ...(row.refused ? [row.refused] : kept.map((column) => row[column])),
    ]);
    const { headline } = finding(rows, choice);
    const { pass, mask, d, dtype } = choice;
    const { versions, method } = table.records[recordOf(pass)];
    const of = Object.entries(versions).map((pair) => pair.join(" "));
    const visible = {
      table: [{ title: t("table.of", { pass, mask, d, dtype }), head, rows: lines }],
      links: [],
      label: `${provenance.textContent}. ${of.join(", ")}. ${method}.`,
      headline,
      beats: [{}],
    };
    const name = `flashattention-${[pass, mask, `d${d}`, dtype].join("-")}`;
    openTables(/** @type {any} */ (visible), 0, name, opener, null);
  }

  return {
    root,
    load,
    follow,
    measured,
    draw,
    act,
    get choice() {
      return choice;
    },
  };
}

/** A choice as an address has it. @param {Choice} choice */
const nameOf = ({ quantity, pass, mask, d, dtype, n }) =>
  [quantity, pass, mask, d, dtype, n].join();

/** The height of a chart: its range and its ticks, logarithmic but for TFLOP/s. @param {Series[]} series @param {Choice} choice
 * @returns {import("../lib/chart.js").Up} */
function heightOf(series, { quantity }) {
  const values = series.flatMap(({ points }) => points.map(({ value }) => value));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (quantity === "tflops") {
    const top = Math.ceil(high / 100) * 100;
    const ticks = [0, 200, 400, 600, 800, 1000].filter((x) => x <= top);
    return { range: [0, top], ticks: ticks.map((x) => [x, String(x)]) };
  }
  const [base, label] = quantity === "memory" ? [4, bytes] : [10, timeOf];
  const range = /** @type {[number, number]} */ ([low / base ** 0.12, high * base ** 0.5]);
  const log = (/** @type {number} */ x) => Math.log(x) / Math.log(base);
  const first = Math.ceil(log(range[0]));
  const ticks = times(Math.floor(log(range[1])) - first + 1, (k) => base ** (first + k));
  return { range, log: true, ticks: ticks.map((x) => [x, label(x)]) };
}

const timeOf = (/** @type {number} */ ms) => (ms < 0.1 ? `${ms * 1000} µs` : `${ms} ms`);

/** @param {Scene} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
function paint({ rows, choice, own, move }, paper, pen) {
  const { narrow, big, width } = paper;
  const { quantity, n } = choice;
  const size = paper.type - (big ? 0 : 1);
  const series = seriesOf(rows, choice);
  const lengths = lengthsOf(rows, choice);
  const now = lengths.indexOf(n);
  const left = narrow ? 56 : Math.max(92, size * 6.2);
  const right = width - (narrow ? 74 : Math.max(248, size * 15));
  const box = {
    left,
    right,
    top: size * 1.2,
    bottom: paper.height - (narrow ? 40 : size * 5),
    size,
  };
  const { top, bottom } = box;
  const labels = lengths.map((one) => (narrow && one >= 1024 ? `${one / 1024} k` : integer(one)));
  const axes = plot(box, { values: lengths, labels, log: true }, heightOf(series, choice));
  const here = axes.places[now];
  const valueAt = (/** @type {string} */ method, /** @type {number} */ length) =>
    series.find((one) => one.method === method)?.points.find((point) => point.n === length)?.value;
  const tip = (
    /** @type {string} */ name,
    /** @type {number} */ length,
    /** @type {number} */ value,
  ) => t("tip", { name, n: length, figure: figure(quantity, value) });
  const lineOf = (/** @type {Series} */ { method, name, points }) => {
    const value = valueAt(method, n);
    return axes.line({
      ys: lengths.map((length) => valueAt(method, length) ?? null),
      hue: "minus",
      wide: 1.75,
      r: points.length < 4 ? 3.5 : 0,
      tip: value ? tip(name, n, value) : name,
      tips: lengths.map((length) => tip(name, length, valueAt(method, length) ?? 0)),
      ...STYLES[method],
    });
  };
  // A group for each method, so that a line stays the same node, which a style sheet lets glide to its new place
  const lines = DRAWN.map((method) => {
    const one = series.find((each) => each.method === method);
    return svg("g.fa-run-line", nodesOf(one && lineOf(one)));
  });
  const slow = naive(rows, choice);
  const naiveLine = series.find(({ method }) => method === NAIVE);
  const refused = naiveLine?.refused;
  const { headline, sentence, ratio } = finding(rows, choice);
  const large = size * (narrow ? 1.6 : 2.5);
  const mine = ours(rows, choice);
  const mineAt = (mine && valueAt(mine.method, n)) || null;
  const slowAt = (slow && valueAt(NAIVE, n)) || null;
  const under = bottom + size * 1.6;
  const wide = size * (integer(n).length * 0.62 + 3.2);
  const below = t("own.below", { n: own });
  const [from, to] = [axes.y(slowAt ?? 1), axes.y(mineAt ?? 1)];
  const ring = { fill: ink("paper") };
  const taken = slowAt ? widthOf(figure(quantity, slowAt), size + 2) + 20 : 0; // left of the marker
  const free = naiveLine?.points.slice(1).filter((one) => {
    const x = axes.x(one.n);
    return x < here - taken || x > here + size * 9;
  });
  const named = free?.[1] ?? free?.[0] ?? naiveLine?.points[0];
  const drawn = series.map(({ points }) => points.map((one) => [axes.x(one.n), axes.y(one.value)]));
  /** Words beside the marker, at the first of these heights and sides where there is room and no line crosses them.
   * @param {string} words @param {number} big px @param {string} look @param {number[]} heights @param {number[]} sides */
  const besideMarker = (words, big, look, heights, sides = [1, -1]) => {
    const wide = widthOf(words, big);
    const places = sides.flatMap((to) => heights.map((y) => ({ to, y })));
    const startOf = (/** @type {number} */ to) => (to < 0 ? here - 14 - wide : here + 14);
    const inside = places.filter(({ to, y }) => {
      const start = startOf(to);
      return start > left - 14 && start + wide < right + (narrow ? 30 : 10) && y < bottom;
    });
    const free = inside.find(
      ({ to, y }) => !crosses(drawn, startOf(to), wide, y - big * 0.75, big * 0.8),
    );
    const { to, y } = free ?? inside[0] ?? places[0];
    return text(here + to * 15, y, words, big, `bold halo ${look} ${to < 0 ? "end" : ""}`);
  };
  return [
    axes.grid(),
    axes.labels(now, wide + size),
    !narrow && [
      text(right + size * 4, under, t("tokens"), size, "quiet"),
      own < lengths[0] &&
        here - wide / 2 > widthOf(below, size) &&
        text(0, under, below, size, "quiet"),
      own > lengths[lengths.length - 1] &&
        text(right + size * 9, under, t("own.above", { n: own }), size, "quiet"),
      drawCalls(rows, choice, axes.x, bottom + size * 3.6, size),
    ],
    lines,
    named &&
      text(
        axes.x(named.n) - (narrow ? 6 : 0),
        axes.y(named.value) - size * (narrow ? 0.4 : 1.1),
        narrow ? texts.short[NAIVE] : (naiveLine?.name ?? ""),
        size + 2,
        "bold halo end",
      ),
    slider(
      pen,
      {
        key: "n",
        label: t("marker"),
        text: `${t("marker.at", { n })}: ${headline}. ${sentence}`,
        at: now,
        places: axes.places,
        go: (k) => move(lengths[k]),
        reach: (x, y) => x > left - 20 && x < right + 20 && y > top && y < under + size,
      },
      [
        rect(here - wide / 2, under - size * 1.15, wide, size * 2, "ink", {}, size),
        hit(here - 16, top, 32, bottom - top, "ew-resize"),
        path(`M${here} ${top}V${bottom}`, stroke("ink", 1)),
        slowAt && [
          mineAt && path(`M${here} ${from}V${to}`, stroke("accent", 4.5)),
          mineAt &&
            quantity === "time" &&
            Math.abs(to - from) > large * 1.5 &&
            besideMarker(
              ratio,
              large,
              "accent-ink",
              [0.62, 0.5, 0.4, 0.3, 0.2].map((share) => from * share + to * (1 - share)),
            ),
          circle(here, from, 6.5, { ...ring, ...stroke("ink", 2.5) }),
          besideMarker(
            figure(quantity, slowAt),
            size + 2,
            "",
            [-1, 1.9, 3.2].map((lines) => from + size * lines),
            [-1, 1],
          ),
        ],
        mineAt && [
          circle(here, to, 6.5, { ...ring, ...stroke("accent", 3) }),
          besideMarker(
            figure(quantity, mineAt),
            size + 2,
            "accent-ink",
            [1.9, -0.9, 3.2, 4.8, 6.4].map((lines) => to + size * lines),
          ),
        ],
        text(here, under + size * 0.2, `‹  ${integer(n)}  ›`, size, "semi paper middle"),
      ],
    ),
    naiveLine && refused && drawRefused(naiveLine, refused, choice, axes, box, paper),
    drawNames(series, choice, axes, box, narrow),
  ];
}

/** Does a line come into this box? @param {number[][][]} lines of points @param {number} left @param {number} wide @param {number} top @param {number} high */
const crosses = (lines, left, wide, top, high) =>
  lines.some((points) =>
    points.slice(1).some(([x, y], k) => {
      const [fromX, fromY] = points[k];
      const [low, high_] = [Math.max(fromX, left), Math.min(x, left + wide)];
      const at = scale([fromX, x], [fromY, y]);
      const ys = [at(low), at(high_)];
      return low <= high_ && Math.min(...ys) < top + high && Math.max(...ys) > top;
    }),
  );

/** How many tokens a call has, below the lengths. @param {Row[]} rows @param {Choice} choice @param {(n: number) => number} x @param {number} y @param {number} size */
function drawCalls(rows, choice, x, y, size) {
  return callsOf(rows, choice).map(([first, last, tokens]) => {
    const words = tokens ? t("call", { tokens }) : t("call.one");
    const from = x(first) + (tokens ? widthOf(words, size) + 12 : 0);
    return [
      text(tokens ? x(first) : x(last) + 16, y, words, size, "quiet"),
      x(last) > from && path(`M${from} ${y - 5}H${x(last)}`, stroke("line")),
      path(`M${tokens ? x(last) : from} ${y - 9}v8`, stroke("hatch")),
    ];
  });
}

/** Where naive attention needs more memory than there is. @param {Series} line @param {Row} refused @param {Choice} choice @param {Axes} axes
 * @param {Box} box @param {Paper} paper */
function drawRefused({ points }, refused, { quantity }, axes, { top, size }, { narrow, big }) {
  const last = points[points.length - 1];
  const value = { time: last.value * 3, memory: refused.needs_bytes, tflops: last.value }[quantity];
  const [px, py] = [axes.x(refused.n), Math.max(axes.y(value), top + size * 2)];
  const isFlat = axes.y(last.value) - py < size * 2;
  const base = py - (isFlat ? size * 0.8 : 0); // of the words, above the line to the cross
  const isShort = narrow || big;
  return [
    path(
      `M${axes.x(last.n)} ${axes.y(last.value)}L${px} ${py}`,
      stroke("ink", 1.5, { "stroke-dasharray": "2 5" }),
    ),
    path(`M${px - 6} ${py - 6}l12 12m0 -12l-12 12`, {
      ...stroke("risen-ink", 2.3),
      "stroke-linecap": "round",
    }),
    narrow && isFlat
      ? wrapped(px + 12, py - size * 0.3, t("refused"), size * 4, size - 1, "semi risen-ink")
      : text(
          px - 14,
          base - size * (isShort ? 0.3 : 1.5),
          t("refused"),
          size,
          "semi risen-ink end halo",
        ),
    !isShort &&
      text(
        px - 14,
        base - size * 0.15,
        t("refused.why", { needs: bytes(refused.needs_bytes) }),
        size,
        "quiet end halo",
      ),
  ];
}

/** The names at the right end of the lines with their values at the marker; a ring before the name of points that no line joins.
 * @param {Series[]} series @param {Choice} choice @param {Axes} axes @param {Box} box @param {boolean} narrow */
function drawNames(series, { quantity, n: chosen }, axes, box, narrow) {
  const { right, top, bottom, size } = box;
  const named = series.filter(({ method }) => method !== NAIVE && (!narrow || texts.short[method]));
  const visible = named.map(({ method, name, points }) => {
    const { n, value } = points[points.length - 1];
    const look = { hopper: "bold accent-ink", fa2: "accent-ink" }[method] ?? "quiet";
    const here = points.find((one) => one.n === chosen);
    const isShort = axes.x(n) < right - 4;
    const words = narrow ? texts.short[method] : isShort ? t("rings", { name }) : name;
    return {
      y: axes.y(value),
      rows: /** @type {[string, string][]} */ ([[words, look]]),
      value: narrow ? "" : here ? figure(quantity, here.value) : "–",
    };
  });
  const edge = right + Math.max(244, size * 14.8);
  return [
    ends(visible, right + 14, size, [top + (narrow ? 0 : size * 1.6), bottom + size * 0.4], edge),
    !narrow && text(edge, top + size * 0.4, t("values.at", { n: chosen }), size, "quiet end"),
  ];
}
