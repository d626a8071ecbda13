// The Run page: recorded times of every method over N, one button that runs the real kernel, and what the run found.

import { fetchJson, loadStyles } from "../lib/build.js";
import { button, el, get, isEnlarged, set } from "../lib/dom.js";
import { emit, listen } from "../lib/events.js";
import { during, pending } from "../lib/pending.js";
import { radios, replaceRadios } from "../lib/radios.js";
import { isNarrow } from "../lib/screen.js";
import { errorText, kernelFile, serverUrl } from "../lib/server.js";
import { LINES, makeProblemWords } from "../lib/words.js";
import { RUN_DEFAULTS, changeValues, isStepProblem } from "../model/controls.js";
import { address, readPrefixed } from "../site/address.js";
import { recordFinding } from "../site/findings.js";
import { isOnScreen, onPage } from "../site/pages.js";
import { showStep, wish } from "../site/run.js";
import { makePicturePage } from "../story/page.js";
import { makeTip } from "../story/tip.js";
import { icon } from "../views/transport.js";
import { MOVES, makeChart } from "./chart.js";
import { makeMaskView } from "./masks.js";
import { makeResultView, stepLink } from "./result.js";
import { t } from "./texts.js";
import { makeYoursView } from "./yours.js";

/** @import { WordField } from "../lib/word_control.js" */
/** @typedef {Record<string, string>} Values a run's request, by the keys of RunRequest.to_query */
/** Before a run: on what it would run, and for how long; or why it would not, and what would.
 * @typedef {{gpu: boolean | null, device: string | null, expected_s: number | null, refused: string | null, link: [string, string] | null}} Note */
/** @typedef {"record" | "result" | "masks" | "yours"} View */
/** What the parts of the page may ask of it. @typedef {ReturnType<typeof makeRunPage>["frame"]} RunFrame */

const PREFIX = "run-";
const BUSY = ["running", "waiting"];
/** The views that a presentation leads through. @type {View[]} */
const SLIDES = ["record", "masks", "result"];

/** Numbers of a sweep on this GPU. */
const MEASURED = "naive,fa2,hopper,sdpa_flash,sdpa_cudnn";

