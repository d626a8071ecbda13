// The SRAM card: the one tile being worked on, as HBM's picture magnified. Q stands left of S, Kᵀ above it, m and ℓ
// right of it, then O, V above that: a row reads straight through Q, S, m, ℓ and O. A phone has no room for O until Q is
// no longer needed.

import { aroundZero, range } from "../lib/colors.js";
import { el, get, set } from "../lib/dom.js";
import { bytes, clamp, number, sub } from "../lib/format.js";
import { weight } from "../model/frame.js";
import { algorithmOf, layoutOf } from "../model/passes.js";
import { t } from "../model/texts.js";
import { tileOf } from "../model/wording.js";
import { put } from "./frame.js";
import layout from "./layout.json" with { type: "json" };
import { TilePanel } from "./tile_panel.js";

/** @import { Frame, Known, Numbers, Row, Stage } from "../model/types.js" */
/** @import { CellValues, Corner } from "./types.js" */

// Pixels at 1280 × 720; the card's own room is shared out in these proportions.
const HEAD = 27; // of the frames' names
const GAP = 33; // between Kᵀ and S, with the names of the lower frames
const FOOT = 20;
const EDGE = 26;
const STATS = 132; // m and ℓ, half of it m with its mark
/** Of the card's width: of Q, S and O. */
const { shares: SHARES } = layout;
const HEIGHTS = { K: 96, S: 176 };
const CELLS = { Q: 24, S: 64 }; // no cell is larger
const FEW = 39; // px of a column that holds digits
const PHONE_FEW = 36;
const KEY = 58; // px of a column that bears the name of its key

const NONE = new Float32Array(0);

/** Does S hold weights? @param {Frame} f */
const isWeighted = (f) =>
  f.kind !== "skipped" && (f.done("exp") || (f.stage === "output" && f.done("load")));

export class Sram extends TilePanel {
  /** @type {boolean} */
  phone;
  /** @type {boolean} */
  counts;
  /** @param {() => void} onZoom */
  constructor(onZoom) {
    super("forward", { m: "m", l: "ℓ" }, onZoom);
  }

  /** One scale for all operands, the same on both sides of 0. @param {Record<string, Numbers | undefined>} arrays */
  scale({ Q = NONE, K = NONE, V = NONE, O = NONE, S = NONE, r_m_new = NONE, r_l_new = NONE }) {
    this.around = aroundZero(Q, K, V, O); // what O sums up before its division may lie beyond
    this.scores = range(S);
    this.heatOf = { m: aroundZero(r_m_new), l: aroundZero(r_l_new) };
  }

  /** On a phone O takes the room of Q, once it sums up P V. @param {Frame} f */
  isSecond(f) {
    return this.phone && !f.stage && f.done("output");
  }

