// What in the picture belongs together. Everything has a name, which stands on whatever draws it and in the address:
//
//   S.9.5  Q.9.3  O.9.3  K.5.3  V.5.3    a cell: its row or key, then its key or dimension; P stands in the place of S
//   dS.9.5  dO.9.3  dQ.9.3  dK.5.3  …    the same in the backward; dP stands in the place of dS
//   m.9  l.9  alpha.9  lse.9  D.9  row.9 what a row carries, and the whole row
//   Q.2  K.1  V.1  O.2  dQ.2  tile.2.1   a block, a tile
//   m  l  alpha  lse  D                  these of every row
//   line.6  phase.exp                    a line of the algorithm, a phase
//   visit.read  moved.write              what this visit moves one way, what was moved so far
//   bytes.fa2.requested                  a bar: all that an order moves
//
// A place is a box over four axes: queries, keys, the dimensions of Q and K, those of V and O. Two places belong together
// if they share an axis on which both are bounded, and overlap on all such: S[9,5] with row 9 of Q, row 5 of K and V, row
// 9 of O. A word names tensors, and belongs with their places where it is at work. All of it goes both ways. Pure.

import { filterTransfers, transfersOf } from "./frame.js";
import { algorithmsOf } from "./passes.js";
import { lit } from "./phases.js";
import { indicesOf, rowsOfBlock, spanOf } from "./spans.js";
import { AXES, isPerRow, tensorOf } from "./tensors.js";

/** @import { Direction, Frame, Span, Trace, Transfer } from "./types.js" */
/** @import { Line } from "./phases.js" */
/** @import { Axis } from "./tensors.js" */
/** @typedef {Partial<Record<Axis, Span>>} Box an axis that is not there is not bounded */
/** A place has a `tensor` ("row": a whole row), a word has `names`; `blocks`: only these, by their names, `phases` when.
 * @typedef {{
 *   name: string, box: Box, tensor?: string, names?: Set<string>, blocks?: Set<string>, phases?: string[], stage?: string | null,
 * }} Thing */

/** @type {Axis[]} */
const ALL = ["rows", "keys", "dims", "outs"];
const CROSSINGS = ["S", "dS"];
const PARTIAL = "′"; // ends the name of what each lane has of its own
const IN_BACKWARD = /^(?:d[QKVOS]|lse|D)$/; // alone
const WORDS = /(?<![\p{L}_])(?:d[QKVOSP]|lse|[QKVOSPDmℓα]|weights)(?![\p{Ll}\p{Lu}])/gu;
/** @type {Record<string, string>} Old names of the conventions, in addresses. */
const RENAMED = { asked: "requested", least: "compulsory" };

/** The tensors that a line of code names. @param {string} text @returns {Set<string>} */
const namedIn = (text) => new Set((text.match(WORDS) ?? []).map(tensorOf));

/** @param {Span} a @param {Span} b @returns {Span} */
const common = (a, b) => ({ start: Math.max(a.start, b.start), stop: Math.min(a.stop, b.stop) });
/** @param {Span} span */
const isSome = ({ start, stop }) => stop > start;
/** @param {Box} a @param {Box} b */
const shared = (a, b) => ALL.filter((axis) => a[axis] && b[axis]);
/** @param {Box} a @param {Box} b */
const overlap = (a, b) =>
  shared(a, b).every((axis) =>
    isSome(common(/** @type {Span} */ (a[axis]), /** @type {Span} */ (b[axis]))),
  );

