// Drawers for the blocks that the server computes: {"type", "label", …} to DOM. Text goes in as text.
import { axisOf, figureOf, scaleOf, ticks } from "../lib/axis.js";
import { level, range, viridis } from "../lib/colors.js";
import { el, set, svg } from "../lib/dom.js";
import { number } from "../lib/format.js";
import { show } from "./pictures.js";
import { t } from "./texts.js";

const hue = (name) => `fa-hue-${name ?? "plain"}`;
const finite = (x) => Number.isFinite(x);
const spoken = (words) => el("span", { class: "fa-sr", text: words });

/** A figure with its label above; `aside` stands beside the label. */
const figure = (kind, label, body, aside = null) =>
  el("figure", { class: `fa-block-of fa-${kind}-block` }, [
    el("figcaption", {}, [el("b", { text: label }), aside]),
    ...body,
  ]);

/** What may be wider than its place scrolls inside; learn_widget.js makes it a stop for the keyboard. */
const scroller = (label, body) => el("div", { class: "fa-scroll", "data-name": label }, [body]);

const SIGNS = { good: "✓", bad: "✗" };
function text({ words, kind }) {
  const sign =
    SIGNS[kind] && el("span", { class: "fa-sign", "aria-hidden": "true", text: SIGNS[kind] });
  return el("p", { class: `fa-block-of fa-text-block is-${kind}` }, [
    sign,
    el("span", { text: words }),
  ]);
}

/** A cell's digits; one digit more, or a power of ten, where rounding would leave nothing. */
function digitsOf(x, digits) {
  if (!finite(x)) return x ?? "";
  let said = x.toFixed(digits);
  if (Math.abs(x) >= 1e6) said = x.toExponential(1);
  else if (x && !Number(said))
    said = Number(x.toFixed(digits + 1)) ? x.toFixed(digits + 1) : x.toExponential(0);
  return said.replace("e+", "e").replaceAll("-", "−");
}

function heatOf(x, [low, high], colour) {
  if (!finite(x)) return "";
  const isRamp = colour === "plain" || colour === "s";
  // One hue tells size, not sign
  const at = isRamp
    ? level(x, low, high)
    : level(Math.abs(x), 0, Math.max(Math.abs(low), Math.abs(high)));
  if (isRamp) return `background:${viridis.css[at]};color:${viridis.dark[at] ? "#fff" : "#000"}`;
  return `background:color-mix(in srgb, var(--fa-hue) ${(6 + (at / 255) * 42).toFixed(0)}%, var(--fa-paper))`;
}

function matrix({ label, rows, row_labels, col_labels, colour, digits, marks, heat, gradient }) {
  const [bounds, marked] = [
    heat ? range(rows.flat().filter(finite)) : null,
    new Set(marks.map((at) => at.join())),
  ];
  const cell = (x, i, j) => {
    const isMarked = marked.has(`${i},${j}`);
    const kind = `${finite(x) ? "" : x === null ? "is-empty" : "is-odd"}${isMarked ? " is-marked" : ""}`;
    const style = heat ? heatOf(x, bounds, colour) : null;
    return el("td", { class: kind.trim() || null, style, text: digitsOf(x, digits) }, [
      isMarked && spoken(` ${t("marked")}`),
    ]);
  };
  const heading = (words, scope) => el("th", { scope, text: words });
  const head = col_labels.length
    ? el("thead", {}, [
        el("tr", {}, [
          row_labels.length ? el("td") : null,
          ...col_labels.map((c) => heading(c, "col")),
        ]),
      ])
    : null;
  const body = rows.map((row, i) =>
    el("tr", {}, [
      row_labels.length ? heading(row_labels[i] ?? "", "row") : null,
      ...row.map((x, j) => cell(x, i, j)),
    ]),
  );
  const grid = el("table", { class: `fa-cells ${hue(colour)}${gradient ? " is-gradient" : ""}` }, [
    el("caption", { class: "fa-sr", text: label }),
    head,
    el("tbody", {}, body),
  ]);
  const node = figure("matrix", label, [scroller(label, grid)]);
  node.classList.add(`fa-ink-${colour}`);
  return node;
}

