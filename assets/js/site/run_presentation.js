// The Run page in presentation mode: under the verdict one card or chart at a time, keys go on.

import { all, find, get, isPresenting, onTheme } from "../lib/dom.js";
import { clamp } from "../lib/format.js";
import { emit } from "../lib/events.js";
import { turnOf } from "../lib/keys.js";
import { pending } from "../lib/pending.js";
import { announce } from "./live_region.js";

const PAGE = "#pages .fa-report";
const SCENES =
  ".fa-run-idle, .fa-run-refused, .fa-run-cards > .fa-card, .fa-plot:has(.js-plotly-plot)";
const BANNERS = ".fa-run-verdict, .fa-sweep-line";
/** @type {Record<string, number>} */
const ENDS = { Home: -Infinity, End: Infinity };
const SCREEN = [690, 388]; // px that a scene is laid out in, and then enlarged from
const LEAST = 24 / 13; // the smallest type becomes 24 px

class RunPresentation {
  constructor() {
    this.at = 0;
    this.isOn = false;
    /** @type {Element | null} */
    this.scene = null;
    this.changes = new MutationObserver(() => this.show());
    onTheme(() => this.follow());
    new ResizeObserver(() => this.follow()).observe(get(document, PAGE)); // its tab is shown
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("resize", () => this.show());
  }

  get page() {
    const page = isPresenting() && find(document, PAGE);
    return page && page.checkVisibility() ? page : null;
  }

  /** Draw what is on screen again in the type of the mode that was entered, from the engine's stored result. */
  follow() {
    const on = Boolean(this.page);
    if (on === this.isOn) return;
    this.isOn = on;
    this.changes.disconnect();
    const page = get(document, PAGE);
    if (on) this.changes.observe(page, { childList: true, subtree: true });
    this.at = 0;
    if (page.querySelector('[data-testid="run-result"], [data-testid="run-recorded"]'))
      get(page, ".fa-primary").click();
    if (page.querySelector(".fa-sweep-line")) get(page, ".fa-sweeps").click();
    this.show();
  }

  show() {
    const page = this.page;
    pending("charts", Boolean(page?.querySelector(".fa-plot:not(:has(.js-plotly-plot))"))); // they become scenes
    if (!page) return;
    const zoom = clamp(window.innerHeight / SCREEN[1], LEAST, window.innerWidth / SCREEN[0]);
    page.style.setProperty("--fa-present-zoom", zoom.toFixed(3));
    const scenes = all(page, SCENES);
    this.at = clamp(this.at, 0, scenes.length - 1);
    const here = scenes[this.at];
    for (const scene of scenes) scene.toggleAttribute("data-scene", scene === here);
    const blocks = all(page, ".fa-main > *");
    const holds = blocks.findIndex((block) => here && block.contains(here));
    const banner = blocks.slice(0, holds + 1).findLast((block) => block.querySelector(BANNERS));
    for (const block of blocks)
      block.toggleAttribute("data-here", block === blocks[holds] || block === banner);
    page.toggleAttribute("data-chart", Boolean(here?.matches(".fa-plot")));
    page.removeAttribute("data-tight");
    page.toggleAttribute("data-tight", document.documentElement.scrollHeight > window.innerHeight);
    if (here === this.scene) return;
    this.scene = here;
    requestAnimationFrame(() => window.dispatchEvent(new Event("resize"))); // a chart was laid out for another place
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const page = this.page;
    if (!page) return;
    if (event.key === "Escape") return emit("fa:leave-presentation");
    const step = turnOf(event) || ENDS[event.key];
    if (!step) return;
    event.preventDefault();
    this.at += step;
    this.show();
    announce(page.querySelector("[data-scene] :is(h2, .gtitle)")?.textContent);
  }
}

/** @type {RunPresentation | null} */
let presentation = null;

/** Of the component with the verdict, once for all. */
export function mountRunPresentation() {
  presentation ??= new RunPresentation();
}
