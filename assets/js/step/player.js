// One player: a trace, a place in it, and the views that draw them. All arithmetic is in model/, which reads the trace.

import { palette } from "../lib/colors.js";
import { decode } from "../model/decode.js";
import { button, el, giveFocus, set } from "../lib/dom.js";
import { errorText } from "../lib/server.js";
import { makeHbm } from "../views/hbm.js";
import { makeLens } from "../views/lens.js";
import { PlayerBase } from "../views/transport.js";
import { frame, phasesOf, place, prepare, stated } from "../model/frame.js";
import { beatOf } from "../model/motion.js";
import { sentence } from "../model/phases.js";
import { ahead, counterpart, nearest } from "../model/places.js";
import { questionAt } from "../model/questions.js";
import { during } from "../lib/pending.js";
import { t } from "../model/texts.js";
import { makeResult } from "./result.js";
import { makeCode, makeProgress, makeTraffic } from "./side.js";
import { WAYS } from "../views/row_view.js";
import { rich } from "../views/rich.js";
import { makePredict } from "../views/predict.js";
import { makeBackwardViews } from "./backward.js";
import { makeStepTransport } from "./bar.js";
import { makeDrawer } from "./drawer.js";
import { makeForwardViews } from "./forward.js";
import { makeLinking } from "./linking.js";
import { makeMotion } from "./motion.js";
import { makePanes } from "./panes.js";
import { makeSentence, purposeOf } from "./sentence.js";
import { makeWords } from "./words.js";

/** @import { Frame, Pass, Place, Trace } from "../model/types.js" */
/** @import { PaneName } from "../views/types.js" */
/** @import { PassViews, PlayerOptions, Position } from "./types.js" */

/** The pane of a phone where a part of the page is, if it is not SRAM. @type {Record<string, PaneName>} */
const PANES = { map: "hbm", bus: "hbm", "home.dQ": "hbm", rows: "rows", story: "rows" };
/** How far an action goes. @type {Record<string, number>} */
const STEPS = { phaseNext: 1, phaseBack: -1, forward: 1, backward: -1 };
const END = "end"; // as a phase in an address: the result of the run
const BEAT_MS = 1000; // until the first place says how long it stays

/** @typedef {ReturnType<typeof makePlayer>} Player */