function bars({ label, items, colour, log, limit }) {
  const valueOf = (v) => (v === "∞" ? Infinity : finite(v) ? v : 0);
  const at = scaleOf(
    [...items.map(([, v]) => valueOf(v)), ...(limit === null ? [] : [limit])],
    log,
  );
  const zero = log ? 0 : at(0);
  const percent = (x) => `${(x * 100).toFixed(2)}%`;
  const lines = items.map(([name, value, beside]) => {
    const end = valueOf(value) === Infinity ? 1 : at(valueOf(value));
    const style = `left:${percent(Math.min(zero, end))};right:auto;width:${percent(Math.abs(end - zero))}`;
    const fill = el("i", { class: `fa-fill${value === "∞" ? " is-endless" : ""}`, style });
    const line =
      limit === null ? null : el("i", { class: "fa-limit", style: `left:${percent(at(limit))}` });
    return el("li", {}, [
      el("span", { class: "fa-bar-name", text: name }),
      el("span", { class: "fa-run-track", "aria-hidden": "true" }, [fill, line]),
      el("b", { class: "fa-bar-figure", text: beside }),
    ]);
  });
  const signs = [log && t("logarithmic"), limit !== null && t("limit")].filter(Boolean).join(" · ");
  return figure(
    "bars",
    label,
    [el("ul", { class: hue(colour) }, lines)],
    signs && el("span", { text: signs }),
  );
}

/** Cells of levels "1" to "9"; a stroke where there is none. `more` is drawn above them. */
export function picture(levels, more = []) {
  const paths = new Map();
  levels.forEach((row, i) =>
    [...row].forEach((at, j) => {
      const cell =
        at === "." ? `M${j + 0.3} ${i + 0.7}l.4-.4` : `M${j + 0.05} ${i + 0.05}h.9v.9h-.9z`;
      paths.set(at, (paths.get(at) ?? "") + cell);
    }),
  );
  const drawn = [...paths].map(([at, d]) =>
    svg(
      "path",
      at === "."
        ? { d, class: "is-hidden" }
        : { d, "fill-opacity": (0.19 + 0.09 * Number(at)).toFixed(2) },
    ),
  );
  return svg(
    "svg",
    {
      class: "fa-picture",
      viewBox: `-.1 -.1 ${levels[0].length + 0.2} ${levels.length + 0.2}`,
      "aria-hidden": "true",
    },
    [...drawn, ...more],
  );
}

function cells({ label, words, levels, row, block, kinds }) {
  const more = kinds.flatMap((across, i) =>
    across.flatMap((kind, j) => {
      const tile = svg("rect", {
        class: `is-${kind}`,
        x: j * block,
        y: i * block,
        width: block,
        height: block,
        rx: 0.2,
      });
      const isTold = kind === "skipped" && block > 2;
      return isTold
        ? [
            tile,
            svg("text", {
              transform: `translate(${(j + 0.5) * block} ${(i + 0.5) * block + 0.35}) scale(.046)`,
              text: t("skip"),
            }),
          ]
        : [tile];
    }),
  );
  if (row !== null)
    more.push(svg("rect", { class: "is-row", x: 0, y: row, width: levels[0].length, height: 1 }));
  const box = el("div", { role: "img", "aria-label": `${label}. ${words}` }, [
    picture(levels, more),
  ]);
  return figure("cells", label, [box, el("p", { class: "fa-fine", text: words })]);
}

function table({ label, head, rows, marked }) {
  const isNumber = (k) =>
    rows.every(
      (row) => /^([−\-+±≈~<>]? ?[\d.∞]|NaN|–|—|$)/.test(row[k] ?? "") && (row[k] ?? "").length < 18,
    );
  const kinds = (rows[0] ?? head).map((_, k) => (k && isNumber(k) ? "is-number" : null));
  const inRow = (row) =>
    row.map((text, k) =>
      k ? el("td", { class: kinds[k], text }) : el("th", { scope: "row", text }),
    );
  const grid = el("table", { class: "fa-facts" }, [
    el("caption", { class: "fa-sr", text: label }),
    head.length
      ? el("thead", {}, [
          el(
            "tr",
            {},
            head.map((text, k) =>
              text ? el("th", { scope: "col", class: kinds[k], text }) : el("td"),
            ),
          ),
        ])
      : null,
    el(
      "tbody",
      {},
      rows.map((row, k) => el("tr", { class: k === marked && "is-chosen" }, inRow(row))),
    ),
  ]);
  return figure("table", label, [scroller(label, grid)]);
}

