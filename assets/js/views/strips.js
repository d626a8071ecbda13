// The strips of blocks around the map of HBM. Which stand where is declared for each pass, all else follows from it: sizes,
// names, what is bright, where a block lies and what lies at a place.

import { hueOf } from "../lib/colors.js";
import { set, svg } from "../lib/dom.js";
import { clamp, sub } from "../lib/format.js";
import { times } from "../lib/lists.js";
import { sharing } from "../model/heads.js";
import { algorithmOf, layoutOf } from "../model/passes.js";
import { isOfKeys, isPerRow } from "../model/tensors.js";
import { finishedBlocks, finishedParts } from "../model/tiles.js";
import layout from "./layout.json" with { type: "json" };

/** @import { Mark } from "./types.js" */
/** @import { Frame, Trace } from "../model/types.js" */
/** @import { Box, Theme } from "./types.js" */

// Strips from the outside in, left and above; away from the map on the right. `few`: in presentation mode, whose names are large;
// what else moves does so beside what is named there. What is made is dashed until it is final.
const { strips: STRIPS, few_strips: FEW, made: MADE } = layout;
/** @type {Record<string, string>} */
const BESIDE = layout.beside;
const GRADIENTS = /^d/;
/** Of what each lane has of its own there is a strip a lane: O′0, O′1. @param {string} name */
const tensorOf = (name) => name.replace(/\d+$/, "");
const NAME_FROM = 20; // px of block below which its name is left out
const APART = 3;
const TIGHT = 190; // px of a map's window
const SEGMENTS = { most: 24, high: 5 }; // of dQ's parts in a block, and px of each

export class Strips {
  /** @type {Trace} */
  trace;
  /** @type {Theme} */
  theme;
  /** @type {{left: number, top: number, side: number, cell: number, gap: number}} */
  map;
  /** @type {Record<string, Mark>} */
  marks;
  /** @type {Record<"above" | "left" | "right", string[]>} */
  sides;
  /** @type {string[]} */
  made;
  /** @type {string[]} those of what each lane has of its own */
  parts;
  /** @type {(name: string) => number} */
  thick;
  /** @type {boolean} */
  tight;
  /** What of the room the strips take, in px: {left, above, right}; where it is not high, few and slim ones without names. @param {Trace} trace @param {number} height */
  measure(trace, /** @type {Theme} */ { unit: u, big }, height) {
    const { pass, totals } = trace.header;
    this.tight = pass === "backward" && height < TIGHT;
    const moved = totals.requested[trace.problem.order];
    const isThere = (/** @type {string} */ name) =>
      pass === "forward" || moved[name]?.[0] + moved[name]?.[1] > 0;
    const { strips, lanes } = algorithmOf(trace);
    const each = (/** @type {string} */ name) =>
      trace.header.pairs.includes(name) ? times(lanes, (k) => name + k) : name;
    const sides = { ...(big || this.tight ? FEW : STRIPS)[pass], ...strips };
    /** @template T @param {(side: "left" | "above" | "right") => T} of */
    const ofSides = (of) => ({ left: of("left"), above: of("above"), right: of("right") });
    this.sides = ofSides((side) => sides[side].filter(isThere).flatMap(each));
    this.parts = (strips.right ?? []).flatMap(each).filter((name) => tensorOf(name) !== name);
    this.made = [...MADE[pass], ...this.parts];
    const thick = Math.round((this.tight ? 11 : big ? 44 : 21) * u);
    /** @type {Record<string, number>} */
    const own = this.tight
      ? { dQ: 22 * u }
      : { dQ: Math.round((big ? 60 : 34) * u), dO: thick + Math.round((big ? 12 : 4) * u) };
    this.thick = (/** @type {string} */ name) =>
      isPerRow(name) ? Math.round((big ? 12 : 9) * u) : (own[name] ?? thick);
    return ofSides((side) =>
      this.sides[side].reduce((all, name) => all + this.thick(name) + APART, 0),
    );
  }

  /** @param {{left: number, top: number, side: number, cell: number, gap: number}} map where the map of the scores lies @param {Trace} trace @param {Theme} theme */
  layout(trace, theme, map) {
    Object.assign(this, { trace, theme, map, marks: {} });
    const { left, top, side, gap } = map;
    /** Strips from an edge of the map on, nearest first. @param {string[]} names @param {boolean} upright @param {number} edge @param {1 | -1} way */
    const stack = (names, upright, edge, way) =>
      names.flatMap((name) => {
        const at = way > 0 ? edge : edge - this.thick(name);
        edge += way * (this.thick(name) + APART);
        return this.strip(name, upright, at);
      });
    return [
      ...stack(this.sides.above.toReversed(), false, top - gap, -1),
      ...stack(this.sides.left.toReversed(), true, left - gap, -1),
      ...stack(this.sides.right, true, left + side + gap, 1),
    ];
  }

