// The Step page's transport: back, play and Next; the phases of the visit; the tiles of the walk as squares, which are
// the scrubber; and what Next means.

import { all, around, button, el, set, setText, svg } from "../lib/dom.js";
import { algorithmOf } from "../model/passes.js";
import { sentence } from "../model/phases.js";
import { t } from "../model/texts.js";
import { icon, iconButton, makeTransport } from "../views/transport.js";

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

/** `player` besides has go(step, phase), and `onLeave` leaves presentation mode; `rare`: what its menu holds besides.
 * @param {Moved} player @param {number} beatMs @param {() => void} onLeave @param {HTMLElement[]} rare */
export function makeStepTransport(player, beatMs, onLeave, rare) {
  /** @type {ReturnType<typeof kernelsOf>} */
  let kernels;
  /** @type {number} */
  let unitNow;
  /** @type {SVGElement[]} */
  let marks;
  /** In place of too many marks. @type {SVGElement[]} */
  let line;
  /** @type {number} */
  let widthNow;
  /** What Next and playing move by. @type {Stride} */
  let stride = "phase";

  const base = makeTransport(player, beatMs);
  const { buttons, play, scrub, speed, title, root, live } = base;
  const [first, , , , last] = buttons.children;
  const back = base.key("back", t("bar.back"), "backward");
  const nextText = el("span", t("bar.next"));
  const forward = button([nextText, icon("forward")], () => player.act("forward"), {
    class: "fa-next",
    title: t("bar.next.key"),
  });
  const leave = iconButton("leave", t("bar.leave"), onLeave, t("bar.leave.key"));
  buttons.replaceChildren(back, play, forward, leave);
  const rail = el("div.fa-rail", { role: "group", "aria-label": t("bar.phases") });
  rail.addEventListener("click", (event) => {
    const phase = around(event, "button")?.dataset.go;
    if (phase) player.go(player.at.step, phase);
  });
  const squares = svg("svg.fa-squares", { "aria-hidden": "true" });
  const track = el("div.fa-tiles", [squares, scrub]);
  const unitWord = button("", () => turnStride(), {
    class: "fa-word fa-stride",
    title: t("bar.stride"),
  });
  turnStride("phase");
  const count = el("p.fa-count-text", [title, unitWord]);
  const ends = el("div.fa-keys", [first, last, speed]);
  const settings = el("details.fa-more", [
    el("summary", { "aria-label": t("bar.more"), title: t("bar.more"), text: "⋯" }),
    el("div", [ends, ...rare]),
  ]);
  const phaseWord = el("b.fa-phase-word", { "aria-hidden": "true" });
  root.replaceChildren(buttons, rail, phaseWord, track, count, settings, live);

  /** @param {Trace} trace */
  function layout(trace, /** @type {Theme} */ { unit }) {
    unitNow = unit;
    base.length(trace.steps);
    const names = trace.header.phases;
    kernels = kernelsOf(trace);
    rail.replaceChildren(
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
    tiles(trace);
  }

  /** Let Next and playing move by this, or by the other. @param {Stride} [by] */
  function turnStride(by = stride === "phase" ? "tile" : "phase") {
    stride = by;
    setText(unitWord, t(`bar.by_${stride}`));
  }

  /** The end of the run: Next leads on. @param {string | null} next what it is called then @param {string} spoken */
  function end(next, spoken) {
    setText(nextText, next ?? t("bar.next"));
    if (!next) return;
    setText(title, t("bar.all_done"));
    setText(base.spoken, spoken);
  }

  /** A square per visit, the row blocks (or key blocks) of the walk apart; too many of them are a line. @param {Trace} trace */
  function tiles(trace) {
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
    const wide = (width * unitNow).toFixed(1);
    set(squares, {
      viewBox: `0 0 ${width.toFixed(1)} 20`,
      width: wide,
      height: 20 * unitNow,
    });
    marks = starts.map((start) =>
      svg("rect", {
        x: (start * scale).toFixed(1),
        width: Math.max(1, SQUARE.width * scale).toFixed(1),
        rx: 3,
      }),
    );
    line = starts.length
      ? []
      : [
          svg("rect", { class: "", x: 0, y: 7, width, height: 6, rx: 3 }),
          svg("rect.is-now", { x: 0, y: 7, width: 0, height: 6, rx: 3 }),
        ];
    widthNow = width;
    squares.replaceChildren(...marks, ...line);
    track.style.width = `${wide}px`;
  }

  /** The button of a phase. @param {string} name */
  function phase(name) {
    return all(rail, "button").find((button) => button.dataset.go === name);
  }

  /** @param {Frame} f @param {Row | undefined} row */
  function draw(f, row) {
    const kernel = kernels[String(f.stage)];
    all(rail, "button").forEach((button, k) => {
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
    set(rail, { "data-many": all(rail, "button:not([hidden])").length > 9 || null });
    marks.forEach((mark, v) => {
      const now = v === f.step;
      set(mark, {
        class: now ? "is-now" : v < f.step ? "is-done" : "",
        y: now ? 1 : 5,
        height: now ? 18 : SQUARE.height,
      });
    });
    if (line.length)
      set(line[1], { width: ((widthNow * f.step) / Math.max(1, f.steps - 1)).toFixed(1) });
    setText(phaseWord, f.phase);
    set(back, { disabled: f.step === 0 && f.position === 0 ? "" : null });
    base.show({
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

  return Object.assign(base, { rail, layout, end, phase, draw, stride: () => stride });
}
