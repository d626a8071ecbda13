// Mounts the page's player on the Gradio component and ties it to the address bar.

import { address } from "../site/address.js";
import { wayOut } from "../site/embed.js";
import { showFinding } from "../site/findings.js";
import { onPage } from "../site/pages.js";
import { runStep, wish } from "../site/run.js";
import { find, findVisible, get, isPresenting, on, setPresenting } from "../lib/dom.js";
import { listen, emit } from "../lib/events.js";
import { buildUrl, fetchJson } from "../lib/build.js";
import { errorText, requestOk, serverUrl } from "../lib/server.js";
import { during } from "../lib/pending.js";
import { position, problemOf } from "../model/query.js";
import { t } from "../model/texts.js";
import { download, frameOf } from "../lib/save.js";
import { isLetter, isTaken } from "../lib/keys.js";
import { isEmbedded } from "../lib/screen.js";
import { choose as chooseCard } from "../views/budget.js";
import { Stage } from "./stage.js";
import { makeTour } from "./tour.js";
import { makeControls } from "./words.js";

/** @import { Pass } from "../model/types.js" */
/** @import { PlayerComponent, Scripts } from "./types.js" */
/** @import { Player } from "./player.js" */

const BAR_MS = 2000; // the corner bar, after the mouse has moved
// What a picture for a slide does without; in presentation mode the drawer is a line of code and one of bytes.
const BUTTONS =
  ".fa-transport, .fa-drawer-tabs, .fa-panes, .fa-predict, .fa-result-now, body:not(.fa-present) :is(.fa-drawer, .fa-progress)";
const controls = makeControls();

/** @param {string} search @param {Pass} pass */
const of = (search, pass) => problemOf(search) + (pass === "backward" ? "&pass=backward" : "");
/** @param {string} search @param {Pass} pass */
const url = (search, pass) => buildUrl("trace", of(search, pass));

/** The kind of screen that the address names, if it is one of its own. */
const screen = () => (isEmbedded ? "embed" : isPresenting() ? "present" : null);

/** The slope of one head alone is too flat to be seen: ALiBi, newly chosen, comes with eight heads, and shows the steepest.
 * @param {Record<string, string>} fields @param {Record<string, string>} query @returns {Record<string, string>} */
const headed = ({ score = "" }, { hq, score: before = "" }) =>
  score.includes("alibi") && !before.includes("alibi") && !hq
    ? { hq: "8", hk: "8", head: "0" }
    : {};

class Page extends Stage {
  /** @type {Scripts["masks"]} */
  masks;
  /** @type {Scripts["video"]} */
  video;
  /** @type {ReturnType<typeof makeTour> | undefined} */
  tour;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  still;
  /** @type {boolean | undefined} */
  composing;
  /** @param {HTMLElement} mount */
  constructor(mount, /** @type {Scripts} */ { masks, video }) {
    super(mount, {
      url,
      onPlace: (place) => {
        showFinding(place);
        emit("fa:passed", place.pass ?? "forward");
      },
      // Another tab of the app needs no code listings.
      listings: () => onPage("step").then(() => during("listing", fetchJson("listing"))),
      visitUrl: (search, step, pass) => buildUrl("visit", `${of(search, pass)}&at=${step}`),
      onTick: ({ query, pass, tick, clock }) => {
        address.write({
          ...query,
          pass,
          step: tick,
          clock,
          mode: screen() ?? "compare",
          phase: null,
        });
        emit("fa:passed", pass ?? "forward");
      },
      controls: (name, button) =>
        name === "mask" && masks ? this.composes() : controls.open(name, button),
      onHead: (query) => this.shows(query),
      onLeave: () => this.leave(),
      yours: async (search) => (await requestOk(serverUrl("yours/tiles", search))).json(),
      onRun: () => void runStep(),
      onAlone: () => {
        address.write({ mode: screen(), clock: null });
        address.flush();
      },
    });
    Object.assign(this, { masks, video });
    mount.after(wayOut() ?? "");
    document.addEventListener("keydown", (event) => this.escape(event), { capture: true });
    on(document, ["pointermove", "pointerdown"], (event) => this.pointed(event));
    listen("fa:tour", () => this.guides((tour) => tour.begin(this.pass ?? "forward")));
    listen("fa:compose", () => this.composes());
    listen("fa:show", (/** @type {string} */ query) => {
      wish.show = "";
      return this.show(query);
    });
    listen("fa:predict", () => {
      this.predict(!this.predicts);
      address.write({ predict: this.predicts ? "1" : null });
    });
    listen("fa:present", () => {
      setPresenting(true);
      address.write({ mode: "present" });
      this.active.root.focus({ preventScroll: true });
    });
    listen("fa:pass", (/** @type {Pass} */ pass) => this.turn(pass));
    listen("fa:save", (/** @type {string} */ kind) => this.save(kind));
  }