/** Make a player in its place. @param {HTMLElement} mount @param {PlayerOptions} options */
export function makePlayer(mount, options) {
  /** @type {Trace} */
  let traceNow;
  /** @type {Frame} */
  let frameNow;
  /** @type {Place} */
  let atNow;
  /** @type {number | null} */
  let focus = null;
  /** Is the run over, and its result shown? */
  let ended = false;
  /** @type {number} */
  let questionStep;
  let big = false; // in presentation mode

  const base = new PlayerBase(
    { class: "fa-player fa-step", "data-testid": "player", "aria-label": t("player") },
    {
      get isReady() {
        return Boolean(traceNow);
      },
      get cards() {
        return [hbm.root, sramNow().root];
      },
      layout,
      act,
    },
  );
  const { root, notice } = base;
  const { onCompare, onRun, onHead, onPlace, listings, visitUrl, controls } = options;
  const hbm = makeHbm(onHead);
  const views = {
    forward: makeForwardViews({ onZoom: zoom, onWay: layout }),
    backward: makeBackwardViews(zoom),
  };
  const rowView = views.forward.rowView;
  const code = makeCode();
  const predict = makePredict();
  const traffic = makeTraffic();
  const progress = makeProgress(() => open("traffic"));
  const problem = makeWords(controls, () => turn());
  const moved = {
    go,
    act,
    beat,
    get at() {
      return atNow;
    },
  };
  const transport = makeStepTransport(moved, BEAT_MS, () => options.onLeave?.(), [
    ...views.forward.rare,
    ...problem.more,
  ]);
  const result = makeResult({ compare: onCompare, turn: () => turn(), run: onRun });
  notice.append(button("×", () => base.notify(null), { "aria-label": t("player.dismiss") }));
  const purpose = [el("h2"), el("p")];
  const hero = el("header.fa-hero", purpose);
  const sentenceView = makeSentence(hbm.bus);
  const stage = el("div.fa-stage", [hbm.root, sentenceView.root, sramNow().root]);
  const lens = makeLens();
  const drawer = makeDrawer(
    {
      ...views.forward.panels,
      ...views.backward.panels,
      code: [code.root],
      traffic: [traffic.root],
    },
    (name) => (name === "compare" ? onCompare?.() : open(name)),
  );
  const panes = makePanes(root);
  root.append(
    notice,
    hero,
    lens.root,
    stage,
    result.root,
    panes.root,
    el("div.fa-line-of-words", [drawer.tabs, problem.root]),
    drawer.root,
    progress.root,
    transport.root,
  );
  panes.swiped([stage, drawer.root]);
  /** What is shown, for the parts that point at it or move it, and for who embeds the page. */
  const player = {
    root,
    hbm,
    stage,
    sentence: sentenceView,
    drawer,
    panes,
    transport,
    notify: (/** @type {string | null} */ text) => base.notify(text),
    key,
    load,
    turn,
    open,
    reveal,
    cold,
    warm,
    go,
    goTile,
    end,
    play,
    pause,
    beat,
    act,
    predicting,
    render,
    tell,
    get trace() {
      return traceNow;
    },
    get frame() {
      return frameNow;
    },
    get at() {
      return atNow;
    },
    get sram() {
      return sramNow();
    },
    get pass() {
      return passNow();
    },
    get ended() {
      return ended;
    },
    set focus(/** @type {number | null} */ row) {
      focus = row;
    },
  };
  const linking = makeLinking(player);
  root.append(linking.words);
  const motion = makeMotion(player);
  panes.show("sram");
  dress();
  open(ownViews().first);
  mount.replaceChildren(root);
  const listed = listings?.().then(code.list, () => {});
  for (const card of [hbm, views.forward.sram, views.backward.sram])
    base.resizer.observe(card.root);

  /** Which pass is shown. */
  function passNow() {
    return traceNow?.header.pass ?? "forward";
  }

  /** The views of the pass that is on screen. */
  function ownViews() {
    return /** @type {PassViews} */ (views[passNow()]);
  }

  function sramNow() {
    return ownViews().sram;
  }

  /** Show the other pass of the same Problem, at the same tile. @param {Pass} [pass] */
  function turn(pass = passNow() === "forward" ? "backward" : "forward") {
    if (!traceNow || pass === passNow()) return;
    warm();
    return load(new URLSearchParams(traceNow.header.query).toString(), { pass });
  }

  /** Put the cards and tabs of the pass in their place. */
  function dress() {
    const { sram, first, panels } = ownViews();
    if (!sram.root.isConnected) stage.lastElementChild?.replaceWith(sram.root);
    if (predict.root.previousSibling !== panels[first][0]) panels[first][0].after(predict.root);
    ownViews().veil(!predict.root.hidden);
    const { table } = views.forward;
    if (passNow() === "forward") code.root.after(table.root);
    else table.root.remove(); // its rows carry m, α and ℓ
    drawer.pass(passNow());
    panes.names(passNow());
    if (!drawer.has(drawer.name)) drawer.open(first);
  }

  /** Open a panel of the drawer; the page is no longer new. @param {string} name */
  function open(name) {
    warm();
    drawer.open(name);
    if (traceNow) layout();
  }

  /** Bring a part of the page on screen, by its data-spot. @param {string} spot */
  function reveal(spot) {
    if (spot === "rows" || spot === "row_view") open(ownViews().first);
    panes.choose(PANES[spot] ?? "sram");
  }

  /** Show what the page is for, until the first step. */
  function cold() {
    set(root, { "data-cold": "" });
  }

  function warm() {
    set(root, { "data-cold": null });
  }

  /** Fetch and show the Problem of `query`; a refused one leaves the picture as it is. @param {string} query @param {Position} position */
  async function load(query, position = {}) {
    const refusal = await base.loading(async (signal) => {
      const pass = position.pass ?? passNow();
      const response = await base.fetch(options.url(query, pass), signal);
      const trace = prepare(decode(await response.arrayBuffer()));
      signal.throwIfAborted();
      base.notify(null);
      show(trace, position);
      await listed; // so that stepping asks the server nothing
    });
    if (!refusal || traceNow || !query) return;
    await load("");
    base.notify(refusal);
  }

  /** @param {Trace} trace @param {Position} [position] */
  function show(trace, { step, phase, sel = linking.picked, way = rowView.way } = {}) {
    transport.stop();
    const isEnd = phase === END;
    const isSame = traceNow && step === undefined && !isEnd;
    const same = isSame ? counterpart(traceNow, atNow, trace) : null;
    traceNow = trace;
    dress();
    set(root, {
      "data-query": String(new URLSearchParams(trace.header.query)),
      "data-pass": passNow(),
    });
    const known = phase && trace.header.phases.includes(phase) ? phase : null;
    atNow =
      (!known && same) ||
      nearest(
        trace,
        isEnd ? trace.steps - 1 : Math.max(0, step ?? same?.step ?? 0),
        known ?? (step === undefined && !isEnd ? "load" : undefined),
      );
    ended = isEnd;
    questionStep = -1;
    predict.question = null;
    if (!trace.header.numbers && drawer.name === ownViews().first) drawer.open("traffic"); // its rows come one tile at a time
    rowView.way = WAYS.find((one) => one === way) ?? "alpha";
    layout();
    linking.pick(sel);
  }

  function layout() {
    base.laidOut = base.room();
    const theme = palette(root);
    ({ big } = theme);
    hbm.layout(traceNow, theme);
    sramNow().layout(traceNow, theme);
    const parts = [code, traffic, progress, problem, transport];
    for (const view of [ownViews(), ...parts]) view.layout(traceNow, theme);
    render();
  }

  /** Go to a place, and unless `still` animate the way from the one before. @param {number} step @param {string} [phase] */
  function go(step, phase, still = base.isKeyRepeating) {
    if (!traceNow) return;
    const from = motion.here();
    warm();
    ended = false;
    atNow = place(traceNow, step, phase);
    (base.room() === base.laidOut ? render : layout)(); // the first step makes room
    if (!still) motion.show(from, atNow, transport.timer ? transport.pace : Infinity);
  }

  /** @param {number} i @param {number} j */
  function goTile(i, j, takes = true) {
    const { problem: p, tileVisit } = traceNow;
    const v = tileVisit[i * p.Tc + j];
    if (v >= 0) go(v);
    if (v >= 0 && !traceNow.header.numbers) zoom();
    if (takes) giveFocus(root);
  }

  /** Fetch the numbers of this visit, for a Problem that came as tiles only. */
  function zoom() {
    if (!visitUrl) return base.notify(t("player.tiles"));
    const { header } = traceNow;
    const query = new URLSearchParams(header.query).toString();
    return during("visit", fetchVisit(visitUrl(query, atNow.step, header.pass)));
  }

  /** @param {string | URL} address of the numbers of this visit */
  async function fetchVisit(address) {
    const trace = traceNow;
    const { step } = atNow;
    try {
      const response = await base.fetch(address);
      if (trace !== traceNow) return;
      base.notify(null);
      trace.zoom = decode(await response.arrayBuffer());
      if (atNow.step !== step) return;
      sramNow().zoomed(frame(trace, step, atNow.phase));
      if (drawer.name === "traffic") drawer.open(ownViews().first);
      render();
    } catch (error) {
      base.notify(errorText(error));
    }
  }

  /** Turn predicting on or off. It takes the place of the row view, which would give the answers away. @param {boolean} on */
  function predicting(on) {
    predict.root.hidden = !on;
    ownViews().veil(on);
    if (on) open(ownViews().first);
    if (on) panes.choose("rows");
    else panes.release();
    hbm.predicting(on);
    questionStep = -1;
    if (traceNow) layout();
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    if (!predict.key(event) && !(traceNow && linking.key(event)) && !predict.leaves(event))
      base.key(event);
  }

  /** @param {string} action */
  function act(action) {
    if (!traceNow) return;
    if (action === "toggle") return transport.timer ? pause() : play();
    const by = STEPS[action];
    pause();
    if (action === "first") return go(0, "load");
    if (ended && (by < 0 || action === "back")) return go(atNow.step, atNow.phase, true); // the last tile again
    if (action === "back" && atNow.step === 0) return go(0, "load"); // there is no tile before it
    const on = by > 0 || action === "next";
    if (on && ended) return action === "forward" ? onCompare?.() : undefined;
    if (on && isLast()) return end();
    if (!by) return transport.act(action);
    const unit = predict.root.hidden ? transport.stride() : "tile"; // of which the question is
    const stride = action.startsWith("phase") ? "phase" : unit;
    const { step, phase } = ahead(traceNow, atNow, by, stride);
    go(step, phase);
  }

  /** Is this the last place of the run? */
  function isLast() {
    const { step, phase } = atNow;
    return step === traceNow.steps - 1 && phase === phasesOf(traceNow, step).at(-1);
  }

  /** Show what the run came to. */
  function end() {
    ended = true;
    layout();
  }

  function play() {
    if (ended || isLast()) go(0, "load");
    transport.start();
  }

  function pause() {
    transport.stop();
  }

  function beat() {
    if (!root.isConnected) return false;
    if (isLast()) {
      end();
      return false;
    }
    const before = atNow;
    const next = ahead(traceNow, before, 1, transport.stride());
    const f = frame(traceNow, next.step, next.phase);
    transport.beatMs = beatOf(traceNow, before, next, sentence(f, followed(f)));
    go(next.step, next.phase);
    return true;
  }

  /** The row of the question, if there is one. */
  function questionRow() {
    return predict.root.hidden ? undefined : predict.question?.row;
  }

  /** The row whose numbers the words use: the clicked one, else the one asked about, the first that rose, the first. @param {Frame} f */
  function followed(f) {
    return (
      f.stats.find((s) => s.row === (focus ?? questionRow())) ??
      f.stats.find((s) => s.rose) ??
      f.stats[0]
    );
  }

  /** Say of a moment what the picture comes to: the sentence, the drawer, the bytes. @param {Frame} f */
  function tell(f) {
    const row = followed(f);
    sentenceView.draw(f, row);
    ownViews().draw(traceNow, f, row?.row);
    drawer.call("row", views.forward.title);
    for (const view of [code, traffic, progress]) view.draw(f);
  }

  /** At the end the result takes the place of the picture, and its headline that of the purpose. @param {Frame} f */
  function conclude(f) {
    result.show(ended);
    const head = ended ? result.draw(traceNow, f, palette(root)).map(rich) : purposeOf(traceNow);
    head.forEach((nodes, k) => purpose[k].replaceChildren(...nodes));
    transport.end(ended ? t("end.compare") : null, result.spoken());
  }

  function render() {
    motion.stop();
    const f = (frameNow = frame(traceNow, atNow.step, atNow.phase));
    if (!predict.root.hidden && questionStep !== f.step) {
      questionStep = f.step;
      predict.ask(traceNow.header.numbers ? questionAt(traceNow, f.step) : null);
      if (questionRow() !== undefined) focus = linking.picked = null; // until something is clicked again
    }
    const row = followed(f);
    set(root, { ...stated(f), "data-ended": ended || null });
    hbm.draw(f);
    sramNow().draw(f, row?.row);
    transport.draw(f, row);
    tell(f);
    conclude(f);
    if (big)
      lens.draw(
        f.kind === "skipped" || f.j < 0 ? null : hbm.magnified(f),
        f.numbers ? sramNow().magnified() : null,
        hbm.beside(),
      );
    panes.follow(
      predict.root.hidden ? (f.phase === "load" || f.phase === "store" ? "hbm" : "sram") : "rows",
    );
    linking.draw();
    const last = f.position === f.phases.length - 1;
    const shown = ended ? END : last ? null : f.phase;
    const [way, pass] = [
      rowView.way === "alpha" ? null : rowView.way,
      f.pass === "forward" ? null : f.pass,
    ];
    onPlace?.({
      query: traceNow.header.query,
      pass,
      step: f.step,
      phase: shown,
      sel: linking.picked,
      way,
    });
  }

  return Object.assign(player, { linking, motion });
}
