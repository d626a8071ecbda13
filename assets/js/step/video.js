// A whole run as a video: every phase with its motion, from the first load to the last write and the result.

import { el } from "../lib/dom.js";
import { times } from "../lib/lists.js";
import { during } from "../lib/pending.js";
import { makeCamera, ownFont } from "../lib/picture.js";
import { filmOf } from "../lib/webm.js";
import { movePhase, phasesOf, place } from "../model/frame.js";
import { textsOf } from "../lib/texts.js";
import texts from "../../texts/step_video.json" with { type: "json" };

/** @import { Picture } from "../lib/picture.js" */
/** @import { Place, Trace } from "../model/types.js" */
/** @import { Stage } from "./types.js" */

const t = textsOf(texts);
const MOST = 400; // frames
const WHOLE_MS = 40_000; // of what stands still
const HOLD_MS = [120, 900]; // at least, at most
const SAMPLES = 4; // of a motion, at most
// What a film has no use for
const BUTTONS = ".fa-transport, .fa-drawer-tabs, .fa-panes, .fa-predict, .fa-result-now";

/** Phase by phase; tile by tile where that were too many. @param {Trace} trace */
function placesOf(trace) {
  const places = [{ step: 0, phase: phasesOf(trace, 0)[0] }];
  while (places.length <= MOST) {
    const last = places[places.length - 1];
    const next = movePhase(trace, last, 1);
    if (next.step === last.step && next.phase === last.phase) return places;
    places.push(next);
  }
  return times(trace.steps, (step) => place(trace, step));
}

/** What goes through a run: what shows each of its places, and again the one of now; what tells that it is this run. */
function runOf(/** @type {Stage} */ { racing, race, player }) {
  if (!racing) {
    const goTo =
      (/** @type {Place} */ at, still = false) =>
      () =>
        player.go(at.step, at.phase, still);
    return {
      root: player.root,
      places: [...placesOf(player.trace).map((at) => goTo(at)), () => player.end()],
      goBack: player.ended ? () => player.end() : goTo(player.at, true),
      run: () => player.trace,
    };
  }
  const goTo = (/** @type {number} */ tick) => () => race.go(tick);
  return {
    root: race.root,
    places: times(race.timing.ticks, (tick) => goTo(tick)),
    goBack: goTo(race.tick),
    run: () => race.timing,
  };
}

/** Holds what moves now at so many instants, one after the other: for how many ms each of them is shown.
 * @param {Stage} stage @param {number} samples */
function* instants({ racing, player: { root, motion } }, samples) {
  if (racing) return;
  const running = root.getAnimations({ subtree: true });
  const moving = running.filter((one) => !(one instanceof CSSTransition));
  const end = Math.max(
    0,
    ...moving.map(({ effect }) => Number(effect?.getComputedTiming().endTime)),
  );
  for (let k = 1; k <= samples && end; k++) {
    const now = (end * k) / (samples + 1);
    for (const one of moving) {
      one.pause();
      one.currentTime = now;
    }
    motion.at(now);
    yield end / samples;
  }
}

/** The run that the stage shows, with these words below each frame. @param {Stage} stage @param {string} words @param {(share: number) => void} tell */
async function recordVideo(stage, words, tell) {
  const { root, places, goBack, run } = runOf(stage);
  if (places.length > MOST)
    throw new Error(
      t(stage.racing ? "video.ticks" : "video.tiles", { most: MOST, count: places.length }),
    );
  const first = run();
  const camera = makeCamera(root, BUTTONS, await ownFont());
  const hold = Math.min(HOLD_MS[1], Math.max(HOLD_MS[0], WHOLE_MS / places.length));
  const samples = Math.min(SAMPLES, Math.floor(MOST / places.length) - 1);
  /** @type {Picture[]} */
  const pictures = [];
  try {
    for (const [k, go] of places.entries()) {
      if (run() !== first || !root.isConnected) throw new Error(t("video.given_up"));
      go();
      for (const ms of instants(stage, samples))
        pictures.push({ ...camera.picture(words, true), ms });
      stage.player.motion.stop();
      pictures.push({ ...camera.picture(words), ms: hold });
      tell((0.7 * (k + 1)) / places.length);
      await new Promise((done) => setTimeout(done)); // the page stays alive
    }
  } finally {
    camera.close();
    if (run() === first) goBack();
  }
  return filmOf(pictures, (/** @type {number} */ share) => tell(0.7 + 0.3 * share));
}

/** The run as a WebM, and how far it is, until it is there. @param {Stage} stage @param {string} words */
export async function mount(stage, words) {
  const bar = el("progress", { max: 1, value: 0, "aria-label": t("video") });
  const note = el("div.fa-recording", { role: "status" }, [el("span", t("video.making")), bar]);
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