  /** @param {Stage} stage @param {boolean} [sums] */
  arrange(stage, sums = false) {
    Object.assign(this, { stage, second: sums });
    const p = this.trace.problem;
    const { unit: u, big } = this.theme;
    const { on_chip, wide: isWide, columns } = layoutOf(this.trace, stage);
    const strip = !on_chip.includes("Q");
    const { lanes } = algorithmOf(this.trace);
    const cols = columns === "lanes" ? lanes : isWide ? p.n : p.block_k;
    const rows = p.block_q;
    const sizes = { rows, keys: cols, dims: p.d, outs: p.d };
    const [width, height] = [this.body.clientWidth, this.body.clientHeight];
    this.wide = width;
    const phone = (this.phone = width < 400);
    const type = big ? Math.max(24, 24 * u) : phone ? 12 : Math.max(12, 13 * u);
    Object.assign(this, { sizes, type });
    const narrow = width < 460; // a phone
    const edge = narrow ? 12 : EDGE * u;
    const apart = big ? 0 : narrow ? 8 : 16 * u;
    const above = big ? 0 : HEIGHTS.K; // presentation mode has room for the scores and their rows alone
    const label = Math.max(edge, this.nameLength * type * 0.68 + 16); // within the white band
    const [head, gap, foot] = big ? [0, 44 * u, 8] : [HEAD * u, GAP * u, FOOT * u];
    const room = height - head - gap - foot;
    const split = above / (above + HEIGHTS.S);
    const low = Math.min(room * (1 - split), rows * (big ? 96 : 66) * u);
    const over = clamp((big ? 0 : 1.4) * HEIGHTS.K * u, 0, room - low);
    const stats = (big ? 250 : narrow ? 106 : STATS) * u;
    // A kernel that holds no Q has room for S alone, or with O
    const own = big ? "present" : phone ? "phone" : "desk";
    const shares = SHARES[strip ? (on_chip.includes("O") ? "with_O" : "without_O") : own];
    const whole = width - label - edge - apart - stats;
    // A few more columns than four take room from Q and O, so that their digits stay.
    const least = cols * (phone ? PHONE_FEW : FEW * u);
    const even = (whole * shares.S) / (shares.Q + shares.S + shares.O);
    const few = !big && !strip && least > even && least < whole * (phone ? 0.88 : 0.68);
    const scores = few ? least : even;
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
      const spent = wide.Q + apart; // Q gives its place to O
      for (const name of ["S", "m", "l"]) x[name] -= spent;
      wide.O = spent - apart / 2;
      x.O = x.l + widths.l + apart / 2;
    }
    this.lay("Q", x.Q, base, wide.Q, low);
    this.lay("K", x.S, top, wide.S, over);
    this.lay("S", x.S, base, wide.S, low);
    this.lay("V", x.O, top, wide.O, over);
    this.lay("O", x.O, base, wide.O, low);
    const contents = phone && !stage ? (sums ? "KSVOml" : "QKSml") : on_chip;
    for (const { name, root } of this.list)
      root.hidden = !contents.includes(name) || (big && "QKV".includes(name));
    this.frames.O.root.classList.toggle("is-slim", wide.O < 72 * u);
    this.counts = contents.includes("m");
    this.high = low / rows;
    this.rows(
      rows,
      x.Q - 7,
      base,
      this.counts ? { m: { x: x.m, width: widths.m }, l: { x: x.l, width: widths.l } } : {},
    );
    this.placeKeys(big && !strip && wide.S >= cols * KEY * u, this.frames.S);
    this.left = Math.max(0, x.Q - label);
    const { matrix } = this.frames.S;
    this.trace.decimals = matrix.cells.length ? matrix.decimals(this.scores) : undefined;
  }

  /** An edge of what it makes. @param {string} name @param {(node: Element) => DOMRect} where */
  edge(name, where) {
    const { S, O } = this.frames;
    const { x, y, width, height } = where((name === "V" && !O.root.hidden ? O : S).root);
    return name === "Q" ? new DOMRect(x, y, EDGE, height) : new DOMRect(x, y, width, EDGE);
  }

  /** @param {Row} row @returns {Record<string, Known>} */
  readRow({ m_new, m_old, l_new, l_old }) {
    return { m: m_new ?? m_old, l: l_new ?? l_old };
  }

  /** What each frame holds at this moment. @param {Frame} f */
  contents(f) {
    const { outer, output } = algorithmOf(f);
    const { contents, hold, sums } = this.holding(f);
    const { on_chip } = layoutOf(f, f.stage);
    const [isSkipped, loaded] = [f.kind === "skipped", f.done("load")];
    const scoring = !isSkipped && on_chip.includes("Q");
    hold("Q", "", (scoring || f.unseen) && (loaded || outer === "rows"));
    hold("K", "", scoring && loaded);
    // Standard attention's P is made when it is stored; elsewhere weights are dropped when they meet V.
    const unsummed = f.stage
      ? f.stage === "softmax" && !f.done("store")
      : Boolean(f.problem.dropout) && !f.done("output");
    /** @type {CellValues} */
    const weights = unsummed
      ? (r, c) => weight(Number(f.score(r, c)), Number(f.stats[r]?.m_new))
      : f.weight;
    const isScored = !isSkipped && (f.done("scores") || (!scoring && loaded));
    if (isWeighted(f))
      hold(
        "S",
        `${f.step} weights ${unsummed}`,
        true,
        (r, c) => (f.hides(r, c) ? -Infinity : weights(r, c)),
        [0, 1],
        this.theme.P,
        0,
      );
    else hold("S", `${f.step} scores ${f.done("mask")}`, isScored, f.score, this.scores);
    hold("V", "", !isSkipped && loaded && on_chip.includes("V"));
    const { acc } = f;
    const shrinks = output === "unnormalized" && f.done("exp") && !f.done("output"); // α dims O before P V arrives
    const past = sums("O", acc?.data);
    hold(
      "O",
      `${f.step} ${acc?.state} ${shrinks}`,
      acc && acc.state !== "zero",
      shrinks ? (r, c) => Number(past(r, c)) * (f.stats[r]?.alpha ?? 1) : past,
    );
    return contents;
  }

  /** The empty corner that a card of numbers may take: above Q for a score and its operands, else beside V. @param {string} tensor @param {number} edge @param {number} least @returns {Corner} */
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
    const [rows, cols] = this.shapeOf(name, f);
    const shared = "QKV".includes(name);
    const size = bytes(rows * cols * (shared ? this.trace.header.itemsize[name] : 4));
    return t(shared ? "sram.shared" : "sram.registers", { block, rows, cols, size });
  }

  /** @param {Frame} f @param {Row | undefined} row */
  captions(f, row) {
    const { acc, problem: p } = f;
    const [i, j, ij] = [sub(f.i), f.j < 0 ? "" : sub(f.j), tileOf(f)];
    const weighted = isWeighted(f);
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
