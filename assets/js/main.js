// What Gradio calls, by name; explainer/pages/browser.py writes the calls. And all that listens by itself.

import { mountLearn } from "./learn/index.js";
import { emit } from "./lib/events.js";
import { during } from "./lib/pending.js";
import {
  ask,
  enlarge,
  follow,
  followAddress,
  merged,
  offered,
  start,
  useText,
} from "./model/controls.js";
import { mountBar } from "./site/bar.js";
import { loadAddressState, addressNotice } from "./site/query_state.js";
import {} from "./site/code_dialog.js";
import { stepProblem } from "./site/figures.js";
import { recordFinding } from "./site/findings.js";
import { chooseTab, onceOpened, openRequestedPage, partOpened } from "./site/pages.js";
import {} from "./site/plots.js";
import {} from "./site/gradio_patches.js";
import { announceFirst } from "./site/live_region.js";
import { followStep, showSweep, mountLinked, writeRun } from "./site/run.js";
import { mountRunPresentation } from "./site/run_presentation.js";
import {} from "./site/tables.js";

/** @import { Values } from "./model/controls.js" */
/** What Gradio hands to a component, and script() where it has one of its own.
 * @typedef {{element: HTMLElement, props: {value: string}, watch: (name: string, act: () => void) => void,
 *   trigger: (event: string) => void, script?: () => Promise<{mount: (name: string, component: Component) => unknown}>}} Component */

/** Each takes values by their keys and data of its own, and returns values by their keys, or a promise of them.
 * @type {Record<string, (values: any, data: any) => any>} */
const CALLS = {
  ask,
  enlarge,
  followStep,
  recordFinding,
  showSweep,
  merged,
  loadAddressState,
  openRequestedPage,
  writeRun,
  start,
  stepProblem,
  addressNotice,
  useText,
  follow: (values, data) => offered(follow(values, data), data),
  followAddress: (values, data) => offered(followAddress(values), data),
  compose: () => emit("fa:compose"),
  chooseTab: (_, { page }) => chooseTab(page),
  announceFirst: (_, { place }) => announceFirst(place),
  onceOpened: (_, { part }) => onceOpened(part),
  partOpened: (_, { part }) => partOpened(part),
};

/** Calls a function for an event: `name` gets the values of its inputs by their keys, `takes`, and data of its own; those of `gives` of what
 * it answers go on. Positions are Gradio's alone, and end here.
 * @param {string} name @param {string[]} takes @param {string[]} gives @param {unknown} data @param {unknown[]} given */
export function call(name, takes, gives, data, given) {
  const values = Object.fromEntries(takes.map((key, k) => [key, given[k]]));
  const give = (/** @type {Values} */ answer) => gives.map((key) => answer[key]);
  const answer = CALLS[name](values, data);
  return answer instanceof Promise ? answer.then(give) : give(answer);
}

/** @type {Record<string, (component: any) => unknown>} each takes what it needs of a Component */
const MOUNTS = {
  bar: mountBar,
  learn: mountLearn,
  linked: mountLinked,
  scenes: mountRunPresentation,
};

/** Mounts a component that is on the page. @param {string} name @param {Component} component */
export function mount(name, component) {
  if (!component.script) return MOUNTS[name](component);
  return during("script", component.script()).then((own) => own.mount(name, component));
}

Object.assign(window, { fa: { call, mount } });