  /** The trace on screen; of a comparison, its first lane's. */
  get trace() {
    return (this.racing ? this.race.lanes[0] : this.player).trace;
  }

  /** Run this; show the sentence of an error above the picture. @param {() => Promise<unknown>} act */
  async attempt(act) {
    try {
      await act();
    } catch (error) {
      this.active.notify(errorText(error));
    }
  }

  /** Turn the questions before each step on or off. @param {boolean} on */
  predict(on) {
    this.predicts = on;
    this.player.predicting(on);
    this.race?.predicting(on);
    find(document, ".fa-start-predict")?.setAttribute("aria-pressed", String(on));
  }

  /** Start the guided tour, where `begin` says. @param {(tour: ReturnType<typeof makeTour>) => unknown} begin */
  guides(begin) {
    return this.attempt(async () => {
      this.tour ??= makeTour({
        mount: this.mount,
        show: (query) => this.show(query),
        reveal: (spot) => this.player.reveal(spot),
        chapters: () => during("tour", fetchJson("tour")),
        here: () => {
          address.flush();
          return window.location.search;
        },
        onChapter: (chapter) => address.write({ tour: chapter }),
      });
      await begin(this.tour);
    });
  }

  /** Save a file: pictures are made here, from what is on screen; the rest comes from the server. @param {string} kind */
  async save(kind) {
    if (!this.mount.checkVisibility() || document.querySelector(".fa-recording")) return;
    const { root } = this.active;
    this.player.motion.stop();
    address.flush();
    const { search } = window.location;
    const params = new URLSearchParams(search);
    const name = `flashattention-n${params.get("n")}-${kind === "webm" ? "run" : `tile${Number(params.get("step")) + 1}`}`;
    if (kind === "webm") for (const key of ["step", "phase"]) params.delete(key); // it shows them all
    const words = t("saved", {
      query: [...params].map((pair) => pair.join("=")).join(" "),
      kind: this.trace.header.kind,
    });
    const fetched = async () => (await requestOk(serverUrl(`export.${kind}`, search))).blob();
    /** @type {Record<string, () => Promise<Blob | null>>} */
    const make = {
      png: () => frameOf(root, "png", words, BUTTONS),
      svg: () => frameOf(root, "svg", words, BUTTONS),
      webm: async () => (await during("script", this.video())).mount(this, words),
    };
    await this.attempt(async () => {
      const file = await (make[kind] ?? fetched)();
      download(/** @type {Blob} */ (file), `${name}.${kind}`);
    });
  }

  /** Open the mask builder over the stage, until its mask is used or not. */
  composes() {
    const { masks } = this;
    if (!masks) return;
    controls.close();
    const { query } = this.trace.header;
    const { n, br, bc, mask, score = "none", sink = "" } = query;
    return this.attempt(async () => {
      const script = await during("script", masks());
      if (this.composing) return; // since a second press of the key
      this.composing = true;
      await script.mount(this.mount, {
        problem: { n, br, bc, mask, score, sink },
        use: (/** @type {Record<string, string>} */ fields) =>
          this.uses({ ...query, ...headed(fields, query), ...fields }),
        closed: () => {
          this.composing = false;
          this.toMask();
        },
      });
    });
  }

