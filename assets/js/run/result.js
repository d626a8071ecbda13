// What a run shows: how far each method is, then four claims with their pictures, and its details in tabs.

import { all, button, el, isEnlarged, parseHtml, set } from "../lib/dom.js";
import { radios, replaceRadios } from "../lib/radios.js";
import { rich } from "../views/rich.js";
import { paintBars, paintErrors, paintMap, paintRows } from "./claims.js";
import { MOVES } from "./chart.js";
import { picture } from "./picture.js";
import { paintRoofline } from "./roofline.js";
import { drawTab } from "./tabs.js";
import { t, texts } from "./result_texts.js";

/** @import { Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Paint } from "./picture.js" */
export const ALL = "claims";
const DETAILS = "details";

/** Make it for the page. @param {import("./index.js").RunFrame} page */
export function makeResultView(page) {
  /** What the server says of the run. @type {any} */
  let state = null;
  let view = ALL;
  let tab = "errors";
  let tile = -1;
  /** @type {ReturnType<typeof picture> | undefined} */
  let map;
  const root = el("div.fa-run-result");

  /** @param {any} next as explainer/views/run_state.py and run_result.py make it */
  function show(next) {
    state = next;
    if (state.state === "done") {
      view = state.first === "fast" ? "fast" : ALL;
      tab = "errors";
      tile = state.claims[1].map?.worst ?? -1;
    }
    draw();
  }

  function draw() {
    if (!state) return;
    set(root, { "data-state": state.state, "data-view": view });
    if (state.state === "running") return drawLanes();
    if (state.state !== "done") return root.replaceChildren();
    drawClaims();
  }

  function drawLanes() {
    root.replaceChildren(...parseHtml(state.html));
    for (const after of all(root, ".fa-run-after"))
      after.replaceChildren(...rich(after.textContent ?? ""));
  }

  /** The views of the result, in the order of the keys: all claims, each alone, the details. */
  function order() {
    const all = Object.keys(texts.views);
    return isEnlarged() ? all.slice(1, -1) : all;
  }

  /** @param {string} name */
  function open(name) {
    view = name;
    draw();
    page.drawBar();
  }

  /** A key of the page leads to the claim before or after; returns whether it did. @param {string} action */
  function act(action) {
    if (state?.state !== "done") return false;
    const by = MOVES[action];
    const next = by && order()[order().indexOf(view) + by];
    if (next) open(next);
    return Boolean(next);
  }

  function drawClaims() {
    if (isEnlarged() && !order().includes(view)) view = order()[0];
    const isAll = view === ALL;
    const claims = state.claims.filter((/** @type {any} */ one) => isAll || one.key === view);
    const drawn = claims.map((/** @type {any} */ one) => drawClaim(one, !isAll));
    const row = el("div", { class: `fa-run-four${isAll ? "" : " is-alone"}` }, drawn);
    if (!isAll && view === "fast" && state.tabs.roofline.points.length)
      row.append(drawRoofline(state.tabs.roofline));
    const parts = view === DETAILS ? [] : [row];
    if ((isAll || view === DETAILS) && !isEnlarged()) parts.push(drawTabs());
    root.replaceChildren(...parts);
  }

  /** @param {any} roofline */
  function drawRoofline(roofline) {
    const label = texts.tabs.roofline;
    return el("section.fa-run-claim", { "aria-label": label }, [
      el("h3", label),
      picture(t("roofline.label"), (paper) => paintRoofline(roofline, paper)),
    ]);
  }

  /** @param {any} claim @param {boolean} isLarge */
  function drawClaim(claim, isLarge) {
    const { key, title, sentence } = claim;
    /** @type {Record<string, Paint>} */
    const paints = {
      correct: (paper) => paintErrors(claim, paper),
      same: (paper, pen) => paintSame(claim, paper, pen),
      fast: (paper) => paintBars(claim, paper, isLarge),
      small: (paper) => paintBars(claim, paper, isLarge),
    };
    const note = key === "fast" && [claim.note, isLarge && claim.stroke].filter(Boolean).join(". ");
    const has = key !== "same" || claim.map || claim.rows.length;
    const place = picture(texts.labels[key], paints[key]);
    if (key === "same") map = place;
    return el("section.fa-run-claim", { "data-claim": key, "aria-label": title }, [
      el("h3", title),
      el("p", { text: sentence }),
      has && place,
      note && el("p.fa-run-of", { text: note }),
    ]);
  }

  /** @param {any} claim @param {Paper} paper @param {Pen<any>} pen */
  function paintSame(claim, paper, pen) {
    if (!claim.map) return paintRows(claim, paper);
    const { map: tiles, note } = claim;
    const choose = (/** @type {number} */ k) => {
      tile = k;
      map?.canvas.refit();
      pen.focus(`tile ${k}`);
    };
    const step = (/** @type {number} */ k) => tiles.steps[k] ?? null;
    const openTile = (/** @type {number} */ k) => step(k) !== null && page.openStep(step(k));
    return paintMap({ map: tiles, note, chosen: tile, choose, open: openTile }, paper, pen);
  }

  function drawTabs() {
    const { tabs } = state;
    const panel = el("div.fa-run-panel", { role: "tabpanel" });
    const options = Object.entries(texts.tabs).map(([value, text]) => ({ value, text }));
    const list = el("div.fa-run-tablist");
    const openTab = (/** @type {string} */ name) => {
      tab = name;
      replaceRadios(list, [radios(t("tabs.name"), options, name, openTab, "fa-run-tabs")]);
      set(panel, { "aria-label": texts.tabs[name], "data-tab": name });
      drawTab(panel, tabs[name]);
    };
    openTab(tab);
    return el("div.fa-run-details", [list, panel]);
  }

  /** The views as words, for the page's bar. */
  function drawViews() {
    if (state?.state !== "done") return null;
    const options = order().map((value) => ({ value, text: texts.views[value] }));
    return radios(t("views.name"), options, view, open, "fa-run-choice");
  }

  return { root, show, draw, act, drawViews };
}

/** A link of the result that leads to the Step page. @param {() => void} act */
export const stepLink = (act) => button(t("step"), act, { class: "fa-run-plain" });
