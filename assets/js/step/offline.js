// The page that plays without a server: everything it shows came with it.

import { PROBLEM_KEYS } from "../model/query.js";
import { get } from "../lib/dom.js";
import { makeTerms } from "../site/terms.js";
import { makeStage } from "./stage.js";

/** @import { Pass } from "../model/types.js" */

/** One name for one Problem, whatever the order of its keys. @param {string} query */
function nameOf(query) {
  const params = new URLSearchParams(query);
  return PROBLEM_KEYS.filter((key) => params.has(key))
    .map((key) => `${key}=${params.get(key)}`)
    .join("&");
}

/** The page: <main id="stage">, and as JSON in #content {traces: {name: base64}, listings, glossary, start: query
 * string}. */
export function start() {
  if (matchMedia("(prefers-color-scheme: dark)").matches) document.body.classList.add("dark");
  const content = JSON.parse(String(get(document, "#content").textContent));
  makeTerms(() => Promise.resolve(content.glossary));
  const stage = makeStage(get(document, "#stage"), {
    url: (/** @type {string} */ query, /** @type {Pass} */ pass) => {
      const data = content.traces[nameOf(query) + (pass === "backward" ? "&pass=backward" : "")];
      return data ? `data:application/octet-stream;base64,${data}` : "data:,";
    },
    listings: () => Promise.resolve(content.listings),
    begins: { clock: "bytes" },
  });
  document.addEventListener("keydown", stage.key);
  stage.show(content.start);
}
