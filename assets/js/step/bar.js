// The Step page's transport: back, play and Next; the phases of the visit; the tiles of the walk as squares, which are
// the scrubber; and what Next means.

import { all, around, button, el, set, setText, svg } from "../lib/dom.js";
import { algorithmOf } from "../model/passes.js";
import { sentence } from "../model/phases.js";
import { t } from "../model/texts.js";
import { icon, iconButton, Transport } from "../views/transport.js";

/** @import { Frame, Pass, Place, Row, Trace } from "../model/types.js" */
/** @import { Theme } from "../views/types.js" */
/** @import { Playable } from "../views/types.js" */
/** What it moves. @typedef {Omit<Playable, "go"> & {go: (step: number, phase?: string) => void, readonly at: Place}} Moved */
/** @import { Stride } from "../model/places.js" */
/** The visits of a kernel: the first, how many, and a bit for each phase that one of them has.
 * @typedef {{first: number, count: number, has: number}} Kernel */

/** @type {Record<string, string | null>} */
const IN_BACKWARD = { exp: "P", store: null };
const MOST_SQUARES = 72;
const SQUARE = { width: 18, gap: 4, apart: 8, height: 10, most: 240 };

/** What a visit is called, by its place among those of its kernel. @param {Frame} f @param {Kernel} kernel */
function titleOf({ pass, stage, step }, { first, count }) {
  const place = { k: step + 1 - first, of: count };
  if (stage === null) return t("bar.tile", place);
  return pass === "forward" ? t("bar.visit", place) : t("bar.kernel", { kernel: stage, ...place });
}

/** The glossary's entry of a phase: "exp" and "store" are the forward's. @param {string} phase @param {Pass} pass */
const termOf = (phase, pass) =>
  pass === "backward" && phase in IN_BACKWARD ? IN_BACKWARD[phase] : phase;

/** The kernels by the names of their stages; in the forward all visits are counted together, with all phases. */
function kernelsOf(
  /** @type {Trace} */ { header: { pass, stages }, arrays: { v_stage, v_phases }, steps },
) {
  if (pass === "forward")
    return Object.fromEntries(stages.map((stage) => [stage, { first: 0, count: steps, has: -1 }]));
  /** @type {Record<string, Kernel>} */
  const found = {};
  for (let v = 0; v < steps; v++) {
    const kernel = (found[String(stages[v_stage[v]])] ??= { first: v, count: 0, has: 0 });
    kernel.count++;
    kernel.has |= v_phases[v];
  }
  return found;
}

/** The block of the outer loop that a visit belongs to, and in the backward its kernel. @param {Trace} trace */
function outerOf(trace) {
  const { v_i, v_j, v_stage } = trace.arrays;
  const { pass, stages } = trace.header;
  if (pass === "forward") {
    const outer = algorithmOf(trace).outer === "keys" ? v_j : v_i;
    return (/** @type {number} */ v) => outer[v];
  }
  const byRows = stages.map((stage) => stage === "dP" || stage === "dQ");
  return (/** @type {number} */ v) =>
    `${v_stage[v]} ${v_j[v] < 0 ? "" : (byRows[v_stage[v]] ? v_i : v_j)[v]}`;
}

/** @extends {Transport<Moved>} */
export class StepTransport extends Transport {
  /** @type {ReturnType<typeof kernelsOf>} */
  kernels;
  /** @type {number} */
  unit;
  /** @type {SVGElement[]} */
  marks;
  /** @type {SVGElement[]} */
  line;
  /** @type {number} */
  width;
  /** What Next and playing move by. @type {Stride} */
  stride = "phase";
  /** `player` besides has go(step, phase), and `onLeave` leaves presentation mode; `rare`: what its menu holds besides.
   * @param {Moved} player @param {number} beatMs @param {() => void} onLeave @param {HTMLElement[]} rare */
  constructor(player, beatMs, onLeave, rare) {
    super(player, beatMs);
    const [first, , , , last] = this.buttons.children;
    this.back = this.key("back", t("bar.back"), "backward");
    this.next = el("span", t("bar.next"));
    const forward = button([this.next, icon("forward")], () => player.act("forward"), {
      class: "fa-next",
      title: t("bar.next.key"),
    });
    const leave = iconButton("leave", t("bar.leave"), onLeave, t("bar.leave.key"));
    this.buttons.replaceChildren(this.back, this.play, forward, leave);
    this.rail = el("div.fa-rail", { role: "group", "aria-label": t("bar.phases") });
    this.rail.addEventListener("click", (event) => {
      const phase = around(event, "button")?.dataset.go;
      if (phase) player.go(player.at.step, phase);
    });
    this.squares = svg("svg.fa-squares", { "aria-hidden": "true" });
    this.track = el("div.fa-tiles", [this.squares, this.scrub]);
    this.unitWord = button("", () => this.turnStride(), {
      class: "fa-word fa-stride",
      title: t("bar.stride"),
    });
    this.turnStride("phase");
    const count = el("p.fa-count-text", [this.title, this.unitWord]);
    const ends = el("div.fa-keys", [first, last, this.speed]);
    const settings = el("details.fa-more", [
      el("summary", { "aria-label": t("bar.more"), title: t("bar.more"), text: "⋯" }),
      el("div", [ends, ...rare]),
    ]);
    this.phaseWord = el("b.fa-phase-word", { "aria-hidden": "true" });
    this.root.replaceChildren(
      this.buttons,
      this.rail,
      this.phaseWord,
      this.track,
      count,
      settings,
      this.live,
    );
  }

