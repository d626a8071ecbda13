// What belongs to the thing that is pointed at or selected bears `data-linked`: marks over the matrices, the strips and the
// map, whose cells are only drawn, and everything else with a name in `data-part`. A card says what the thing is made of,
// in a corner that is empty: above Q for a score, beside V for an output or a row.

import { all, boxStyle, el, set, setText, svg } from "../lib/dom.js";
import { sizeOf } from "../model/spans.js";
import { put } from "./frame.js";
import { powers } from "./rich.js";

/** @import { Box as Place, LinkedPlayer } from "./types.js" */
/** @import { Frame, Span } from "../model/types.js" */
/** @import { LinksAt, TileOfPass } from "./types.js" */
/** @import { Box, Thing } from "../model/links.js" */
/** @import { Explanation } from "../model/sums.js" */

const HEAD = 22; // px of the frames' names at 1280 × 720
const EDGE = 22;
const ROOM = 60; // px that a card must have

/** @param {string} tensor @param {Thing} of what is lit @param {string} text what of the tensor it is @param {Place} place */
const mark = (tensor, of, text, place) =>
  el("i", {
    "data-linked": of.tensor === tensor ? "self" : "",
    "data-tensor": tensor,
    "data-box": text,
    style: boxStyle(place),
  });
/** A line breaks before an operator, or behind a comma. @param {string} text */
const unbroken = (text) =>
  text.replace(/^(\S+) = /, "$1\u00a0=\u00a0").replace(/(?<!,) (?![=≈+−→] )/g, "\u00a0");
/** @param {string} text */
const richPowers = (text) => powers(text, (part) => [document.createTextNode(part)]);
/** @param {Box} box */
const boxText = (box) =>
  Object.entries(box)
    .map(([axis, { start, stop }]) => `${axis} ${start}–${stop - 1}`)
    .join(", ");

/** Make the marks and the card of numbers of a player.
 * @param {LinkedPlayer} player see step/linking.js: its card of a tile may be another one later */
