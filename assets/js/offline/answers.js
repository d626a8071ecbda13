// In a server's place: the answers that came with the pages, in the files of data/ beside them. A file is a script, since
// a page that was opened from a disk may load nothing else, and gives its part as compressed JSON {request: answer}.

import { el } from "../lib/dom.js";
import { bytesOfBase64 } from "../lib/lists.js";
import { during } from "../lib/pending.js";
import { PROBLEM_KEYS } from "../model/query.js";
import { t } from "./texts.js";

/** Each request with its answer: JSON, or a text that BINARY begins. @typedef {Record<string, unknown>} Part */
/** The pictures of a page: `defaults`, its workload, and the switches of each chapter with their first values.
 * @typedef {{defaults: Record<string, string>, switches: Record<string, Record<string, string>>}} Story */
/** What came with the pages. `plain`: the Problem of an address that says nothing; `lacks`: what is said where there is no answer, by kind.
 * @typedef {{plain: Record<string, string>, traces: Record<string, string>, files: string[], lacks: Record<string, string>, stories: Record<string, Story>}} Content */

/** Where the files of data/ leave their parts. */
const globals = /** @type {typeof globalThis & {faData: Record<string, string>}} */ (globalThis);
const ONE = ""; // the name of the only answer of its kind
const BINARY = "base64,";
const BLOCK = 4; // a Problem's, where its address says N alone

/** @param {string} text @returns {Promise<Part>} */
async function unpacked(text) {
  const stream = new Blob([bytesOfBase64(text)])
    .stream()
    .pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** A script of this copy, once it has run. @param {string} src */
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

/** A number as JavaScript writes it, whatever zeros a control has written. @param {string} value */
const plain = (value) =>
  value !== "" && Number.isFinite(Number(value)) ? String(Number(value)) : value;

/** The name of a chapter's picture with its switches as they are; none for a workload that is not here.
 * @param {Story} story @param {Record<string, string>} given */
function storyName({ defaults, switches }, given) {
  const { chapter } = given;
  if (Object.entries(defaults).some(([key, value]) => (given[key] || value) !== value)) return "";
  const own = Object.entries(switches[chapter] ?? {});
  return [["chapter", chapter], ...own.map(([key, value]) => [key, given[key] ?? value])]
    .map((pair) => pair.join("="))
    .join("&");
}

export class Answers {
  /** @param {Content} content */
  constructor(content) {
    this.content = content;
    /** By file. @type {Map<string, Promise<Part>>} */
    this.parts = new Map();
  }

  /** The answers in a file. @param {string} file */
  part(file) {
    const known = this.parts.get(file);
    if (known) return known;
    const part = loaded(`data/${file}.js`).then(() => unpacked(globals.faData[file]));
    this.parts.set(file, part);
    return part;
  }

  /** The name that the answer to a request has. @param {string} kind @param {URLSearchParams} params */
  nameOf(kind, params) {
    const story = this.content.stories[kind];
    if (story) return storyName(story, Object.fromEntries(params));
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

  /** In place of fetch(). @param {string | URL} address */
  async answer(address) {
    const { pathname, searchParams } = new URL(address);
    const kind = pathname.split("/").at(-1) ?? "";
    const name = this.nameOf(kind, searchParams);
    const { traces, files, lacks } = this.content;
    const file = kind === "trace" ? traces[name] : files.includes(kind) && kind;
    const part = file ? await this.part(file) : {};
    const found = part[name] ?? part[ONE];
    if (found === undefined)
      return Response.json({ error: lacks[kind] ?? lacks.any }, { status: 404 });
    if (typeof found !== "string") return Response.json(found);
    return new Response(
      found.startsWith(BINARY) ? bytesOfBase64(found.slice(BINARY.length)) : found,
    );
  }
}
