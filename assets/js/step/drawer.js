// One drawer below the stage, and the line of tabs that says what is in it.

import { all, button, el, set } from "../lib/dom.js";
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
    if (tab) set(tab, { text });
  };
  return { root, choose, pass, call };
}

export class Drawer {
  /** @type {string[]} */
  names;
  /** @type {string} */
  name;
  /** @param {Record<string, HTMLElement[]>} panels what each tab shows @param {(name: string) => void} onTab */
  constructor(panels, onTab) {
    this.line = tabs(onTab);
    this.tabs = this.line.root;
    const list = /** @type {[Tab, HTMLElement[]][]} */ (Object.entries(panels));
    this.panels = list.map(([name, children]) =>
      el(
        `div.fa-panel.fa-panel-${name}`,
        { role: "tabpanel", "aria-label": t(`tab.${name}`), "data-panel": name, hidden: true },
        children,
      ),
    );
    this.root = el("div.fa-drawer");
    this.pass("forward");
  }

  /** Show the tabs of this pass, and only its panels. @param {Pass} name */
  pass(name) {
    if (this.names === TABS[name]) return;
    this.names = TABS[name];
    this.line.pass(name);
    this.line.choose(this.name);
    this.root.replaceChildren(
      ...this.panels.filter(({ dataset }) => this.has(String(dataset.panel))),
    );
  }

  /** Is there such a panel in this pass? @param {string} name */
  has(name) {
    return name === TRAFFIC || this.names.includes(name);
  }

  /** @param {string} name */
  open(name) {
    this.name = name;
    this.line.choose(name);
    for (const panel of this.panels) panel.hidden = panel.dataset.panel !== name;
  }
}
