// The one component of this script, js/masks.js, which brings its own stylesheet as well.

import { loadStyles } from "../lib/build.js";
import { all } from "../lib/dom.js";
import { makeBuilder } from "./builder.js";

/** @import { Fields } from "./types.js" */

/** @type {Promise<unknown> | null} */
let styles = null;

/** Over `place`, which rests meanwhile. @param {HTMLElement} place what the view stands behind
 * @param {{problem: {n: string, br: string, bc: string} & Fields, use: (mask: Fields) => void, closed: () => void}} how */
export async function mount(place, { problem, use, closed }) {
  await (styles ??= loadStyles("masks"));
  const rests = [place, ...all(document, ".fa-step-controls")];
  const close = () => {
    for (const node of rests) node.inert = false;
    builder.close();
    closed();
  };
  const builder = makeBuilder({
    use: (mask) => {
      close();
      use(mask);
    },
    cancel: close,
  });
  place.after(builder.root);
  try {
    await builder.open(problem);
  } catch (error) {
    close();
    throw error;
  }
  for (const node of rests) node.inert = true;
  return builder;
}
