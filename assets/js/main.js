// What Gradio calls, by name; explainer/pages/browser.py writes the calls. And all that listens by itself.

import { mountLearn } from "./learn/index.js";
import { emit } from "./lib/events.js";
import { during } from "./lib/pending.js";
import { ask, enlarge, follow, followAddress, offered, start } from "./model/controls.js";
import { mountBar } from "./site/bar.js";
import { loadAddressState } from "./site/query_state.js";
import {} from "./site/code_dialog.js";
import {} from "./site/findings.js";
import { chooseTab, openRequestedPage, partOpened } from "./site/pages.js";
import {} from "./site/gradio_patches.js";
import {} from "./site/presentation.js";
import { runStep } from "./site/run.js";

/** @import { Values } from "./model/controls.js" */
/** What Gradio hands to a component, and script() where it has one of its own.
 * @typedef {{element: HTMLElement, props: {value: string}, watch: (name: string, act: () => void) => void,
 *   trigger: (event: string) => void, script?: () => Promise<{mount: (name: string, component: Component) => unknown}>}} Component */

/** Each takes values by their keys and data of its own, and returns values by their keys, or a promise of them.
 * @type {Record<string, (values: any, data: any) => any>} */
const CALLS = {
  ask,
  enlarge,
  loadAddressState,
  openRequestedPage,
  runStep: () => void runStep(),
  start,
  follow: (values, data) => offered(follow(values, data), data),
  followAddress: (values, data) => offered(followAddress(values), data),
  compose: () => emit("fa:compose"),
  chooseTab: (_, { page }) => chooseTab(page),
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
};

/** Mounts a component that is on the page. @param {string} name @param {Component} component */
export function mount(name, component) {
  if (!component.script) return MOUNTS[name](component);
  return during("script", component.script()).then((own) => own.mount(name, component));
}

Object.assign(window, { fa: { call, mount } });
