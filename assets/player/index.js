// Mounts the page's player on the Gradio component and ties it to the address bar.

import { address, placed } from "../site.js";
import { position, problemOf } from "./address.js";
import { Player } from "./player.js";
import { Race } from "./race.js";

// The folder's name is the build's fingerprint: a new build never meets an old cached trace.
const BUILD = new URL("..", import.meta.url).pathname.split("/").at(-2);
const url = (search) => new URL(`fa/trace?${problemOf(search)}&build=${BUILD}`, document.baseURI);

/** The player and, in its place when asked for, the comparison of the three loop orders. */
class Stage {
  constructor(mount) {
    this.mount = mount;
    this.player = new Player(mount, {
      url,
      onPlace: placed,
      onCard: (card) => address.write({ card }),
      onCompare: () => this.compare(),
      listings: () => fetch(new URL(`fa/listing?build=${BUILD}`, document.baseURI)).then((answer) => answer.json()),
    });
  }

  start(search) {
    const params = new URLSearchParams(search);
    this.player.sram.budget.choose(params.get("card"));
    const { step } = position(search);
    if (params.get("mode") === "compare") this.compare(problemOf(search), { tick: step, clock: params.get("clock") });
    else this.player.load(problemOf(search), position(search));
  }

  load(query) {
    this.query = query;
    if (this.racing) this.race.load(query, {});
    else this.player.load(query);
  }

  compare(query = problemOf(window.location.search), place = {}) {
    this.race ??= new Race({
      url,
      onPlace: ({ query: problem, tick, clock }) => address.write({ ...problem, step: tick, clock, mode: "compare", phase: null }),
      onLeave: () => this.alone(),
    });
    this.racing = true;
    this.player.park(true);
    this.mount.replaceChildren(this.race.root);
    this.race.load(query, place);
    this.race.root.focus({ preventScroll: true });
  }

  alone() {
    this.racing = false;
    this.race.pause();
    this.player.park(false);
    this.mount.replaceChildren(this.player.root);
    address.write({ mode: null, clock: null });
    address.flush();
    this.player.load(this.query ?? problemOf(window.location.search));
    this.player.root.focus({ preventScroll: true });
  }
}

/** Called from js_on_load; `watch` reports each new query that the controls send. */
export function mount(element, props, watch) {
  const stage = new Stage(element.querySelector(".fa-mount"));
  stage.start(window.location.search);
  watch("value", () => props.value && stage.load(props.value));
  element.faPlayer = stage.player;
}
