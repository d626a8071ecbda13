// Files made in the browser: what an element shows as a picture.

import { el } from "./dom.js";
import { draw, makeCamera, ownFont } from "./picture.js";

const SCALE = 2; // pixels of a PNG to a CSS px

/** Hands a file to the browser's downloads. @param {Blob} blob @param {string} name */
export function download(blob, name) {
  const href = URL.createObjectURL(blob);
  const link = el("a", { href, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

/** What `root` shows but for what matches `without`, with these words below it.
 * @param {HTMLElement} root @param {"png" | "svg"} kind @param {string} words @param {string} [without]
 * @returns {Promise<Blob | null>} */
export async function frameOf(root, kind, words, without) {
  const camera = makeCamera(root, without, await ownFont());
  const picture = camera.picture(words);
  camera.close();
  if (kind === "svg") return new Blob([picture.svg], { type: "image/svg+xml" });
  const canvas = el("canvas", { width: picture.width * SCALE, height: picture.height * SCALE });
  await draw(picture, canvas, SCALE);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
