// The exact value of what is pointed at, focused or tapped in a picture: the text of its data-tip.

import { el, on, set } from "../lib/dom.js";
import { clamp } from "../lib/format.js";

const APART = 14; // px from the pointer

/** Make it for what is in this place. @param {HTMLElement} place what holds the picture */
export function makeTip(place) {
  const root = el("p.fa-story-tip", { role: "status", hidden: true });
  on(place, ["pointermove", "pointerdown", "focusin"], follow);
  on(place, ["pointerleave", "focusout"], hide);

  function hide() {
    root.hidden = true;
  }

  /** @param {PointerEvent | FocusEvent} event */
  function follow(event) {
    const node = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
    const text = node?.getAttribute("data-tip");
    if (!node || !text) return hide();
    set(root, { text });
    root.hidden = false;
    const box = place.getBoundingClientRect();
    const shape = node.getBoundingClientRect();
    const [x, y] =
      event instanceof PointerEvent
        ? [event.clientX, event.clientY]
        : [shape.left + shape.width / 2, shape.top];
    const { offsetWidth, offsetHeight } = root;
    const left = clamp(x - box.left + APART, 0, box.width - offsetWidth);
    const above = y - box.top - offsetHeight - APART;
    const top = above < 0 ? y - box.top + APART : above;
    root.style.cssText = `left:${left}px;top:${top}px`;
  }

  return root;
}
