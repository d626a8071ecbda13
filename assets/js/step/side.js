// The algorithm with its current line, the bytes of every order, and the bar of bytes that stays.

import { all, button, card, el, set, setText } from "../lib/dom.js";
import { bytes } from "../lib/format.js";
import { isNarrow } from "../lib/screen.js";
import { CONVENTIONS } from "../model/algorithms.js";
import { isFp8 } from "../model/fp8.js";
import { soFar, sumOf } from "../model/frame.js";
import { algorithmOf, algorithmsOf } from "../model/passes.js";
import { codeText, lit, noteOf } from "../model/phases.js";
import { t } from "../model/texts.js";
import { makeByteTrack, track } from "../views/byte_track.js";

/** @import { Frame, Trace } from "../model/types.js" */
/** @import { Line } from "../model/phases.js" */

/** @import { Listing, Listings } from "./types.js" */

/** @typedef {"paper" | "numpy" | "triton"} Source */
/** @type {Source[]} */
const SOURCES = ["paper", "numpy", "triton"];

/** List the same step in three languages; NumPy and Triton are cut out of the files that run. */
export function makeCode() {
  /** @type {Listings | undefined} */
  let listings;
  /** @type {Trace} */
  let trace;
  /** @type {Frame | undefined} */
  let last;
  /** @type {Line[]} */
  let lines;
  /** @type {number} */
  let room;

  const listing = el("ol.fa-code", { tabindex: 0, "aria-label": t("code") });
  /** @type {Source} */
  let kind = "paper";
  const tabs = SOURCES.map((source) =>
    button(t(`source.${source}`), () => choose(source), {
      role: "tab",
      title: t(`source.${source}.what`),
      "data-code": source,
    }),
  );
  const { root, head, note } = card("code-card", t("code"), "", [listing]);
  head.append(el("div.fa-tabs", { role: "tablist", "aria-label": t("code") }, tabs));
  choose("paper");

  /** @param {Source} source */
  function choose(source) {
    kind = source;
    tabs.forEach((tab) =>
      set(tab, {
        "aria-selected": tab.dataset.code === kind,
        class: tab.dataset.code === kind ? "is-now" : "",
      }),
    );
    if (!trace) return;
    layout(trace);
    if (last) draw(last);
  }

  /** @param {Trace} next */
  function layout(next) {
    trace = next;
    const { order } = trace.problem;
    const { pass } = trace.header;
    const orders = algorithmsOf(pass);
    const own = /** @type {Record<string, Listing> | undefined} */ (
      pass === "backward" ? listings?.backward : listings
    );
    const listed = own?.[order] ?? {};
    for (const tab of tabs)
      tab.hidden =
        pass === "backward" && tab.dataset.code !== "paper" && !listed[String(tab.dataset.code)];
    if (tabs.some((tab) => tab.hidden && tab.dataset.code === kind)) return choose("paper");
    const isOther = kind === "triton" && isFp8(trace); // than the kernel of these numbers
    note.textContent =
      kind === "paper"
        ? orders[order].texts.remark
        : t(isOther ? "source.triton.fp8" : `source.${kind}.what`);
    lines = kind === "paper" ? orders[order].pseudocode : (listed[kind] ?? []);
    listing.classList.toggle("is-long", kind !== "paper");
    listing.replaceChildren(
      ...lines.map((line, k) => {
        const { text, phase } = line;
        const remarks = noteOf(line, trace.problem);
        return el(
          "li",
          { "data-part": phase && (kind === "paper" ? `line.${k}` : `phase.${phase}`) },
          [el("code", codeText(text, trace.problem)), remarks && el("span", `# ${remarks}`)],
        );
      }),
    );
    room = listing.clientHeight;
  }

  /** @param {Frame} f */
  function draw(f) {
    last = f;
    let first = -1;
    const kernel = kind === "paper" && f.pass === "backward"; // which has lines of its own
    const count = lines.filter(({ stage = null }) => !kernel || stage === f.stage).length;
    listing.classList.toggle("is-many", kind === "paper" && count > 12);
    const items = all(listing, "li");
    lines.forEach((line, k) => {
      items[k].hidden = kernel && (line.stage ?? null) !== f.stage;
      const on = lit(line, f);
      if (on && first < 0) first = k;
      set(items[k], { class: on ? "is-now" : "", "aria-current": on ? "step" : null });
    });
    if (first < 0) return;
    const [top, line] = [items[0], items[first]];
    // with some of what follows; the frame lays out the page once
    requestAnimationFrame(() => {
      listing.scrollTop = line.offsetTop - top.offsetTop + 2 * line.offsetHeight - room / 2;
    });
  }

  /** Take the code of the files that run, which may come later than the trace. @param {Listings} found */
  function list(found) {
    listings = found;
    choose(kind);
  }

  return { root, list, layout, draw };
}

