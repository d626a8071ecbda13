// Mounts the page's player on the Gradio component and ties it to the address bar.

import { address } from "../site/address.js";
import { wayOut } from "../site/embed.js";
import { showFinding } from "../site/findings.js";
import { onPage } from "../site/pages.js";
import { runStep, wish } from "../site/run.js";
import { find, findVisible, get, giveFocus, isPresenting, on, setPresenting } from "../lib/dom.js";
import { listen, emit } from "../lib/events.js";
import { buildUrl, fetchJson } from "../lib/build.js";
import { errorText, requestJson, requestOk, serverUrl } from "../lib/server.js";
import { during } from "../lib/pending.js";
import { position, problemOf } from "../model/query.js";
import { t } from "../model/texts.js";
import { download, frameOf } from "../lib/save.js";
import { isLetter, isTaken } from "../lib/keys.js";
import { isEmbedded } from "../lib/screen.js";
import { choose as chooseCard } from "../views/budget.js";
import { makeStage } from "./stage.js";
import { makeTour } from "./tour.js";
import { makeControls } from "./words.js";

/** @import { Pass } from "../model/types.js" */
/** @import { PlayerComponent, Scripts } from "./types.js" */
/** @import { Player } from "./player.js" */

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

/** Make the page's stage, tie it to the address bar, and let it hear the page's events.
 * @param {HTMLElement} mount @param {(query: string) => void} onProblem */