function bits({ label, sign, exponent, mantissa, value, remark }) {
  const fours = (digits) => digits.match(/.{1,4}/g) ?? [];
  const group = (name, digits, colour) =>
    digits &&
    el("span", { class: `fa-bit-group ${hue(colour)}` }, [
      el("span", {
        class: "fa-bit-name",
        text: digits.length > 1 ? `${name} · ${digits.length}` : name,
      }),
      el(
        "span",
        { class: "fa-bit-cells" },
        fours(digits).map((four) =>
          el(
            "span",
            {},
            [...four].map((bit) => el("i", { class: bit === "1" ? "is-one" : null, text: bit })),
          ),
        ),
      ),
    ]);
  const groups = [
    group(t("bits.sign"), sign, "o"),
    group(t("bits.exponent"), exponent, "q"),
    group(t("bits.mantissa"), mantissa, "v"),
  ];
  const none = t("bits.none");
  const said = t("bits", {
    label,
    sign: sign || none,
    exponent: exponent || none,
    mantissa: mantissa || none,
  });
  const row = el("div", { class: "fa-bit-row", role: "img", "aria-label": said }, groups);
  return figure(
    "bits",
    label,
    [row, remark ? el("p", { class: "fa-fine", text: remark }) : null],
    el("strong", { text: value }),
  );
}

const MARKS = [
  (x, y) => svg("circle", { cx: x, cy: y, r: 3.5 }),
  (x, y) => svg("rect", { x: x - 3, y: y - 3, width: 6, height: 6 }),
  (x, y) => svg("path", { d: `M${x} ${y - 4.5}l4.5 8h-9z` }),
  (x, y) => svg("path", { d: `M${x} ${y - 5}l5 5-5 5-5-5z` }),
];
const mark = (k, x, y) => MARKS[k % MARKS.length](x, y);
/** A small chart, drawn at the width that it has; arrow keys and the pointer read its values. */
class Plot {
  constructor(block) {
    Object.assign(this, block);
    this.xs = [...new Set(this.series.flatMap((s) => s.x))]
      .filter((x) => finite(x) && (!this.log_x || x > 0))
      .sort((a, b) => a - b);
    this.x = axisOf(this.xs, this.log_x);
    this.y = axisOf(
      this.series.flatMap((s) => s.y),
      this.log_y,
      true,
    );
    this.svg = svg("svg", { "aria-hidden": "true" });
    this.box = el(
      "div",
      {
        class: "fa-plot-box",
        role: "slider",
        tabindex: "0",
        "aria-label": t("plot", { label: this.label, axis: this.x_label || "x" }),
        "aria-valuemin": 0,
        "aria-valuemax": Math.max(0, this.xs.length - 1),
        "aria-valuenow": 0,
      },
      [this.svg],
    );
    this.readout = el("p", {
      class: "fa-fine fa-readout",
      text: window.matchMedia("(hover: none)").matches ? t("plot.touch") : t("plot.point"),
    });
    const legend = el(
      "ul",
      { class: "fa-plot-legend" },
      this.series.map((s, k) => el("li", {}, [this.sample(s, k), el("span", { text: s.name })])),
    );
    this.root = figure("plot", this.label, [
      this.series.length > 1 || this.series[0]?.name ? legend : null,
      this.box,
      this.readout,
    ]);
    this.listen();
    new ResizeObserver((_, observer) =>
      this.root.isConnected ? this.draw() : observer.disconnect(),
    ).observe(this.box);
  }

  sample(series, k) {
    const line = series.points ? mark(k, 12, 6) : svg("line", { x1: 0, x2: 24, y1: 6, y2: 6 });
    return svg(
      "svg",
      {
        viewBox: "0 0 24 12",
        width: 24,
        height: 12,
        class: `fa-series fa-dash-${k % 5} ${hue(series.colour)}`,
        "aria-hidden": "true",
      },
      [line],
    );
  }

  listen() {
    // A tap does not move
    for (const name of ["pointerdown", "pointermove"])
      this.box.addEventListener(name, (event) => {
        const part =
          (event.clientX - this.box.getBoundingClientRect().left - this.left) / this.inner;
        const off = (x) => Math.abs(this.x.at(x) - part);
        this.read(this.xs.reduce((best, x, k) => (off(x) < off(this.xs[best]) ? k : best), 0));
      });
    this.box.addEventListener("keydown", (event) => {
      const to = {
        ArrowRight: this.at + 1,
        ArrowUp: this.at + 1,
        ArrowLeft: this.at - 1,
        ArrowDown: this.at - 1,
        Home: 0,
        End: this.xs.length - 1,
      }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      this.read(Number.isNaN(to) ? 0 : Math.max(0, Math.min(this.xs.length - 1, to)));
    });
    this.box.addEventListener("focus", () => this.at === undefined && this.read(0));
  }

