// The SRAM card: the one tile being worked on, as HBM's picture magnified. Q stands left of S, Kᵀ above it, m and ℓ
// right of it, then O, V above that: a row reads straight through Q, S, m, ℓ and O. A phone has O and V in the place of
// m and ℓ, once they are there.

import { aroundZero, range } from "../lib/colors.js";
import { el, get, set } from "../lib/dom.js";
import { bytes, number, sub } from "../lib/format.js";
import { weight } from "../model/frame.js";
import { algorithmOf } from "../model/passes.js";
import { t } from "../model/texts.js";
import { put } from "./frame.js";
import { TilePanel, rampsOf } from "./tile_panel.js";

/** @import { Axis } from "../model/links.js" */
/** @import { Accumulator, Frame, Numbers, Row, Stage } from "../model/types.js" */
/** @import { CellValues, PanelOptions } from "./types.js" */

// Pixels at 1280 × 720; the card's own room is shared out in these proportions.
const HEAD = 27; // of the frames' names
const GAP = 33; // between Kᵀ and S, with the names of the lower frames
const FOOT = 26; // with the legend
const EDGE = 26;
const STATS = 132; // m and ℓ, half of it m with its mark
const SHARES = { Q: 96, S: 168, O: 96 };
const HEIGHTS = { K: 96, S: 176 };
const CELLS = { Q: 24, S: 64 }; // no cell is larger
/** Room of a kernel that holds no Q: with O, and without. */
const WHOLE = { on_chip: "QKSVOml" }; // of a kernel that has no other
const STRIPS = { with: { Q: 0, S: 264, O: 96 }, without: { Q: 0, S: 1, O: 0 } };
const FEW = 39; // px of a column that holds digits
const PHONE_FEW = 36;
const KEY = 58; // px of a column that bears the name of its key
/** Down and across. @type {Record<string, Axis[]>} */
const FRAMES = {
  Q: ["rows", "dims"],
  K: ["dims", "keys"],
  S: ["rows", "keys"],
  V: ["keys", "outs"],
  O: ["rows", "outs"],
};

const NONE = new Float32Array(0);

/** Does S hold weights? @param {Frame} f */
const isWeighted = (f) =>
  f.kind !== "skipped" && (f.done("exp") || (f.stage === "output" && f.done("load")));

export class Sram extends TilePanel {
  /** @type {Stage} */
  stage;
  /** @type {boolean} */
  sums;
  /** @type {boolean} */
  phone;
  /** @type {boolean} */
  counts;
  /** @type {number[]} */
  scores;
  /** @param {PanelOptions} on */
  constructor(on) {
    super(FRAMES, { m: "m", l: "ℓ" }, t("sram.legend"), on);
  }

  /** One scale for all operands, the same on both sides of 0. @param {Record<string, Numbers | undefined>} arrays */
  scale({ Q = NONE, K = NONE, V = NONE, O = NONE, S = NONE, r_m_new = NONE, r_l_new = NONE }) {
    this.around_(aroundZero(Q, K, V, O)); // what O sums up before its division may lie beyond
    this.scores = range(S);
    this.heatOf = { m: aroundZero(r_m_new), l: aroundZero(r_l_new) };
  }

