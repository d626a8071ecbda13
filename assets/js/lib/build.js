// The folder's name is the build's fingerprint: what is asked with it may be kept for ever.

import { reach } from "./fetched.js";

export const BUILD = new URL("..", import.meta.url).pathname.split("/").at(-2);

/** What the server has under this name, until the next build. */
export const fetched = (name) =>
  reach(new URL(`fa/${name}?build=${BUILD}`, document.baseURI)).then((answer) => answer.json());
