// The code of a compiled tile: fetched when asked for, shown in a dialog of its own.

import { el } from "../lib/dom.js";
import { requestOk, serverUrl } from "../lib/server.js";
import { download } from "../lib/save.js";
import { announce } from "./live_region.js";
import { t } from "./texts.js";

function codeDialog({ kind, text, marked, registers, shared_bytes, spill_bytes, triton }, opener) {
  const matrix = new Set(marked);
  const pre = el("pre", { tabindex: 0, "aria-label": t("code", { kind: kind.toUpperCase() }) });
  const marks = [];
  text.split("\n").forEach((line, k) => {
    const node = matrix.has(k) ? el("mark", { text: line }) : document.createTextNode(line);
    if (matrix.has(k)) marks.push(node);
    pre.append(node, "\n");
  });
  const about = t("code.about", {
    kind: kind.toUpperCase(),
    triton,
    registers,
    shared: shared_bytes,
    spilled: spill_bytes,
  });
  const next = el("button", { type: "button", text: t("code.next", { n: marks.length }) });
  const save = el("button", { type: "button", text: t("download") });
  const close = el("button", { type: "button", text: t("close") });
  const dialog = el("dialog", { class: "fa-listing", "aria-label": about }, [
    el("div", { class: "fa-listing-head" }, [
      el("b", { text: about }),
      marks.length ? next : null,
      save,
      close,
    ]),
    pre,
  ]);
  let at = -1;
  next.addEventListener("click", () =>
    marks[(at = (at + 1) % marks.length)]?.scrollIntoView({ block: "center" }),
  );
  save.addEventListener("click", () =>
    download(new Blob([text], { type: "text/plain" }), `flashattention-tile.${kind}`),
  );
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    opener.focus();
  });
  document.querySelector(".gradio-container").append(dialog);
  dialog.showModal();
  next.click();
}

document.addEventListener("click", async ({ target }) => {
  const query = target.dataset?.compiled;
  if (!query || target.disabled) return;
  const label = target.textContent;
  target.disabled = true;
  target.textContent = t("code.compiling");
  try {
    const answer = await requestOk(serverUrl("code", query));
    target.disabled = false;
    codeDialog(await answer.json(), target);
  } catch (error) {
    announce(error.message);
    target.title = error.message;
    target.after(el("span", { class: "fa-warn", role: "alert", text: error.message }));
  }
  target.disabled = false;
  target.textContent = label;
});
