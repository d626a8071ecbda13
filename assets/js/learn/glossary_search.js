// The glossary's field: as one types, what does not hold the words goes; how many stay is said.

import { all, find, get, setText } from "../lib/dom.js";
import { t } from "./texts.js";

/** @param {ParentNode} root a screen, with the field or without */
export function mountGlossarySearch(root) {
  /** @type {HTMLInputElement | null} */
  const field = find(root, "[data-find]");
  field?.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    let left = 0;
    for (const list of all(root, ".fa-terms")) {
      const rows = all(list, ":scope > *");
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
      const found = rows.filter((row) => !row.hidden).length;
      if (list.parentElement) list.parentElement.hidden = !found;
      left += found;
    }
    const text = left ? t("terms", { n: left }) : t("terms.none");
    setText(get(root, ".fa-finder [role=status]"), text);
  });
}