function makePage(mount, /** @type {Scripts} */ { masks, video }, onProblem) {
  /** @type {ReturnType<typeof makeTour> | undefined} */
  let tour;
  let composing = false;
  let predicts = false;

  const stage = makeStage(mount, {
    url,
    onProblem,
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
      name === "mask" && masks ? composes() : controls.open(name, button),
    onHead: shows,
    onLeave: leave,
    yours: (search) => requestJson(serverUrl("yours/tiles", search)),
    onRun: () => void runStep(),
    onAlone: () => {
      address.write({ mode: screen(), clock: null });
      address.flush();
    },
  });
  mount.after(wayOut() ?? "");
  const { player } = stage;
  document.addEventListener("keydown", key);
  document.addEventListener("keydown", escape, { capture: true });
  listen("fa:tour", () => guides((guide) => guide.begin(stage.active.pass ?? "forward")));
  listen("fa:compose", composes);
  listen("fa:show", (/** @type {string} */ query) => {
    wish.show = "";
    return stage.show(query);
  });
  listen("fa:predict", () => {
    predict(!predicts);
    address.write({ predict: predicts ? "1" : null });
  });
  listen("fa:present", () => {
    setPresenting(true);
    address.write({ mode: "present" });
    giveFocus(stage.active.root);
  });
  listen("fa:pass", stage.turn);
  listen("fa:save", save);

  /** The trace on screen; of a comparison, its first lane's. */
  const traceNow = () => (stage.racing ? stage.race.lanes[0] : player).trace;

  /** Run this; show the sentence of an error above the picture. @param {() => Promise<unknown>} act */
  async function attempt(act) {
    try {
      await act();
    } catch (error) {
      stage.active.notify(errorText(error));
    }
  }

  /** Turn the questions before each step on or off. @param {boolean} on */
  function predict(on) {
    predicts = on;
    stage.predict(on);
    find(document, ".fa-start-predict")?.setAttribute("aria-pressed", String(on));
  }

  /** Start the guided tour, where `begin` says. @param {(tour: ReturnType<typeof makeTour>) => unknown} begin */
  function guides(begin) {
    return attempt(async () => {
      tour ??= makeTour({
        mount,
        show: stage.show,
        reveal: (spot) => player.reveal(spot),
        chapters: () => during("tour", fetchJson("tour")),
        here: () => {
          address.flush();
          return window.location.search;
        },
        onChapter: (chapter) => address.write({ tour: chapter }),
      });
      await begin(tour);
    });
  }

  /** Save a file: pictures are made here, from what is on screen; the rest comes from the server. @param {string} kind */
  async function save(kind) {
    if (!mount.checkVisibility() || document.querySelector(".fa-recording")) return;
    const { root } = stage.active;
    player.motion.stop();
    address.flush();
    const { search } = window.location;
    const params = new URLSearchParams(search);
    const name = `flashattention-n${params.get("n")}-${kind === "webm" ? "run" : `tile${Number(params.get("step")) + 1}`}`;
    if (kind === "webm") for (const key of ["step", "phase"]) params.delete(key); // it shows them all
    const words = t("saved", {
      query: [...params].map((pair) => pair.join("=")).join(" "),
      kind: traceNow().header.kind,
    });
    const fetched = async () => (await requestOk(serverUrl(`export.${kind}`, search))).blob();
    /** @type {Record<string, () => Promise<Blob | null>>} */
    const make = {
      png: () => frameOf(root, "png", words, BUTTONS),
      svg: () => frameOf(root, "svg", words, BUTTONS),
      webm: async () => (await during("script", video())).mount(stage, words),
    };
    await attempt(async () => {
      const file = await (make[kind] ?? fetched)();
      download(/** @type {Blob} */ (file), `${name}.${kind}`);
    });
  }

  /** Open the mask builder over the stage, until its mask is used or not. */
  function composes() {
    if (!masks) return;
    controls.close();
    const { query } = traceNow().header;
    const { n, br, bc, mask, score = "none", sink = "" } = query;
    return attempt(async () => {
      const script = await during("script", masks());
      if (composing) return; // since a second press of the key
      composing = true;
      await script.mount(mount, {
        problem: { n, br, bc, mask, score, sink },
        use: (/** @type {Record<string, string>} */ fields) =>
          uses({ ...query, ...headed(fields, query), ...fields }),
        closed: () => {
          composing = false;
          toMask();
        },
      });
    });
  }

  /** Show this Problem at the same place; the controls follow it. @param {Record<string, string>} query */
  function shows(query) {
    const problem = problemOf(new URLSearchParams(query).toString());
    onProblem(problem);
    return stage.load(problem);
  }

  /** Show the builder's mask. @param {Record<string, string>} query */
  async function uses(query) {
    await shows(query);
    toMask();
  }

  /** Focus the word of the mask. */
  function toMask() {
    giveFocus(findVisible(document, ".fa-word-mask") ?? stage.active.root);
  }

  /** C opens all controls, M the mask builder. @param {KeyboardEvent} event */
  function key(event) {
    if (event.defaultPrevented) return; // before the question of what is visible, which computes another page's new styles
    if (!isTaken(event) && mount.checkVisibility()) {
      if (isLetter(event, "m") && masks && !isEmbedded) return composes();
      if (isLetter(event, "c")) return controls.open("all");
    }
    stage.key(event);
  }

  /** @param {KeyboardEvent} event */
  function escape(event) {
    if (event.key !== "Escape" || composing || (!stage.racing && player.linking.picked)) return; // which is let go first
    if (!isPresenting() || !mount.checkVisibility()) return;
    event.preventDefault(); // one thing at a time
    leave();
  }

  /** Leave presentation mode. */
  function leave() {
    setPresenting(false);
    document.documentElement.removeAttribute("data-blank");
    address.write({ mode: stage.racing ? "compare" : null });
  }

  /** @param {string} search */
  function start(search) {
    const params = new URLSearchParams(search);
    chooseCard(params.get("card"));
    const chapter = params.get("tour");
    predict(params.get("predict") === "1");
    setPresenting(params.get("mode") === "present");
    if (/^\d{1,2}$/.test(chapter ?? "")) return guides((guide) => guide.go(Number(chapter) - 1));
    const { step, phase } = position(search);
    if (
      !predicts &&
      ((step === undefined && phase === undefined) || (step === 0 && phase === "load"))
    )
      player.cold();
    stage.open(search);
  }

  return { start, load: stage.load, player };
}

/** `watch` reports each new query that the controls send, `trigger` tells Gradio of a Problem that came from
 * elsewhere, so that the controls show it. @param {unknown} _ */
export function mount(
  _,
  /** @type {PlayerComponent} */ { element, props, watch, trigger, ...scripts },
) {
  let own = "";
  const page = makePage(get(element, ".fa-mount"), scripts, (query) => {
    own = query;
    props.value = query;
    trigger("shown");
  });
  page.start(window.location.search);
  if (wish.show) emit("fa:show", wish.show); // pressed on another page before this script came
  watch("value", () => {
    if (props.value && props.value !== own) page.load(props.value);
    own = "";
  });
  /** @type {Window & {faPlayers?: Player[]}} */
  const global = window;
  (global.faPlayers ??= []).push(page.player); // for whoever embeds or measures the page
}