  /** Show this Problem at the same place; the controls follow it. @param {Record<string, string>} query */
  shows(query) {
    const problem = problemOf(new URLSearchParams(query).toString());
    this.onProblem?.(problem);
    return this.load(problem);
  }

  /** Show the builder's mask. @param {Record<string, string>} query */
  async uses(query) {
    await this.shows(query);
    this.toMask();
  }

  /** Focus the word of the mask. */
  toMask() {
    (findVisible(document, ".fa-word-mask") ?? this.active.root).focus({ preventScroll: true });
  }

  /** C opens all controls, M the mask builder. @param {KeyboardEvent} event */
  key(event) {
    if (event.defaultPrevented) return; // before the question of what is visible, which computes another page's new styles
    if (!isTaken(event) && this.mount.checkVisibility()) {
      if (isLetter(event, "m") && this.masks && !isEmbedded) return this.composes();
      if (isLetter(event, "c")) return controls.open("all");
    }
    super.key(event);
  }

  /** @param {KeyboardEvent} event */
  escape(event) {
    if (event.key !== "Escape" || this.composing || (!this.racing && this.player.linking.picked))
      return; // which is let go first
    if (!isPresenting() || !this.mount.checkVisibility()) return;
    event.preventDefault(); // one thing at a time
    this.leave();
  }

  /** In presentation mode, show the keys in a corner while a mouse moves or a finger taps. */
  pointed(/** @type {any} */ event) {
    if (!isPresenting() || (event.type === "pointermove" && !event.movementX && !event.movementY))
      return; // what moved was the page below a resting mouse
    document.documentElement.dataset.pointing = "";
    clearTimeout(this.still);
    this.still = setTimeout(() => delete document.documentElement.dataset.pointing, BAR_MS);
  }

  /** Leave presentation mode. */
  leave() {
    setPresenting(false);
    document.documentElement.removeAttribute("data-blank");
    address.write({ mode: this.racing ? "compare" : null });
  }

  /** @param {string} search */
  start(search) {
    const params = new URLSearchParams(search);
    chooseCard(params.get("card"));
    const chapter = params.get("tour");
    this.predict(params.get("predict") === "1");
    setPresenting(params.get("mode") === "present");
    if (/^\d{1,2}$/.test(chapter ?? "")) return this.guides((tour) => tour.go(Number(chapter) - 1));
    const { step, phase } = position(search);
    if (
      !this.predicts &&
      ((step === undefined && phase === undefined) || (step === 0 && phase === "load"))
    )
      this.player.cold();
    this.open(search);
  }

  /** @param {string} query */
  load(query) {
    this.query = query;
    return this.racing ? this.race.load(query, {}) : this.player.load(query);
  }
}

/** `watch` reports each new query that the controls send, `trigger` tells Gradio of a Problem that came from
 * elsewhere, so that the controls show it. @param {unknown} _ */
export function mount(
  _,
  /** @type {PlayerComponent} */ { element, props, watch, trigger, ...scripts },
) {
  const stage = new Page(get(element, ".fa-mount"), scripts);
  let own = "";
  stage.onProblem = (query) => {
    own = query;
    props.value = query;
    trigger("shown");
  };
  stage.start(window.location.search);
  if (wish.show) emit("fa:show", wish.show); // pressed on another page before this script came
  watch("value", () => {
    if (props.value && props.value !== own) stage.load(props.value);
    own = "";
  });
  /** @type {Window & {faPlayers?: Player[]}} */
  const page = window;
  (page.faPlayers ??= []).push(stage.player); // for whoever embeds or measures the page
}
