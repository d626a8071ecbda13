// Switches between the player and the comparison of the loop orders.

import { Player } from "./player.js";
import { Race } from "./race.js";
import { isPresenting } from "../lib/dom.js";
import { isLetter, isTaken } from "../lib/keys.js";
import { chosen, position, problemOf } from "../model/query.js";

/** @import { Pass } from "../model/types.js" */
/** @import { RacePosition, StageOptions } from "./types.js" */

export class Stage {
  /** @type {Race} from the first comparison on */
  race;
  /** @type {boolean | undefined} */
  racing;
  /** @type {boolean | undefined} */
  predicts;
  /** @type {string} */
  query;
  /** @type {((query: string) => void) | undefined} */
  onProblem;
  /** @param {HTMLElement} mount @param {StageOptions} options */
  constructor(mount, options) {
    this.mount = mount;
    this.options = options;
    this.player = new Player(mount, { ...options, onCompare: () => this.compare() });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /** Hand a key to the player, unless it belongs to a field or a dialog; R leads to the comparison and back. @param {KeyboardEvent} event */
  key(event) {
    if (
      event.defaultPrevented ||
      !this.mount.isConnected ||
      !this.mount.checkVisibility() ||
      isTaken(event)
    )
      return;
    if (isPresenting() && (isLetter(event, "b") || event.key === ".")) return this.blank(); // of clickers
    if (isLetter(event, "b")) return this.turn();
    if (isLetter(event, "r")) return this.racing ? this.alone() : this.compare();
    this.active.key(event);
  }

  /** Make a presented screen black, or show it again. */
  blank() {
    document.documentElement.toggleAttribute("data-blank");
  }

  /** What is on the page: the comparison or the player. */
  get active() {
    return this.racing ? this.race : this.player;
  }

  /** Show a whole address that does not come from the controls, which follow it. Resolves once it is loaded. @param {string} search */
  show(search) {
    this.onProblem?.(problemOf(search));
    this.player.warm();
    const opened = this.open(search);
    if (!this.racing) this.player.root.focus({ preventScroll: true });
    return opened;
  }

  /** Show what an address names: the comparison, which in presentation mode or in a frame has a clock, or the player. @param {string} search */
  open(search) {
    const params = new URLSearchParams(search);
    const clock = params.get("clock");
    const { step, phase, pass } = position(search);
    this.query = problemOf(search);
    if (params.get("mode") === "compare" || ["bytes", "tile"].includes(clock ?? ""))
      return this.compare(this.query, { tick: step, clock, pass });
    if (this.racing) this.alone({ load: false });
    return this.player.load(this.query, { step, phase, pass, ...chosen(search) });
  }

  /** Which pass is shown. */
  get pass() {
    return this.active.pass;
  }

  /** Show the other pass, or this one; in a comparison, of all lanes. @param {Pass} [pass] */
  turn(pass) {
    const { race, player, racing, query } = this;
    if (!racing) return player.turn(pass);
    return race.load(query, { pass: pass ?? (race.pass === "forward" ? "backward" : "forward") });
  }

  /** Show the loop orders side by side. */
  compare(
    query = new URLSearchParams(this.player.trace?.header.query).toString(),
    /** @type {RacePosition} */ place = { ...this.options.begins, pass: this.player.pass },
  ) {
    this.query = query;
    this.race ??= new Race({
      url: this.options.url,
      yours: this.options.yours,
      onPlace: (at) => this.racing && this.options.onTick?.(at),
      controls: this.options.controls,
      onTab: (name) => this.alone({ tab: name }),
      onLeave: () => this.options.onLeave?.(),
    });
    this.race.predicting(Boolean(this.predicts));
    this.racing = true;
    this.player.pause();
    this.puts(this.race.root);
    return this.race.load(query, place);
  }

  /** Show the player again, at this tab. @param {{load?: boolean, tab?: string | null}} [how] */
  alone({ load = true, tab = null } = {}) {
    this.racing = false;
    this.race.transport.stop();
    this.puts(this.player.root);
    if (tab) this.player.open(tab);
    this.options.onAlone?.();
    if (load) this.player.load(this.query, { pass: this.race.pass });
  }

  /** Replace the player by the comparison or the other way round; the keyboard focus moves along. @param {HTMLElement} root */
  puts(root) {
    const had = this.mount.contains(document.activeElement);
    this.mount.replaceChildren(root);
    if (had) root.focus({ preventScroll: true });
  }
}