export function makeLinks(player) {
  /** @type {boolean} */
  let lit = false;

  const { root, hbm } = player;
  const layer = () => el("div.fa-marks", { "aria-hidden": "true" });
  const tile = layer();
  const map = layer();
  const title = el("b");
  const bars = svg("svg", { preserveAspectRatio: "none" });
  const lines = el("div.fa-pick-lines");
  const card = el("div.fa-pick", { "aria-hidden": "true", hidden: true }, [title, bars, lines]);
  const words = el("p.fa-pick-words", { "aria-hidden": "true" }); // where there is no corner, in presentation mode
  hbm.overlay.before(map); // below its words

  /** @param {LinksAt} links see model/links.js @param {Thing | null} of what to light, or null @param {boolean} picked is it selected? @param {Frame} f @param {Explanation | null} explanation what is said of it */
  function draw(links, f, of, explanation, picked) {
    if (!of && !lit) return;
    const { sram } = player;
    lit = Boolean(of);
    if (tile.parentElement !== sram.body) sram.body.append(tile, card);
    root.classList.toggle("is-linking", lit);
    for (const node of all(root, "[data-part]")) {
      const thing = of && links.thing(String(node.dataset.part));
      set(node, {
        "data-linked":
          thing && links.belongs(of, thing) ? (thing.name === of.name ? "self" : "") : null,
      });
    }
    tile.replaceChildren(...(of && f.numbers ? inTile(links, f, of, sram) : []));
    map.replaceChildren(...(of ? inMap(links, of) : []));
    for (const layer of [tile, map]) layer.classList.toggle("is-picked", picked);
    describe(sram, of, explanation);
  }

  /** The cells of the frames of SRAM. @param {LinksAt} links @param {Frame} f @param {Thing} of @param {TileOfPass} sram */
  function inTile(links, f, of, sram) {
    /** @type {Box} */
    const bounds = { rows: f.rows, keys: f.cols };
    return Object.entries(sram.sides).flatMap(([tensor, sides]) => {
      const { root, matrix, x, y, width, height } = sram.frames[tensor];
      const box = root.hidden || f.kind === "skipped" ? null : links.cells(of, tensor, bounds);
      if (!box) return [];
      const [down, across] = sides.map((axis) => {
        const { start, stop } = /** @type {Span} */ (box[axis]);
        const from = bounds[axis]?.start ?? 0;
        return { start: start - from, stop: stop - from };
      });
      const [w, h] = [width / matrix.cols, height / matrix.rows];
      const gap = Math.min(w, h) >= 24 ? 2 : 1;
      return mark(tensor, of, boxText(box), {
        x: x + across.start * w,
        y: y + down.start * h,
        width: sizeOf(across) * w - gap,
        height: sizeOf(down) * h - gap,
      });
    });
  }

  /** Blocks of the strips, and what of the score matrix it is. @param {LinksAt} links @param {Thing} of */
  function inMap(links, of) {
    const strips = Object.entries(hbm.strips.marks).flatMap(([tensor, { places }]) =>
      links
        .runs(of, tensor)
        .flatMap(({ start, stop }) =>
          places(start, stop).map((box) => mark(tensor, of, `blocks ${start}–${stop - 1}`, box)),
        ),
    );
    const areas = links.areas(of).map((box) => {
      const { x, y, width, height } = hbm.boxOf(box);
      const size = { width: Math.max(2, width - 1), height: Math.max(2, height - 1) };
      return mark("S", of, boxText(box), { x, y, ...size });
    });
    return [...strips, ...areas];
  }

  /** What the thing is made of. @param {TileOfPass} sram @param {Thing | null} of @param {Explanation | null} explanation */
  function describe(sram, of, explanation) {
    words.replaceChildren(...richPowers((of && explanation?.sentence) ?? ""));
    const { unit } = sram.theme;
    const head = HEAD * unit;
    const isTile = Boolean(of?.name.startsWith("tile.")); // of a tile: they may take lines
    const at =
      of && !sram.body.hidden
        ? sram.corner(isTile ? "-" : (of.tensor ?? "-"), EDGE * unit, ROOM)
        : null;
    const { title: name = "", terms = null, lines: found = [] } = explanation ?? {};
    const last = found.at(-1);
    const hasHeadline = "headline" in sram;
    const line = last && !isTile ? [el("b", name), " ", ...richPowers(last)] : null;
    if (hasHeadline) sram.headline(line);
    const rest = hasHeadline && line ? found.slice(0, -1) : found;
    card.hidden = true;
    if (!at || !(rest.length || terms) || at.height < ROOM / 2 || at.width < ROOM) return;
    card.hidden = false;
    put(card, at.x, at.y - head, at.width, at.height + head);
    setText(title, name);
    lines.replaceChildren(
      ...rest.map((text) => el("span", richPowers(isTile ? text : unbroken(text)))),
    );
    const { beside, under } = at;
    const upright = Boolean(beside);
    draws(terms, upright);
    const across = under ? `margin-left:${under.x - at.x}px;width:${under.width}px` : "";
    set(bars, { style: beside ? `height:${beside.height}px` : across });
    card.classList.toggle("is-upright", upright);
  }

  /** The terms of the sum as bars on both sides of 0: below the columns of Q, or beside the rows of V. @param {number[] | null} terms @param {boolean} upright */
  function draws(terms, upright) {
    bars.toggleAttribute("hidden", !terms);
    if (!terms) return;
    const most = Math.max(1e-30, ...terms.filter(Number.isFinite).map(Math.abs));
    const count = terms.length;
    set(bars, { viewBox: upright ? `-1 0 2 ${count}` : `0 -1 ${count} 2` });
    bars.replaceChildren(
      ...terms.map((term, k) => {
        const size = Number.isFinite(term) ? term / most : 0;
        const [from, long] = [Math.min(0, upright ? size : -size), Math.abs(size)];
        const place = upright
          ? { x: from, y: k + 0.15, width: long, height: 0.7 }
          : { x: k + 0.1, y: from, width: 0.8, height: long };
        return svg("rect", { ...place, class: term < 0 ? "is-minus" : "" });
      }),
      svg(
        "line",
        upright ? { x1: 0, x2: 0, y1: 0, y2: count } : { x1: 0, x2: count, y1: 0, y2: 0 },
      ),
    );
  }

  return { words, draw };
}