  /** The values at the k-th x of all series. */
  read(k) {
    if (!this.xs.length || k === this.at) return;
    this.at = k;
    const x = this.xs[k];
    const values = this.series
      .map((s) => [s.name, s.y[s.x.indexOf(x)]])
      .filter(([, y]) => y !== undefined);
    const said = values
      .map(
        ([name, y]) =>
          `${name ? `${name} ` : ""}${y === null ? t("plot.none") : finite(y) ? figureOf(y) : y}`,
      )
      .join(" · ");
    set(this.readout, {
      text: t("plot.at", { axis: this.x_label || "x", x: figureOf(x), values: said }),
    });
    set(this.box, { "aria-valuenow": k, "aria-valuetext": this.readout.textContent });
    this.cursor();
  }

  cursor() {
    this.line?.remove();
    if (this.at === undefined) return;
    const x = (this.left + this.x.at(this.xs[this.at]) * this.inner).toFixed(1);
    this.line = svg("line", { class: "fa-now-line", x1: x, x2: x, y1: this.top, y2: this.base });
    this.svg.append(this.line);
  }

  draw() {
    const [width, height] = [this.box.clientWidth, this.box.clientHeight];
    // Type is larger in a lecture hall
    const size = parseFloat(getComputedStyle(this.box).fontSize) / 12;
    if (!width) return;
    const yTicks = ticks(this.y.low, this.y.high, Math.max(2, height / (44 * size)), this.y.log);
    const widest = Math.max(...yTicks.map((tick) => this.y.label(tick).length), 2);
    Object.assign(this, {
      left: (widest * 7 + 10) * size,
      top: (this.y_label ? 22 : 8) * size,
      base: height - (this.x_label ? 40 : 22) * size,
    });
    this.inner = width - this.left - 14 * size;
    const [px, py] = [
      (part) => this.left + part * this.inner,
      (part) => this.base - part * (this.base - this.top),
    ];
    const parts = [];
    for (const tick of yTicks) {
      const y = py(this.y.of(tick));
      parts.push(svg("line", { class: "fa-axis", x1: this.left, x2: px(1), y1: y, y2: y }));
      parts.push(
        svg("text", {
          class: "fa-tick is-end",
          x: this.left - 6 * size,
          y: y + 4 * size,
          text: this.y.label(tick),
        }),
      );
    }
    for (const tick of ticks(
      this.x.low,
      this.x.high,
      Math.max(2, this.inner / (64 * size)),
      this.x.log,
      this.x.least,
    ))
      parts.push(
        svg("text", {
          class: "fa-tick",
          x: px(this.x.of(tick)),
          y: this.base + 16 * size,
          text: this.x.label(tick),
        }),
      );
    if (this.y_label)
      parts.push(
        svg("text", { class: "fa-tick is-start", x: 0, y: 11 * size, text: this.y_label }),
      );
    if (this.x_label)
      parts.push(
        svg("text", {
          class: "fa-tick is-end",
          x: px(1),
          y: height - 5 * size,
          text: this.x_label,
        }),
      );
    this.series.forEach((s, k) => parts.push(this.curve(s, k, px, py)));
    this.svg.replaceChildren(...parts);
    // On paper the same drawing, smaller
    set(this.svg, { viewBox: `0 0 ${width} ${height}` });
    this.cursor();
  }

  /** One series: its line, broken where a value is missing; marks at its points, thinly joined if in order. */
  curve(series, k, px, py) {
    const at = series.x.map((x, n) => [px(this.x.at(x)), py(this.y.at(series.y[n]))]);
    const there = at.map((p) => p.every(finite));
    const dots = at.filter(
      (_, n) => there[n] && (series.points || (!there[n - 1] && !there[n + 1])),
    );
    const loose = series.points && series.x.some((x, n) => x <= series.x[n - 1]);
    const path = loose
      ? ""
      : at
          .map((p, n) =>
            there[n] ? `${there[n - 1] ? "L" : "M"}${p.map((u) => u.toFixed(1))}` : "",
          )
          .join("");
    return svg(
      "g",
      {
        class: `fa-series fa-dash-${k % 5} ${hue(series.colour)}${series.points ? " has-points" : ""}`,
      },
      [path ? svg("path", { d: path }) : null, ...dots.map(([x, y]) => mark(k, x, y))],
    );
  }
}

