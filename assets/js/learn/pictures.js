// Pictures that move under the hand: pictures/<name>.js, each fetched when a widget first draws it.
//
// A module exports draw(data, api) → Element. api.value(key) is a control's value as text, api.move({key: value}) sets
// controls (the server's blocks follow), api.label the widget's title. While a drag goes on the module redraws by
// itself. An element with a function `update(data)` stays and gets the newer data; another one is drawn anew.

import { get } from "../lib/dom.js";
import { emit } from "../lib/events.js";
import { during } from "../lib/pending.js";

/** @import { Api, PictureBlock } from "./types.js" */
/** @typedef {Element & {update?: (data: unknown) => void}} Picture */
/** @typedef {Record<string, () => Promise<{draw: (data: unknown, api?: Api) => Picture}>>} Loaders */

/** @type {Loaders} */
let loaders = {};
/** @type {WeakMap<Element, Picture>} */
const drawn = new WeakMap();

/** Says how each is fetched: {picture_<name>: () => its module}. @param {Loaders} modules */
export function provide(modules) {
  loaders = modules;
}

/** Draws the data into its figure, or gives it to the picture that is already there.
 * @param {Element} root @param {PictureBlock} block @param {Api} [api] */
export async function show(root, { name, data }, api) {
  const box = get(root, ".fa-moving");
  const before = drawn.get(box);
  if (before?.update) return before.update(data);
  const node = await during(
    "picture",
    loaders[`picture_${name}`]().then((module) => module.draw(data, api)),
  );
  drawn.set(box, node);
  box.replaceChildren(node);
  emit("fa:blocks", null, root);
}
