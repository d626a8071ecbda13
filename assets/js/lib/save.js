// Files made in the browser: what an element shows as a picture, a run of it as a film.

import { Camera, draw } from "./picture.js";
import { Film } from "./webm.js";

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

/** What `root` shows but for what matches `without`, as "png" or "svg", with these words below it. */
export async function frameOf(root, kind, words, without) {
  const camera = new Camera(root, without);
  const picture = camera.picture(words);
  camera.close();
  if (kind === "svg") return new Blob([picture.svg], { type: "image/svg+xml" });
  const canvas = document.createElement("canvas");
  canvas.width = picture.width * SCALE;
  canvas.height = picture.height * SCALE;
  await draw(picture, canvas, SCALE);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** A WebM that shows each of these pictures for `beat` ms; `tell` hears the share that is done. */
export async function filmOf(pictures, beat, tell) {
  const canvas = document.createElement("canvas");
  const most = (side) => Math.max(...pictures.map((picture) => picture[side]));
  canvas.width = 2 * Math.ceil(most("width") / 2); // encoders want even sides
  canvas.height = 2 * Math.ceil(most("height") / 2);
  const film = await Film.of(canvas);
  for (const [k, picture] of pictures.entries()) {
    await draw(picture, canvas, 1);
    await film.add(k * beat, beat);
    tell((k + 1) / pictures.length);
  }
  return film.end();
}
