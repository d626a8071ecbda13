// The guided tour: a bar with a chapter's text and a light on what it speaks of. Space and clickers go on, Escape
// leaves, and who leaves has the own Problem and place back.

import {
  around,
  boxStyle,
  button,
  el,
  findVisible,
  isPresenting,
  on,
  set,
  setText,
} from "../lib/dom.js";
import { isShortcut } from "../lib/keys.js";
import { isNarrow } from "../lib/screen.js";
import { t } from "../model/texts.js";

/** @import { Pass } from "../model/types.js" */
/** @import { Chapter, TourOptions } from "./types.js" */

const MARGIN = 12;
const AROUND = 8; // px of light around what a chapter speaks of
const EDGE = 3; // px between the light and the edge of the window
/** @type {Record<string, number>} */
const STEPS = { " ": 1, PageDown: 1, PageUp: -1 };

/** Parts of the page by the name that they bear in data-spot; hidden ones do not count. @param {string} name */
const partsOf = (name) =>
  [...document.querySelectorAll(`[data-spot~="${name}"]`)].filter((node) =>
    node.checkVisibility({ visibilityProperty: true }),
  );

/** The smallest box around them all; null if there are none. @param {Element[]} nodes */
function boxOf(nodes) {
  const boxes = nodes.map((node) => node.getBoundingClientRect());
  if (!boxes.length) return null;
  const side = (
    /** @type {(...sizes: number[]) => number} */ most,
    /** @type {"left" | "top" | "right" | "bottom"} */ name,
  ) => most(...boxes.map((box) => box[name]));
  return {
    left: side(Math.min, "left"),
    top: side(Math.min, "top"),
    right: side(Math.max, "right"),
    bottom: side(Math.max, "bottom"),
  };
}

