// Canvas frames as a WebM file. The browser's own encoder (WebCodecs) is faster than the film plays and takes the times that
// we choose, which MediaRecorder's clock does not; mediabunny feeds it and writes the file.

import {
  BufferTarget,
  CanvasSource,
  getFirstEncodableVideoCodec,
  Output,
  WebMOutputFormat,
} from "../../vendor/mediabunny.min.js";
import { el } from "./dom.js";
import { draw } from "./picture.js";
import { t } from "./texts.js";

/** @import { Picture } from "./picture.js" */

const BITS_PER_PIXEL = 8; // a second: still pictures with fine print
const KEY_EVERY = 4; // seconds: where a viewer can jump to

/** A WebM that shows each of these pictures for its own ms; `onProgress` gets the share that is done. Raises one sentence
 * where the browser encodes nothing that WebM may hold.
 * @param {Picture[]} pictures @param {(share: number) => void} onProgress */
export async function filmOf(pictures, onProgress) {
  // Encoders want even sides
  const even = (/** @type {"width" | "height"} */ side) =>
    2 * Math.ceil(Math.max(...pictures.map((picture) => picture[side])) / 2);
  const size = { width: even("width"), height: even("height") };
  const bitrate = BITS_PER_PIXEL * size.width * size.height;
  const codec = await getFirstEncodableVideoCodec(["vp9", "vp8"], { ...size, bitrate });
  if (!codec) throw new Error(t("film.none"));
  const canvas = el("canvas", size);
  const source = new CanvasSource(canvas, {
    codec,
    bitrate,
    bitrateMode: "variable",
    latencyMode: "quality",
    keyFrameInterval: KEY_EVERY,
  });
  const output = new Output({ format: new WebMOutputFormat(), target: new BufferTarget() });
  output.addVideoTrack(source);
  await output.start();
  let now = 0;
  for (const [k, picture] of pictures.entries()) {
    const seconds = Number(picture.ms) / 1000;
    await draw(picture, canvas, 1);
    await source.add(now, seconds);
    now += seconds;
    onProgress((k + 1) / pictures.length);
  }
  await output.finalize();
  return new Blob([/** @type {ArrayBuffer} */ (output.target.buffer)], { type: "video/webm" });
}
