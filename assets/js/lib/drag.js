// Dragging with the pointer, wherever it goes meanwhile.

import { on } from "./dom.js";

/** While the pointer is down on `node`, `act` says what follows it: {move(event), end()}, or nothing if it is not dragged.
 * @param {Element} node
 * @param {(event: PointerEvent) => {move: (event: PointerEvent) => void, end?: () => void} | void} act */
export function onDrag(node, act) {
  const begin = (/** @type {PointerEvent} */ event) => {
    const drag = event.button ? null : act(event);
    if (!drag) return;
    const over = new AbortController();
    const { signal } = over;
    on(document, ["pointermove"], drag.move, { signal });
    on(
      document,
      ["pointerup", "pointercancel"],
      () => {
        over.abort();
        drag.end?.();
      },
      { signal },
    );
  };
  on(node, ["pointerdown"], begin);
}
