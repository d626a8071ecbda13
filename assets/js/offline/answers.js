// In a server's place: the answers that came with the pages, in the files of data/ beside them. A file is a script, since
// a page that was opened from a disk may load nothing else, and gives its part as compressed JSON {what is asked: answer}.

import { el } from "../lib/dom.js";
import { during } from "../lib/pending.js";
import { PROBLEM_KEYS } from "../model/query.js";
import { t } from "./texts.js";

const ONE = ""; // the name of the only answer of its kind
const BINARY = "base64,";
const BLOCK = 4; // a Problem's, where its address says N alone

const bytesOf = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));

async function unpacked(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** A script of this copy, once it has run. */
export function loaded(src) {
  const script = el("script", { src });
  return during(
    "script",
    new Promise((done, fail) => {
      script.addEventListener("load", done);
      script.addEventListener("error", () => fail(new Error(t("lacks", { file: src }))));
      document.head.append(script);
    }),
  );
}

/** A number as JavaScript writes it, whatever zeros a control has written. */
const plain = (value) =>
  value !== "" && Number.isFinite(Number(value)) ? String(Number(value)) : value;

export class Answers {
  /** @param content {plain: the Problem of an address that says nothing, traces: {name: file}, files, lacks: {kind: what
   * is said where there is no answer}} */
  constructor(content) {
    this.content = content;
    this.parts = new Map();
  }

  /** {what is asked: answer} of a file. */
  part(file) {
    if (!this.parts.has(file))
      this.parts.set(
        file,
        loaded(`data/${file}.js`).then(() => unpacked(globalThis.faData[file])),
      );
    return this.parts.get(file);
  }

  /** What is asked, by the name that its answer has. */
  nameOf(kind, params) {
    if (kind !== "trace")
      return [...params]
        .filter(([key]) => key !== "build")
        .map(([key, value]) => `${key}=${plain(value)}`)
        .join("&");
    const given = Object.fromEntries(params);
    if (given.n)
      for (const key of ["br", "bc"]) given[key] ??= String(Math.min(BLOCK, Number(given.n)));
    const all = { ...this.content.plain, ...given };
    if (all.gain && Number(all.gain) === 1) delete all.gain;
    const keys = given.pass ? [...PROBLEM_KEYS, "pass"] : PROBLEM_KEYS;
    return keys
      .filter((key) => all[key])
      .map((key) => `${key}=${key === "text" ? all[key] : plain(all[key])}`)
      .join("&");
  }

  /** In place of fetch(). */
  async answer(address) {
    const { pathname, searchParams } = new URL(address);
    const kind = pathname.split("/").at(-1);
    const name = this.nameOf(kind, searchParams);
    const { traces, files, lacks } = this.content;
    const file = kind === "trace" ? traces[name] : files.includes(kind) && kind;
    const part = file ? await this.part(file) : {};
    const found = part[name] ?? part[ONE];
    if (found === undefined)
      return Response.json({ error: lacks[kind] ?? lacks.any }, { status: 404 });
    if (typeof found !== "string") return Response.json(found);
    return new Response(found.startsWith(BINARY) ? bytesOf(found.slice(BINARY.length)) : found);
  }
}
