// The Run page: recorded times of every method over N, one button that runs the real kernel, and what the run found.

import { fetchJson, loadStyles } from "../lib/build.js";
import { button, el, get, set } from "../lib/dom.js";
import { emit, listen } from "../lib/events.js";
import { during, pending } from "../lib/pending.js";
import { radios, replaceRadios } from "../lib/radios.js";
import { isEnlarged } from "../lib/screen.js";
import { errorText, kernelFile, serverUrl } from "../lib/server.js";
import { LINES, makeProblemWords } from "../lib/words.js";
import { RUN_DEFAULTS, changeValues, isStepProblem } from "../model/controls.js";
import { address, readPrefixed } from "../site/address.js";
import { recordFinding } from "../site/findings.js";
import { isOnScreen, onPage } from "../site/pages.js";
import { showStep, wish } from "../site/run.js";
import { PicturePage } from "../story/page.js";
import { icon } from "../views/transport.js";
import { Chart, MOVES } from "./chart.js";
import { MaskView } from "./masks.js";
import { rowsOf } from "./records.js";
import { ResultView, stepLink } from "./result.js";
import { t } from "./texts.js";
import { YoursView } from "./yours.js";

/** @import { WordField } from "../lib/word_control.js" */
/** @typedef {Record<string, string>} Values a run's request, by the keys of RunRequest.to_query */
/** Before a run: on what it would run, and for how long; or why it would not, and what would.
 * @typedef {{gpu: boolean | null, device: string | null, expected_s: number | null, refused: string | null, link: [string, string] | null}} Note */
/** @typedef {"record" | "result" | "masks" | "yours"} View */
/** What the parts of the page may ask of it. @typedef {RunPage} RunFrame */

const PREFIX = "run-";
const BUSY = ["running", "waiting"];
/** The views that a presentation leads through. @type {View[]} */
const SLIDES = ["record", "masks", "result"];

/** Numbers of a sweep on this GPU. */
const MEASURED = "naive,fa2,hopper,sdpa_flash,sdpa_cudnn";

export class RunPage extends PicturePage {
  /** @type {Values} */
  values = {};
  /** @type {Note | null} */
  note = null;
  /** @type {View} */
  view = "record";
  /** How far the last run is, or what it found. @type {any} */
  state = null;
  runs = 0; // that have ended
  /** Was the button pressed before the page knew what to run? */
  isWanted = false;
  /** Why the last run gave nothing, and what would. @type {{sentence: string, link: [string, string] | null} | null} */
  failure = null;
  /** How far a sweep on this GPU is. @type {any} */
  progress = null;
  /** @type {import("../lib/words.js").ProblemWords | undefined} */
  line;

  /** @param {HTMLElement} mount @param {((event: "run" | "stop" | "sweep", query?: string) => void) | null} send nothing runs without it */
  constructor(mount, send) {
    super(mount, "fa-run-view", { "data-testid": "run", "aria-busy": "false" });
    this.send = send;
    this.chart = new Chart(this);
    this.result = new ResultView(this);
    this.masks = new MaskView(this);
    this.yours = new YoursView(this);
    this.places = {
      record: this.chart.root,
      result: this.result.root,
      masks: this.masks.root,
      yours: this.yours.root,
    };
    this.label = el("span");
    this.go = button("", () => this.pressed(), { class: "fa-next fa-run-go" }, [
      this.label,
      icon("forward"),
    ]);
    this.remark = el("div.fa-run-note", { role: "status" });
    this.meter = el("div.fa-run-meter", { hidden: true }, [el("i")]);
    const bar = el("div.fa-story-bar.fa-run-foot", [this.meter, this.go, this.remark, this.words]);
    this.root.append(el("div.fa-run-places", Object.values(this.places)), bar);
    listen("fa:page", (/** @type {string} */ page) => page === "run" && void this.follow());
    listen("fa:run-step", () => void this.runStep());
  }

  get isReady() {
    return Boolean(this.line);
  }

  /** @returns {[name: string, words: string]} */
  get file() {
    const words = this.view === "result" ? this.state.provenance : "";
    return [`flashattention-run-${this.view}`, words];
  }

  layout() {
    this.draw();
  }

  /** Show what the address asks for. */
  async start() {
    const [{ run: fields }] = await during(
      "words",
      Promise.all([fetchJson("words"), this.chart.load()]),
    );
    /** @type {WordField} */
    const methods = fields.find((/** @type {WordField} */ field) => field.key === "methods");
    if (!kernelFile()) methods.choices = methods.choices.filter(([key]) => key !== "yours");
    this.line = makeProblemWords(fields, (change) => this.choose(change), true);
    this.words.replaceChildren(this.line.root);
    const named = Object.fromEntries(readPrefixed(PREFIX));
    if (named.view === "masks" || named.view === "yours") this.view = named.view;
    await this.follow(named.chart);
    if (wish.step) await this.runStep();
    else if (this.isWanted) this.run();
  }

