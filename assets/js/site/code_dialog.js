// The code of a compiled tile: fetched when asked for, shown in a dialog of its own.

import { button, el, targetOf } from "../lib/dom.js";
import { download } from "../lib/save.js";
import { errorText, requestJson, serverUrl } from "../lib/server.js";
import { openDialog } from "./dialog.js";
import { announce } from "./live_region.js";
import { t } from "./texts.js";

/** @typedef {{kind: string, text: string, marked: number[], registers: number, shared_bytes: number, spill_bytes: number,
 *   triton: string}} Listing `marked`: the lines of the matrix units */

/** @param {Listing} listing @param {HTMLElement} opener */
function showCode({ kind: name, text, marked, triton, ...card }, opener) {
  const kind = name.toUpperCase();
  const lines = text.split("\n").map((line, k) => (marked.includes(k) ? el("mark", line) : line));
  const body = el(
    "pre",
    { tabindex: 0, "aria-label": t("code", { kind }) },
    lines.flatMap((line) => [line, "\n"]),
  );
  const marks = body.querySelectorAll("mark");
  const title = t("code.about", {
    kind,
    triton,
    registers: card.registers,
    shared: card.shared_bytes,
    spilled: card.spill_bytes,
  });
  let at = -1;
  const showNext = () => {
    at = (at + 1) % marks.length;
    marks[at]?.scrollIntoView({ block: "center" });
  };
  const save = () =>
    download(new Blob([text], { type: "text/plain" }), `flashattention-tile.${name}`);
  const buttons = [
    marks.length > 0 && button(t("code.next", { n: marks.length }), showNext),
    button(t("download"), save),
  ];
  openDialog({ title, body, buttons }, opener);
  showNext();
}

document.addEventListener("click", async (event) => {
  const target = targetOf(event);
  const query = target.dataset?.compiled;
  if (!query || !(target instanceof HTMLButtonElement) || target.disabled) return;
  const label = target.textContent;
  target.disabled = true;
  target.textContent = t("code.compiling");
  try {
    const listing = await requestJson(serverUrl("code", query));
    target.disabled = false;
    showCode(listing, target);
  } catch (error) {
    const text = errorText(error);
    announce(text);
    target.title = text;
    target.after(el("span.fa-warn", { role: "alert", text }));
  }
  target.disabled = false;
  target.textContent = label;
});
