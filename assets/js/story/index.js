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
import { makeStoryBar } from "./bar.js";
import { beatMs, beside, chapterOf, textsAt } from "./chapters.js";
import { makePicturePage } from "./page.js";
import { moreButton, openTables } from "./tables.js";
import { t, texts } from "./texts.js";
import { makeTip } from "./tip.js";
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

/** Make a story in its place. @param {HTMLElement} mount @param {Story} story @param {Component} component */
function makeStory(mount, story, component) {
  /** @type {Chapter | undefined} */
  let data;
  let at = 0;
  let chapter = "";
  /** Words and switches that were chosen, by their keys in the address. @type {Record<string, string>} */
  let choice = {};
  /** @type {Canvas | undefined} */
  let canvas;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** What the glossary explains. @type {Index | undefined} */
  let terms;
  /** The terms that headline and sentence explain. @type {Set<string>} */
  let marked = new Set();
  /** The problem in words, once its choices are there. @type {import("../lib/words.js").ProblemWords | undefined} */
  let line;
  const names = Object.keys(story.painters);
  const { prefix, after } = story;

  const { base, root, headline, sentence, switches, words } = makePicturePage(
    mount,
    "fa-story",
    { "data-testid": "story", "data-page": story.page },
    {
      get isReady() {
        return Boolean(data);
      },
      layout: () => canvas?.refit(),
      act,
      file,
    },
  );
  component.watch?.("value", () => recorded(component.props?.value ?? ""));
  const place = el("div.fa-story-picture");
  const provenance = el("p.fa-story-provenance");
  const more = moreButton(
    t("table"),
    (opener) => data && openTables(data, at, file()[0], opener, recorder()),
  );
  const spoken = el("p.fa-sr", { "aria-live": "polite", "data-testid": "sentence" });
  const bar = makeStoryBar(names, { act, open: (name) => open(name, {}), go: moved });
  const foot = el("div.fa-story-foot", [provenance, words, more]);
  root.append(place, foot, bar.root, spoken);
  const tip = makeTip(place);
  /** What `reveal` learns from which parts of the picture changed. */
  const changes = new MutationObserver(() => {});
  changes.observe(place, { subtree: true, childList: true, attributes: true });
  // After the pointer has chosen, the arrows move the scrubber; with the keyboard the focus stays in the switch
  switches.addEventListener("click", (event) => event.detail && targetOf(event).blur());

  function last() {
    return (data?.beats.length ?? 1) - 1;
  }

  /** @returns {[name: string, words: string]} */
  function file() {
    return [`flashattention-${story.page}-${chapter}`, provenance.textContent ?? ""];
  }

  /** Show what the address asks for; where that is refused, say so over the page's own. */
  async function start() {
    during("words", fetchJson("words")).then(({ workload }) => {
      line = makeProblemWords(workload, choose);
      words.replaceChildren(line.root);
      showWords();
    });
    const { view, at: place, ...chosen } = Object.fromEntries(readPrefixed(prefix));
    const name = chapterOf(names, view);
    choice = chosen;
    const refusal = await open(name, {}, Number(place));
    if (!refusal) return;
    choice = {};
    await open(name, {});
    base.notify(refusal);
  }

  /** Show a chapter with these words or switches changed, at a position, or where it starts.
   * @param {string} name @param {Record<string, string>} changed @param {number} [place] */
  function open(name, changed, place) {
    stop();
    const wanted = { ...choice };
    // What Next leads through is a place: another chapter is left for its first one
    if (name !== chapter)
      for (const { key, role } of data?.switches ?? []) if (role === "next") delete wanted[key];
    Object.assign(wanted, changed);
    return base.loading(async (signal) => {
      const url = buildUrl(story.page, { ...wanted, chapter: name });
      const response = await during("figures", base.fetch(url, signal));
      const found = /** @type {Chapter} */ (await response.json());
      base.notify(null);
      choice = wanted;
      show(name, found, place);
    });
  }

  /** Change words or switches; the position is kept where the chapter is as long as before.
   * @param {Record<string, string>} changed */
  async function choose(changed) {
    const { beats, start } = data ?? { beats: [], start: 0 };
    const before = at;
    const refusal = await open(chapter, changed);
    const named = data?.beats.findIndex(({ mask }) => mask && mask === changed.mask) ?? -1;
    if (named >= 0 && !refusal) go(named);
    else if (data?.beats.length === beats.length && data.start === start && !refusal) go(before);
    return refusal;
  }

  /** @param {string} name @param {Chapter} found @param {number} [wanted] */
  function show(name, found, wanted = NaN) {
    const isOther = name !== chapter;
    if (isOther && chapter) headline.scrollIntoView({ block: "nearest" });
    chapter = name;
    data = found;
    terms ??= new Index({ terms: [], spelled: found.terms });
    at = clamp(Number.isInteger(wanted) ? wanted : found.start, 0, last());
    if (isOther || !canvas) {
      const paint = (/** @type {Parameters<Painter>} */ ...all) =>
        markPicture(nodesOf(story.painters[name](...all)));
      canvas = svgCanvas(scene(found), { label: found.label }, LAYOUT[name].height, paint);
      place.replaceChildren(canvas, tip);
    }
    root.classList.toggle("has-scrubber", last() > 0);
    drawSwitches(found);
    writeAddress();
    render();
    showWords();
  }

  /** The words of the problem, with the mask of the picture where each position has its own. */
  function showWords() {
    if (!data || !line) return;
    const { words = LAYOUT[chapter].words, defaults, beats, switches } = data;
    const values = { ...data.values };
    for (const { key, label, value, choices, role } of switches) {
      if (role !== "word") continue;
      line.fields.set(key, { key, label, choices, default: value });
      values[key] = value;
    }
    const { mask = values.mask } = beats[at];
    line.show({ ...values, mask }, words, defaults);
  }

  /** @param {Chapter} data @returns {Scene} */
  function scene(data) {
    return {
      ...data,
      at,
      beat: data.beats[at],
      go: moved,
      choose: (changed) => void choose(changed),
    };
  }

  /** @param {Chapter} data */
  function drawSwitches(data) {
    const buttons = data.switches.filter(({ role }) => role !== "word");
    const groups = buttons.map(({ key, label, value, choices }) => {
      const options = choices.map(([one, text]) => ({ value: one, text }));
      return radios(label, options, value, (to) => void choose({ [key]: to }));
    });
    replaceRadios(switches, groups);
  }

  /** A hand moved it. @param {number} to */
  function moved(to) {
    stop();
    go(to);
  }

  /** @param {number} to */
  function go(to) {
    if (!data) return;
    at = clamp(to, 0, last());
    writeAddress();
    render();
    if (data.beats[at].mask) showWords();
  }

  function writeAddress() {
    const place = at === data?.start ? null : at;
    const view = chapter === names[0] ? null : chapter;
    address.writePrefixed(prefix, { ...choice, view, at: place }, data?.defaults ?? {});
  }

  function render() {
    if (!data) return;
    const now = textsAt(data, at);
    marked = new Set();
    const lines = [now.headline, now.sentence].map((text) =>
      mark(text, marked, (attributes) => el("abbr", attributes)),
    );
    if (canvas) set(canvas, { "aria-label": data.label });
    canvas?.redraw(scene(data)); // first: it measures its place, which new words would have laid out once more
    [headline, sentence].forEach((node, k) => {
      const fresh = /** @type {Element} */ (node.cloneNode());
      fresh.append(...lines[k]);
      if (!fresh.isEqualNode(node)) node.replaceChildren(...fresh.childNodes);
    });
    set(provenance, { text: now.provenance });
    const next = isDone() ? texts.next_page[after] : t("next");
    bar.show({ ...now, chapter, at, last: last(), next });
    set(root, {
      "data-chapter": chapter,
      "data-step": at,
      "data-steps": last() + 1,
      "data-prefix": prefix,
      "data-moving": timer ? "true" : "false",
    });
    if (!timer) set(spoken, { text: `${now.headline} ${now.sentence} ${now.label} ${now.note}` });
  }

  /** @param {string} words @param {Set<string>} marked @param {(attributes: Record<string, string>) => Node} make */
  function mark(words, marked, make) {
    return markTerms(words, /** @type {Index} */ (terms), marked, make);
  }

  /** Mark the first place of each term that headline and sentence do not have; what can be dragged or chosen says its own.
   * @param {Node[]} drawn @returns {Drawn} */
  function markPicture(drawn) {
    const picture = document.createDocumentFragment();
    picture.append(...drawn);
    const inPicture = new Set(marked);
    const texts = document.createTreeWalker(picture, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (texts.nextNode()) nodes.push(/** @type {Text} */ (texts.currentNode));
    for (const node of nodes)
      if (!node.parentElement?.closest("[data-knob]"))
        node.replaceWith(...mark(node.data, inPicture, (own) => svg("tspan", own)));
    return picture;
  }

  /** Is this the end of the story? */
  function isDone() {
    return at === last() && !beside(names, chapter, data, 1);
  }

  /** @param {number} ms for each position */
  function play(ms) {
    bar.playing(true);
    set(root, { "data-moving": "true" });
    timer = setTimeout(() => {
      if (!root.isConnected || at === last()) return stop();
      go(at + 1);
      if (at < last()) return play(ms);
      reveal();
      stop();
    }, ms);
  }

  /** Scroll what has just changed in the picture above the bar, which on a phone covers the page. */
  function reveal() {
    const boxes = changes
      .takeRecords()
      .flatMap(({ type, target, addedNodes }) => (type === "childList" ? [...addedNodes] : target))
      .map((node) => (node instanceof Element ? node : node.parentElement))
      .filter((node) => node?.isConnected && !node.matches("svg, [data-knob]"))
      .map((node) => /** @type {Element} */ (node).getBoundingClientRect());
    if (!boxes.length) return;
    const top = Math.min(...boxes.map((box) => box.top)) - MARGIN;
    const end = bar.root.getBoundingClientRect().top;
    const under = Math.max(...boxes.map((box) => box.bottom)) + MARGIN - end;
    window.scrollBy(0, under > 0 ? Math.max(0, Math.min(under, top)) : Math.min(0, top));
  }

  function stop() {
    if (!timer) return;
    clearTimeout(timer);
    timer = undefined;
    bar.playing(false);
    render();
  }

  /** @param {string} action of a key or of a button */
  function act(action) {
    if (!data) return;
    const wasPlaying = Boolean(timer);
    stop();
    // A clicker may send arrows or Space: at the end of a chapter they lead on, as Next does
    const isOver = isPresenting() && at === last() && !isDone();
    /** @type {Record<string, () => unknown>} */
    const acts = {
      next: () => (isOver ? forward(false) : go(at + 1)),
      back: () => (isPresenting() && !at ? backward() : go(at - 1)),
      phaseNext: () => go(at + 1),
      phaseBack: () => go(at - 1),
      first: () => go(0),
      last: () => go(last()),
      forward: () => forward(wasPlaying),
      backward,
      toggle: () => {
        if (wasPlaying) return;
        if (isOver) return forward(false);
        if (at === last()) go(0);
        play(beatMs(last() + 1));
      },
    };
    const done = acts[action]();
    reveal();
    return done;
  }

  /** Next: to the end of this chapter, then on, at last to the next page. @param {boolean} isHurried the end at once */
  function forward(isHurried) {
    if (at < last()) {
      if (isHurried || isStill()) return go(last());
      const left = last() - at;
      go(at + 1);
      return left > 1 && play(Math.max(16, NEXT_MS / left));
    }
    const next = beside(names, chapter, data, 1);
    if (next) return open(...next);
    if (!isPresenting()) return toPage(after);
  }

  function backward() {
    if (at > (data?.start ?? 0)) return go(data?.start ?? 0);
    const before = beside(names, chapter, data, -1);
    if (before) return open(...before);
  }

  /** What lets the server's GPU run the launch that is shown; null where this picture is of none. */
  function recorder() {
    const { props, trigger } = component;
    if (chapter !== story.recorded || !props || !trigger) return null;
    return () => {
      props.value = String(new URLSearchParams({ ...data?.values, ...choice }));
      trigger("record");
    };
  }

  /** What the server says of it, as JSON. @param {string} value */
  function recorded(value) {
    if (!value.startsWith("{")) return; // what was asked
    const { running, error, chapter } = JSON.parse(value);
    base.notify(running ?? error ?? null);
    if (chapter && story.recorded) show(story.recorded, chapter);
  }

  return start;
}

/** Mounts a story on its component; it fetches nothing before its page is on screen.
 * @param {Component} component @param {Story} story */
export async function mountStory(component, story) {
  const { element } = component;
  const mount = /** @type {HTMLElement} */ (find(element, ".fa-mount"));
  const start = makeStory(mount, story, component);
  if (!isOnScreen(story.page)) await onPage(story.page);
  await start();
}
