// What is chosen on a server-made picture, a tile of the map, as an event that Gradio knows.

import { around, find, get, set } from "../lib/dom.js";
import { listen, emit } from "../lib/events.js";
import { ARROWS } from "../lib/keys.js";

document.addEventListener("click", (event) => {
  const pick = around(event, "[data-pick]")?.dataset.pick;
  if (pick) emit("fa:pick", pick);
});

/** An invisible component: what was chosen on its page becomes its value. @param {{element: HTMLElement, props: {value: string}, trigger: (event: string) => void}} it */
export function mountPicker({ element, props, trigger }) {
  listen("fa:pick", (query) => {
    if (!element.isConnected || !element.closest("[role=tabpanel]")?.checkVisibility()) return;
    props.value = query;
    trigger("picked");
  });
}

// The map of tiles is one stop of the Tab key; arrows move on it.
document.addEventListener(
  "keydown",
  (event) => {
    const from = /** @type {HTMLTableCellElement | null} */ (around(event, ".fa-tile-table td"));
    const [down, right] = ARROWS[event.key] ?? [];
    if (!from || down === undefined) return;
    event.preventDefault();
    const line = /** @type {HTMLTableRowElement} */ (from.parentElement);
    const row = line.closest("table")?.rows[line.rowIndex + down];
    const place = row?.cells[from.cellIndex + right];
    const to = place && find(place, ".fa-cell:not(:disabled)");
    if (!to) return;
    set(get(from, ".fa-cell"), { tabindex: -1 });
    set(to, { tabindex: 0 });
    to.focus();
  },
  { capture: true },
);