/** Draw the requested bytes of every order, filled as far as the visits have come, beside its compulsory bytes, on one scale. */
export function makeTraffic() {
  /** What each order requests. @type {Record<string, ReturnType<typeof makeByteTrack>>} */
  let tracks;

  const body = el("div.fa-bars");
  const note = el("p.fa-caption.fa-caption-note", t("traffic.between"));
  const { root } = card("traffic", t("traffic"), "", [body, note]);

  /** @param {Trace} trace */
  function layout(trace) {
    const { requested, compulsory } = trace.header.totals;
    tracks = {};
    const most = Math.max(...Object.values(requested).map(sumOf)); // never less than any compulsory bytes
    const heads = Object.entries(CONVENTIONS).map(([kind, words]) =>
      el("span.fa-bar-line", [
        el("b", { "data-term": kind, text: kind }),
        el("span", words.split(":")[0]),
      ]),
    );
    body.replaceChildren(el("div.fa-bar.fa-bar-heads", [el("span"), ...heads]));
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
      const moved = (tracks[order] = makeByteTrack(all, "is-requested", (100 * all) / most));
      if (current)
        for (const op of /** @type {const} */ (["read", "write"]))
          set(moved[op], { "data-part": `moved.${op}` });
      body.append(
        el("div", { class: `fa-bar${current ? " is-now" : ""}`, style: `--fa-hue:${hue}` }, [
          el("span.fa-bar-name", label),
          line("requested", all, moved.root),
          line("compulsory", once, track("is-compulsory", (100 * once) / most)),
        ]),
      );
    }
  }

  /** @param {Frame} f */
  function draw(f) {
    tracks[f.problem.order].draw(f.reads, f.writes);
  }

  return { root, layout, draw };
}

/** Make the thin bar that stays: the requested bytes so far against those of standard attention, in all and by now; in standard
 * attention itself against those of the usual algorithm.
 * @param {() => void} onOpen shows the bytes of all algorithms */
export function makeProgress(onOpen) {
  /** @type {Trace} */
  let trace;

  const ownBytes = el("b");
  const others = el("span");
  const fill = el("i");
  const mark = el("i.fa-progress-mark");
  const words = el("span.fa-progress-words", [
    el("span", [t("progress.so_far"), ownBytes]),
    others,
  ]);
  const root = button([words, el("span.fa-progress-track", [mark, fill])], onOpen, {
    class: "fa-progress",
    title: t("progress.key"),
  });

  /** @param {Trace} next */
  function layout(next) {
    trace = next;
    set(root, { "data-spot": isNarrow() ? "bus" : null }); // a phone has no lanes
  }

  /** @param {Frame} f */
  function draw(f) {
    const { own, other, all, now } = soFar(trace, f);
    setText(ownBytes, bytes(own));
    const values = { order: other, all: bytes(all) };
    const begun = f.step > 0 && now < all && !isNarrow(); // a phone has no room for both
    setText(
      others,
      begun
        ? t("progress.other", { ...values, now: bytes(now) })
        : t("progress.other.first", values),
    );
    const most = Math.max(all, own);
    // moved in place of widened, so that no frame of the transition needs a layout
    for (const [bar, part] of /** @type {const} */ ([
      [fill, own],
      [mark, begun ? now : 0],
    ]))
      bar.style.translate = `${((100 * part) / most - 100).toFixed(2)}%`;
  }

  return { root, layout, draw };
}
