// A dialog over the page: its title, buttons, and what it shows. It is gone when it is closed.

import { button, el } from "../lib/dom.js";
import { t } from "./texts.js";

/** @import { Children } from "../lib/dom.js" */

/** Opens a dialog; closed, it gives the keyboard back to `opener`.
 * @param {{title: string, look?: string, name?: string, buttons?: Children, body: HTMLElement}} content
 * @param {HTMLElement | null} opener */
export function openDialog({ title, look = "", name = title, buttons = [], body }, opener) {
  const close = button(t("close"), () => dialog.close(), { class: look && "fa-share" });
  const head = el("div.fa-listing-head", [el("b", title), ...buttons, close]);
  const dialog = el("dialog", { class: `fa-listing ${look}`.trim(), "aria-label": name }, [
    head,
    body,
  ]);
  dialog.addEventListener("click", ({ target }) => look && target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    opener?.focus();
  });
  (document.querySelector(".gradio-container") ?? document.body).append(dialog);
  dialog.showModal();
  return dialog;
}
