// How the player's state came to be, shown over the state that is drawn already: bytes between the cards, and what happens
// inside the tile. The next step ends it at once.

import { context2d, el, isStill, set } from "../lib/dom.js";
import { acts, flightName, flights, lengthOfAll, wayOf } from "../model/motion.js";
import { frame } from "../model/frame.js";
import { tensorOf } from "../model/tensors.js";
import { fly, slot } from "../views/motion/flights.js";
import { makeLayer } from "../views/motion/layer.js";
import { makeTileMotion } from "../views/motion/tile.js";

/** @import { Frame, Place } from "../model/types.js" */
/** @import { Drawing, PaneName, View } from "../views/types.js" */
/** @import { Player } from "./player.js" */
/** @import { Away, Here } from "./types.js" */
/** @import { Act, Flight } from "../model/motion.js" */

const GLIDE_MS = 200;
const FOLD_MS = 300;
const PANE_MS = 240;
const FOOT = 44; // px from the foot of the stage to the middle of what flies there

/** Make what moves between two places of a player. @param {Omit<Player, "linking" | "motion">} player */
export function makeMotion(player) {
  const layer = makeLayer(player.root, () => player.tell(player.frame));
  const tile = makeTileMotion(layer, player);

  /** The place shown, where the stage stands, and which pane a phone shows. */
  function here() {
    const { at, stage, panes } = player;
    return { ...at, top: stage.getBoundingClientRect().top, pane: panes.name };
  }

  /** From where the player was to the next place, if there is something to show in at most `most` ms. @param {Here} from @param {Place} to @param {number} most */
  function show(from, to, most) {
    const list = acts(player.trace, from, to);
    const ms = lengthOfAll(list);
    const { root, stage, hbm, sram, sentence, drawer, panes, transport } = player;
    if (!ms || ms > most || isStill() || !root.checkVisibility()) return;
    const cards = [
      stage,
      drawer.root,
      hbm.root,
      hbm.map,
      hbm.cursor,
      sram.root,
      sram.body,
      panes.root,
    ];
    layer.begin(ms, [
      ...cards,
      transport.rail,
      ...transport.rail.children,
      ...sentence.parts,
      ...panes.buttons,
      ...tile.nodes(),
    ]);
    for (const act of list) launch(act);
    tell(list, list[0].before ?? frame(player.trace, from.step, from.phase));
    if (layer.isSeen(sram.body)) tile.show(list);
    if (from.step !== to.step) glide(list[0].after, from);
    if (list.length > 1) follow(list);
    settle(from);
  }

  /** The sentence, the drawer and the bytes stay where they were until what they speak of has been shown; what flies past
   * the sentence dims it. @param {Act[]} list @param {Frame} before */
  function tell(list, before) {
    let told = -1;
    player.tell(before);
    layer.paint((/** @type {number} */ now) => {
      const over = list.findLastIndex(({ start, ms }) => now >= start + ms);
      if (over <= told) return;
      told = over;
      player.tell(list[over].after);
    });
    for (const { after, phase, start, ms } of list)
      if (flights(after, phase).length)
        for (const node of player.sentence.parts)
          layer.animate(node, { opacity: [0.2, 0.2] }, { start, ms });
  }

  /** The rail shows where the tile is. @param {Act[]} list */
  function follow(list) {
    const { sram, transport } = player;
    for (const [name, final] of [
      ["S", "exp"],
      ["dS", "dS"],
    ]) {
      const named = list.findLast(({ phase }) => phase === final);
      if (named && sram.frames[name]) layer.hide(sram.frames[name].head, { ms: named.start });
    }
    if (!layer.isSeen(transport.rail)) return;
    for (const { phase, start, ms: length } of list) {
      const button = transport.phase(phase);
      if (!button) continue;
      const ring = layer.cover(layer.box(button), "fa-rail-ring");
      layer.animate(ring, { opacity: [1, 1] }, { start, ms: length });
    }
  }

  /** The first step folds the purpose away: the stage moves up, what lies below it comes in. On a phone another pane does. */
  function settle(/** @type {Here} */ { top, pane }) {
    const { stage, panes, drawer, hbm, sram } = player;
    const by = top - layer.box(stage).top;
    const at = { ms: FOLD_MS, easing: "cubic-bezier(.65,0,.35,1)" };
    if (by)
      for (const node of [stage, layer.node])
        layer.animate(node, { transform: [`translateY(${by}px)`, "none"] }, at);
    if (by)
      for (const node of [drawer.root, drawer.tabs.parentElement])
        if (node) layer.animate(node, { opacity: [0, 0, 1] }, at);
    const card = panes.name === "rows" ? null : { hbm, sram }[panes.name].root;
    if (pane !== panes.name && layer.isSeen(panes.root) && card)
      layer.animate(card, { opacity: [0, 1] }, { ms: PANE_MS });
  }

  /** @param {Act} act */
  function launch(act) {
    const { hbm, sram } = player;
    const moves = flights(act.after, act.phase);
    if (!moves.length) return;
    const scale = act.ms / Math.max(...moves.map(({ start, ms }) => start + ms));
    const contents = act.after.numbers ? sram.contents(act.after) : {};
    for (const flight of moves) {
      const name = tensorOf(flight.tensor);
      const frame =
        layer.isSeen(sram.body) && !sram.frames[name]?.root.hidden ? sram.frames[name] : null;
      const home = layer.place(
        layer.isSeen(hbm.root)
          ? hbm.home(flight.tensor, flight.blocks, layer.box(hbm.map))
          : dot("hbm"),
      );
      const seat = layer.place(seatOf(flight.tensor));
      const pictured = frame ?? (name === "dQ" && sram.stage === null ? sram.frames.dQ : null); // a ghost's
      const picture = pictured && pictureOf(pictured, contents[name]);
      const label = (flight.op === "add" ? "+ " : "") + flightName(flight);
      const { bottom } = layer.box(player.stage);
      const foot = bottom - layer.box(player.root).y - FOOT * sram.theme.unit;
      const points = wayOf(flight.tensor, home, seat, sram.theme.unit, foot);
      const stays = Boolean(frame) || flight.op !== "read";
      fly(layer, flight, {
        home,
        seat,
        points,
        picture,
        name: label,
        unit: sram.theme.unit,
        start: act.start,
        scale,
        stays,
      });
      slots(flight, {
        home,
        seat,
        frame,
        label,
        start: act.start + flight.start * scale,
        end: act.start + (flight.start + flight.ms) * scale,
        over: act.start + act.ms,
      });
    }
  }

  /** Where something is away, its place is empty: a block's home while it flies, its frame until it lands or, once it
   * has left, to the end. */
  function slots(
    /** @type {Flight} */ { tensor, op },
    /** @type {Away} */ { home, seat, frame, label, start, end, over },
  ) {
    const { hbm, sram } = player;
    const reads = op === "read";
    if (layer.isSeen(hbm.root) && home.width > 4 && op !== "add")
      slot(layer, tensor, home, label, reads ? { start, ms: end - start } : { ms: end });
    for (const node of reads ? sram.numbersOf(tensor) : []) layer.hide(node, { ms: end });
    if (!frame) return;
    const away = reads ? { ms: end } : { start, ms: over - start };
    layer.hide(frame.matrix.root, away);
    slot(layer, tensor, seat, "", away);
  }

  /** On a phone one card is seen at a time: the other is where its button is. @param {PaneName} name */
  function dot(name) {
    const { x, y, width, height } = layer.box(player.panes.buttonOf(name));
    return new DOMRect(x + width / 2 - 8, y + height / 2 - 8, 16, 16);
  }

  /** The frame of a tensor; a card without frames takes it in as it is. @param {string} tensor */
  function seatOf(tensor) {
    const { sram } = player;
    if (!layer.isSeen(sram.root)) return dot("sram");
    if (layer.isSeen(sram.body))
      return sram.seat(tensor, (/** @type {Element} */ node) => layer.box(node));
    const { x, y, height } = layer.box(sram.root);
    return new DOMRect(x + 24, y + height / 2 - 32, 64, 64);
  }

  /** @param {Drawing} how */
  function pictureOf(/** @type {View} */ { matrix }, how) {
    const canvas = el("canvas", { width: matrix.canvas.width, height: matrix.canvas.height });
    context2d(canvas).drawImage(matrix.picture(how), 0, 0);
    return canvas;
  }

  /** A cursor over the map comes from the tile before. @param {Here} from */
  function glide(/** @type {Frame} */ { cols, rows, problem: p }, from) {
    const { cursor, cell } = player.hbm;
    const { v_i, v_j } = player.trace.arrays;
    const back = [
      Math.max(0, v_j[from.step]) * p.block_k - cols.start,
      v_i[from.step] * p.block_q - rows.start,
    ].map((n) => `${(n * cell).toFixed(1)}px`);
    const node = layer.cover(layer.box(cursor), "fa-glide");
    layer.animate(
      node,
      { opacity: [0.6, 1], transform: [`translate(${back})`, "none"] },
      { ms: GLIDE_MS, easing: "cubic-bezier(.65,0,.35,1)" },
    );
  }

  return { stop: layer.stop, at: layer.paintAt, here, show };
}