/** Make the page in its place. @param {HTMLElement} mount @param {((event: "run" | "stop" | "sweep", query?: string) => void) | null} send nothing runs without it */
function makeRunPage(mount, send) {
  /** @type {Values} */
  let values = {};
  /** @type {Note | null} */
  let note = null;
  /** @type {View} */
  let view = "record";
  /** How far the last run is, or what it found. @type {any} */
  let state = null;
  let runs = 0; // that have ended
  /** Was the button pressed before the page knew what to run? */
  let isWanted = false;
  /** Why the last run gave nothing, and what would. @type {{sentence: string, link: [string, string] | null} | null} */
  let failure = null;
  /** How far a sweep on this GPU is. @type {any} */
  let progress = null;
  /** @type {import("../lib/words.js").ProblemWords | undefined} */
  let line;

  const { base, root, headline, sentence, switches, words } = makePicturePage(
    mount,
    "fa-run-view",
    { "data-testid": "run", "aria-busy": "false" },
    {
      get isReady() {
        return Boolean(line);
      },
      layout: draw,
      act,
      file: () => [`flashattention-run-${view}`, view === "result" ? state.provenance : ""],
    },
  );
  /** What the parts of the page may ask of it. */
  const frame = {
    get values() {
      return values;
    },
    get note() {
      return note;
    },
    get view() {
      return view;
    },
    say,
    sweep,
    writeChart,
    choose,
    drawBar,
    openStep,
    run,
    notify: (/** @type {string | null} */ words) => base.notify(words),
  };
  const chart = makeChart(frame);
  const result = makeResultView(frame);
  const masks = makeMaskView(frame);
  const yours = makeYoursView(frame);
  /** @type {Record<View, HTMLElement>} */
  const places = {
    record: chart.root,
    result: result.root,
    masks: masks.root,
    yours: yours.root,
  };
  const label = el("span");
  const goButton = button("", pressed, { class: "fa-next fa-run-go" }, [label, icon("forward")]);
  const remark = el("div.fa-run-note", { role: "status" });
  const meter = el("div.fa-run-meter", { hidden: true }, [el("i")]);
  const bar = el("div.fa-story-bar.fa-run-foot", [meter, goButton, remark, words]);
  const shown = el("div.fa-run-places", Object.values(places));
  shown.append(makeTip(shown));
  root.append(shown, bar);
  listen("fa:page", (/** @type {string} */ page) => page === "run" && void follow());
  listen("fa:run-step", () => void runStep());

  /** @param {string} title @param {string} text */
  function say(title, text) {
    set(headline, { text: title });
    set(sentence, { text });
  }

  /** Show what the address asks for. */
  async function start() {
    const [{ run: fields }] = await during(
      "words",
      Promise.all([fetchJson("words"), chart.load()]),
    );
    /** @type {WordField} */
    const methods = fields.find((/** @type {WordField} */ field) => field.key === "methods");
    if (!kernelFile()) methods.choices = methods.choices.filter(([key]) => key !== "yours");
    line = makeProblemWords(fields, choose, true);
    words.replaceChildren(line.root);
    const named = Object.fromEntries(readPrefixed(PREFIX));
    if (named.view === "masks" || named.view === "yours") view = named.view;
    await follow(named.chart);
    if (wish.step) await runStep();
    else if (isWanted) run();
  }

  /** Read from the address what would be run: the page's own request, else the Step page's Problem. @param {string} [drawn] what its chart shows */
  async function follow(drawn) {
    if (!line) return;
    address.flush();
    base.notify(await read(window.location.search, drawn, true));
  }

  /** Take the request of an address; resolves with the sentence why not. @param {string} search @param {string} [drawn] @param {boolean} isForced shows the default in place of what is refused */
  async function read(search, drawn, isForced = false) {
    try {
      const response = await during("opened", base.fetch(serverUrl("opened", search)));
      const { values: found, error, ...rest } = (await response.json()).run;
      if (error && !isForced) return error;
      const isOther = JSON.stringify(found) !== JSON.stringify(values);
      values = found;
      note = rest;
      if (isOther || drawn) chart.follow(values, drawn);
      if (isOther) failure = null;
      draw();
      return error;
    } catch (error) {
      return errorText(error);
    }
  }

  /** Change words of the Problem; resolves with the sentence why not. @param {Record<string, string>} change */
  async function choose(change) {
    if (!send) return t("without_server");
    const wanted = changeValues(/** @type {any} */ (values), change);
    const params = new URLSearchParams(window.location.search);
    for (const [key] of readPrefixed(PREFIX)) params.delete(PREFIX + key);
    for (const [key, value] of Object.entries(wanted)) params.set(PREFIX + key, value);
    const refusal = await read(`?${params}`);
    if (!refusal) write();
    return refusal ?? undefined;
  }

  /** The request goes to the address, unless it is the Step page's Problem. */
  function write() {
    const own = Object.entries(values).filter(([key, value]) => value !== RUN_DEFAULTS[key]);
    address.flush();
    const isSame = isStepProblem(Object.fromEntries(own), window.location.search);
    address.writePrefixed(PREFIX, values, isSame ? values : RUN_DEFAULTS);
  }

  /** @param {string | null} name what the chart shows, null for what it shows by itself */
  function writeChart(name) {
    address.write({ [`${PREFIX}chart`]: name });
  }

  function isBusy() {
    return isRunning() || Boolean(progress);
  }

  function isRunning() {
    return BUSY.includes(state?.state);
  }

  function pressed() {
    if (isBusy()) send?.("stop");
    else if (note) run();
    else isWanted = true;
  }

  function run() {
    if (!send) return;
    base.notify(null);
    failure = null;
    write();
    address.flush();
    pending("run", true);
    send("run", new URLSearchParams(values).toString());
  }

  /** Run the Problem of the Step page. */
  async function runStep() {
    if (!line) return;
    wish.step = false;
    await follow();
    if (!isBusy()) run();
  }

  /** Measure what the chart shows on this GPU. */
  function sweep() {
    if (!send || isBusy() || !chart.choice) return;
    const { d, dtype, mask } = chart.choice;
    const query = new URLSearchParams({ d: String(d), dtype, mask, methods: MEASURED });
    send("sweep", query.toString());
  }

  /** What the server says. @param {string} answer JSON */
  function receive(answer) {
    if (!answer.startsWith("{")) return; // what was asked
    const { run, sweep } = JSON.parse(answer);
    if (sweep) swept(sweep);
    if (run) ran(run);
  }

  /** @param {{rows?: any[][], columns?: string[], device?: string, done?: number, all?: number, error: string | null}} sweep */
  function swept({ rows, columns, device = "", done = 0, all = 0, error }) {
    const isOver = error !== null || done === all;
    progress = isOver ? null : { done, all, device };
    if (rows?.length && columns) chart.measured({ rows, columns }, device);
    if (error) base.notify(error);
    draw();
  }

  /** A run goes on, or has ended. @param {any} now */
  function ran(now) {
    state = now;
    const { state: name, sentence, link } = now;
    const isOver = !isRunning();
    const before = view;
    pending("run", !isOver);
    view = ["refused", "waiting", "canceled"].includes(name) ? "record" : "result";
    if (name === "refused") failure = { sentence, link };
    result.show(now);
    if (isOver) {
      runs += 1;
      recordFinding({ ...now, query: stepQuery() });
    }
    draw();
    // On a phone the button is below what it changes
    if (view !== before) headline.scrollIntoView({ block: "nearest" });
  }

  /** The Step page's query of what was run. */
  function stepQuery() {
    return new URLSearchParams(state?.query ?? {}).toString();
  }

  /** @param {View} name */
  function open(name) {
    view = name;
    address.write({ [`${PREFIX}view`]: ["masks", "yours"].includes(view) ? view : null });
    draw();
  }

  /** Show a step of what was run on the Step page. @param {number} step */
  function openStep(step) {
    return showStep(`${stepQuery()}&step=${step}`);
  }

  function draw() {
    const { state: name = "", agrees, right, device } = state ?? {};
    set(root, {
      "data-view": view,
      "data-state": name,
      "data-query": stepQuery(),
      "data-agrees": String(agrees ?? ""),
      "data-right": String(right ?? ""),
      "data-device": device ?? "",
      "data-runs": runs,
    });
    for (const [name, place] of Object.entries(places)) place.hidden = name !== view;
    line?.show(values, view === "masks" ? LINES.masks : isNarrow() ? LINES.phone : LINES.run);
    drawViews();
    if (view === "record") chart.draw();
    if (view === "masks") void masks.show();
    if (view === "yours") void yours.show();
    if (view === "result") {
      say(state.headline, state.sentence);
      result.draw();
    }
    drawBar();
  }

  function drawViews() {
    const has = state && ["running", "done"].includes(state.state);
    const options = [
      { value: "record", text: t(has ? "view.record" : "view.kernel") },
      ...(has ? [{ value: "result", text: t("view.result") }] : []),
      { value: "masks", text: t("view.masks") },
      { value: "yours", text: t("view.yours") },
    ];
    const to = (/** @type {string} */ name) => open(/** @type {View} */ (name));
    replaceRadios(switches, [radios(t("views"), options, view, to)]);
  }

  function drawBar() {
    const isResult = view === "result";
    const name = progress
      ? t("stop.sweep")
      : isRunning() || (isResult && state.button)
        ? state.button
        : t(view === "masks" ? "run.mask" : "run");
    set(label, { text: name });
    const refused = note?.refused && !isBusy();
    set(goButton, {
      class: `fa-next fa-run-go${isBusy() ? " is-stop" : ""}`,
      "aria-disabled": refused ? "true" : "false",
      disabled: refused ? "" : null,
    });
    const isYours = view === "yours";
    goButton.hidden = !send || isYours;
    words.hidden = isYours;
    meter.hidden = !isRunning();
    meter.style.setProperty("--share", String(state?.progress ?? 0));
    const views = isResult ? result.drawViews() : null;
    if (views) replaceRadios(remark, [stepLink(() => openStep(0)), views]);
    else remark.replaceChildren(...(isYours ? yours.remarks() : remarks()));
    set(remark, {
      class: refusal()[0] && !isBusy() && !views ? "fa-run-note is-refused" : "fa-run-note",
    });
  }

  /** Why nothing runs, or ran, and the text and address of what would. @returns {[string, [string, string] | null]} */
  function refusal() {
    if (note?.refused) return [note.refused, note.link];
    return [failure?.sentence ?? "", failure?.link ?? null];
  }

  /** What stands beside the button: of a run that goes on, of a sweep, or of the machine. @returns {Node[]} */
  function remarks() {
    const lines = (/** @type {string[]} */ ...words) => words.map((text) => el("p", { text }));
    if (progress) return lines(t("note.sweep", progress));
    if (isRunning())
      return lines(...(state.note ?? []), state.state === "waiting" ? state.sentence : "");
    if (!note) return [];
    if (!send) return lines(t("without_server"));
    const { gpu, device, expected_s: expected } = note;
    const [why, link] = refusal();
    if (why) {
      const way = link && el("a", { href: link[1], text: link[0], class: "fa-run-plain" });
      return [...lines(why), ...(way ? [way] : [])];
    }
    const seconds = Math.max(1, Math.round(expected ?? 1));
    const time = seconds === 1 ? t("second") : t("seconds", { count: seconds });
    if (gpu === null) return lines(t("note.starting"));
    return lines(gpu ? t("note.gpu", { device: device ?? "" }) : t("note.cpu", { seconds: time }));
  }

  /** @param {string} action */
  function act(action) {
    const part = { record: chart, result, masks: null, yours: null }[view];
    return Boolean(part?.act(action)) || (isEnlarged() && turn(MOVES[action]));
  }

  /** Lead a lecturer, who may have two keys, from the chart to the masks and to the run; returns whether it did. @param {number | undefined} by */
  function turn(by) {
    const next = by && SLIDES[SLIDES.indexOf(view) + by];
    if (!next) return false;
    if (next !== "result" || state?.state === "done") open(next);
    else if (!isBusy() && !refusal()[0]) run();
    return true;
  }

  return { frame, start, receive };
}

/** @typedef {import("../story/page.js").Component} Component */

/** The page alone, where its styles are there already; without events it runs nothing. @param {Component} component */
export async function mountRunPage({ element, props, watch, trigger }) {
  /** @param {"run" | "stop" | "sweep"} event @param {string} [query] */
  const send = (event, query) => {
    if (!props || !trigger) return;
    if (query !== undefined) props.value = query;
    trigger(event);
  };
  const page = makeRunPage(get(element, ".fa-mount"), trigger ? send : null);
  watch?.("value", () => page.receive(props?.value ?? ""));
  if (!isOnScreen("run")) await onPage("run");
  await page.start();
}

/** The one component of this script. @param {unknown} _ @param {Component} component */
export function mount(_, component) {
  loadStyles("story");
  loadStyles("run_view");
  return mountRunPage(component);
}
