// A story: one picture at a time, a headline above it, a transport below. A chapter is plain data of the server; a painter
// draws it at a position of the scrubber. Next leads through the positions, the chapters, and on to the next page.

import { el, find, isPresenting, isStill, set, svg, targetOf } from "../lib/dom.js";
import { buildUrl, fetchJson } from "../lib/build.js";
import { clamp } from "../lib/format.js";
import { during } from "../lib/pending.js";
import { radios, replaceRadios } from "../lib/radios.js";
import { nodesOf, svgCanvas } from "../lib/svg_canvas.js";
import { address, readPrefixed } from "../site/address.js";
import { isOnScreen, onPage, toPage } from "../site/pages.js";
import { Index, markTerms } from "../site/terms.js";
import { makeProblemWords } from "../lib/words.js";
import { StoryBar } from "./bar.js";
import { beatMs, beside, chapterOf, textsAt } from "./chapters.js";
import { PicturePage } from "./page.js";
import { moreButton, openTables } from "./tables.js";
import { t, texts } from "./texts.js";
import { Tip } from "./tip.js";
import layout from "../../stories.json" with { type: "json" };

/** @import { Canvas, Height, Paper, Pen, Drawn } from "../lib/svg_canvas.js" */
/** @import { Chapter } from "./chapters.js" */
/** What a painter draws: a chapter at a position; `go` moves the scrubber, `choose` sets words of the problem or switches.
 * @template [P=any] its picture
 * @template [B=any] its beats
 * @typedef {Omit<Chapter, "picture" | "beats"> & {picture: P, beats: B[], beat: B, at: number, go: (at: number) => void, choose: (choice: Record<string, string>) => void}} Scene */
/** @typedef {(scene: Scene, paper: Paper, pen: Pen<Scene>) => Drawn} Painter */
/** @typedef {{page: "memory" | "parallel", prefix: string, after: "parallel" | "learn", painters: Record<string, Painter>, recorded?: string}} Story `recorded`: the chapter of what a GPU can run */
/** @typedef {import("./page.js").Component} Component */
/** Of each chapter how high its picture is, and the words of its line where the server says no others. @type {Record<string, {height: Height, words: string[]}>} */
const LAYOUT = layout;
const MARGIN = 8; // px about what is scrolled into view
const NEXT_MS = 1200; // in which Next passes the positions of a chapter

class StoryPage extends PicturePage {
  /** @type {Chapter | undefined} */
  data;
  at = 0;
  chapter = "";
  /** Words and switches that were chosen, by their keys in the address. @type {Record<string, string>} */
  choice = {};
  /** @type {Map<string, Chapter>} */
  answers = new Map();
  /** @type {Canvas | undefined} */
  canvas;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;
  /** What the glossary explains. @type {Index | undefined} */
  terms;
  /** The terms that headline and sentence explain. @type {Set<string>} */
  marked = new Set();
  /** The problem in words, once its choices are there. @type {import("../lib/words.js").ProblemWords | undefined} */
  line;

  /** @param {HTMLElement} mount @param {Story} story @param {Component} component */
  constructor(mount, story, component) {
    super(mount, "fa-story", { "data-testid": "story", "data-page": story.page });
    this.story = story;
    this.component = component;
    component.watch?.("value", () => this.recorded(component.props?.value ?? ""));
    this.names = Object.keys(story.painters);
    this.place = el("div.fa-story-picture");
    this.provenance = el("p.fa-story-provenance");
    const more = moreButton(
      t("table"),
      (opener) => this.data && openTables(this.data, this.at, this.file[0], opener, this.recorder),
    );
    this.spoken = el("p.fa-sr", { "aria-live": "polite", "data-testid": "sentence" });
    this.bar = new StoryBar(this.names, {
      act: (action) => this.act(action),
      open: (name) => this.open(name, {}),
      go: (at) => this.moved(at),
    });
    const foot = el("div.fa-story-foot", [this.provenance, this.words, more]);
    this.root.append(this.place, foot, this.bar.root, this.spoken);
    this.tip = new Tip(this.place);
    /** What `reveal` learns from which parts of the picture changed. */
    this.changes = new MutationObserver(() => {});
    this.changes.observe(this.place, { subtree: true, childList: true, attributes: true });
    // After the pointer has chosen, the arrows move the scrubber; with the keyboard the focus stays in the switch
    this.switches.addEventListener("click", (event) => event.detail && targetOf(event).blur());
  }

