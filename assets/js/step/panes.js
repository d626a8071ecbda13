// On a phone one part of the picture at a time: its buttons, a swipe, and the phase, which it follows unless the visitor
// has just chosen.

import { button, el, set, setText } from "../lib/dom.js";
import { onSwipe } from "../lib/swipe.js";
import { t } from "../model/texts.js";

/** @import { Pass } from "../model/types.js" */
/** @import { PaneName } from "../views/types.js" */

/** @type {Record<PaneName, string>} */
const NAMES = { hbm: t("HBM"), sram: t("SRAM"), rows: t("pane.rows") };
const PANES = /** @type {PaneName[]} */ (Object.keys(NAMES));
const CHOSEN_MS = 5000;

/** Make the buttons of a phone's panes.
 * @param {HTMLElement} player the root of a player, which says in data-pane what is shown */
export function makePanes(player) {
  let chosenUntil = 0;
  const buttons = PANES.map((name) =>
    button(NAMES[name], () => choose(name), { "data-pane-of": name }),
  );
  const root = el("div.fa-panes", { role: "group", "aria-label": t("pane") }, buttons);

  /** Name the third pane by what it shows in this pass. @param {Pass} pass */
  function names(pass) {
    setText(buttonOf("rows"), pass === "backward" ? t("products") : NAMES.rows);
  }

  const nameNow = () => /** @type {PaneName} */ (player.dataset.pane);

  /** Show the pane that a visitor chose, and keep it for a while. @param {PaneName} name */
  function choose(name) {
    chosenUntil = performance.now() + CHOSEN_MS;
    show(name);
  }

  /** @param {PaneName} name */
  function follow(name) {
    if (performance.now() >= chosenUntil) show(name);
  }

  /** Let the next phase choose the pane again. */
  function release() {
    chosenUntil = 0;
  }

  /** @param {PaneName} name */
  function show(name) {
    set(player, { "data-pane": name });
    for (const button of buttons) set(button, { "aria-pressed": button.dataset.paneOf === name });
  }

  /** @param {PaneName} name */
  function buttonOf(name) {
    return buttons[PANES.indexOf(name)];
  }

  /** Let a swipe over these nodes lead to the neighboring pane. @param {HTMLElement[]} over */
  function swiped(over) {
    onSwipe(over, (/** @type {number} */ by) => {
      const to = PANES[PANES.indexOf(nameNow()) + by];
      if (to) choose(to);
    });
  }

  return {
    root,
    buttons,
    names,
    choose,
    follow,
    release,
    show,
    buttonOf,
    swiped,
    get name() {
      return nameNow();
    },
  };
}