  /** Read from the address what would be run: the page's own request, else the Step page's Problem. @param {string} [chart] what its chart shows */
  async follow(chart) {
    if (!this.line) return;
    address.flush();
    this.notify(await this.read(window.location.search, chart, true));
  }

  /** Take the request of an address; resolves with the sentence why not. @param {string} search @param {string} [chart] @param {boolean} isForced shows the default in place of what is refused */
  async read(search, chart, isForced = false) {
    try {
      const response = await during("opened", this.fetch(serverUrl("opened", search)));
      const { values, error, ...note } = (await response.json()).run;
      if (error && !isForced) return error;
      const isOther = JSON.stringify(values) !== JSON.stringify(this.values);
      Object.assign(this, { values, note });
      this.line?.show(values, this.view === "masks" ? LINES.masks : LINES.run);
      if (isOther || chart) this.chart.follow(values, chart);
      if (isOther) this.failure = null;
      this.draw();
      return error;
    } catch (error) {
      return errorText(error);
    }
  }

  /** Change words of the Problem; resolves with the sentence why not. @param {Record<string, string>} change */
  async choose(change) {
    if (!this.send) return t("without_server");
    const values = changeValues(/** @type {any} */ (this.values), change);
    const params = new URLSearchParams(window.location.search);
    for (const [key] of readPrefixed(PREFIX)) params.delete(PREFIX + key);
    for (const [key, value] of Object.entries(values)) params.set(PREFIX + key, value);
    const refusal = await this.read(`?${params}`);
    if (!refusal) this.write();
    return refusal ?? undefined;
  }

  /** The request goes to the address, unless it is the Step page's Problem. */
  write() {
    const own = Object.entries(this.values).filter(([key, value]) => value !== RUN_DEFAULTS[key]);
    address.flush();
    const isSame = isStepProblem(Object.fromEntries(own), window.location.search);
    address.writePrefixed(PREFIX, this.values, isSame ? this.values : RUN_DEFAULTS);
  }

  /** @param {string | null} name what the chart shows, null for what it shows by itself */
  writeChart(name) {
    address.write({ [`${PREFIX}chart`]: name });
  }

  get isBusy() {
    return BUSY.includes(this.state?.state) || Boolean(this.progress);
  }

  pressed() {
    if (this.isBusy) this.send?.("stop");
    else if (this.note) this.run();
    else this.isWanted = true;
  }

  run() {
    if (!this.send) return;
    this.notify(null);
    this.failure = null;
    this.write();
    address.flush();
    pending("run", true);
    this.send("run", new URLSearchParams(this.values).toString());
  }

  /** Run the Problem of the Step page. */
  async runStep() {
    if (!this.line) return;
    wish.step = false;
    await this.follow();
    if (!this.isBusy) this.run();
  }

  /** Measure what the chart shows on this GPU. */
  sweep() {
    if (!this.send || this.isBusy || !this.chart.choice) return;
    const { d, dtype, mask } = this.chart.choice;
    const plain = { data: "random", text: "", hk: "each", head: "0", pass: "forward" };
    const query = { ...this.values, ...plain, d: String(d), dtype, mask, methods: MEASURED };
    this.send("sweep", new URLSearchParams(query).toString());
  }

  /** What the server says. @param {string} answer JSON */
  receive(answer) {
    if (!answer.startsWith("{")) return; // what was asked
    const { run, sweep } = JSON.parse(answer);
    if (sweep) this.swept(sweep);
    if (run) this.ran(run);
  }

  /** @param {{rows?: any[][], columns?: string[], device?: string, done?: number, all?: number, error: string | null}} sweep */
  swept({ rows, columns, device = "", done = 0, all = 0, error }) {
    const isOver = error !== null || done === all;
    this.progress = isOver ? null : { done, all, device };
    if (rows?.length && columns)
      this.chart.measured(rowsOf({ rows, columns, methods: this.chart.methods }), device);
    if (error) this.notify(error);
    this.draw();
  }

  /** A run goes on, or has ended. @param {any} state */
  ran(state) {
    const { state: name, sentence } = state;
    const isOver = !BUSY.includes(name);
    const before = this.view;
    pending("run", !isOver);
    this.state = state;
    if (name === "refused") {
      this.view = "record";
      this.failure = { sentence, link: state.link };
    } else if (name === "waiting" || name === "canceled") this.view = "record";
    else this.view = "result";
    this.result.show(state);
    if (isOver) {
      this.runs += 1;
      recordFinding({ ...state, query: this.stepQuery });
    }
    this.draw();
    // On a phone the button is below what it changes
    if (this.view !== before) this.headline.scrollIntoView({ block: "nearest" });
  }

