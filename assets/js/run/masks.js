// The masks and scores on record, as a template lays them out. One that is pressed becomes the mask of the Problem.

import { fetchJson } from "../lib/build.js";
import { all, el, parseHtml, set } from "../lib/dom.js";
import { during } from "../lib/pending.js";

/** As explainer/views/run_masks.py makes it. @typedef {Record<"headline" | "sentence" | "provenance" | "html", string>} Masks */

/** Make it for the page. @param {import("./index.js").RunFrame} page */
export function makeMaskView(page) {
  /** @type {Masks | undefined} */
  let data;
  /** The mask that was pressed: the Problem has its text for another N. @type {string | undefined} */
  let pressed;
  const provenance = el("p.fa-story-provenance");
  const place = el("div.fa-run-masks");
  const root = el("div.fa-run-record", [el("div.fa-run-above", [provenance]), place]);

  async function show() {
    if (!data) await load();
    page.say(data?.headline ?? "", data?.sentence ?? "");
    const { mask, score } = page.values;
    for (const node of all(place, "button")) {
      const { dataset } = node;
      const isMask = [dataset.mask, dataset.preset].includes(pressed ?? mask);
      set(node, { "aria-pressed": isMask && dataset.score === score });
    }
  }

  async function load() {
    data = /** @type {Masks} */ (await during("masks", fetchJson("record_masks")));
    provenance.textContent = data.provenance;
    place.replaceChildren(...parseHtml(data.html));
    for (const node of all(place, "button")) node.addEventListener("click", () => press(node));
  }

  /** @param {HTMLElement} node */
  async function press({ dataset: { preset = "", score = "" } }) {
    pressed = preset;
    const refusal = await page.choose({ mask: preset, score });
    page.notify(refusal ?? null);
  }

  return { root, show };
}