  /** @param sums does O sum up P V here? On a phone it then stands where m and ℓ stood. @param {Stage} stage */
  arrange(stage, sums = false) {
    Object.assign(this, { stage, sums });
    const p = this.trace.problem;
    const { unit: u, big } = this.theme;
    const { lanes, stages } = algorithmOf(this.trace);
    const layout = stages[String(stage)];
    const strip = Boolean(layout) && !layout.on_chip.includes("Q");
    const cols = layout?.columns === "lanes" ? lanes : layout?.wide ? p.n : p.block_k;
    const rows = p.block_q;
    const [width, height] = [this.body.clientWidth, this.body.clientHeight];
    this.wide = width;
    const phone = (this.phone = width < 400);
    const type = big ? Math.max(24, 24 * u) : phone ? 12 : Math.max(12, 13 * u);
    const narrow = width < 460; // a phone
    const edge = narrow ? 12 : EDGE * u;
    const apart = big ? 0 : narrow ? 8 : 16 * u;
    const above = big ? 0 : HEIGHTS.K; // a hall has room for the scores and their rows alone
    const names = this.trace.header.row_names ?? [p.n - 1];
    const label = Math.max(
      edge,
      Math.max(...names.map((name) => String(name).length)) * type * 0.68 + 16,
    ); // within the white band
    const [head, gap, foot] = big ? [0, 44 * u, 8] : [HEAD * u, GAP * u, FOOT * u];
    const room = height - head - gap - foot;
    const split = above / (above + HEIGHTS.S);
    const low = Math.min(room * (1 - split), rows * (big ? 96 : 66) * u);
    const over = Math.max(0, Math.min(room - low, (big ? 0 : 1.4) * HEIGHTS.K * u));
    const stats = (big ? 250 : narrow ? 106 : STATS) * u;
    const shares = strip
      ? STRIPS[layout.on_chip.includes("O") ? "with" : "without"]
      : big
        ? { Q: 0, S: 332, O: 78 }
        : phone
          ? { Q: 44, S: 176, O: 0 }
          : SHARES;
    const whole = width - label - edge - apart - stats;
    // A few more columns than four take room from Q and O, so that their digits stay.
    const least = cols * (phone ? PHONE_FEW : FEW * u);
    const few =
      !big &&
      !strip &&
      least > (whole * shares.S) / (shares.Q + shares.S + shares.O) &&
      least < whole * (phone ? 0.88 : 0.68);
    const scores = few ? least : (whole * shares.S) / (shares.Q + shares.S + shares.O);
    const part = (
      /** @type {"Q" | "O"} */ name,
      /** @type {number} */ cells,
      /** @type {number} */ most,
    ) =>
      Math.floor(
        Math.min(((whole - scores) * shares[name]) / (shares.Q + shares.O || 1), cells * most * u),
      );
    const wide = {
      Q: part("Q", p.d, CELLS.Q),
      S: Math.floor(Math.min(scores, cols * (big ? 96 : CELLS.S) * u)),
      O: part("O", p.d, CELLS.Q),
    };
    const spare = Math.max(0, whole - wide.Q - wide.S - wide.O) / 2;
    const top = head + Math.max(0, room - over - low) / 2;
    const base = top + over + gap;
    /** @type {Record<string, number>} */
    const x = { Q: label + spare };
    x.S = x.Q + wide.Q + (wide.Q ? apart : 0);
    x.m = x.S + wide.S + stats * 0.05;
    const widths = narrow
      ? { m: stats * 0.53, l: stats * 0.41 }
      : { m: stats * 0.52, l: stats * 0.38 };
    x.l = x.m + widths.m;
    x.O = x.S + wide.S + stats;
    if (sums) {
      wide.O = Math.min(stats - apart, p.d * CELLS.Q * u);
      x.O -= wide.O;
    }
    const lay = (
      /** @type {string} */ name,
      /** @type {number} */ left,
      /** @type {number} */ y,
      /** @type {number} */ w,
      /** @type {number} */ h,
      /** @type {number} */ r,
      /** @type {number} */ c,
    ) => this.frames[name].layout(left, y, w, h, r, c, type);
    lay("Q", x.Q, base, Math.max(1, wide.Q), low, rows, p.d);
    lay("K", x.S, top, wide.S, Math.max(1, over), p.d, cols);
    lay("S", x.S, base, wide.S, low, rows, cols);
    lay("V", x.O, top, wide.O, Math.max(1, over), cols, p.d);
    lay("O", x.O, base, wide.O, low, rows, p.d);
    const contents = layout?.on_chip ?? (!phone ? "QKSVOml" : sums ? "QKSVO" : "QKSml");
    for (const name of Object.keys(FRAMES))
      this.frames[name].root.hidden = !contents.includes(name) || (big && "QKV".includes(name));
    this.frames.O.root.classList.toggle("is-slim", wide.O < 72 * u);
    this.counts = contents.includes("m");
    this.high = low / rows;
    this.rows(
      rows,
      x.Q - 7,
      base,
      type,
      this.counts ? { m: { x: x.m, width: widths.m }, l: { x: x.l, width: widths.l } } : {},
    );
    // In a hall each key stands over its column, where there is room for that.
    this.keys.hidden = !big || strip || wide.S < cols * KEY * u;
    put(this.keys, x.S, base - 46 * u, wide.S, 44 * u);
    this.keys.style.gridTemplateColumns = `repeat(${cols}, 1fr)`;
    this.frames.S.head.hidden = !this.keys.hidden;
    this.left = Math.max(0, x.Q - label);
    put(this.legend, x.O + wide.O - 300 * u, height - foot + 4 * u, 300 * u, 16 * u);
  }

