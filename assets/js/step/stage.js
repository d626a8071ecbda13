// Switches between the player and the comparison of the loop orders.

import { makePlayer } from "./player.js";
import { makeRace } from "./race.js";
import { giveFocus, isPresenting } from "../lib/dom.js";
import { isLetter, isTaken } from "../lib/keys.js";
import { chosen, position, problemOf } from "../model/query.js";

/** @import { Pass } from "../model/types.js" */
/** @import { RacePosition, StageOptions } from "./types.js" */

/** Make the place where the player and the comparison take turns. @param {HTMLElement} mount @param {StageOptions} options */
export function makeStage(mount, options) {
  /** @type {ReturnType<typeof makeRace>} from the first comparison on */
  let race;
  let racing = false;
  let predicts = false;
  /** @type {string} */
  let query;

  const player = makePlayer(mount, { ...options, onCompare: () => compare() });

  /** Hand a key to the player, unless it belongs to a field or a dialog; R leads to the comparison and back. @param {KeyboardEvent} event */
  function key(event) {
    if (event.defaultPrevented || !mount.isConnected || !mount.checkVisibility() || isTaken(event))
      return;
    if (isPresenting() && (isLetter(event, "b") || event.key === ".")) return blank(); // of clickers
    if (isLetter(event, "b")) return turn();
    if (isLetter(event, "r")) return racing ? alone() : compare();
    active().key(event);
  }

  /** Make a presented screen black, or show it again. */
  function blank() {
    document.documentElement.toggleAttribute("data-blank");
  }

  /** What is on the page: the comparison or the player. */
  function active() {
    return racing ? race : player;
  }

  /** Show a whole address that does not come from the controls, which follow it. Resolves once it is loaded. @param {string} search */
  function show(search) {
    options.onProblem?.(problemOf(search));
    player.warm();
    const opened = open(search);
    if (!racing) giveFocus(player.root);
    return opened;
  }

  /** Show what an address names: the comparison, which in presentation mode or in a frame has a clock, or the player. @param {string} search */
  function open(search) {
    const params = new URLSearchParams(search);
    const clock = params.get("clock");
    const { step, phase, pass } = position(search);
    query = problemOf(search);
    if (params.get("mode") === "compare" || ["bytes", "tile"].includes(clock ?? ""))
      return compare(query, { tick: step, clock, pass });
    if (racing) alone({ load: false });
    return player.load(query, { step, phase, pass, ...chosen(search) });
  }

  /** Show the other pass, or this one; in a comparison, of all lanes. @param {Pass} [pass] */
  function turn(pass) {
    if (!racing) return player.turn(pass);
    return race.load(query, { pass: pass ?? (race.pass === "forward" ? "backward" : "forward") });
  }

  /** Show the loop orders side by side. */
  function compare(
    next = new URLSearchParams(player.trace?.header.query).toString(),
    /** @type {RacePosition} */ place = { ...options.begins, pass: player.pass },
  ) {
    query = next;
    race ??= makeRace({
      url: options.url,
      yours: options.yours,
      onPlace: (at) => racing && options.onTick?.(at),
      controls: options.controls,
      onTab: (name) => alone({ tab: name }),
      onLeave: () => options.onLeave?.(),
    });
    race.predicting(predicts);
    racing = true;
    player.pause();
    puts(race.root);
    return race.load(query, place);
  }

  /** Show the player again, at this tab. @param {{load?: boolean, tab?: string | null}} [how] */
  function alone({ load = true, tab = null } = {}) {
    racing = false;
    race.transport.stop();
    puts(player.root);
    if (tab) player.open(tab);
    options.onAlone?.();
    if (load) player.load(query, { pass: race.pass });
  }

  /** Replace the player by the comparison or the other way round; the keyboard focus moves along. @param {HTMLElement} root */
  function puts(root) {
    const had = mount.contains(document.activeElement);
    mount.replaceChildren(root);
    if (had) giveFocus(root);
  }

  /** Show this Problem at the same place. @param {string} next */
  function load(next) {
    query = next;
    return racing ? race.load(query, {}) : player.load(query);
  }

  /** Turn the questions before each step on or off. @param {boolean} on */
  function predict(on) {
    predicts = on;
    player.predicting(on);
    race?.predicting(on);
  }

  return {
    player,
    show,
    open,
    turn,
    load,
    predict,
    key,
    get active() {
      return active();
    },
    get race() {
      return race;
    },
    get racing() {
      return racing;
    },
  };
}