  get isReady() {
    return Boolean(this.data);
  }

  get last() {
    return (this.data?.beats.length ?? 1) - 1;
  }

  /** @returns {[name: string, words: string]} */
  get file() {
    const name = `flashattention-${this.story.page}-${this.chapter}`;
    return [name, this.provenance.textContent ?? ""];
  }

  layout() {
    this.canvas?.refit();
  }

  /** Show what the address asks for. */
  start() {
    during("words", fetchJson("words")).then(({ workload }) => {
      this.line = makeProblemWords(workload, (choice) => this.choose(choice));
      this.words.replaceChildren(this.line.root);
      this.showWords();
    });
    const { view, at, ...choice } = Object.fromEntries(readPrefixed(this.story.prefix));
    this.choice = choice;
    return this.openFirst(chapterOf(this.names, view), at === undefined ? undefined : Number(at));
  }

  /** Show what the address asks for; where that is refused, say so over the page's own. @param {string} name @param {number} [at] */
  async openFirst(name, at) {
    const refusal = await this.open(name, {}, at);
    if (!refusal) return;
    this.choice = {};
    await this.open(name, {});
    this.notify(refusal);
  }

  /** Show a chapter with these words or switches changed, at a position, or where it starts.
   * @param {string} name @param {Record<string, string>} choice @param {number} [at] */
  open(name, choice, at) {
    this.stop();
    const wanted = { ...this.choice };
    // What Next leads through is a place: another chapter is left for its first one
    if (name !== this.chapter)
      for (const { key, role } of this.data?.switches ?? [])
        if (role === "next") delete wanted[key];
    Object.assign(wanted, choice);
    return this.loading(async (signal) => {
      const url = buildUrl(this.story.page, { ...wanted, chapter: name });
      let data = this.answers.get(url.href);
      if (!data) {
        const response = await during("figures", this.fetch(url, signal));
        data = /** @type {Chapter} */ (await response.json());
        this.answers.set(url.href, data);
      }
      this.notify(null);
      this.choice = wanted;
      this.show(name, data, at);
    });
  }

  /** Change words or switches; the position is kept where the chapter is as long as before.
   * @param {Record<string, string>} choice */
  choose(choice) {
    const { beats, start } = this.data ?? { beats: [], start: 0 };
    const before = this.at;
    return this.open(this.chapter, choice).then((refusal) => {
      const { data } = this;
      const named = data?.beats.findIndex(({ mask }) => mask && mask === choice.mask) ?? -1;
      if (named >= 0 && !refusal) this.go(named);
      else if (data?.beats.length === beats.length && data.start === start && !refusal)
        this.go(before);
      return refusal;
    });
  }

  /** @param {string} name @param {Chapter} data @param {number} [at] */
  show(name, data, at = data.start) {
    const isOther = name !== this.chapter;
    if (isOther && this.chapter) this.headline.scrollIntoView({ block: "nearest" });
    Object.assign(this, { chapter: name, data });
    this.terms ??= new Index({ terms: [], spelled: data.terms });
    this.at = clamp(Number.isInteger(at) ? at : data.start, 0, this.last);
    if (isOther || !this.canvas) {
      const paint = this.story.painters[name];
      const marked = (/** @type {Parameters<Painter>} */ ...all) =>
        this.markPicture(nodesOf(paint(...all)));
      this.canvas = svgCanvas(this.scene, { label: data.label }, LAYOUT[name].height, marked);
      this.place.replaceChildren(this.canvas, this.tip.root);
    }
    this.bar.layout(name, this.last);
    this.root.classList.toggle("has-scrubber", this.last > 0);
    this.drawSwitches(data);
    this.writeAddress();
    this.render();
    this.showWords();
  }