/** Make the bar and the light of the tour. @param {TourOptions} options */
export function makeTour(options) {
  /** @type {Chapter[]} */
  let chapters;
  /** @type {string | null} */
  let own;
  /** @type {number} */
  let at;
  /** @type {string} */
  let spotNow;
  /** @type {number} */
  let aiming;

  const count = el("span.fa-tour-count");
  const heading = el("h2");
  const body = el("p");
  const back = button(t("tour.back"), () => go(at - 1), { class: "fa-link" });
  const next = button(t("tour.next"), () => go(at + 1), { class: "fa-link is-main" });
  const closing = button("✕", () => close(), {
    class: "fa-link fa-tour-close",
    "aria-label": t("tour.leave"),
    title: t("tour.leave"),
  });
  const root = el(
    "aside.fa-player.fa-tour",
    { "aria-label": t("tour"), "data-testid": "tour", hidden: true },
    [
      el("div.fa-tour-text", { "aria-live": "polite" }, [
        el("div.fa-tour-head", [heading, count]),
        body,
      ]),
      el("div.fa-tour-keys", [back, next, closing]),
      el("span.fa-tour-hint", t("tour.keys")),
    ],
  );
  const light = el("div.fa-spot", { "data-testid": "spot", "aria-hidden": "true", hidden: true });
  const dim = el("div.fa-dim", { "aria-hidden": "true", hidden: true }); // all else, with a hole for the light
  document.body.append(dim, light, root); // above the controls, whatever layers they make
  on(window, ["keydown"], key, { capture: true }); // before the page, which Escape would take out of presentation mode
  on(window, ["resize", "scroll"], aimSoon, { capture: true, passive: true });
  const watched = {
    subtree: true,
    childList: true,
    attributeFilter: ["data-step", "data-phase", "aria-busy", "hidden"],
  };
  new MutationObserver(aimSoon).observe(options.mount, watched);

  /** From the first chapter of a pass; where the visitor was is kept for afterwards. @param {Pass} pass */
  async function begin(pass) {
    if (root.hidden) own = options.here?.() || null;
    chapters ??= await options.chapters();
    return go(chapters.findIndex((chapter) => chapter.pass === pass));
  }

  /** The chapters of the same pass as chapter k. @param {number} k */
  function partOf(k) {
    return chapters.filter(({ pass }) => pass === chapters[k].pass);
  }

  /** While the tour is open its keys go from chapter to chapter; a dialog or a menu keeps its own. @param {KeyboardEvent} event */
  function key(event) {
    if (root.hidden || isShortcut(event)) return;
    const inside = around(event, "input, textarea, select, button, dialog, [open]");
    const by =
      STEPS[event.key] && !(inside && event.key === " ")
        ? STEPS[event.key] * (event.shiftKey ? -1 : 1)
        : 0;
    const leaves =
      event.key === "Escape" &&
      !document.querySelector("dialog[open]") &&
      !inside?.closest("[open]");
    if (!by && !leaves) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (leaves) close();
    else go(at + by);
  }

  /** Chapter k, counted from 0; beyond the last one the tour is over. @param {number} k */
  async function go(k) {
    chapters ??= await options.chapters();
    if (k >= chapters.length) return close();
    at = Math.max(0, k);
    const { title, text, query, spot, pass } = chapters[at];
    const part = partOf(at);
    const after = chapters[at + 1];
    root.hidden = false;
    document.body.classList.add("fa-touring");
    set(root, { "data-chapter": at + 1 });
    setText(
      count,
      t(pass === "forward" ? "tour.count" : "tour.count.b", {
        k: part.indexOf(chapters[at]) + 1,
        of: part.length,
      }),
    );
    setText(heading, title);
    setText(body, text);
    back.disabled = at === 0;
    setText(next, t(!after ? "tour.finish" : after.pass === pass ? "tour.next" : "tour.turn"));
    options.onChapter?.(at + 1);
    spotNow = spot;
    dim.hidden = light.hidden = true;
    await options.show(new URLSearchParams(query).toString());
    if (root.hidden || spotNow !== spot) return;
    options.reveal(spot);
    document.body.style.setProperty("--fa-tour-height", `${root.offsetHeight}px`);
    partsOf(spot)[0]?.scrollIntoView({
      block: isNarrow() ? "start" : "nearest",
      behavior: "instant",
    });
    aim();
  }

  function aimSoon() {
    if (root.hidden || aiming) return;
    aiming = requestAnimationFrame(aim);
  }

  /** The light falls on what the chapter speaks of, and the bar stands where it covers least of it. */
  function aim() {
    cancelAnimationFrame(aiming);
    aiming = 0;
    if (root.hidden) return;
    const box = boxOf(partsOf(spotNow));
    const high = root.offsetHeight;
    const pinned = isNarrow() || isPresenting();
    const below = window.innerHeight - high - (pinned ? 0 : foot() + MARGIN);
    const names = findVisible(document, ".fa-lane-head"); // of the lanes, which stay in sight
    const above = names ? names.getBoundingClientRect().bottom + MARGIN : 56;
    const covered = (/** @type {number} */ top) =>
      box ? Math.max(0, Math.min(box.bottom, top + high) - Math.max(box.top, top)) : 0;
    const top = !pinned && box && covered(above) < covered(below) ? above : below;
    root.style.top = pinned ? "auto" : `${top}px`;
    root.style.bottom = pinned ? `${isNarrow() ? 0 : 8}px` : "auto";
    dim.hidden = light.hidden = !box;
    if (!box) return;
    const x = Math.max(EDGE, box.left - AROUND);
    const y = Math.max(EDGE, box.top - AROUND);
    const right = Math.min(window.innerWidth - EDGE, box.right + AROUND);
    const end = Math.min(window.innerHeight - EDGE, box.bottom + AROUND);
    const [width, height] = [Math.max(0, right - x), Math.max(0, end - y)];
    light.style.cssText = boxStyle({ x, y, width, height });
    const hole = `${x}px ${y}px, ${right}px ${y}px, ${right}px ${end}px, ${x}px ${end}px, ${x}px ${y}px`;
    dim.style.clipPath = `polygon(evenodd, 0 0, 100% 0, 100% 100%, 0 100%, 0 0, ${hole})`;
    set(light, { "data-from": top >= box.bottom || top > box.top ? "below" : "above" });
  }

  /** The transport stays in reach: how high it stands at the lower edge. */
  function foot() {
    const bar = findVisible(document, ".fa-transport");
    const top = bar?.getBoundingClientRect().top ?? window.innerHeight;
    return top > window.innerHeight / 2 ? Math.max(0, window.innerHeight - top) : 0;
  }

  /** Over: the visitor's own Problem and place are back. */
  function close() {
    root.hidden = light.hidden = dim.hidden = true;
    document.body.classList.remove("fa-touring");
    options.onChapter?.(null);
    if (own) options.show(own);
    own = null;
  }

  return { begin, go };
}
