// What the templates of a run's result leave to a script: the roofline, the tiles, and what its buttons do.

import { all, copyText, get, parseHtml } from "../lib/dom.js";
import { download } from "../lib/save.js";
import { csv } from "../model/table.js";
import { rich } from "../views/rich.js";
import { picture } from "./picture.js";
import { paintRoofline } from "./roofline.js";
import { t } from "./result_texts.js";
import { wireTiles } from "./tiles.js";

/** What a button does. @type {Record<string, (state: any, place: HTMLElement, button: HTMLElement) => void>} */
const ACTS = {
  csv: ({ file, data }) => save(`${file}.csv`, csv({ rows: data.table }), "text/csv"),
  json: ({ file, data }) => save(`${file}.json`, JSON.stringify(data, null, 1), "application/json"),
  save: (_, place) => save("run_again.py", get(place, "code").textContent ?? "", "text/x-python"),
  copy(state, place, button) {
    const otherwise = () => {
      ACTS.save(state, place, button);
      return t("save");
    };
    void copyText(button, () => get(place, "code").textContent ?? "", t("copied"), otherwise);
  },
};

/** @param {string} name @param {string} content @param {string} type */
const save = (name, content, type) => download(new Blob([content], { type }), name);

/** Show what a template made of a run. @param {HTMLElement} place @param {string} html @param {any} state @param {(step: number) => void} openStep */
export function fillPlace(place, html, state, openStep) {
  place.replaceChildren(...parseHtml(html));
  for (const node of all(place, "[data-picture]"))
    node.replaceWith(picture(t("roofline.label"), (paper) => paintRoofline(state.roofline, paper)));
  for (const node of all(place, ".fa-run-after"))
    node.replaceChildren(...rich(node.textContent ?? ""));
  wireTiles(place, openStep);
  for (const button of all(place, "[data-act]"))
    button.addEventListener("click", () => ACTS[button.dataset.act ?? ""](state, place, button));
  // What is opened by a press then lies in sight
  for (const node of all(place, "details"))
    node.addEventListener(
      "toggle",
      () => node.hasAttribute("open") && node.scrollIntoView({ block: "nearest" }),
    );
}
