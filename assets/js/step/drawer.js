// One drawer below the stage, and the line of tabs that says what is in it.

import { el, set } from "../lib/dom.js";

const NAMES = { row: "Row", code: "Code", traffic: "Traffic", compare: "Compare" };
export const TABS = Object.keys(NAMES);

/** @param onTab gets the name of the tab that was chosen */
export function tabs(onTab) {
  const buttons = TABS.map((name) => {
    const button = el("button", { type: "button", role: "tab", text: NAMES[name], "data-tab": name });
    button.addEventListener("click", () => onTab(name));
    return button;
  });
  const root = el("div", { class: "fa-drawer-tabs", role: "tablist", "aria-label": "Below the picture" }, buttons);
  const choose = (name) => buttons.forEach((button) => set(button, { "aria-selected": button.dataset.tab === name }));
  return { root, choose };
}

export class Drawer {
  /** @param panels {name of a tab: what it shows} */
  constructor(panels, onTab) {
    this.line = tabs(onTab);
    this.tabs = this.line.root;
    this.panels = Object.entries(panels).map(([name, children]) => el("div", { class: `fa-panel fa-panel-${name}`, role: "tabpanel", "aria-label": NAMES[name], "data-panel": name }, children));
    this.root = el("div", { class: "fa-drawer" }, this.panels);
  }

  open(name) {
    this.name = name;
    this.line.choose(name);
    for (const panel of this.panels) panel.hidden = panel.dataset.panel !== name;
  }
}
