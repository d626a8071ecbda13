// Drawers for the blocks that the server answers with. What is still comes as HTML, pictures as data.

import { copyText, el, get } from "../lib/dom.js";
import { show } from "./pictures.js";
import { t } from "./texts.js";

/** @import { Api, Block, HtmlBlock, PictureBlock } from "./types.js" */

/** A picture that moves under the hand, with its words: its module comes when it is first drawn.
 * @param {PictureBlock} block @param {Api} [api] */
function drawPicture(block, api) {
  const { name, label, words } = block;
  const box = el("div.fa-moving", { role: "group", "aria-label": label });
  const look = { class: "fa-block-of fa-picture-block", "data-picture": name };
  const root = el("figure", look, [el("figcaption", [el("b", label)]), box, el("p.fa-sr", words)]);
  show(root, block, api);
  return root;
}

/** Our own server's HTML, which explainer/views/templates/learn/blocks.html writes.
 * @param {HtmlBlock} block */
function drawHtml({ html }) {
  const place = el("template");
  place.innerHTML = html;
  return /** @type {HTMLElement} */ (place.content.firstElementChild);
}

/** Copies the code of the figure around this button, or selects it where there is no clipboard. @param {HTMLElement} node */
export function copyCode(node) {
  const code = get(/** @type {Element} */ (node.closest("figure")), "code");
  copyText(
    node,
    () => code.textContent,
    t("copied"),
    () => {
      window.getSelection()?.selectAllChildren(code);
      return t("selected");
    },
  );
}

/** One block as an element. `api` is what a moving picture has of its widget.
 * @param {Block} block @param {Api} [api] */
export const draw = (block, api) =>
  block.type === "html" ? drawHtml(block) : drawPicture(block, api);
