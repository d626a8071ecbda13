// What the server answers under one address until the next build. Apart from server.js: a classic script has no import.meta.

import { on } from "./dom.js";
import { request, serverUrl } from "./server.js";

/** The build's fingerprint, which names the folder of the scripts: an answer to an address with it may be cached for ever. */
const BUILD = new URL("..", import.meta.url).pathname.split("/").at(-2) ?? "";

/** The address of what the server has under this name in this build.
 * @param {string} name @param {ConstructorParameters<typeof URLSearchParams>[0]} [query] */
export function buildUrl(name, query) {
  const url = serverUrl(name, query);
  url.searchParams.append("build", BUILD);
  return url;
}

/** The JSON under this name. @param {string} name */
export const fetchJson = async (name) => (await request(buildUrl(name))).json();

/** Adds a style sheet of the app's to the page; resolves once it holds, or is refused. @param {string} name */
export function loadStyles(name) {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = serverUrl(`static/${BUILD}/css/${name}.css`).href;
  document.head.append(link);
  return new Promise((done) => {
    on(link, ["load", "error"], done);
  });
}
