// Pictures that move under the hand: pictures/<name>.js, each fetched when a widget first draws it.
//
// A module exports draw(data, api) → Element. api.value(key) is a control's value as text, api.move({key: value}) sets
// controls (the server's blocks follow), api.label the widget's title. While a drag goes on the module redraws by
// itself. An element with a function `update(data)` is kept and gets the newer data; another one is drawn anew.

import { emit } from "../lib/events.js";
import { during } from "../lib/pending.js";

let loaders = {};
const drawn = new WeakMap();

/** How each is fetched: {picture_<name>: () => its module}. */
export function provide(how) {
  loaders = how;
}

/** Draws the data into its figure, or gives it to the picture that is already there. */
export async function show(root, { name, data }, api) {
  const box = root.querySelector(".fa-moving");
  const before = drawn.get(box);
  if (before?.update) return before.update(data);
  const node = await during("picture", made(name, data, api));
  drawn.set(box, node);
  box.replaceChildren(node);
  emit("fa:blocks", null, root);
}

async function made(name, data, api) {
  const { draw } = await loaders[`picture_${name}`]();
  return draw(data, api);
}
