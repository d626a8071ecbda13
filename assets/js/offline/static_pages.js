// The pages of figures without a server: their views were made beforehand, for a few workloads each. See
// explainer/web/static_pages.py; the keys in the address are those of the app.

import { all, el, find, get, set } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { count } from "../lib/pending.js";
import { address, readPrefixed } from "../site/address.js";
import { presentMode } from "../site/presentation.js";
import { loaded } from "./answers.js";
import { t } from "./texts.js";

/** @import { Answers } from "./answers.js" */
/** @typedef {Record<string, string>} Workload by the keys of the page */
/** What a page has of the address: `plain`, what an address leaves out; `lacks`: what is said of a workload that is not here.
 * @typedef {{name: string, prefix: string, plain: Workload, workloads: Workload[], lacks: string}} PageContent */
/** A figure of Plotly's. @typedef {{data: unknown[], layout: {height: number}}} Chart */
/** `present`: the charts in presentation mode. @typedef {{head: string, tail: string, charts: Chart[], present: Chart[]}} View */
/** @typedef {(place: ChildNode | null, data: unknown[], layout: object, settings: Record<string, boolean>) => Promise<unknown>} NewPlot */

const LIBRARY = "plotly.min.js";
const globals = /** @type {typeof globalThis & {Plotly: {newPlot: NewPlot}}} */ (globalThis);
/** @type {Promise<unknown> | null} */
let library = null;

/** The place and its chart; the library comes with the first. @param {HTMLElement} place @param {Chart} chart */
async function drawn(place, { data, layout }) {
  library ??= loaded(LIBRARY);
  await library;
  if (place.isConnected)
    await globals.Plotly.newPlot(place.firstChild, data, layout, {
      responsive: true,
      displayModeBar: false,
    });
}

export class StaticPage {
  opened = false;
  /** Which view is drawn. @type {string | undefined} */
  drawn;

  /** @param {HTMLElement} root @param {Answers} answers what came with the page */
  constructor(root, answers) {
    this.root = root;
    this.answers = answers;
    /** @type {PageContent} */
    this.page = JSON.parse(root.dataset.page ?? "");
    this.head = get(root, "[data-place=head]");
    this.charts = get(root, "[data-place=charts]");
    this.tail = get(root, "[data-place=tail]");
    this.notice = get(root, "[data-place=notice]");
    root.addEventListener("change", () => this.changed());
    listen("fa:page", (name) => name === this.page.name && this.open());
    listen(
      "fa:pick",
      (query) => root.checkVisibility() && (query ? this.notify(t("tile")) : this.show("")),
    );
  }

  /** @param {string} name */
  value(name) {
    const input = get(this.root, `[data-choice=${name}] input:checked`);
    return /** @type {HTMLInputElement} */ (input).value;
  }

  /** @param {string} name @param {string} value */
  choose(name, value) {
    const inputs = /** @type {HTMLInputElement[]} */ (
      all(this.root, `[data-choice=${name}] input`)
    );
    const input = inputs.find((one) => one.value === value);
    if (input) input.checked = true;
    return Boolean(input);
  }

  /** Show a sentence in place of a view, or none. @param {string} sentence */
  notify(sentence) {
    set(this.notice, { text: sentence });
    this.notice.hidden = !sentence;
  }

  /** The page is on screen: what the address asks for, if it is here. */
  open() {
    if (this.opened) return;
    this.opened = true;
    const { prefix, plain, workloads, lacks } = this.page;
    const { view, ...load } = Object.fromEntries(readPrefixed(prefix));
    const other = Object.entries(load).filter(
      ([name, value]) => plain[name] !== undefined && plain[name] !== value,
    );
    const same = (/** @type {Workload} */ load) =>
      other.length === Object.keys(load).length &&
      other.every(([name, value]) => load[name] === value);
    const k = workloads.findIndex(same);
    const known = [
      !view || this.choose("view", view),
      k >= 0 && this.choose("workload", String(k)),
    ];
    this.show(known.every(Boolean) ? "" : lacks);
  }

  changed() {
    const { prefix, plain, workloads } = this.page;
    const load = workloads[Number(this.value("workload"))];
    address.writePrefixed(prefix, { ...plain, ...load, view: this.value("view") }, plain);
    this.show("");
  }

  /** What is chosen, with a sentence, or none. @param {string} sentence */
  async show(sentence) {
    const { name, workloads } = this.page;
    const view = this.value("view");
    /** @type {Record<string, string>} */
    const query = { view, ...workloads[Number(this.value("workload"))] };
    for (const label of all(this.root, "[data-choice] label"))
      label.classList.toggle("selected", find(label, "input:checked") !== null);
    this.notify(sentence);
    count("figures", 1);
    try {
      const views = /** @type {Record<string, View>} */ (await this.answers.part(name));
      const wanted = Object.keys(query)
        .sort()
        .map((one) => `${one}=${query[one]}`)
        .join("&");
      const presents = presentMode();
      if (this.drawn === wanted + presents) return;
      this.drawn = wanted + presents;
      const { head, tail, charts, present } = views[wanted];
      await this.draw(head, presents ? present : charts, tail);
    } catch (error) {
      this.notify(/** @type {Error} */ (error).message);
    } finally {
      count("figures", -1);
    }
  }

  /** Our own HTML, made by the views of the app; in presentation mode the charts have large type.
   * @param {string} head @param {Chart[]} charts @param {string} tail */
  draw(head, charts, tail) {
    this.head.innerHTML = head;
    this.tail.innerHTML = tail;
    const places = charts.map(({ layout }) =>
      el("div", { class: `fa-plot is-${layout.height}` }, [el("div")]),
    );
    this.charts.replaceChildren(...places);
    return Promise.all(charts.map((chart, k) => drawn(places[k], chart)));
  }
}
