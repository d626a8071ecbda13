// The pages of figures without a server: their views were made beforehand, for a few workloads each. See
// explainer/web/static_pages.py; the keys in the address are those of the app.

import { all, el, set } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { count } from "../lib/pending.js";
import { address } from "../site/address.js";
import { presentMode } from "../site/presentation.js";
import { loaded } from "./answers.js";
import { t } from "./texts.js";

const LIBRARY = "plotly.min.js";
let library = null;

/** The place and its chart; the library comes with the first. */
async function drawn(place, { data, layout }) {
  library ??= loaded(LIBRARY);
  await library;
  if (place.isConnected)
    await globalThis.Plotly.newPlot(place.firstChild, data, layout, {
      responsive: true,
      displayModeBar: false,
    });
}

export class StaticPage {
  /** @param answers what came with the page */
  constructor(root, answers) {
    this.root = root;
    this.answers = answers;
    this.page = JSON.parse(root.dataset.page);
    const place = (name) => root.querySelector(`[data-place=${name}]`);
    Object.assign(this, {
      head: place("head"),
      charts: place("charts"),
      tail: place("tail"),
      notice: place("notice"),
      warps: place("warps"),
    });
    root.addEventListener("change", () => this.changed());
    listen("fa:page", (name) => name === this.page.name && this.open());
    listen(
      "fa:pick",
      (query) => root.checkVisibility() && (query ? this.notify(t("tile")) : this.show("")),
    );
  }

  value(name) {
    return this.root.querySelector(`[data-choice=${name}] input:checked`).value;
  }

  choose(name, value) {
    const input = all(this.root, `[data-choice=${name}] input`).find((one) => one.value === value);
    if (input) input.checked = true;
    return Boolean(input);
  }

  /** Show a sentence in place of a view, or none. */
  notify(sentence) {
    set(this.notice, { text: sentence });
    this.notice.hidden = !sentence;
  }

  /** The page is on screen: what the address asks for, if it is here. */
  open() {
    if (this.opened) return;
    this.opened = true;
    const { prefix, plain, key, workloads, lacks } = this.page;
    const parameters = [...new URLSearchParams(window.location.search)].filter(([name]) =>
      name.startsWith(prefix),
    );
    const {
      view,
      [key]: choice,
      ...load
    } = Object.fromEntries(parameters.map(([name, value]) => [name.slice(prefix.length), value]));
    const other = Object.entries(load).filter(
      ([name, value]) => plain[name] !== undefined && plain[name] !== value,
    );
    const same = (load) =>
      other.length === Object.keys(load).length &&
      other.every(([name, value]) => load[name] === value);
    const k = workloads.findIndex(same);
    const known = [
      !view || this.choose("view", view),
      !choice || this.choose("more", choice),
      k >= 0 && this.choose("workload", String(k)),
    ];
    this.show(known.every(Boolean) ? "" : lacks);
  }

  changed() {
    const { prefix, plain, key, workloads } = this.page;
    const load = workloads[Number(this.value("workload"))];
    const named = { view: this.value("view"), ...(key ? { [key]: this.value("more") } : {}) };
    const all = Object.keys(plain).map((name) => [
      prefix + name,
      named[name] ?? load[name] ?? plain[name],
      plain[name],
    ]);
    address.write(
      Object.fromEntries(all.map(([name, value, own]) => [name, value === own ? null : value])),
    );
    this.show("");
  }

  async show(sentence) {
    const { name, key, choice_views, fixed_views, workloads } = this.page;
    const view = this.value("view");
    const load = fixed_views.includes(view) ? {} : workloads[Number(this.value("workload"))];
    const query = {
      view,
      ...load,
      ...(choice_views.includes(view) ? { [key]: this.value("more") } : {}),
    };
    const row = (choice, on) => {
      const node = this.root.querySelector(`[data-choice=${choice}]`);
      if (node) node.hidden = !on;
    };
    row("more", choice_views.includes(view));
    row("workload", !fixed_views.includes(view));
    for (const label of all(this.root, "[data-choice] label"))
      label.classList.toggle("selected", label.firstChild.checked);
    this.notify(sentence);
    count("figures", 1);
    try {
      const views = await this.answers.part(name);
      const wanted = Object.keys(query)
        .sort()
        .map((one) => `${one}=${query[one]}`)
        .join("&");
      const presents = presentMode();
      if (this.drawn === wanted + presents) return;
      this.drawn = wanted + presents;
      const { head, tail, charts, present } = views[wanted];
      await this.draw(head, presents ? present : charts, tail, view);
    } catch (error) {
      this.notify(error.message);
    } finally {
      count("figures", -1);
    }
  }

  /** Our own HTML, made by the views of the app; in a lecture hall the charts have large type. */
  draw(head, charts, tail, view) {
    this.head.innerHTML = head;
    this.tail.innerHTML = tail;
    if (this.warps) this.warps.hidden = view !== "warps";
    const places = charts.map(({ layout }) =>
      el("div", { class: `fa-plot is-${layout.height}` }, [el("div")]),
    );
    this.charts.replaceChildren(...places);
    return Promise.all(charts.map((chart, k) => drawn(places[k], chart)));
  }
}
