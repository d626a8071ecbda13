// A whole run as a video: every place that Play would show, from the first to the last.

import { el } from "../lib/dom.js";
import { during } from "../lib/pending.js";
import { Camera, ownFont } from "../lib/picture.js";
import { filmOf } from "../lib/webm.js";
import { movePhase, phasesOf, place } from "../model/frame.js";
import { textsOf } from "../lib/texts.js";
import texts from "../../texts/step_video.json" with { type: "json" };

/** @import { Place, Trace } from "../model/types.js" */
/** @import { Stage } from "./stage.js" */

const t = textsOf(texts);
const MOST = 400; // frames
const WHOLE_MS = 25_000;
const BEAT_MS = [120, 900]; // at least, at most

/** Phase by phase; tile by tile where that were too many. @param {Trace} trace */
function placesOf(trace) {
  const places = [{ step: 0, phase: phasesOf(trace, 0)[0] }];
  while (places.length <= MOST) {
    const last = places[places.length - 1];
    const next = movePhase(trace, last, 1);
    if (next.step === last.step && next.phase === last.phase) return places;
    places.push(next);
  }
  return Array.from({ length: trace.steps }, (_, step) => place(trace, step));
}

/** What goes through a run: what shows each of its places, and again the one of now; what tells that it is this run. */
function runOf(/** @type {Stage} */ { racing, race, player }) {
  if (!racing) {
    const goTo = (/** @type {Place} */ at) => () => player.go(at.step, at.phase, true);
    return {
      root: player.root,
      places: placesOf(player.trace).map(goTo),
      goBack: goTo(player.at),
      run: () => player.trace,
    };
  }
  const goTo = (/** @type {number} */ tick) => () => race.go(tick, true);
  return {
    root: race.root,
    places: Array.from({ length: race.timing.ticks }, (_, tick) => goTo(tick)),
    goBack: goTo(race.tick),
    run: () => race.timing,
  };
}

/** The run that the stage shows, with these words below each frame. @param {Stage} stage @param {string} words @param {(share: number) => void} tell */
async function recordVideo(stage, words, tell) {
  const { root, places, goBack, run } = runOf(stage);
  if (places.length > MOST)
    throw new Error(
      t(stage.racing ? "video.ticks" : "video.tiles", { most: MOST, count: places.length }),
    );
  const first = run();
  const camera = new Camera(root, "", await ownFont());
  const pictures = [];
  try {
    for (const go of places) {
      if (run() !== first || !root.isConnected) throw new Error(t("video.given_up"));
      go();
      pictures.push(camera.picture(words));
      tell((0.7 * pictures.length) / places.length);
      await new Promise((done) => setTimeout(done)); // the page stays alive
    }
  } finally {
    camera.close();
    if (run() === first) goBack();
  }
  const beat = Math.min(BEAT_MS[1], Math.max(BEAT_MS[0], WHOLE_MS / places.length));
  return filmOf(pictures, beat, (/** @type {number} */ share) => tell(0.7 + 0.3 * share));
}

/** The run as a WebM, and how far it is, until it is there. @param {Stage} stage @param {string} words */
export async function mount(stage, words) {
  const bar = el("progress", { max: 1, value: 0, "aria-label": t("video") });
  const note = el("div", { class: "fa-recording", role: "status" }, [
    el("span", { text: t("video.making") }),
    bar,
  ]);
  document.body.append(note);
  try {
    return await during(
      "video",
      recordVideo(stage, words, (/** @type {number} */ share) => (bar.value = share)),
    );
  } finally {
    note.remove();
  }
}
