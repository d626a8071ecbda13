// Canvas frames as a WebM file: the browser's own encoder (WebCodecs, faster than the film plays and at times that we
// choose, which MediaRecorder's clock is not), and the few elements of Matroska that hold its chunks together.

import { el } from "./dom.js";
import { draw } from "./picture.js";
import { t } from "./texts.js";

/** @import { Picture } from "./picture.js" */
/** Bytes, in lists of any depth. @typedef {Uint8Array<ArrayBuffer> | PartsList} Parts */
/** @typedef {ReadonlyArray<any>} PartsList */
/** @typedef {{ms: number, key: boolean, bytes: Uint8Array<ArrayBuffer>}} Chunk */

const CODECS = [
  ["vp09.00.51.08", "V_VP9"],
  ["vp8", "V_VP8"],
]; // what browsers encode of what WebM may hold
const BITS_PER_PIXEL = 8; // a second: still pictures with fine print
const KEY_EVERY = 8; // frames: where a viewer can jump to
/** @type {Pick<VideoEncoderConfig, "latencyMode" | "bitrateMode">} */
const DAMPED = { latencyMode: "quality", bitrateMode: "variable" };

/** An element of Matroska: its id (hex), its size, its bytes. @param {string} id @param {...Parts} parts */
function element(id, ...parts) {
  const body = /** @type {Uint8Array<ArrayBuffer>[]} */ (parts.flat(Infinity));
  const size = body.reduce((sum, part) => sum + part.length, 0);
  return [hex(id), sizeOf(size), ...body];
}

/** @param {string} id */
const hex = (id) => Uint8Array.from(id.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** A size in eight bytes, the widest form, which every reader knows. @param {number} size */
const sizeOf = (size) => Uint8Array.from([1, ...number(size, 7)]);

/** A whole number in `width` bytes, the highest first. @param {number} value */
const number = (value, width = 4) =>
  Uint8Array.from({ length: width }, (_, k) => Math.floor(value / 256 ** (width - 1 - k)) % 256);

/** @param {string} words */
const text = (words) => new TextEncoder().encode(words);

/** @param {number} value */
function real(value) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return bytes;
}

/** @param {Uint8Array[]} parts */
const lengthOf = (parts) => parts.reduce((sum, part) => sum + part.length, 0);

/** The file: `chunks` are {ms, key, bytes} in order, the first a key; each key begins a cluster. @param {Chunk[]} chunks @param {{codec: string, width: number, height: number, ms: number}} it */
export function webm(chunks, { codec, width, height, ms }) {
  const info = element(
    "1549a966",
    element("2ad7b1", number(1e6)),
    element("4489", real(ms)),
    element("4d80", text(t("film"))),
    element("5741", text(t("film"))),
  );
  const video = element("e0", element("b0", number(width)), element("ba", number(height)));
  const tracks = element(
    "1654ae6b",
    element(
      "ae",
      element("d7", number(1)),
      element("73c5", number(1)),
      element("9c", number(0, 1)),
      element("83", number(1, 1)),
      element("86", text(codec)),
      video,
    ),
  );
  /** @type {Chunk[][]} */
  const groups = [];
  for (const chunk of chunks) {
    if (chunk.key) groups.push([]);
    groups[groups.length - 1].push(chunk);
  }
  const clusters = groups.map((group) =>
    element(
      "1f43b675",
      element("e7", number(group[0].ms)),
      group.map(({ ms: at, key, bytes }) =>
        element(
          "a3",
          Uint8Array.from([0x81, ...number(at - group[0].ms, 2), key ? 0x80 : 0]),
          bytes,
        ),
      ),
    ),
  );
  // The index lies before what it points at: all its numbers have fixed widths, so its own length is known.
  const index = (/** @type {number[]} */ places) =>
    element(
      "1c53bb6b",
      groups.map(([{ ms: at }], k) =>
        element(
          "bb",
          element("b3", number(at)),
          element("b7", element("f7", number(1)), element("f1", number(places[k]))),
        ),
      ),
    );
  let place = lengthOf(info) + lengthOf(tracks) + lengthOf(index(groups.map(() => 0)));
  const places = clusters.map((cluster) => (place += lengthOf(cluster)) - lengthOf(cluster));
  const head = element(
    "1a45dfa3",
    element("4286", number(1)),
    element("42f7", number(1)),
    element("42f2", number(4)),
    element("42f3", number(8)),
    element("4282", text("webm")),
    element("4287", number(4)),
    element("4285", number(2)),
  );
  return new Blob([...head, ...element("18538067", info, tracks, index(places), clusters)], {
    type: "video/webm",
  });
}

/** A film of what a canvas shows whenever `add` is called. */
class Film {
  /** Raises one sentence where the browser encodes nothing that WebM may hold. @param {HTMLCanvasElement} canvas */
  static async of(canvas) {
    const { width, height } = canvas;
    for (const [name, codec] of CODECS) {
      const config = {
        codec: name,
        width,
        height,
        bitrate: BITS_PER_PIXEL * width * height,
        ...DAMPED,
      };
      const answer = await globalThis.VideoEncoder?.isConfigSupported(config).catch(() => null);
      if (answer?.supported) return new Film(canvas, config, codec);
    }
    throw new Error(t("film.none"));
  }

  /** @param {HTMLCanvasElement} canvas @param {VideoEncoderConfig} config @param {string} codec */
  constructor(canvas, config, codec) {
    this.canvas = canvas;
    this.codec = codec;
    /** @type {Chunk[]} */
    this.chunks = [];
    this.frames = 0;
    this.ms = 0;
    /** @type {DOMException | null} */
    this.error = null;
    this.encoder = new VideoEncoder({
      output: (chunk) => {
        const bytes = new Uint8Array(chunk.byteLength);
        chunk.copyTo(bytes);
        this.chunks.push({
          ms: Math.round(chunk.timestamp / 1000),
          key: chunk.type === "key",
          bytes,
        });
      },
      error: (error) => {
        this.error = error;
      },
    });
    this.encoder.configure(config);
  }

  /** The canvas as it is, shown from `ms` on for `length` ms. @param {number} ms @param {number} length */
  async add(ms, length) {
    if (this.error) throw this.error;
    const frame = new VideoFrame(this.canvas, {
      timestamp: Math.round(ms * 1000),
      duration: Math.round(length * 1000),
    });
    this.encoder.encode(frame, { keyFrame: this.frames % KEY_EVERY === 0 });
    frame.close();
    this.frames += 1;
    this.ms = ms + length;
    if (this.encoder.encodeQueueSize > 4)
      await new Promise((resolve) =>
        this.encoder.addEventListener("dequeue", resolve, { once: true }),
      );
  }

  /** The file. */
  async end() {
    await this.encoder.flush();
    this.encoder.close();
    const { width, height } = this.canvas;
    return webm(this.chunks, { codec: this.codec, width, height, ms: this.ms });
  }
}

/** A WebM that shows each of these pictures for `beat` ms; `onProgress` gets the share that is done.
 * @param {Picture[]} pictures @param {number} beat @param {(share: number) => void} onProgress */
export async function filmOf(pictures, beat, onProgress) {
  // Encoders want even sides
  const even = (/** @type {"width" | "height"} */ side) =>
    2 * Math.ceil(Math.max(...pictures.map((picture) => picture[side])) / 2);
  const canvas = el("canvas", { width: even("width"), height: even("height") });
  const film = await Film.of(canvas);
  for (const [k, picture] of pictures.entries()) {
    await draw(picture, canvas, 1);
    await film.add(k * beat, beat);
    onProgress((k + 1) / pictures.length);
  }
  return film.end();
}
