// The algorithm with its current line, the bytes of every order, and the bar of bytes that stays.

import { all, button, card, el, set } from "../lib/dom.js";
import { bytes } from "../lib/format.js";
import { isNarrow } from "../lib/screen.js";
import { CONVENTIONS } from "../model/algorithms.js";
import { soFar, sumOf } from "../model/frame.js";
import { algorithmOf, algorithmsOf } from "../model/passes.js";
import { codeText, lit, noteOf } from "../model/phases.js";
import { t } from "../model/texts.js";
import { ByteTrack, track } from "../views/byte_track.js";

/** @import { Frame, Trace } from "../model/types.js" */
/** @import { Line } from "../model/phases.js" */

/** @import { Listing, Listings } from "./types.js" */

/** @typedef {"paper" | "numpy" | "triton"} Source */
/** @type {Source[]} */
const SOURCES = ["paper", "numpy", "triton"];

/** The same step in three languages; NumPy and Triton are cut out of the files that run. */
export class Code {
  /** @type {Listings | undefined} */
  listings;
  /** @type {Trace} */
  trace;
  /** @type {Frame | undefined} */
  last;
  /** @type {Line[]} */
  lines;
  /** @type {number} */
  room;
  constructor() {
    this.list = el("ol.fa-code", { tabindex: 0, "aria-label": t("code") });
    /** @type {Source} */
    this.kind = "paper";
    this.tabs = SOURCES.map((kind) =>
      button(t(`source.${kind}`), () => this.choose(kind), {
        role: "tab",
        title: t(`source.${kind}.what`),
        "data-code": kind,
      }),
    );
    this.card = card("code-card", t("code"), "", [this.list]);
    this.card.head.append(
      el("div.fa-tabs", { role: "tablist", "aria-label": t("code") }, this.tabs),
    );
    this.root = this.card.root;
    this.choose("paper");
  }

  /** @param {Source} kind */
  choose(kind) {
    this.kind = kind;
    this.tabs.forEach((tab) =>
      set(tab, {
        "aria-selected": tab.dataset.code === kind,
        class: tab.dataset.code === kind ? "is-now" : "",
      }),
    );
    if (!this.trace) return;
    this.layout(this.trace);
    if (this.last) this.draw(this.last);
  }

  /** @param {Trace} trace */
  layout(trace) {
    this.trace = trace;
    const { order } = trace.problem;
    const { pass } = trace.header;
    const orders = algorithmsOf(pass);
    const listings = /** @type {Record<string, Listing> | undefined} */ (
      pass === "backward" ? this.listings?.backward : this.listings
    );
    const listed = listings?.[order] ?? {};
    for (const tab of this.tabs)
      tab.hidden =
        pass === "backward" && tab.dataset.code !== "paper" && !listed[String(tab.dataset.code)];
    if (this.tabs.some((tab) => tab.hidden && tab.dataset.code === this.kind))
      return this.choose("paper");
    this.card.note.textContent =
      this.kind === "paper" ? orders[order].texts.remark : t(`source.${this.kind}.what`);
    this.lines = this.kind === "paper" ? orders[order].pseudocode : (listed[this.kind] ?? []);
    this.list.classList.toggle("is-long", this.kind !== "paper");
    this.list.replaceChildren(
      ...this.lines.map((line, k) => {
        const { text, phase } = line;
        const remarks = noteOf(line, trace.problem);
        return el(
          "li",
          { "data-part": phase && (this.kind === "paper" ? `line.${k}` : `phase.${phase}`) },
          [el("code", codeText(text, trace.problem)), remarks && el("span", `# ${remarks}`)],
        );
      }),
    );
    this.room = this.list.clientHeight;
  }

  /** @param {Frame} f */
  draw(f) {
    this.last = f;
    let first = -1;
    const kernel = this.kind === "paper" && f.pass === "backward"; // which has lines of its own
    const count = this.lines.filter(({ stage = null }) => !kernel || stage === f.stage).length;
    this.list.classList.toggle("is-many", this.kind === "paper" && count > 12);
    const items = all(this.list, "li");
    this.lines.forEach((line, k) => {
      items[k].hidden = kernel && (line.stage ?? null) !== f.stage;
      const on = lit(line, f);
      if (on && first < 0) first = k;
      set(items[k], { class: on ? "is-now" : "", "aria-current": on ? "step" : null });
    });
    if (first < 0) return;
    const [top, line] = [items[0], items[first]];
    // with some of what follows; the frame lays out the page once
    requestAnimationFrame(() => {
      this.list.scrollTop = line.offsetTop - top.offsetTop + 2 * line.offsetHeight - this.room / 2;
    });
  }
}