  /** The words of the problem, with the mask of the picture where each position has its own. */
  showWords() {
    const { data, line } = this;
    if (!data || !line) return;
    const { words = LAYOUT[this.chapter].words, defaults, beats, switches } = data;
    const values = { ...data.values };
    for (const { key, label, value, choices, role } of switches) {
      if (role !== "word") continue;
      line.fields.set(key, { key, label, choices, default: value });
      values[key] = value;
    }
    const { mask = values.mask } = beats[this.at];
    line.show({ ...values, mask }, words, defaults);
  }

  /** @returns {Scene} */
  get scene() {
    const [data, at] = [/** @type {Chapter} */ (this.data), this.at];
    return {
      ...data,
      at,
      beat: data.beats[at],
      go: (at) => this.moved(at),
      choose: (choice) => void this.choose(choice),
    };
  }

  /** @param {Chapter} data */
  drawSwitches({ switches }) {
    const buttons = switches.filter(({ role }) => role !== "word");
    const groups = buttons.map(({ key, label, value, choices }) => {
      const options = choices.map(([one, text]) => ({ value: one, text }));
      return radios(label, options, value, (to) => void this.choose({ [key]: to }));
    });
    replaceRadios(this.switches, groups);
  }

  /** A hand moved it. @param {number} at */
  moved(at) {
    this.stop();
    this.go(at);
  }

  /** @param {number} at */
  go(at) {
    if (!this.data) return;
    this.at = clamp(at, 0, this.last);
    this.writeAddress();
    this.render();
    if (this.data.beats[this.at].mask) this.showWords();
  }

  writeAddress() {
    const { prefix } = this.story;
    const at = this.at === this.data?.start ? null : this.at;
    const view = this.chapter === this.names[0] ? null : this.chapter;
    address.writePrefixed(prefix, { ...this.choice, view, at }, this.data?.defaults ?? {});
  }

  render() {
    if (!this.data) return;
    const given = textsAt(this.data, this.at);
    const { prefix, after } = this.story;
    this.marked = new Set();
    const words = [given.headline, given.sentence].map((text) =>
      this.mark(text, this.marked, (attributes) => el("abbr", attributes)),
    );
    if (this.canvas) set(this.canvas, { "aria-label": this.data.label });
    this.canvas?.redraw(this.scene); // first: it measures its place, which new words would have laid out once more
    [this.headline, this.sentence].forEach((node, k) => {
      const fresh = /** @type {Element} */ (node.cloneNode());
      fresh.append(...words[k]);
      if (!fresh.isEqualNode(node)) node.replaceChildren(...fresh.childNodes);
    });
    set(this.provenance, { text: given.provenance });
    const { label, note } = given;
    const next = this.isDone ? texts.next_page[after] : t("next");
    this.bar.show({ at: this.at, last: this.last, label, note, next });
    set(this.root, {
      "data-chapter": this.chapter,
      "data-step": this.at,
      "data-steps": this.last + 1,
      "data-prefix": prefix,
      "data-moving": this.timer ? "true" : "false",
    });
    if (!this.timer)
      set(this.spoken, {
        text: `${given.headline} ${given.sentence} ${given.label} ${given.note}`,
      });
  }

  /** @param {string} words @param {Set<string>} marked @param {(attributes: Record<string, string>) => Node} make */
  mark(words, marked, make) {
    return markTerms(words, /** @type {Index} */ (this.terms), marked, make);
  }

