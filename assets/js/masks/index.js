// The one component of this script, js/masks.js, which brings its own stylesheet as well.

import { loadStyles } from "../lib/build.js";
import { Builder } from "./builder.js";

let styles = null;

/** Over `place`, which rests meanwhile. @param place what the view stands behind @param how {problem, use(mask), closed()} */
export async function mount(place, { problem, use, closed }) {
  await (styles ??= loadStyles("masks"));
  const rests = [place, ...document.querySelectorAll(".fa-step-controls")];
  const close = () => {
    for (const node of rests) node.inert = false;
    builder.close();
    closed();
  };
  const builder = new Builder({
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
