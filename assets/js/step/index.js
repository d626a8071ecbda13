// Mounts the page's player on the Gradio component and ties it to the address bar.

import { address } from "../site/address.js";
import { placed } from "../site/findings.js";
import { onPage } from "../site/pages.js";
import { BUILD, fetched } from "../lib/build.js";
import { hall } from "../lib/dom.js";
import { hear } from "../lib/events.js";
import { asked } from "../lib/fetched.js";
import { during } from "../lib/pending.js";
import { Player } from "./player.js";
import { position, problemOf } from "../model/query.js";
import { Race } from "./race.js";
import { download, saveFrame } from "../lib/save.js";
import { Tour } from "./tour.js";

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
      // Another tab of the app needs no code listings.
      listings: () => onPage("step").then(() => during("listing", fetched("listing"))),
      visitUrl: (search, step) => new URL(`fa/visit?${problemOf(search)}&at=${step}&build=${BUILD}`, document.baseURI),
    });
    this.tour = new Tour({
      chapters: () => during("tour", fetched("tour")),
      show: (query) => this.show(query),
      onChapter: (chapter) => address.write({ tour: chapter }),
    });
    document.body.append(this.tour.root); // above the controls, whatever layers they make
    document.addEventListener("keydown", (event) => this.key(event), { capture: true });
    hear("fa:tour", () => this.tour.go(0));
    hear("fa:show", (query) => this.show(query));
    hear("fa:predict", () => {
      this.predict(!this.predicts);
      address.write({ predict: this.predicts ? "1" : null });
    });
    hear("fa:present", () => {
      if (this.racing) this.alone();
      hall(true);
      address.write({ mode: "present" });
      this.player.root.focus({ preventScroll: true });
    });
    hear("fa:save", (kind) => this.save(kind));
  }

  /** Questions before each step, or none. */
  predict(on) {
    this.predicts = on;
    this.player.predicting(on);
    this.race?.predicting(on);
    document.querySelector(".fa-start-predict")?.setAttribute("aria-pressed", String(on));
  }

  /** The frame is made here, from the DOM; the rest comes from the server as a file. */
  async save(kind) {
    if (!this.mount.isConnected) return;
    const root = this.racing ? this.race.root : this.player.root;
    address.flush();
    const { search } = window.location;
    const params = new URLSearchParams(search);
    const name = `flashattention-n${params.get("n")}-step${params.get("step")}`;
    try {
      if (kind === "png" || kind === "svg") return await saveFrame(root, kind, name);
      const file = await asked(new URL(`fa/export.${kind}${search}`, document.baseURI));
      download(await file.blob(), `${name}.${kind}`);
    } catch (error) {
      this.player.say(error.message);
    }
  }

  /** While the tour is open, Space goes on in it. */
  key(event) {
    if (event.key === "Escape" && document.body.classList.contains("fa-present") && this.mount.checkVisibility()) {
      hall(false);
      address.write({ mode: null });
    }
    if (!this.mount.isConnected || !this.tour.open || event.key !== " ") return;
    if (event.target.closest?.("input, textarea, select, button")) return;
    event.preventDefault();
    event.stopPropagation();
    this.tour.go(this.tour.at + 1);
  }

  /** A whole address that does not come from the controls: they follow it. */
  show(search) {
    const params = new URLSearchParams(search);
    const query = problemOf(search);
    const { step, phase } = position(search);
    this.query = query;
    this.onShown?.(query);
    if (params.get("mode") === "compare") return this.compare(query, { tick: step, clock: params.get("clock") });
    if (this.racing) this.alone({ load: false });
    this.player.load(query, { step, phase });
    this.player.root.focus({ preventScroll: true });
  }

  start(search) {
    const params = new URLSearchParams(search);
    this.player.sram.budget.choose(params.get("card"));
    const { step } = position(search);
    const chapter = params.get("tour");
    this.predict(params.get("predict") === "1");
    hall(params.get("mode") === "present");
    if (/^\d{1,2}$/.test(chapter ?? "")) return this.tour.go(Number(chapter) - 1);
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
      onPlace: ({ query: problem, tick, clock }) => this.racing && address.write({ ...problem, step: tick, clock, mode: "compare", phase: null }),
      onLeave: () => this.alone(),
    });
    this.race.predicting(this.predicts);
    this.racing = true;
    this.player.park(true);
    this.mount.replaceChildren(this.race.root);
    this.race.load(query, place);
    this.race.root.focus({ preventScroll: true });
  }

  alone({ load = true } = {}) {
    this.racing = false;
    this.race.transport.stop();
    this.player.park(false);
    this.mount.replaceChildren(this.player.root);
    address.write({ mode: null, clock: null });
    address.flush();
    if (load) this.player.load(this.query ?? problemOf(window.location.search));
    this.player.root.focus({ preventScroll: true });
  }
}

/** `watch` reports each new query that the controls send, `trigger` tells Gradio of a Problem that came from
 * elsewhere, so that the controls show it. */
export function mountStep({ element, props, watch, trigger }) {
  const stage = new Stage(element.querySelector(".fa-mount"));
  let own = "";
  stage.onShown = (query) => {
    own = query;
    props.value = query;
    trigger("shown");
  };
  stage.start(window.location.search);
  watch("value", () => {
    if (props.value && props.value !== own) stage.load(props.value);
    own = "";
  });
  (window.faPlayers ??= []).push(stage.player); // for whoever embeds or measures the page
}