  /** Where a tensor lies, within the window: its frame, its column of m or ℓ; where no frame is shown, an edge of what it
   * makes. `where(node)` says where each of them is. @param {string} tensor @param {(node: Element) => DOMRect} where */
  seat(tensor, where) {
    const box = (/** @type {string} */ name) => where(this.frames[name].root);
    const name = { P: "S", "O′": "O" }[tensor] ?? tensor;
    if (this.frames[name] && !this.frames[name].root.hidden) return box(name);
    const { x, y, width, height } = box(name === "V" && !this.frames.O.root.hidden ? "O" : "S");
    if (name === "Q") return new DOMRect(x, y, EDGE, height);
    if (this.frames[name]) return new DOMRect(x, y, width, EDGE);
    const column = where(this.line[0][name === "m" ? "m" : "l"]);
    return new DOMRect(column.x + column.width / 2 - 3, y, 6, height);
  }

  /** @param {Frame} f @param {number | undefined} focus */
  draw(f, focus) {
    this.reveals(f);
    if (!f.numbers) return;
    const sums = this.phone && !f.stage && f.done("output");
    if (f.stage !== this.stage || sums !== this.sums) this.arrange(f.stage, sums);
    [this.first, this.used] = [f.rows.start, f.rows.stop - f.rows.start];
    for (const [name, how] of Object.entries(this.contents(f))) this.frames[name].draw(how);
    if (!this.keys.hidden) this.nameKeys(f);
    this.captions(
      f,
      f.acc,
      isWeighted(f),
      f.stats.find((s) => s.row === focus),
    );
    const now = f.stats.map((s) => ({
      m: s.m_new ?? s.m_old,
      l: s.l_new ?? s.l_old,
    }));
    this.drawRows(f, focus, now, (key) => rampsOf(this.theme)[key.toUpperCase()]);
  }

  /** What each frame holds at this moment. @param {Frame} f */
  contents(f) {
    const p = f.problem;
    const algorithm = algorithmOf(f);
    const { arrays } = this.trace;
    const theme = this.theme;
    const skip = f.kind === "skipped";
    const across = f.columns === "lanes" ? f.lanes : f.cols.stop - f.cols.start;
    const used = [f.rows.stop - f.rows.start, across];
    const { contents, hold } = this.holding(f);
    /** @type {(data: Numbers, width: number, start: number) => CellValues} */
    const flat = (data, width, start) => (r, c) => data[(start + r) * width + c];
    const { on_chip } = algorithm.stages[String(f.stage)] ?? WHOLE;
    const scoring = !skip && on_chip.includes("Q");
    const loaded = f.done("load");
    const { Q, K, V } = f.zoom ?? arrays;
    const [row0, col0] = f.zoom ? [0, 0] : [f.rows.start, f.cols.start];
    hold(
      "Q",
      "",
      (scoring || f.unseen) && (loaded || algorithm.outer === "rows"),
      Q && flat(Q, p.d, row0),
      [used[0], p.d],
      f.i,
    );
    hold("K", "", scoring && loaded, (r, c) => K[(col0 + c) * p.d + r], [p.d, used[1]], f.j);
    // Standard attention's P is made when it is stored; elsewhere weights are dropped when they meet V.
    const unsummed = f.stage
      ? f.stage === "softmax" && !f.done("store")
      : Boolean(p.dropout) && !f.done("output");
    /** @type {CellValues} */
    const weights = unsummed
      ? (r, c) => weight(Number(f.score(r, c)), Number(f.stats[r]?.m_new))
      : f.weight;
    const lanes = [used[0], f.j < 0 ? used[1] : p.block_k]; // a ragged edge has lanes without a key
    const tile = f.j < 0 ? f.i : `${f.i} ${f.j}`;
    if (isWeighted(f))
      hold(
        "S",
        `${f.step} weights ${unsummed}`,
        true,
        (r, c) => (f.hides(r, c) ? -Infinity : weights(r, c)),
        lanes,
        tile,
        [0, 1],
        theme.P,
        0,
      );
    else
      hold(
        "S",
        `${f.step} scores ${f.done("mask")}`,
        !skip && (f.done("scores") || (!scoring && loaded)),
        f.score,
        lanes,
        tile,
        this.scores,
      );
    const valued = !skip && loaded && on_chip.includes("V");
    hold("V", "", valued, V && flat(V, p.d, col0), [used[1], p.d], f.j);
    const { acc } = f;
    const shrinks = algorithm.output === "unnormalized" && f.done("exp") && !f.done("output"); // α dims O before P V arrives
    const past = acc && flat(acc.data, p.d, 0);
    hold(
      "O",
      `${f.step} ${acc?.state} ${shrinks}`,
      acc && acc.state !== "zero",
      past && shrinks ? (r, c) => Number(past(r, c)) * (f.stats[r]?.alpha ?? 1) : past,
      [used[0], p.d],
      f.i,
    );
    return contents;
  }