  /** One strip: faint blocks, over them those that are final and the one at work, and the names. @param {string} name @param {boolean} upright @param {number} at */
  strip(name, upright, at) {
    const { problem: p, header } = this.trace;
    const { left, top, side, cell } = this.map;
    const { unit: u, big } = this.theme;
    const [count, size] = isOfKeys(name) ? [p.Tc, p.block_k] : [p.Tr, p.block_q];
    const thick = this.thick(name);
    const long = size * cell;
    const place = (/** @type {number} */ start, /** @type {number} */ stop) => {
      const a = start * long;
      const b = Math.max(0.5, Math.min(side, stop * long) - 2 - a);
      return upright
        ? { x: at, y: top + a, width: thick, height: b }
        : { x: left + a, y: at, width: b, height: thick };
    };
    const tensor = tensorOf(name);
    const kind = `fa-block fa-fill-${hueOf(tensor)}${GRADIENTS.test(name) ? " is-grad" : ""}${this.made.includes(name) ? " is-made" : ""}${isPerRow(name) ? " is-slim" : ""}`;
    const wide = long >= 3;
    const blocks = times(wide ? count : 1, (k) =>
      svg("rect", {
        class: `${kind}${long < 10 ? " is-thin" : ""}`,
        rx: 3,
        "data-tensor": tensor,
        "data-spot": `home.${tensor}`,
        "data-block": wide ? k : null,
        ...(wide ? place(k, k + 1) : place(0, count)),
      }),
    );
    const bright = svg("rect", { class: `${kind} is-now`, rx: 3 });
    const done = svg("rect", { class: `${kind} is-done`, rx: 3 });
    const room =
      (GRADIENTS.test(name) && !upright ? (big ? 1.2 : 1.4) : 1) *
      (big ? 44 * u : Math.max(NAME_FROM, 22 * u));
    const labels = times(long >= room && !this.tight && !isPerRow(name) ? count : 0, (k) => {
      const b = place(k, k + 1);
      const high = name === "dQ" && this.parted(b) ? b.height / 2 - 4 * u : b.height / 2;
      return svg(`text.fa-block-name.fa-name-${hueOf(tensor)}`, {
        x: b.x + b.width / 2,
        y: b.y + high,
        text: `${tensor}${sub(k)}`,
      });
    });
    const more = [];
    if (isPerRow(name))
      more.push(
        svg(`text.fa-block-name.fa-slim-name.fa-name-${hueOf(name)}`, {
          x: at + (name === "lse" ? thick : thick / 2),
          y: top - 10 * u,
          style: `text-anchor:${name === "lse" ? "end" : "middle"}`,
          text: name === "l" ? "ℓ" : name,
        }),
      );
    const group = !upright && p.heads && !GRADIENTS.test(name) ? sharing(p.heads) : 1;
    const free =
      header.pass === "forward"
        ? { x: left - 6 }
        : { x: left + side + 6, style: "text-anchor:start" }; // beside the strip
    if (group > 1)
      more.push(
        svg(`text.fa-block-name.fa-shared-by.fa-name-${hueOf(name)}`, {
          ...free,
          y: at + thick / 2,
          text: `×${group}`,
        }),
      );
    this.marks[name] = { place, bright, done, blocks, labels, count, segments: [] };
    if (name === "dQ" && header.pass === "backward") more.push(...this.segments());
    return [...blocks, done, bright, ...labels, ...more];
  }

  /** Has a block of dQ room for its parts, one beside the other? */
  parted(/** @type {Box} */ { height }) {
    return height >= (this.theme.big ? 40 : 28) * this.theme.unit;
  }

  /** A small segment for each key block that will add to dQ of its rows. */
  segments() {
    const { adds, problem: p } = this.trace;
    const { place } = this.marks.dQ;
    const { unit: u } = this.theme;
    const high = SEGMENTS.high * u;
    this.marks.dQ.segments = adds.map(({ length }, i) => {
      const b = place(i, i + 1);
      if (!length || length > SEGMENTS.most || p.Tr > 64 || !this.parted(b)) return [];
      const step = (b.width - 6 * u) / length;
      return times(length, (k) =>
        svg("rect.fa-part", {
          rx: Math.min(2, high / 3),
          x: b.x + 3 * u + k * step,
          y: b.y + b.height - high - 5 * u,
          width: Math.max(0.8, step - Math.min(2, step / 4)),
          height: high,
        }),
      );
    });
    return this.marks.dQ.segments.flat();
  }

