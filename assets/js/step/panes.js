// On a phone one part of the picture at a time: its buttons, a swipe, and the phase, which it follows unless the visitor
// has just chosen.

import { button, el, set } from "../lib/dom.js";
import { onSwipe } from "../lib/swipe.js";
import { t } from "../model/texts.js";

/** @import { Pass } from "../model/types.js" */
/** @import { PaneName } from "../views/types.js" */

/** @type {Record<PaneName, string>} */
const NAMES = { hbm: t("HBM"), sram: t("SRAM"), rows: t("pane.rows") };
const PANES = /** @type {PaneName[]} */ (Object.keys(NAMES));
const CHOSEN_MS = 5000;

export class Panes {
  /** @param {HTMLElement} root the player's, which says in data-pane what is shown */
  constructor(root) {
    this.player = root;
    this.chosenUntil = 0;
    this.buttons = PANES.map((name) =>
      button(NAMES[name], () => this.choose(name), { "data-pane-of": name }),
    );
    this.root = el("div.fa-panes", { role: "group", "aria-label": t("pane") }, this.buttons);
  }

  /** Name the third pane by what it shows in this pass. @param {Pass} pass */
  names(pass) {
    set(this.button("rows"), { text: pass === "backward" ? t("products") : NAMES.rows });
  }

  get name() {
    return /** @type {PaneName} */ (this.player.dataset.pane);
  }

  /** Show the pane that a visitor chose, and keep it for a while. @param {PaneName} name */
  choose(name) {
    this.chosenUntil = performance.now() + CHOSEN_MS;
    this.show(name);
  }

  /** @param {PaneName} name */
  follow(name) {
    if (performance.now() >= this.chosenUntil) this.show(name);
  }

  /** Let the next phase choose the pane again. */
  release() {
    this.chosenUntil = 0;
  }

  /** @param {PaneName} name */
  show(name) {
    set(this.player, { "data-pane": name });
    for (const button of this.buttons)
      set(button, { "aria-pressed": button.dataset.paneOf === name });
  }

  /** @param {PaneName} name */
  button(name) {
    return this.buttons[PANES.indexOf(name)];
  }

  /** Let a swipe over these nodes lead to the neighboring pane. @param {HTMLElement[]} over */
  swiped(over) {
    onSwipe(over, (/** @type {number} */ by) => {
      const to = PANES[PANES.indexOf(this.name) + by];
      if (to) this.choose(to);
    });
  }
}
