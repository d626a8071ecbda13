// What a visitor points at, focuses or selects in a player: by mouse, finger or keyboard, by delegation. A matrix, the map
// and the table are one tab stop each; arrows move inside of it. What is selected stays while stepping.

import { clamp } from "../lib/format.js";
import { explain } from "../model/explain.js";
import { around, isPresenting, targetOf } from "../lib/dom.js";
import { ARROWS, isShortcut } from "../lib/keys.js";
import { linksAt, rowOf } from "../model/links.js";
import { sizeOf } from "../model/spans.js";
import { isPerRow } from "../model/tensors.js";
import { t } from "../model/texts.js";
import { Links } from "../views/links.js";

/** @import { PointedPlayer } from "./types.js" */

const OF_ROW = { forward: ["row", "m", "alpha", "l"], backward: ["row", "lse", "D"] }; // the columns of the table, for the keyboard
/** A block of a strip; of what rows have one of, the whole of it. @param {string} tensor @param {number} i */
const blockOf = (tensor, i) => (isPerRow(tensor) ? tensor : `${tensor}.${i}`);
const STOPS = ".fa-frame, .fa-map, .fa-rows";

export class Linking {
  /** @param {PointedPlayer} player */
  constructor(player) {
    this.player = player;
    this.view = new Links(player);
    /** @type {string | null} */
    this.picked = null;
    /** What the mouse is over or what has the focus: its name. @type {(() => string | null) | null} */
    this.over = null;
    /** @type {string | null} */
    this.drawn = null;
    /** Where the keyboard is in what has the focus. @type {number[] | null} */
    this.at = null;
    const { root } = player;
    root.addEventListener("pointermove", (event) => {
      const isAtRest = isPresenting() && !event.movementX && !event.movementY; // what moved was the page below it
      if (event.pointerType === "mouse" && !isAtRest) this.point(() => this.nameAt(event));
    });
    root.addEventListener("pointerleave", () => this.point(null));
    root.addEventListener("mousedown", (event) => {
      // The keys stay the player's
      if (around(event, STOPS) && !around(event, "button")) event.preventDefault();
    });
    root.addEventListener("click", (event) => this.click(event));
    root.addEventListener("focusin", (event) => {
      const target = targetOf(event);
      if (target.matches(STOPS)) this.point(() => this.roving(target));
    });
    root.addEventListener("focusout", (event) => {
      if (!targetOf(event).matches(STOPS)) return;
      this.at = null;
      this.point(null);
    });
  }

  /** The name of what is at a place of the window. */
  nameAt(/** @type {MouseEvent} */ event) {
    const { sram, hbm, trace, frame } = this.player;
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

  /** @param {(() => string | null) | null} over */
  point(over) {
    this.over = over;
    if (this.player.frame && (over?.() ?? this.picked) !== this.drawn) this.draw();
  }

  /** A tap selects, a second one on the same lets go; a tile of the map is gone to first. @param {MouseEvent} event */
  click(event) {
    if (!this.player.trace || around(event, "button, select, input, summary, a")) return;
    const name = this.nameAt(event);
    if (!name) return;
    const [kind, i, j] = name.split(".");
    const { frame } = this.player;
    if (kind === "tile" && !(Number(i) === frame.i && Number(j) === frame.j))
      return this.player.goTile(Number(i), Number(j));
    this.pick(name === this.picked ? null : name);
    this.leave();
  }

  /** The keys are the player's again. */
  leave() {
    /** @type {HTMLElement | null} */
    const player = this.player.root.closest(".fa-player");
    player?.focus({ preventScroll: true });
  }

  /** @param {string | null} name of what is selected from now on; null or unknown: nothing */
  pick(name) {
    const { trace, frame } = this.player;
    this.picked = name && trace && linksAt(trace, frame).thing(name) ? name : null;
    this.player.focus = rowOf(this.picked);
    this.player.render();
  }

  /** Is this key for what is selected or has the focus? @param {KeyboardEvent} event */
  key(event) {
    const target = targetOf(event);
    const stop = target.matches(STOPS) && this.player.root.contains(target) ? target : null;
    if (event.key === "Escape" && (stop || this.picked)) {
      if (stop) this.leave();
      this.pick(null);
      return true;
    }
    if (!stop && isPresenting()) this.point(null); // a mouse at rest points at nothing
    if (!stop || isShortcut(event)) return false;
    const [down, across] = ARROWS[event.key] ?? [];
    if (down !== undefined) this.pick(this.roving(stop, down, across));
    else if (event.key === "Enter" || event.key === " ") this.enter(this.roving(stop));
    else return false;
    event.preventDefault();
    return true;
  }

  /** Enter goes to a tile, and selects or lets go of anything else. @param {string | null} name */
  enter(name) {
    const [kind, i, j] = name?.split(".") ?? [];
    if (kind === "tile") return this.player.goTile(Number(i), Number(j), false);
    this.pick(name === this.picked ? null : name);
  }

  /** The name of where the keyboard is in a matrix, the map or the table, so far moved on. @param {HTMLElement} stop */
  roving(stop, down = 0, across = 0) {
    const { trace, frame: f } = this.player;
    const { Tr, Tc } = trace.problem;
    const [r, c] = this.at ?? (stop.matches(".fa-map") ? [f.i, Math.max(0, f.j)] : [0, 0]);
    const to = (/** @type {number} */ size, /** @type {number} */ k, low = 0) =>
      clamp(k, low, size - 1);
    const keep = (/** @type {[number, number]} */ ...place) => (this.at = place);
    if (stop.matches(".fa-map")) {
      const { above, left, right } = this.player.hbm.strips.sides;
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
    const { sram } = this.player;
    const [high, wide] = sram.shapeOf(tensor, f);
    const edge = across && (c + across < 0 || c + across >= wide);
    if (edge && this.leadsOn(stop, across)) return this.over?.() ?? null;
    const place = keep(to(high, r + down), to(wide, c + across));
    const [first, second] = sram.isTurned(tensor) ? place.toReversed() : place;
    return linksAt(trace, f).cellAt(tensor, first, second);
  }

  /** Lead the keyboard from the edge of a matrix to the one before or behind it, if there is one. @param {HTMLElement} stop @param {number} by */
  leadsOn(stop, by) {
    const roots = this.player.sram.filled().map(({ root }) => root);
    const next = roots[roots.indexOf(stop) + by];
    next?.focus({ preventScroll: true });
    return Boolean(next);
  }

  /** Lights what belongs to what is pointed at, else to what is selected. */
  draw() {
    const { trace, frame: f, transport } = this.player;
    if (!f) return;
    const name = this.over?.() ?? this.picked;
    if (!name && !this.drawn) return;
    this.drawn = name;
    const links = linksAt(trace, f);
    const of = links.thing(name);
    const explanation = of && name ? explain(trace, f, name) : null;
    this.view.draw(links, f, of, explanation, of !== null && name === this.picked);
    transport?.also(
      explanation?.sentence &&
        (name === this.picked ||
          this.player.root.contains(document.activeElement?.closest(STOPS) ?? null))
        ? t(name === this.picked ? "picked" : "here", { what: explanation.sentence })
        : "",
    );
  }
}
