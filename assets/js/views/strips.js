// The strips of blocks around the map of HBM. Which stand where is declared for each pass, all else follows from it: sizes,
// names, what is bright, where a block lies and what lies at a place.

import { hueOf } from "../lib/colors.js";
import { set, svg } from "../lib/dom.js";
import { clamp, sub } from "../lib/format.js";
import { sum, times } from "../lib/lists.js";
import { sharing } from "../model/heads.js";
import { algorithmOf, layoutOf } from "../model/passes.js";
import { isOfKeys, isPerRow } from "../model/tensors.js";
import { finishedBlocks, finishedParts } from "../model/tiles.js";
import layout from "./layout.json" with { type: "json" };
import { makePages, roomOfPages } from "./pages.js";

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

/** Make the strips around a map. */
export function makeStrips() {
  /** @type {Trace} */
  let trace;
  /** @type {Theme} */
  let theme;
  /** @type {{left: number, top: number, side: number, cell: number, gap: number}} */
  let map;
  /** @type {Record<string, Mark>} */
  let marks;
  /** @type {Record<"above" | "left" | "right", string[]>} */
  let sides;
  /** @type {string[]} */
  let made;
  /** @type {string[]} those of what each lane has of its own */
  let parts;
  /** @type {(name: string) => number} */
  let thick;
  /** @type {boolean} */
  let tight;
  /** Of a paged cache. @type {ReturnType<typeof makePages> | null} */
  let pages;

  /** What of the room the strips take, in px: {left, above, right}; where it is not high, few and slim ones without names. @param {Trace} trace @param {number} height */
  function measure(trace, /** @type {Theme} */ theme, height) {
    const { unit: u, big } = theme;
    const { pass, totals } = trace.header;
    tight = pass === "backward" && height < TIGHT;
    const moved = totals.requested[trace.problem.order];
    const isThere = (/** @type {string} */ name) =>
      pass === "forward" || moved[name]?.[0] + moved[name]?.[1] > 0;
    const { strips, lanes } = algorithmOf(trace);
    const each = (/** @type {string} */ name) =>
      trace.header.pairs.includes(name) ? times(lanes, (k) => name + k) : name;
    const all = { ...(big || tight ? FEW : STRIPS)[pass], ...strips };
    /** @template T @param {(side: "left" | "above" | "right") => T} of */
    const ofSides = (of) => ({ left: of("left"), above: of("above"), right: of("right") });
    sides = ofSides((side) => all[side].filter(isThere).flatMap(each));
    parts = (strips.right ?? []).flatMap(each).filter((name) => tensorOf(name) !== name);
    made = [...MADE[pass], ...parts];
    const usual = Math.round((tight ? 11 : big ? 44 : 21) * u);
    /** @type {Record<string, number>} */
    const own = tight
      ? { dQ: 22 * u }
      : { dQ: Math.round((big ? 60 : 34) * u), dO: usual + Math.round((big ? 12 : 4) * u) };
    thick = (/** @type {string} */ name) =>
      isPerRow(name) ? Math.round((big ? 12 : 9) * u) : (own[name] ?? usual);
    const room = ofSides((side) => sum(sides[side].map((name) => thick(name) + APART)));
    if (!trace.problem.block_table) return room;
    const { numbers, table, line } = roomOfPages(theme);
    return { ...room, above: room.above + numbers + table + line };
  }

  /** @param {{left: number, top: number, side: number, cell: number, gap: number}} nextMap where the map of the scores lies
   * @param {Trace} nextTrace @param {Theme} nextTheme */
  function layout(nextTrace, nextTheme, nextMap) {
    [trace, theme, map, marks] = [nextTrace, nextTheme, nextMap, {}];
    const { left, top, side, gap } = map;
    const room = trace.problem.block_table ? roomOfPages(theme) : null;
    const above = top - gap - (room ? room.table + room.line : 0);
    /** Strips from an edge of the map on, nearest first. @param {string[]} names @param {boolean} upright @param {number} edge @param {1 | -1} way */
    const stack = (names, upright, edge, way) =>
      names.flatMap((name) => {
        const at = way > 0 ? edge : edge - thick(name);
        edge += way * (thick(name) + APART);
        return strip(name, upright, at);
      });
    const nodes = [
      ...stack(sides.above.toReversed(), false, above, -1),
      ...stack(sides.left.toReversed(), true, left - gap, -1),
      ...stack(sides.right, true, left + side + gap, 1),
    ];
    pages = room && pool(above);
    return [...nodes, ...(pages?.nodes ?? [])];
  }

  /** The table of a paged cache, whose strips end here. @param {number} bottom px */
  function pool(bottom) {
    const { left, side } = map;
    const wide = side / Number(trace.problem.pages);
    const boxes = sides.above.map((name) => ({
      ...marks[name].place(0, 1),
      x: left,
      width: Math.max(0.5, wide - 2),
    }));
    const y = boxes[0].y;
    return makePages(
      trace.problem,
      theme,
      map,
      { x: left, y, width: side, height: bottom - y },
      boxes,
    );
  }

  /** One strip: faint blocks, over them those that are final and the one at work, and the names. @param {string} name @param {boolean} upright @param {number} at */
  function strip(name, upright, at) {
    const { problem: p, header } = trace;
    const { left, top, side, cell } = map;
    const { unit: u, big } = theme;
    const [count, size] = isOfKeys(name) ? [p.Tc, p.block_k] : [p.Tr, p.block_q];
    const across = thick(name);
    const table = isOfKeys(name) ? p.block_table : undefined;
    const long = table ? side / Number(p.pages) : size * cell;
    const apart = table ? Math.min(2, long / 3) : 2;
    const place = (/** @type {number} */ start, /** @type {number} */ stop) => {
      const places = table ? table.slice(start, stop) : [start, stop - 1];
      const a = Math.min(...places) * long;
      const b = Math.max(0.5, Math.min(side, (Math.max(...places) + 1) * long) - apart - a);
      return upright
        ? { x: at, y: top + a, width: across, height: b }
        : { x: left + a, y: at, width: b, height: across };
    };
    const tensor = tensorOf(name);
    const kind = `fa-block fa-fill-${hueOf(tensor)}${GRADIENTS.test(name) ? " is-grad" : ""}${made.includes(name) ? " is-made" : ""}${isPerRow(name) ? " is-slim" : ""}`;
    const places = (/** @type {number} */ start, /** @type {number} */ stop) =>
      table ? times(stop - start, (k) => place(start + k, start + k + 1)) : [place(start, stop)];
    const wide = long >= (table ? 1 : 3);
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
    const labels = times(long >= room && !tight && !isPerRow(name) ? count : 0, (k) => {
      const b = place(k, k + 1);
      const high = name === "dQ" && parted(b) ? b.height / 2 - 4 * u : b.height / 2;
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
          x: at + (name === "lse" ? across : across / 2),
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
          y: at + across / 2,
          text: `×${group}`,
        }),
      );
    marks[name] = { place, places, table, bright, done, blocks, labels, count, segments: [] };
    if (name === "dQ" && header.pass === "backward") more.push(...segments());
    return [...blocks, done, bright, ...labels, ...more];
  }

  /** Has a block of dQ room for its parts, one beside the other? */
  function parted(/** @type {Box} */ { height }) {
    return height >= (theme.big ? 40 : 28) * theme.unit;
  }

  /** A small segment for each key block that will add to dQ of its rows. */
  function segments() {
    const { adds, problem: p } = trace;
    const { place } = marks.dQ;
    const { unit: u } = theme;
    const high = SEGMENTS.high * u;
    marks.dQ.segments = adds.map(({ length }, i) => {
      const b = place(i, i + 1);
      if (!length || length > SEGMENTS.most || p.Tr > 64 || !parted(b)) return [];
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
    return marks.dQ.segments.flat();
  }

  /** Of each strip the block at work, and those from the first that are final. @param {Frame} f */
  function draw(f) {
    const now = f.pass === "forward" ? forward(f) : backward(f);
    pages?.draw(now.K?.[0] ?? now.V?.[0] ?? null);
    for (const [name, mark] of Object.entries(marks)) {
      const { place, table, bright, done, blocks, labels, segments } = mark;
      const [at = null, final = 0] = now[name] ?? [];
      set(bright, at === null ? { width: 0, height: 0 } : place(at, at + 1));
      set(done, final && !table ? place(0, final) : { width: 0, height: 0 });
      if (table) blocks.forEach((block, k) => block.classList.toggle("is-done", k < final));
      labels.forEach((label, k) =>
        label.classList.toggle(
          "is-now",
          (k === at || k < final) && !(GRADIENTS.test(name) && made.includes(name)),
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
  function forward(f) {
    const single = f.j >= 0 ? f.j : null;
    const { on_chip, wide } = layoutOf(f, f.stage);
    const holds = (/** @type {string} */ name) => f.kind !== "skipped" && on_chip.includes(name);
    const stores = (/** @type {string} */ tensor, lane = f.lane) =>
      lane === f.lane &&
      f.transfers.some((t) => t.moved && t.op === "write" && t.tensor === tensor);
    const ofLanes = parts.map((name) => {
      const lane = Number(name.slice(tensorOf(name).length));
      return [name, [stores(tensorOf(name), lane) ? f.i : null, finishedParts(trace, f, lane)]];
    });
    return {
      Q: [holds("Q") ? f.i : null],
      K: [holds("K") ? single : null],
      V: [holds("V") ? single : null, wide && holds("V") ? marks.V.count : 0],
      O: [stores("O") ? f.i : null, finishedBlocks(trace, f, "O")],
      ...Object.fromEntries(ofLanes),
    };
  }

  /** What a visit works on is bright: what it loads, and in a kernel over tiles its keys throughout. @param {Frame} f */
  function backward(f) {
    const found = Object.fromEntries(
      Object.keys(marks).map((name) => [
        name,
        [null, made.includes(name) || name === "D" ? finishedBlocks(trace, f, name) : 0],
      ]),
    );
    for (const { tensor, block, op, moved } of f.transfers)
      if (
        found[tensor] &&
        !Array.isArray(block) &&
        (moved || (op === "read" && !made.includes(tensor)))
      )
        found[tensor][0] = block;
    if (f.stage === null && f.j >= 0 && f.kind !== "skipped")
      for (const name of ["K", "V"]) if (found[name]) found[name][0] = f.j;
    return found;
  }

  /** The block at a place of the map's window, counted from the corner of the map; null where none is. @param {number} x @param {number} y */
  function at(x, y) {
    const { left, top, side } = map;
    const [px, py] = [x + left, y + top];
    const entry = pages?.at(px, py) ?? null;
    if (entry !== null) return `K.${entry}`;
    for (const [name, { place, table, count }] of Object.entries(marks)) {
      const b = place(0, count);
      if (px < b.x - 1 || px > b.x + b.width + 2 || py < b.y - 1 || py > b.y + b.height + 2)
        continue;
      if (table) {
        const block = table.indexOf(Math.floor((x / side) * Number(trace.problem.pages)));
        return block < 0 ? null : `${name}.${block}`;
      }
      const { block_k, block_q } = trace.problem;
      const [along, size] = isOfKeys(name) ? [x, block_k] : [y, block_q];
      return isPerRow(name)
        ? name
        : `${tensorOf(name).replace("′", "")}.${clamp(Math.floor(along / map.cell / size), 0, count - 1)}`;
    }
    return null;
  }

  /** Where blocks of a tensor lie; null of one that has no strip, nor one beside it. @param {string} tensor @param {(number | number[])[]} blocks */
  function home(tensor, blocks) {
    const [first] = blocks;
    const along = blocks.map((block) => (Array.isArray(block) ? block[0] : block));
    const beside = trace.header.pass === "backward" ? marks[BESIDE[tensor]] : null;
    const mark = Array.isArray(first)
      ? marks[tensor + (blocks.length > 1 ? 0 : first[1])]
      : (marks[tensor] ?? beside);
    return mark?.place(Math.min(...along), Math.max(...along) + 1) ?? null;
  }

  return {
    measure,
    layout,
    draw,
    at,
    home,
    thick: (/** @type {string} */ name) => thick(name),
    get marks() {
      return marks;
    },
    get sides() {
      return sides;
    },
  };
}
