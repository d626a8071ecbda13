// Reads the binary trace of explainer/web/wire.py. Pure: bytes in, plain typed arrays out.

const MAGIC = "FATR";

/** @type {Record<string, Float32ArrayConstructor | Int32ArrayConstructor | Uint8ArrayConstructor | Uint32ArrayConstructor>} */
const VIEWS = { f4: Float32Array, i4: Int32Array, u1: Uint8Array, u4: Uint32Array };

/** IEEE half precision (as uint16 bits) to float32; display-only arrays travel this way. @param {Uint16Array} bits */
function widenHalves(bits) {
  const out = new Float32Array(bits.length);
  for (let k = 0; k < bits.length; k++) {
    const h = bits[k];
    const sign = h & 0x8000 ? -1 : 1;
    const exponent = (h >> 10) & 31;
    const fraction = h & 1023;
    if (exponent === 0) out[k] = sign * fraction * 2 ** -24;
    else if (exponent === 31) out[k] = fraction ? NaN : sign * Infinity;
    else out[k] = sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return out;
}

/** @import { Directory } from "./types.js" */

/** Throws on foreign bytes. @param {ArrayBuffer} buffer @returns {any} a `Decoded` trace, or the `Zoom` of one visit */
export function decode(buffer) {
  const bytes = new Uint8Array(buffer);
  if (String.fromCharCode(...bytes.subarray(0, 4)) !== MAGIC) throw new Error("not a trace");
  const headerLength = new DataView(buffer).getUint32(4, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + headerLength)));
  const start = 8 + headerLength;
  /** @type {Record<string, Float32Array | Int32Array | Uint8Array | Uint32Array>} */
  const arrays = {};
  for (const [name, { dtype, shape, offset }] of /** @type {[string, Directory][]} */ (
    Object.entries(header.arrays)
  )) {
    const count = shape.reduce((a, b) => a * b, 1);
    arrays[name] =
      dtype === "f2"
        ? widenHalves(new Uint16Array(buffer, start + offset, count))
        : new VIEWS[dtype](buffer, start + offset, count);
  }
  return { header, arrays };
}
