// What a run shows: how far each method is, then four claims with their pictures, and its details in tabs.

import { button, el, isEnlarged, set } from "../lib/dom.js";
import { radios, replaceRadios } from "../lib/radios.js";
import { MOVES } from "./chart.js";
import { fillPlace } from "./filled.js";
import { t, texts } from "./result_texts.js";

/** Make it for the page. @param {import("./index.js").RunFrame} page */
export function makeResultView(page) {
  /** What the server says of the run, as explainer/views/run_state.py and run_result.py make it. @type {any} */
  let state = null;
  let view = "claims";
  const list = el("div.fa-run-tablist");
  const panel = el("div.fa-run-panel", { role: "tabpanel" });
  const claims = el("div.fa-run-claims");
  const details = el("div.fa-run-details", [list, panel]);
  const root = el("div.fa-run-result", [claims, details]);

  /** @param {any} next */
  function show(next) {
    state = next;
    fillPlace(claims, state.html ?? "", state, page.openStep);
    if (state.state === "done") {
      view = state.first;
      openTab("errors");
    }
    draw();
  }

  /** @param {string} name */
  function openTab(name) {
    const options = Object.entries(texts.tabs).map(([value, text]) => ({ value, text }));
    replaceRadios(list, [radios(t("tabs.name"), options, name, openTab, "fa-run-tabs")]);
    set(panel, { "aria-label": texts.tabs[name], "data-tab": name });
    fillPlace(panel, state.tabs[name], state, page.openStep);
  }

  function draw() {
    if (isEnlarged() && !order().includes(view)) view = order()[0];
    set(root, { "data-state": state?.state ?? "", "data-view": view });
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
