// The glossary's field: as one types, what does not hold the words goes; how many stay is said.

import { set } from "../lib/dom.js";
import { t } from "./texts.js";

/** @param {ParentNode} root a screen, with the field or without */
export function mountFind(root) {
  const field = /** @type {HTMLInputElement | null} */ (root.querySelector("[data-find]"));
  field?.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    let left = 0;
    for (const list of /** @type {NodeListOf<HTMLElement>} */ (
      root.querySelectorAll(".fa-terms")
    )) {
      const rows = /** @type {HTMLElement[]} */ ([...list.children]);
      for (const row of rows) row.hidden = !(row.textContent ?? "").toLowerCase().includes(wanted);
      const here = rows.filter((row) => !row.hidden).length;
      /** @type {HTMLElement} */ (list.parentElement).hidden = !here;
      left += here;
    }
    set(/** @type {Element} */ (root.querySelector(".fa-finder [role=status]")), {
      text: left ? t("terms", { n: left }) : t("terms.none"),
    });
  });
}
