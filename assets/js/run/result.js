// What a run shows: how far each method is, then four claims with their pictures, and its details in tabs.

import { button, el, set } from "../lib/dom.js";
import { isEnlarged } from "../lib/screen.js";
import { radios } from "../lib/radios.js";
import { rich } from "../views/rich.js";
import { paintBars, paintErrors, paintMap, paintRows } from "./claims.js";
import { MOVES } from "./chart.js";
import { paintLanes } from "./lanes.js";
import { picture } from "./picture.js";
import { paintRoofline } from "./roofline.js";
import { drawTab } from "./tabs.js";
import { t, texts } from "./result_texts.js";

/** @import { Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Paint } from "./picture.js" */
const LANES = { share: 2.2, least: 260, most: 700 };
export const ALL = "claims";
const DETAILS = "details";

export class ResultView {
  /** What the server says of the run. @type {any} */
  state = null;
  view = ALL;
  tab = "errors";
  tile = -1;

  /** @param {import("./index.js").RunFrame} page */
  constructor(page) {
    this.page = page;
    this.root = el("div.fa-run-result");
    this.views = el("div.fa-run-claims");
  }

  /** @param {any} state as explainer/views/run_state.py and run_result.py make it */
  show(state) {
    const was = this.state?.state;
    this.state = state;
    if (state.state === "done") {
      this.view = state.first === "fast" ? "fast" : ALL;
      this.tab = "errors";
      this.tile = state.claims[1].map?.worst ?? -1;
    }
    if (state.state !== "running" || was !== "running") this.lanes = undefined;
    this.draw();
  }

  draw() {
    const { state } = this;
    if (!state) return;
    set(this.root, { "data-state": state.state, "data-view": this.view });
    if (state.state === "running") return this.drawLanes();
    if (state.state !== "done") return this.root.replaceChildren();
    this.drawClaims();
  }

  drawLanes() {
    if (!this.lanes) {
      const label = t("lanes.label");
      this.lanes = picture(label, (paper) => paintLanes(this.state, paper), LANES);
      this.after = el("p.fa-run-after");
      this.root.replaceChildren(this.lanes, this.after);
    } else this.lanes.canvas.refit();
    this.after?.replaceChildren(...rich(this.state.after));
  }

  /** The views of the result, in the order of the keys: all claims, each alone, the details. */
  get order() {
    return isEnlarged() ? Object.keys(texts.views).slice(1, -1) : Object.keys(texts.views);
  }

  /** @param {string} view */
  open(view) {
    this.view = view;
    this.draw();
    this.page.drawBar();
  }

  /** A key of the page leads to the claim before or after; returns whether it did. @param {string} action */
  act(action) {
    if (this.state?.state !== "done") return false;
    const by = MOVES[action];
    const at = this.order.indexOf(this.view);
    const view = by && this.order[at + by];
    if (view) this.open(view);
    return Boolean(view);
  }

  drawClaims() {
    const { state } = this;
    if (isEnlarged() && !this.order.includes(this.view)) this.view = this.order[0];
    const { view } = this;
    const isAll = view === ALL;
    const claims = state.claims.filter((/** @type {any} */ one) => isAll || one.key === view);
    const drawn = claims.map((/** @type {any} */ one) => this.drawClaim(one, !isAll));
    const row = el("div", { class: `fa-run-four${isAll ? "" : " is-alone"}` }, drawn);
    if (!isAll && view === "fast" && state.tabs.roofline.points.length)
      row.append(this.drawRoofline(state.tabs.roofline));
    const parts = view === DETAILS ? [] : [row];
    if ((isAll || view === DETAILS) && !isEnlarged()) parts.push(this.drawTabs());
    this.root.replaceChildren(...parts);
  }

  /** @param {any} roofline */
  drawRoofline(roofline) {
    const label = texts.tabs.roofline;
    return el("section.fa-run-claim", { "aria-label": label }, [
      el("h3", label),
      picture(t("roofline.label"), (paper) => paintRoofline(roofline, paper)),
    ]);
  }

  /** @param {any} claim @param {boolean} isLarge */
  drawClaim(claim, isLarge) {
    const { key, title, sentence } = claim;
    /** @type {Record<string, Paint>} */
    const paints = {
      correct: (paper) => paintErrors(claim, paper),
      same: (paper, pen) => this.paintSame(claim, paper, pen),
      fast: (paper) => paintBars(claim, paper, isLarge),
      small: (paper) => paintBars(claim, paper, isLarge),
    };
    const note = key === "fast" && [claim.note, isLarge && claim.stroke].filter(Boolean).join(". ");
    const has = key !== "same" || claim.map || claim.rows.length;
    const place = picture(texts.labels[key], paints[key]);
    this.map = key === "same" ? place : this.map;
    return el("section.fa-run-claim", { "data-claim": key, "aria-label": title }, [
      el("h3", title),
      el("p", { text: sentence }),
      has && place,
      note && el("p.fa-run-of", { text: note }),
    ]);
  }

  /** @param {any} claim @param {Paper} paper @param {Pen<any>} pen */
  paintSame(claim, paper, pen) {
    if (!claim.map) return paintRows(claim, paper);
    const { map, note } = claim;
    const choose = (/** @type {number} */ k) => {
      this.tile = k;
      this.map?.canvas.refit();
      pen.focus(`tile ${k}`);
    };
    return paintMap(
      { map, note, chosen: this.tile, choose, open: (k) => this.openTile(map, k) },
      paper,
      pen,
    );
  }

  /** @param {import("./claims.js").TileMap} map @param {number} k */
  openTile({ steps }, k) {
    if (steps[k] !== null && steps[k] !== undefined) this.page.openStep(Number(steps[k]));
  }

  drawTabs() {
    const { tabs } = this.state;
    const panel = el("div.fa-run-panel", { role: "tabpanel" });
    const options = Object.entries(texts.tabs).map(([value, text]) => ({ value, text }));
    const list = el("div.fa-run-tablist");
    const open = (/** @type {string} */ tab) => {
      this.tab = tab;
      const row = radios(t("tabs.name"), options, tab, open, "fa-run-tabs");
      const isFocused = list.contains(document.activeElement);
      list.replaceChildren(row);
      if (isFocused) /** @type {HTMLElement} */ (row.querySelector('[tabindex="0"]')).focus();
      set(panel, { "aria-label": texts.tabs[tab], "data-tab": tab });
      drawTab(panel, tabs[tab]);
    };
    open(this.tab);
    return el("div.fa-run-details", [list, panel]);
  }

  /** The views as words, for the page's bar. */
  drawViews() {
    if (this.state?.state !== "done") return null;
    const options = this.order.map((value) => ({ value, text: texts.views[value] }));
    return radios(t("views.name"), options, this.view, (view) => this.open(view), "fa-run-choice");
  }
}

/** A link of the result that leads to the Step page. @param {() => void} act */
export const stepLink = (act) => button(t("step"), act, { class: "fa-run-plain" });