  /** Of each strip the block at work, and those from the first that are final. @param {Frame} f */
  draw(f) {
    const now = f.pass === "forward" ? this.forward(f) : this.backward(f);
    for (const [name, { place, bright, done, labels, segments }] of Object.entries(this.marks)) {
      const [at = null, final = 0] = now[name] ?? [];
      set(bright, at === null ? { width: 0, height: 0 } : place(at, at + 1));
      set(done, final ? place(0, final) : { width: 0, height: 0 });
      labels.forEach((label, k) =>
        label.classList.toggle(
          "is-now",
          (k === at || k < final) && !(GRADIENTS.test(name) && this.made.includes(name)),
        ),
      );
      segments.forEach((parts, i) =>
        parts.forEach((part, k) =>
          set(part, { class: `fa-part${k < Number(f.grads?.added[i]) ? " is-in" : ""}` }),
        ),
      );
    }
  }

  /** @param {Frame} f */
  forward(f) {
    const single = f.j >= 0 ? f.j : null;
    const { on_chip, wide } = layoutOf(f, f.stage);
    const holds = (/** @type {string} */ name) => f.kind !== "skipped" && on_chip.includes(name);
    const stores = (/** @type {string} */ tensor, lane = f.lane) =>
      lane === f.lane &&
      f.transfers.some((t) => t.moved && t.op === "write" && t.tensor === tensor);
    const parts = this.parts.map((name) => {
      const lane = Number(name.slice(tensorOf(name).length));
      return [
        name,
        [stores(tensorOf(name), lane) ? f.i : null, finishedParts(this.trace, f, lane)],
      ];
    });
    return {
      Q: [holds("Q") ? f.i : null],
      K: [holds("K") ? single : null],
      V: [holds("V") ? single : null, wide && holds("V") ? this.marks.V.count : 0],
      O: [stores("O") ? f.i : null, finishedBlocks(this.trace, f, "O")],
      ...Object.fromEntries(parts),
    };
  }

  /** What a visit works on is bright: what it loads, and in a kernel over tiles its keys throughout. @param {Frame} f */
  backward(f) {
    const found = Object.fromEntries(
      Object.keys(this.marks).map((name) => [
        name,
        [null, this.made.includes(name) || name === "D" ? finishedBlocks(this.trace, f, name) : 0],
      ]),
    );
    for (const { tensor, block, op, moved } of f.transfers)
      if (
        found[tensor] &&
        !Array.isArray(block) &&
        (moved || (op === "read" && !this.made.includes(tensor)))
      )
        found[tensor][0] = block;
    if (f.stage === null && f.j >= 0 && f.kind !== "skipped")
      for (const name of ["K", "V"]) if (found[name]) found[name][0] = f.j;
    return found;
  }

  /** The block at a place of the map's window, counted from the corner of the map; null where none is. @param {number} x @param {number} y */
  at(x, y) {
    const { left, top } = this.map;
    for (const [name, { place, count }] of Object.entries(this.marks)) {
      const b = place(0, count);
      const [px, py] = [x + left, y + top];
      if (px < b.x - 1 || px > b.x + b.width + 2 || py < b.y - 1 || py > b.y + b.height + 2)
        continue;
      const { block_k, block_q } = this.trace.problem;
      const [along, size] = isOfKeys(name) ? [x, block_k] : [y, block_q];
      return isPerRow(name)
        ? name
        : `${tensorOf(name).replace("′", "")}.${clamp(Math.floor(along / this.map.cell / size), 0, count - 1)}`;
    }
    return null;
  }

  /** Where blocks of a tensor lie; null of one that has no strip, nor one beside it. @param {string} tensor @param {(number | number[])[]} blocks */
  home(tensor, blocks) {
    const [first] = blocks;
    const along = blocks.map((block) => (Array.isArray(block) ? block[0] : block));
    const beside = this.trace.header.pass === "backward" ? this.marks[BESIDE[tensor]] : null;
    const mark = Array.isArray(first)
      ? this.marks[tensor + (blocks.length > 1 ? 0 : first[1])]
      : (this.marks[tensor] ?? beside);
    return mark?.place(Math.min(...along), Math.max(...along) + 1) ?? null;
  }
}
