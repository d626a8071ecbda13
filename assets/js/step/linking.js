// What a visitor points at, focuses or selects in a player: by mouse, finger or keyboard, by delegation. A matrix, the map
// and the table are one tab stop each; arrows move inside of it. What is selected stays while stepping.

import { clamp } from "../lib/format.js";
import { explain } from "../model/explain.js";
import { around, giveFocus, isPresenting, targetOf } from "../lib/dom.js";
import { ARROWS, isShortcut } from "../lib/keys.js";
import { linksAt, rowOf } from "../model/links.js";
import { sizeOf } from "../model/spans.js";
import { isPerRow } from "../model/tensors.js";
import { t } from "../model/texts.js";
import { makeLinks } from "../views/links.js";

/** @import { PointedPlayer } from "./types.js" */

const OF_ROW = { forward: ["row", "m", "alpha", "l"], backward: ["row", "lse", "D"] }; // the columns of the table, for the keyboard
/** A block of a strip; of what rows have one of, the whole of it. @param {string} tensor @param {number} i */
const blockOf = (tensor, i) => (isPerRow(tensor) ? tensor : `${tensor}.${i}`);
const STOPS = ".fa-frame, .fa-map, .fa-rows";

/** Light up in a player what belongs to what is pointed at or selected. @param {PointedPlayer} player */
export function makeLinking(player) {
  const view = makeLinks(player);
  /** @type {string | null} */
  let picked = null;
  /** What the mouse is over or what has the focus: its name. @type {(() => string | null) | null} */
  let over = null;
  /** @type {string | null} */
  let drawn = null;
  /** Where the keyboard is in what has the focus. @type {number[] | null} */
  let at = null;
  const { root } = player;
  root.addEventListener("pointermove", (event) => {
    const isAtRest = isPresenting() && !event.movementX && !event.movementY; // what moved was the page below it
    if (event.pointerType === "mouse" && !isAtRest) point(() => nameAt(event));
  });
  root.addEventListener("pointerleave", () => point(null));
  root.addEventListener("mousedown", (event) => {
    // The keys stay the player's
    if (around(event, STOPS) && !around(event, "button")) event.preventDefault();
  });
  root.addEventListener("click", click);
  root.addEventListener("focusin", (event) => {
    const target = targetOf(event);
    if (target.matches(STOPS)) point(() => roving(target));
  });
  root.addEventListener("focusout", (event) => {
    if (!targetOf(event).matches(STOPS)) return;
    at = null;
    point(null);
  });

  /** The name of what is at a place of the window. */
  function nameAt(/** @type {MouseEvent} */ event) {
    const { sram, hbm, trace, frame } = player;
    const { clientX, clientY } = event;
    const named = around(event, "[data-part]");
    if (named) return String(named.dataset.part);
    if (around(event, ".fa-map")) return hbm.partAt(clientX, clientY);
    const figure = around(event, ".fa-frame");
    if (figure)
      return sram.partAt(
        String(figure.dataset.tensor),
        clientX,
        clientY,
        linksAt(trace, frame).cellAt,
      );
    const row = around(event, ".fa-tile") ? sram.rowAt(clientY) : null;
    return row === null ? null : `row.${row}`;
  }

  /** @param {(() => string | null) | null} nameOf */
  function point(nameOf) {
    over = nameOf;
    if (player.frame && (over?.() ?? picked) !== drawn) draw();
  }

  /** A tap selects, a second one on the same lets go; a tile of the map is gone to first. @param {MouseEvent} event */
  function click(event) {
    if (!player.trace || around(event, "button, select, input, summary, a")) return;
    const name = nameAt(event);
    if (!name) return;
    const [kind, i, j] = name.split(".");
    const { frame } = player;
    if (kind === "tile" && !(Number(i) === frame.i && Number(j) === frame.j))
      return player.goTile(Number(i), Number(j));
    pick(name === picked ? null : name);
    leave();
  }

  /** The keys are the player's again. */
  function leave() {
    /** @type {HTMLElement | null} */
    const whole = player.root.closest(".fa-player");
    giveFocus(whole);
  }

  /** @param {string | null} name of what is selected from now on; null or unknown: nothing */
  function pick(name) {
    const { trace, frame } = player;
    picked = name && trace && linksAt(trace, frame).thing(name) ? name : null;
    player.focus = rowOf(picked);
    player.render();
  }

  /** Is this key for what is selected or has the focus? @param {KeyboardEvent} event */
  function key(event) {
    const target = targetOf(event);
    const stop = target.matches(STOPS) && player.root.contains(target) ? target : null;
    if (event.key === "Escape" && (stop || picked)) {
      if (stop) leave();
      pick(null);
      return true;
    }
    if (!stop && isPresenting()) point(null); // a mouse at rest points at nothing
    if (!stop || isShortcut(event)) return false;
    const [down, across] = ARROWS[event.key] ?? [];
    if (down !== undefined) pick(roving(stop, down, across));
    else if (event.key === "Enter" || event.key === " ") enter(roving(stop));
    else return false;
    event.preventDefault();
    return true;
  }

  /** Enter goes to a tile, and selects or lets go of anything else. @param {string | null} name */
  function enter(name) {
    const [kind, i, j] = name?.split(".") ?? [];
    if (kind === "tile") return player.goTile(Number(i), Number(j), false);
    pick(name === picked ? null : name);
  }

  /** The name of where the keyboard is in a matrix, the map or the table, so far moved on. @param {HTMLElement} stop */
  function roving(stop, down = 0, across = 0) {
    const { trace, frame: f } = player;
    const { Tr, Tc } = trace.problem;
    const [r, c] = at ?? (stop.matches(".fa-map") ? [f.i, Math.max(0, f.j)] : [0, 0]);
    const to = (/** @type {number} */ size, /** @type {number} */ k, low = 0) =>
      clamp(k, low, size - 1);
    const keep = (/** @type {[number, number]} */ ...place) => (at = place);
    if (stop.matches(".fa-map")) {
      const { above, left, right } = player.hbm.strips.sides;
      const i = to(Tr, r + down, c >= 0 && c < Tc ? -above.length : 0); // above the tiles, beside them
      const j = to(i < 0 ? Tc : Tc + right.length, c + across, i < 0 ? 0 : -left.length);
      keep(i, j);
      if (i < 0) return `${above.at(i)}.${j}`;
      return j < 0
        ? blockOf(String(left.at(j)), i)
        : j >= Tc
          ? blockOf(right[j - Tc], i)
          : `tile.${i}.${j}`;
    }
    const rows = sizeOf(f.rows);
    if (stop.matches(".fa-rows")) {
      const names = OF_ROW[f.pass];
      const [row, column] = keep(to(rows, r + down), to(names.length, c + across));
      return `${names[column]}.${f.rows.start + row}`;
    }
    const tensor = String(stop.dataset.tensor);
    const { sram } = player;
    const [high, wide] = sram.shapeOf(tensor, f);
    const edge = across && (c + across < 0 || c + across >= wide);
    if (edge && leadsOn(stop, across)) return over?.() ?? null;
    const place = keep(to(high, r + down), to(wide, c + across));
    const [first, second] = sram.isTurned(tensor) ? place.toReversed() : place;
    return linksAt(trace, f).cellAt(tensor, first, second);
  }

  /** Lead the keyboard from the edge of a matrix to the one before or behind it, if there is one. @param {HTMLElement} stop @param {number} by */
  function leadsOn(stop, by) {
    const roots = player.sram.filled().map(({ root }) => root);
    const next = roots[roots.indexOf(stop) + by];
    giveFocus(next);
    return Boolean(next);
  }

  /** Lights what belongs to what is pointed at, else to what is selected. */
  function draw() {
    const { trace, frame: f, transport } = player;
    if (!f) return;
    const name = over?.() ?? picked;
    if (!name && !drawn) return;
    drawn = name;
    const links = linksAt(trace, f);
    const of = links.thing(name);
    const explanation = of && name ? explain(trace, f, name) : null;
    view.draw(links, f, of, explanation, of !== null && name === picked);
    transport?.also(
      explanation?.sentence &&
        (name === picked || player.root.contains(document.activeElement?.closest(STOPS) ?? null))
        ? t(name === picked ? "picked" : "here", { what: explanation.sentence })
        : "",
    );
  }

  return {
    words: view.words,
    pick,
    key,
    draw,
    get picked() {
      return picked;
    },
    set picked(name) {
      picked = name;
    },
  };
}