function timeline({ label, lanes, unit }) {
  const end = Math.max(...lanes.flatMap(([, found]) => found.map((bar) => bar[1])), 0) || 1;
  const percent = (time) => `${((time / end) * 100).toFixed(3)}%`;
  const bar = ([start, stop, words, colour, short]) => {
    const span = { from: figureOf(start), to: figureOf(stop), unit };
    const said = words ? t("bar.named", { words, ...span }) : t("bar", span);
    return el(
      "li",
      {
        class: hue(colour),
        style: `left:${percent(start)};width:${percent(stop - start)}`,
        title: said,
      },
      [...sized(words, short), spoken(said)],
    );
  };
  // Of two forms the one that fits is shown, or none: never half a word. The style sheet decides.
  const sized = (words, short) =>
    [words, short].filter(Boolean).map((form) =>
      el("span", {
        class: "fa-bar-words",
        "aria-hidden": "true",
        text: form,
        style: `--n:${form.length};--more:${form === short ? words.length : 999}`,
      }),
    );
  const kinds = new Map(
    lanes.flatMap(([, found]) => found.filter((bar) => bar[5]).map((bar) => [bar[5], bar[3]])),
  );
  const legend = kinds.size
    ? el(
        "ul",
        { class: "fa-plot-legend" },
        [...kinds].map(([name, colour]) =>
          el("li", {}, [
            el("i", { class: `fa-lane-key ${hue(colour)}` }),
            el("span", { text: name }),
          ]),
        ),
      )
    : null;
  const rows = lanes.flatMap(([name, found]) => [
    el("span", { class: "fa-lane-name", text: name }),
    el("ul", { class: "fa-lane-bars", "aria-label": name }, found.map(bar)),
  ]);
  const marks = ticks(0, end, 6, false).map((tick) =>
    el("span", { style: `left:${percent(tick)}`, text: figureOf(tick) }),
  );
  rows.push(
    el("span", { class: "fa-lane-name", text: unit }),
    el("div", { class: "fa-lane-axis", "aria-hidden": "true" }, marks),
  );
  return figure("timeline", label, [
    legend,
    scroller(label, el("div", { class: "fa-lanes-of" }, rows)),
  ]);
}

const MATHML = "http://www.w3.org/1998/Math/MathML";

/** Our own server's constant MathML; anything in it that is not MathML is shown as the label instead. */
function formula({ label, mathml, source }) {
  const parsed = new DOMParser().parseFromString(
    `<math xmlns="${MATHML}" display="block">${mathml}</math>`,
    "text/html",
  ).body.firstElementChild;
  const all = parsed ? [parsed, ...parsed.querySelectorAll("*")] : [];
  const odd = (node) =>
    node.namespaceURI !== MATHML ||
    [...node.attributes].some(({ name }) => /^on|href|src/.test(name));
  if (!all.length || all.some(odd)) return text({ words: label, kind: "plain" });
  const math = document.importNode(parsed, true);
  math.setAttribute("aria-label", label);
  return figure("formula", label, [
    scroller(label, math),
    source ? el("p", { class: "fa-fine", text: source }) : null,
  ]);
}

function code({ label, lines, marked }) {
  const body = lines.replace(/\n$/, "").split("\n");
  const rows = body.map((line, k) =>
    el(marked?.includes(k) ? "mark" : "span", { text: `${line}\n` }),
  );
  const button = el("button", {
    type: "button",
    class: "fa-small",
    text: t("copy"),
    "aria-label": t("copy.what", { label }),
    "aria-live": "polite",
  });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(lines);
      button.textContent = t("copied");
    } catch {
      // No clipboard here: at least it is selected
      window.getSelection().selectAllChildren(pre);
      button.textContent = t("selected");
    }
    setTimeout(() => {
      button.textContent = t("copy");
    }, 1600);
  });
  const pre = el("pre", {}, [el("code", {}, rows)]);
  return figure("code", label, [scroller(label, pre)], button);
}

const link = ({ words, query }) =>
  el("p", { class: "fa-block-of fa-text-block" }, [
    el("a", { class: "fa-run-link", href: `?${query}`, text: words }),
  ]);

/** A picture that moves under the hand, with its words: its module comes when it is first drawn. */
function moving({ name, label, words, data }, api) {
  const box = el("div", { class: "fa-moving", role: "group", "aria-label": label });
  const root = figure("picture", label, [box, el("p", { class: "fa-sr", text: words })]);
  root.dataset.picture = name;
  show(root, { name, data, words }, api);
  return root;
}

const DRAWERS = {
  text,
  matrix,
  bars,
  table,
  cells,
  bits,
  formula,
  timeline,
  code,
  link,
  plot: (block) => new Plot(block).root,
  picture: moving,
};

/** One block as an element; an unknown kind is left out. `api` is what a moving picture has of its widget. */
export function draw(block, api) {
  return DRAWERS[block.type]?.(block, api) ?? null;
}