  /** Mark the first place of each term that headline and sentence do not have; what can be dragged or chosen says its own.
   * @param {Node[]} drawn @returns {Drawn} */
  markPicture(drawn) {
    const picture = document.createDocumentFragment();
    picture.append(...drawn);
    const marked = new Set(this.marked);
    const texts = document.createTreeWalker(picture, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (texts.nextNode()) nodes.push(/** @type {Text} */ (texts.currentNode));
    for (const node of nodes)
      if (!node.parentElement?.closest("[data-knob]"))
        node.replaceWith(...this.mark(node.data, marked, (own) => svg("tspan", own)));
    return picture;
  }

  /** Is this the end of the story? */
  get isDone() {
    return this.at === this.last && !beside(this.names, this.chapter, this.data, 1);
  }

  /** @param {number} ms for each position */
  play(ms) {
    this.bar.playing(true);
    set(this.root, { "data-moving": "true" });
    this.timer = setTimeout(() => {
      if (!this.root.isConnected || this.at === this.last) return this.stop();
      this.go(this.at + 1);
      if (this.at < this.last) return this.play(ms);
      this.reveal();
      this.stop();
    }, ms);
  }

  /** Scroll what has just changed in the picture above the bar, which on a phone covers the page. */
  reveal() {
    const boxes = this.changes
      .takeRecords()
      .flatMap(({ type, target, addedNodes }) => (type === "childList" ? [...addedNodes] : target))
      .map((node) => (node instanceof Element ? node : node.parentElement))
      .filter((node) => node?.isConnected && !node.matches("svg, [data-knob]"))
      .map((node) => /** @type {Element} */ (node).getBoundingClientRect());
    if (!boxes.length) return;
    const top = Math.min(...boxes.map((box) => box.top)) - MARGIN;
    const end = this.bar.root.getBoundingClientRect().top;
    const under = Math.max(...boxes.map((box) => box.bottom)) + MARGIN - end;
    window.scrollBy(0, under > 0 ? Math.max(0, Math.min(under, top)) : Math.min(0, top));
  }

  stop() {
    if (!this.timer) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.bar.playing(false);
    this.render();
  }

  /** @param {string} action of a key or of a button */
  act(action) {
    if (!this.data) return;
    const wasPlaying = Boolean(this.timer);
    this.stop();
    // A clicker may send arrows or Space: at the end of a chapter they lead on, as Next does
    const isOver = isPresenting() && this.at === this.last && !this.isDone;
    /** @type {Record<string, () => unknown>} */
    const acts = {
      next: () => (isOver ? this.forward(false) : this.go(this.at + 1)),
      back: () => (isPresenting() && !this.at ? this.backward() : this.go(this.at - 1)),
      phaseNext: () => this.go(this.at + 1),
      phaseBack: () => this.go(this.at - 1),
      first: () => this.go(0),
      last: () => this.go(this.last),
      forward: () => this.forward(wasPlaying),
      backward: () => this.backward(),
      toggle: () => {
        if (wasPlaying) return;
        if (isOver) return this.forward(false);
        if (this.at === this.last) this.go(0);
        this.play(beatMs(this.last + 1));
      },
    };
    const done = acts[action]();
    this.reveal();
    return done;
  }

  /** Next: to the end of this chapter, then on, at last to the next page. @param {boolean} isHurried the end at once */
  forward(isHurried) {
    if (this.at < this.last) {
      if (isHurried || isStill()) return this.go(this.last);
      const left = this.last - this.at;
      this.go(this.at + 1);
      return left > 1 && this.play(Math.max(16, NEXT_MS / left));
    }
    const next = beside(this.names, this.chapter, this.data, 1);
    if (next) return this.open(...next);
    if (!isPresenting()) return toPage(this.story.after);
  }

  backward() {
    if (this.at > (this.data?.start ?? 0)) return this.go(this.data?.start ?? 0);
    const before = beside(this.names, this.chapter, this.data, -1);
    if (before) return this.open(...before);
  }

  /** Lets the server's GPU run the launch that is shown; null where this picture is of none. */
  get recorder() {
    const { props, trigger } = this.component;
    if (this.chapter !== this.story.recorded || !props || !trigger) return null;
    return () => {
      props.value = String(new URLSearchParams({ ...this.data?.values, ...this.choice }));
      trigger("record");
    };
  }

  /** What the server says of it, as JSON. @param {string} given */
  recorded(given) {
    if (!given.startsWith("{")) return; // what was asked
    const { running, error, chapter } = JSON.parse(given);
    this.notify(running ?? error ?? null);
    if (chapter && this.story.recorded) this.show(this.story.recorded, chapter);
  }
}

/** Mounts a story on its component; it fetches nothing before its page is on screen.
 * @param {Component} component @param {Story} story */
export async function mountStory(component, story) {
  const { element } = component;
  const mount = /** @type {HTMLElement} */ (find(element, ".fa-mount"));
  const page = new StoryPage(mount, story, component);
  if (!isOnScreen(story.page)) await onPage(story.page);
  await page.start();
}
