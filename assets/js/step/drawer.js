// One drawer below the stage, and the line of tabs that says what is in it.

import { all, button, el, set, setText } from "../lib/dom.js";
import { t } from "../model/texts.js";

/** @import { Pass } from "../model/types.js" */

/** @typedef {"row" | "code" | "traffic" | "compare" | "products"} Tab */
/** Of each pass. @type {Record<Pass, Tab[]>} */
const TABS = {
  forward: ["row", "code", "compare"],
  backward: ["products", "code", "compare"],
};
const TRAFFIC = "traffic"; // of both; the bar of bytes is its tab

/** @param {(name: string) => void} onTab gets the name of the tab that was chosen */
export function tabs(onTab) {
  const root = el("div.fa-drawer-tabs", { role: "tablist", "aria-label": t("tabs") });
  const pass = (/** @type {Pass} */ name) =>
    root.replaceChildren(
      ...TABS[name].map((tab) =>
        button(t(`tab.${tab}`), () => onTab(tab), { role: "tab", "data-tab": tab }),
      ),
    );
  pass("forward");
  const choose = (/** @type {string} */ name) => {
    for (const tab of all(root, "[data-tab]"))
      set(tab, { "aria-selected": tab.dataset.tab === name });
  };
  /** @param {string} name @param {string} text */
  const call = (name, text) => {
    const tab = all(root, "[data-tab]").find(({ dataset }) => dataset.tab === name);
    if (tab) setText(tab, text);
  };
  return { root, choose, pass, call };
}

/** Make the drawer and its line of tabs.
 * @param {Record<string, HTMLElement[]>} panels what each tab shows @param {(name: string) => void} onTab */
export function makeDrawer(panels, onTab) {
  /** @type {string[]} */
  let names;
  /** @type {string} */
  let current;

  const line = tabs(onTab);
  const list = /** @type {[Tab, HTMLElement[]][]} */ (Object.entries(panels));
  const nodes = list.map(([name, children]) =>
    el(
      `div.fa-panel.fa-panel-${name}`,
      { role: "tabpanel", "aria-label": t(`tab.${name}`), "data-panel": name, hidden: true },
      children,
    ),
  );
  const root = el("div.fa-drawer");
  pass("forward");

  /** Show the tabs of this pass, and only its panels. @param {Pass} name */
  function pass(name) {
    if (names === TABS[name]) return;
    names = TABS[name];
    line.pass(name);
    line.choose(current);
    root.replaceChildren(...nodes.filter(({ dataset }) => has(String(dataset.panel))));
  }

  /** Is there such a panel in this pass? @param {string} name */
  function has(name) {
    return name === TRAFFIC || names.includes(name);
  }

  /** @param {string} name */
  function open(name) {
    current = name;
    line.choose(name);
    for (const panel of nodes) panel.hidden = panel.dataset.panel !== name;
  }

  return {
    root,
    tabs: line.root,
    call: line.call,
    pass,
    has,
    open,
    get name() {
      return current;
    },
  };
}
