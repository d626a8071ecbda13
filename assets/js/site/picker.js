// What is chosen on a server-made picture, a tile of the map, as an event that Gradio knows.

import { set } from "../lib/dom.js";
import { listen, emit } from "../lib/events.js";

document.addEventListener("click", ({ target }) => {
  const pick = target.closest?.("[data-pick]")?.dataset.pick;
  if (pick) emit("fa:pick", pick);
});

/** An invisible component: what was chosen on its page becomes its value. */
export function mountPicker({ element, props, trigger }) {
  listen("fa:pick", (query) => {
    if (!element.isConnected || !element.closest("[role=tabpanel]")?.checkVisibility()) return;
    props.value = query;
    trigger("picked");
  });
}

// The map of tiles is one stop of the Tab key; arrows move on it.
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
document.addEventListener(
  "keydown",
  (event) => {
    const from = event.target.closest?.(".fa-tile-table td");
    const [down, right] = MOVES[event.key] ?? [];
    if (!from || down === undefined) return;
    event.preventDefault();
    const row = from.closest("table").rows[from.parentNode.rowIndex + down];
    const to = row?.cells[from.cellIndex + right]?.querySelector(".fa-cell:not(:disabled)");
    if (!to) return;
    set(from.querySelector(".fa-cell"), { tabindex: -1 });
    set(to, { tabindex: 0 });
    to.focus();
  },
  { capture: true },
);