  /** The empty corner that a card of numbers may take: above Q for a score and its operands, else beside V. @param {string} tensor @param {number} edge @param {number} least */
  corner(tensor, edge, least) {
    const { Q, K, S, V, O } = this.frames;
    const left = { x: Math.min(edge, Q.x), width: S.x - Math.min(edge, Q.x) - 8 };
    const right = { x: S.x + S.width + 6, width: O.x - S.x - S.width - (O.root.hidden ? 6 : 13) }; // which a phone shows only when it sums up
    const isLeft = "QKS".includes(tensor) && !Q.root.hidden && left.width >= 1.5 * least;
    return {
      ...(isLeft ? left : right),
      y: K.y,
      height: K.height,
      under: isLeft ? Q : null,
      beside: tensor === "O" ? V : null,
    };
  }

  /** What hovering a block says: its shape, its bytes, and where it is. @param {string} name @param {number | string} block @param {Frame} f */
  place(name, block, f) {
    const rows = f.rows.stop - f.rows.start;
    const cols = f.cols.stop - f.cols.start;
    const [r, c] = {
      Q: [rows, f.problem.d],
      K: [f.problem.d, cols],
      V: [cols, f.problem.d],
      O: [rows, f.problem.d],
    }[name] ?? [rows, cols];
    const shared = "QKV".includes(name);
    const size = bytes(r * c * (shared ? this.trace.header.itemsize[name] : 4));
    return t(shared ? "sram.shared" : "sram.registers", { block, rows: r, cols: c, size });
  }

  /** @param {Frame} f @param {Accumulator | null} acc @param {boolean} weighted @param {Row | undefined} row */
  captions(f, acc, weighted, row) {
    const p = f.problem;
    const i = sub(f.i);
    const j = f.j < 0 ? "" : sub(f.j);
    const ij = f.i > 9 || f.j > 9 ? `${i},${j}` : `${i}${j}`;
    /** @type {(name: string, strong: string, quiet?: string, inside?: string) => void} */
    const head = (name, strong, quiet = "", inside) =>
      this.frames[name].label(strong, quiet, this.place(name, strong, f), inside);
    head("Q", `Q${i}`);
    head("K", `K${j}ᵀ`);
    const { output, stores_scores, texts } = algorithmOf(f);
    const divided = stores_scores && (f.stage === "output" || f.done("store"));
    const what = divided ? "exp(S − m)/ℓ" : "exp(S − m)";
    const scored = f.done("scores") || f.stage === "softmax";
    const own = texts.captions?.[String(f.stage)]?.[weighted ? "P" : "S"];
    if (own) head("S", own[0], own[1]);
    else if (!weighted)
      head(
        "S",
        scored ? `S${ij}` : "",
        scored
          ? ["= QKᵀ/√d", p.changes.length > 1 ? t("sram.changed") : p.changes[0]?.name]
              .filter(Boolean)
              .join(", ")
          : "",
        `S${ij}`,
      );
    else if (f.stage === "softmax" && !divided) head("S", t("sram.weights"), "= exp(S − m)");
    else
      head(
        "S",
        `P${ij}`,
        p.dropout && (f.stage || f.done("output")) ? t("sram.drop", { what }) : `= ${what}`,
      );
    head("V", `V${j}`);
    const shrinks = f.phase === "exp" && row?.alpha !== undefined && row.m_old !== -Infinity;
    /** @type {Record<string, string>} */
    const states = { after: output === "normalized" ? "/ ℓ" : "", final: "/ ℓ" };
    const state = shrinks ? `${row.row}: × ${number(row.alpha)}` : (states[acc?.state ?? ""] ?? "");
    head("O", `O${i}`, state, acc?.state === "zero" ? "0" : "");
    set(this.frames.O.head, { class: `fa-ink-o${shrinks ? " is-now" : ""}` });
    set(get(this.frames.O.head, "span"), { "data-part": shrinks ? `alpha.${row.row}` : null });
  }
}