/** What belongs together at this moment. @param {Trace} trace @param {Frame} f */
export function linksAt(trace, f) {
  const { problem: p, header } = trace;
  const sizes = { rows: p.n, keys: p.n, dims: p.d, outs: p.d };
  /** @type {Record<string, number>} */
  const block = { rows: p.block_q, keys: p.block_k };
  /** @type {Box} */
  const here = { rows: f.rows, keys: f.cols };

  /** @param {string} name @returns {Thing | null} */
  function placeOf(name) {
    const [kind, ...at] = name.split(".");
    if (!at.length || !at.every((part) => /^\d{1,6}$/.test(part))) return null;
    if (f.pass === "forward" && IN_BACKWARD.test(kind)) return null;
    const tile = kind === "tile";
    const axes = tile ? AXES.S : AXES[kind];
    const blocks = tile
      ? at.length === 2
      : axes?.length === 2 && at.length === 1 && !CROSSINGS.includes(kind);
    if (!axes || at.length > axes.length || (at.length < axes.length && !blocks)) return null;
    const box = Object.fromEntries(
      at.map((part, k) => [
        axes[k],
        spanOf(Number(part), blocks ? block[axes[k]] : 1, sizes[axes[k]]),
      ]),
    );
    return Object.values(box).every(isSome) ? { name, tensor: tile ? "S" : kind, box } : null;
  }

  /** @param {string} name @param {Transfer[]} list @returns {Thing} */
  function counted(name, list) {
    const blocks = new Set(list.map((t) => [tensorOf(t.tensor), placeOfBlock(t)].flat().join(".")));
    return {
      name,
      box: {},
      names: new Set(list.map((t) => tensorOf(t.tensor))),
      blocks,
      phases: [...new Set(list.map((t) => t.phase))],
    };
  }

  /** All that was moved this way up to this moment. @param {Direction} way */
  function transfersUntilNow(way) {
    const before = indicesOf({ start: 0, stop: f.step });
    const all = before.flatMap((v) => transfersOf(trace, v, () => true)).concat(f.transfers);
    return filterTransfers(
      all.filter(({ moved }) => moved),
      way,
    );
  }

  /** What these lines work on in this phase of this visit; nothing where they do not run. @param {Line[]} lines @param {string} name @param {string} phase @returns {Thing} */
  function running(lines, name, phase) {
    const now = f.phases.includes(phase) ? lines.filter((line) => lit(line, { ...f, phase })) : [];
    return {
      name,
      box: here,
      names: new Set(now.flatMap(({ text }) => [...namedIn(text)])),
      phases: [phase],
      stage: lines[0].stage && f.stage,
    };
  }

  /** @param {string} name @returns {Thing | null} */
  function wordOf(name) {
    const [kind, what, more] = name.split(".");
    const orders = algorithmsOf(f.pass);
    const { pseudocode } = orders[p.order];
    const convention = RENAMED[more] ?? more;
    if (what === undefined)
      return isPerRow(kind) && kind !== "row" ? { name, box: {}, names: new Set([kind]) } : null;
    const line = Object.hasOwn(pseudocode, what) ? pseudocode[Number(what)] : null;
    if (kind === "line" && line?.phase) return running([line], name, line.phase);
    if (kind === "phase" && header.phases.includes(what)) return running(pseudocode, name, what);
    if (what === "read" || what === "write") {
      if (kind === "visit") return counted(name, filterTransfers(f.transfers, what));
      if (kind === "moved") return counted(name, transfersUntilNow(what));
    }
    const totals =
      kind === "bytes" &&
      (convention === "requested" || convention === "compulsory") &&
      Object.hasOwn(orders, what) &&
      header.totals[convention][what];
    if (totals)
      return {
        name: `bytes.${what}.${convention}`,
        box: {},
        names: new Set(
          Object.keys(totals)
            .filter((tensor) => totals[tensor][0] + totals[tensor][1])
            .map(tensorOf),
        ),
        phases: what === p.order ? ["load", "store"] : [],
      };
    return null;
  }

  /** The thing of this name; null if there is none. @param {string | null | undefined} name */
  const thing = (name) => (name ? (placeOf(name) ?? wordOf(name)) : null);

  /** The blocks of an axis that a box touches. @param {Box} box @param {"rows" | "keys"} axis @returns {Span} */
  function blocksOn(box, axis) {
    const { start, stop } = box[axis] ?? { start: 0, stop: p.n };
    return { start: Math.floor(start / block[axis]), stop: Math.ceil(stop / block[axis]) };
  }

  /** Is a block of this place among those that were moved? @param {Set<string>} blocks @param {Thing} place */
  function among(blocks, { tensor, box }) {
    const axes = AXES[/** @type {string} */ (tensor)].filter(
      (axis) => axis === "rows" || axis === "keys",
    );
    const [down, across] = axes.map((axis) => indicesOf(blocksOn(box, axis)));
    const names = across
      ? down.flatMap((i) => across.map((j) => `${tensor}.${i}.${j}`))
      : down.map((i) => `${tensor}.${i}`);
    return names.some((name) => blocks.has(name));
  }

  /** @param {Thing} word @param {Thing} place */
  const mentions = (word, place) =>
    Boolean(word.names?.has(place.tensor ?? "")) &&
    overlap(word.box, place.box) &&
    (!word.blocks || among(word.blocks, place));

  /** @param {Thing} a @param {Thing} b */
  function together(a, b) {
    if (a.phases && b.phases)
      return (
        a.phases.some((phase) => b.phases?.includes(phase)) &&
        (!a.stage || !b.stage || a.stage === b.stage)
      );
    return [...(a.names ?? [])].some((name) => b.names?.has(name));
  }

  /** Do they belong together? The same either way. @param {Thing} a @param {Thing} b @returns {boolean} */
  function belongs(a, b) {
    if (a.name && a.name === b.name) return true;
    if (a.names && b.names) return together(a, b);
    if (a.names) return mentions(a, b);
    if (b.names) return mentions(b, a);
    return shared(a.box, b.box).length > 0 && overlap(a.box, b.box);
  }

  /** Of the cells of a tensor within these bounds, those that belong to a thing: they are a box too.
   * @param {Thing} of @param {string} tensor @param {Box} bounds @returns {Box | null} */
  function cells(of, tensor, bounds) {
    const axes = AXES[tensor];
    if (
      of.names
        ? !mentions(of, { name: "", tensor, box: bounds })
        : !axes.some((axis) => of.box[axis])
    )
      return null;
    const box = Object.fromEntries(
      axes.map((axis) => {
        const all = bounds[axis] ?? { start: 0, stop: sizes[axis] };
        return [axis, of.box[axis] ? common(all, of.box[axis]) : all];
      }),
    );
    return Object.values(box).every(isSome) ? box : null;
  }

  /** Which of so many blocks are meant, as runs. @param {number} count @param {(k: number) => boolean} isMeant */
  function runsWhere(count, isMeant) {
    /** @type {Span[]} */
    const runs = [];
    for (let k = 0; k < count; k++) {
      const last = runs.at(-1);
      if (!isMeant(k)) continue;
      if (last?.stop === k) last.stop++;
      else runs.push({ start: k, stop: k + 1 });
    }
    return runs;
  }

  /** The blocks of a strip that belong to a thing, as runs. @param {Thing} of @param {string} tensor @returns {Span[]} */
  function runs(of, tensor) {
    const axis = /** @type {"rows" | "keys"} */ (AXES[tensor][0]);
    if (!of.names) return of.box[axis] ? [blocksOn(of.box, axis)] : [];
    if (isPerRow(tensor)) return of.names.has(tensor) ? [{ start: 0, stop: p.Tr }] : [];
    return runsWhere(axis === "rows" ? p.Tr : p.Tc, (k) =>
      mentions(of, /** @type {Thing} */ (thing(`${tensor}.${k}`))),
    );
  }

  /** What of the whole score matrix belongs to a thing. @param {Thing} of @returns {Record<"rows" | "keys", Span>[]} */
  function areas({ blocks, ...of }) {
    if (!blocks) {
      const box = cells(of, of.names && !of.names.has("S") ? "dS" : "S", {});
      return box ? [/** @type {Record<"rows" | "keys", Span>} */ (box)] : [];
    }
    return indicesOf({ start: 0, stop: p.Tr }).flatMap((i) =>
      runsWhere(p.Tc, (j) => blocks.has(`S.${i}.${j}`)).map(({ start, stop }) => ({
        rows: rowsOfBlock(p, i),
        keys: { start: start * p.block_k, stop: Math.min(p.n, stop * p.block_k) },
      })),
    );
  }

  /** The cell at this place of what SRAM shows, counted from its corner; null beyond its edge.
   * @param {string} tensor @param {number} first @param {number} second along the axes of the tensor @returns {string | null} */
  function cellAt(tensor, first, second) {
    if (f.columns === "lanes" && tensor === "S") return null; // no key
    const bounds = { ...here, dims: { start: 0, stop: p.d }, outs: { start: 0, stop: p.d } };
    const at = [first, second].map((k, which) => {
      const { start, stop } = /** @type {Span} */ (bounds[AXES[tensor][which]]);
      return k >= 0 && start + k < stop ? start + k : -1;
    });
    return at.includes(-1) ? null : [tensor, ...at].join(".");
  }

  return { thing, belongs, cells, runs, areas, cellAt };
}

/** Where a block lies: of what each lane has of its own, its rows. @param {{tensor: string, block: number | number[]}} of */
const placeOfBlock = ({ tensor, block }) =>
  Array.isArray(block) && tensor.endsWith(PARTIAL) ? block[0] : block;

/** The one row that a name speaks of. @param {string | null} name */
export function rowOf(name) {
  const [, row] = /^(?:d?[QSO]|m|l|alpha|lse|D|row)\.(\d+)(?:\.\d+)?$/.exec(name ?? "") ?? [];
  return row === undefined || /^d?[QO]\.\d+$/.test(name ?? "") ? null : Number(row);
}