  /** @param {Trace} trace */
  layout(trace, /** @type {Theme} */ { unit }) {
    this.unit = unit;
    this.length(trace.steps);
    const names = trace.header.phases;
    this.kernels = kernelsOf(trace);
    this.rail.replaceChildren(
      ...names.map((name) =>
        el(
          "button",
          {
            type: "button",
            "data-go": name,
            "data-term": termOf(name, trace.header.pass),
            "data-part": `phase.${name}`,
          },
          [el("span", name)],
        ),
      ),
    );
    this.tiles(trace);
  }

  /** Let Next and playing move by this, or by the other. @param {Stride} [stride] */
  turnStride(stride = this.stride === "phase" ? "tile" : "phase") {
    this.stride = stride;
    setText(this.unitWord, t(`bar.by_${stride}`));
  }

  /** The end of the run: Next leads on. @param {string | null} next what it is called then @param {string} spoken */
  end(next, spoken) {
    setText(this.next, next ?? t("bar.next"));
    if (!next) return;
    setText(this.title, t("bar.all_done"));
    setText(this.spoken, spoken);
  }

  /** A square per visit, the row blocks (or key blocks) of the walk apart; too many of them are a line. @param {Trace} trace */
  tiles(trace) {
    const { steps } = trace;
    const outer = outerOf(trace);
    const starts = [];
    let whole = 0;
    for (let v = 0; v < steps && steps <= MOST_SQUARES; v++) {
      if (v && outer(v) !== outer(v - 1)) whole += SQUARE.apart;
      starts.push(whole);
      whole += SQUARE.width + SQUARE.gap;
    }
    const scale = Math.min(1, SQUARE.most / whole); // without squares there is one line, as wide as may be
    const width = Math.min(SQUARE.most, whole || SQUARE.most);
    const wide = (width * this.unit).toFixed(1);
    set(this.squares, {
      viewBox: `0 0 ${width.toFixed(1)} 20`,
      width: wide,
      height: 20 * this.unit,
    });
    this.marks = starts.map((start) =>
      svg("rect", {
        x: (start * scale).toFixed(1),
        width: Math.max(1, SQUARE.width * scale).toFixed(1),
        rx: 3,
      }),
    );
    this.line = starts.length
      ? []
      : [
          svg("rect", { class: "", x: 0, y: 7, width, height: 6, rx: 3 }),
          svg("rect.is-now", { x: 0, y: 7, width: 0, height: 6, rx: 3 }),
        ];
    this.width = width;
    this.squares.replaceChildren(...this.marks, ...this.line);
    this.track.style.width = `${wide}px`;
  }

  /** The button of a phase. @param {string} name */
  phase(name) {
    return all(this.rail, "button").find((button) => button.dataset.go === name);
  }

  /** @param {Frame} f @param {Row | undefined} row */
  draw(f, row) {
    const kernel = this.kernels[String(f.stage)];
    all(this.rail, "button").forEach((button, k) => {
      const name = String(button.dataset.go);
      const now = name === f.phase;
      set(button, {
        class: now ? "is-now" : f.done(name) ? "is-done" : "",
        "aria-current": now ? "step" : null,
        tabindex: now ? null : -1,
        disabled: f.phases.includes(name) ? null : "",
        hidden: kernel.has & (1 << k) ? null : "",
      });
    });
    set(this.rail, { "data-many": all(this.rail, "button:not([hidden])").length > 9 || null });
    this.marks.forEach((mark, v) => {
      const now = v === f.step;
      set(mark, {
        class: now ? "is-now" : v < f.step ? "is-done" : "",
        y: now ? 1 : 5,
        height: now ? 18 : SQUARE.height,
      });
    });
    if (this.line.length)
      set(this.line[1], { width: ((this.width * f.step) / Math.max(1, f.steps - 1)).toFixed(1) });
    setText(this.phaseWord, f.phase);
    set(this.back, { disabled: f.step === 0 && f.position === 0 ? "" : null });
    this.show({
      step: f.step,
      title: titleOf(f, kernel),
      spoken: t("bar.spoken", {
        k: f.step + 1,
        of: f.steps,
        phase: f.phase,
        sentence: sentence(f, row),
      }),
    });
  }
}