/** The requested bytes of every order, filled as far as the visits have come, beside its compulsory bytes, on one scale. */
export class Traffic {
  /** What each order requests. @type {Record<string, ByteTrack>} */
  tracks;
  constructor() {
    this.body = el("div.fa-bars");
    this.note = el("p.fa-caption.fa-caption-note", t("traffic.between"));
    this.card = card("traffic", t("traffic"), "", [this.body, this.note]);
    this.root = this.card.root;
  }

  /** @param {Trace} trace */
  layout(trace) {
    const { requested, compulsory } = trace.header.totals;
    this.tracks = {};
    const most = Math.max(...Object.values(requested).map(sumOf)); // never less than any compulsory bytes
    const heads = Object.entries(CONVENTIONS).map(([kind, words]) =>
      el("span.fa-bar-line", [
        el("b", { "data-term": kind, text: kind }),
        el("span", words.split(":")[0]),
      ]),
    );
    this.body.replaceChildren(el("div.fa-bar.fa-bar-heads", [el("span"), ...heads]));
    const algorithms = algorithmsOf(trace.header.pass);
    for (const order of Object.keys(requested)) {
      const { label, hue, closed_form, texts } = algorithms[order];
      const current = order === trace.problem.order;
      const [all, once] = [sumOf(requested[order]), sumOf(compulsory[order])];
      const line = (
        /** @type {"requested" | "compulsory"} */ kind,
        /** @type {number} */ total,
        /** @type {HTMLElement} */ bar,
      ) => {
        const more = kind === "compulsory" && texts.compulsory ? `. ${texts.compulsory}` : "";
        const form = closed_form[kind] + more;
        return el(
          "div.fa-bar-line",
          { "data-part": `bytes.${order}.${kind}`, title: t("traffic.form", { kind, form }) },
          [bar, el("span.fa-bar-total", { "data-bytes": total, text: bytes(total) })],
        );
      };
      const moved = (this.tracks[order] = new ByteTrack(all, "is-requested", (100 * all) / most));
      if (current)
        for (const op of /** @type {const} */ (["read", "write"]))
          set(moved[op], { "data-part": `moved.${op}` });
      this.body.append(
        el("div", { class: `fa-bar${current ? " is-now" : ""}`, style: `--fa-hue:${hue}` }, [
          el("span.fa-bar-name", label),
          line("requested", all, moved.root),
          line("compulsory", once, track("is-compulsory", (100 * once) / most)),
        ]),
      );
    }
  }

  /** @param {Frame} f */
  draw(f) {
    this.tracks[f.problem.order].draw(f.reads, f.writes);
  }
}

/** One thin bar that stays: the requested bytes so far against those of standard attention, in all and by now; in standard
 * attention itself against those of the usual algorithm. */
export class Progress {
  /** @type {Trace} */
  trace;
  /** @param {() => void} onOpen shows the bytes of all algorithms */
  constructor(onOpen) {
    this.now = el("b");
    this.other = el("span");
    this.fill = el("i");
    this.mark = el("i.fa-progress-mark");
    const words = el("span.fa-progress-words", [
      el("span", [t("progress.so_far"), this.now]),
      this.other,
    ]);
    this.root = button("", onOpen, { class: "fa-progress", title: t("progress.key") }, [
      words,
      el("span.fa-progress-track", [this.mark, this.fill]),
    ]);
  }

  /** @param {Trace} trace */
  layout(trace) {
    this.trace = trace;
    set(this.root, { "data-spot": isNarrow() ? "bus" : null }); // a phone has no lanes
  }

  /** @param {Frame} f */
  draw(f) {
    const { own, other, all, now } = soFar(this.trace, f);
    set(this.now, { text: bytes(own) });
    const values = { order: other, all: bytes(all) };
    const begun = f.step > 0 && now < all && !isNarrow(); // a phone has no room for both
    set(this.other, {
      text: begun
        ? t("progress.other", { ...values, now: bytes(now) })
        : t("progress.other.first", values),
    });
    const most = Math.max(all, own);
    // moved in place of widened, so that no frame of the transition needs a layout
    for (const [bar, part] of /** @type {const} */ ([
      [this.fill, own],
      [this.mark, begun ? now : 0],
    ]))
      bar.style.translate = `${((100 * part) / most - 100).toFixed(2)}%`;
  }
}
