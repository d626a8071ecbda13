// Files made in the browser: what an element shows as a picture.

import { Camera, draw } from "./picture.js";

const SCALE = 2; // pixels of a PNG to a CSS px

/** Hands a file to the browser's downloads. */
export function download(blob, name) {
  const href = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = href;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

/** What `root` shows, as "png" or "svg", with these words below it. */
export async function frameOf(root, kind, words) {
  const camera = new Camera(root);
  const picture = camera.picture(words);
  camera.close();
  if (kind === "svg") return new Blob([picture.svg], { type: "image/svg+xml" });
  const canvas = document.createElement("canvas");
  canvas.width = picture.width * SCALE;
  canvas.height = picture.height * SCALE;
  await draw(picture, canvas, SCALE);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