  /** The Step page's query of what was run. */
  get stepQuery() {
    return new URLSearchParams(this.state?.query ?? {}).toString();
  }

  /** @param {View} view */
  open(view) {
    this.view = view;
    address.write({ [`${PREFIX}view`]: ["masks", "yours"].includes(view) ? view : null });
    this.line?.show(this.values, view === "masks" ? LINES.masks : LINES.run);
    this.draw();
  }

  /** Show a step of what was run on the Step page. @param {number} step */
  openStep(step) {
    return showStep(`${this.stepQuery}&step=${step}`);
  }

  draw() {
    const { state: name = "", agrees, right, device } = this.state ?? {};
    set(this.root, {
      "data-view": this.view,
      "data-state": name,
      "data-query": this.stepQuery,
      "data-agrees": String(agrees ?? ""),
      "data-right": String(right ?? ""),
      "data-device": device ?? "",
      "data-runs": this.runs,
    });
    for (const [view, place] of Object.entries(this.places)) place.hidden = view !== this.view;
    this.drawViews();
    if (this.view === "record") {
      this.chart.say();
      if (this.chart.choice) this.chart.paint();
    }
    if (this.view === "masks") void this.masks.show();
    if (this.view === "yours") void this.yours.show();
    if (this.view === "result") {
      this.say(this.state.headline, this.state.sentence);
      this.result.draw();
    }
    this.drawBar();
  }

  drawViews() {
    const has = this.state && ["running", "done"].includes(this.state.state);
    const options = [
      { value: "record", text: t(has ? "view.record" : "view.kernel") },
      ...(has ? [{ value: "result", text: t("view.result") }] : []),
      { value: "masks", text: t("view.masks") },
      { value: "yours", text: t("view.yours") },
    ];
    const open = (/** @type {string} */ view) => this.open(/** @type {View} */ (view));
    replaceRadios(this.switches, [radios(t("views"), options, this.view, open)]);
  }

  drawBar() {
    const { state, progress, note } = this;
    const isRunning = BUSY.includes(state?.state);
    const isResult = this.view === "result";
    const name = progress
      ? t("stop.sweep")
      : isRunning || (isResult && state.button)
        ? state.button
        : t(this.view === "masks" ? "run.mask" : "run");
    set(this.label, { text: name });
    const refused = note?.refused && !this.isBusy;
    set(this.go, {
      class: `fa-next fa-run-go${this.isBusy ? " is-stop" : ""}`,
      "aria-disabled": refused ? "true" : "false",
      disabled: refused ? "" : null,
    });
    const isYours = this.view === "yours";
    this.go.hidden = !this.send || isYours;
    this.words.hidden = isYours;
    this.meter.hidden = !isRunning;
    this.meter.style.setProperty("--share", String(state?.progress ?? 0));
    const views = isResult && !isEnlarged() ? this.result.drawViews() : null;
    if (views) {
      const link = stepLink(() => this.openStep(0));
      replaceRadios(this.remark, [link, views]);
    } else this.remark.replaceChildren(...(isYours ? this.yours : this).remarks());
    set(this.remark, {
      class: this.refusal[0] && !this.isBusy && !views ? "fa-run-note is-refused" : "fa-run-note",
    });
  }

  /** Why nothing runs, or ran, and the text and address of what would. @returns {[string, [string, string] | null]} */
  get refusal() {
    const { note, failure } = this;
    if (note?.refused) return [note.refused, note.link];
    return [failure?.sentence ?? "", failure?.link ?? null];
  }

  /** What stands beside the button: of a run that goes on, of a sweep, or of the machine. @returns {Node[]} */
  remarks() {
    const { state, progress, note } = this;
    const lines = (/** @type {string[]} */ ...words) => words.map((text) => el("p", { text }));
    if (progress) {
      const { done, all, device } = progress;
      return lines(t("note.sweep", { done, all, device }));
    }
    if (BUSY.includes(state?.state))
      return lines(...(state.note ?? []), state.state === "waiting" ? state.sentence : "");
    if (!note) return [];
    if (!this.send) return lines(t("without_server"));
    const { gpu, device, expected_s: expected } = note;
    const [why, link] = this.refusal;
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
  act(action) {
    const part = { record: this.chart, result: this.result, masks: null, yours: null }[this.view];
    return Boolean(part?.act(action)) || (isEnlarged() && this.turn(MOVES[action]));
  }

  /** Lead a lecturer, who may have two keys, from the chart to the masks and to the run; returns whether it did. @param {number | undefined} by */
  turn(by) {
    const view = by && SLIDES[SLIDES.indexOf(this.view) + by];
    if (!view) return false;
    if (view !== "result" || this.state?.state === "done") this.open(view);
    else if (!this.isBusy && !this.refusal[0]) this.run();
    return true;
  }
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
  const page = new RunPage(get(element, ".fa-mount"), trigger ? send : null);
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
