// Mounts the page's player on the Gradio component and ties it to the address bar.

import { address, placed } from "../site.js";
import { position, problemOf } from "./address.js";
import { Player } from "./player.js";

// The folder's name is the build's fingerprint: a new build never meets an old cached trace.
const BUILD = new URL("..", import.meta.url).pathname.split("/").at(-2);

/** Called from js_on_load; `watch` reports each new query that the controls send. */
export function mount(element, props, watch) {
  const player = new Player(element.querySelector(".fa-mount"), {
    url: (search) => new URL(`fa/trace?${problemOf(search)}&build=${BUILD}`, document.baseURI),
    onPlace: placed,
    onCard: (card) => address.write({ card }),
    listings: () => fetch(new URL(`fa/listing?build=${BUILD}`, document.baseURI)).then((answer) => answer.json()),
  });
  const { search } = window.location;
  player.sram.budget.choose(new URLSearchParams(search).get("card"));
  player.load(problemOf(search), position(search));
  watch("value", () => props.value && player.load(props.value));
  element.faPlayer = player;
}
