// The transport bar: first, previous, play, next, last; scrub; speed; the step in words.

import { el, set, svg } from "../lib/dom.js";
import { sentence } from "../model/phases.js";

const ICONS = {
  first: "M5 4v12M15 4l-8 6 8 6z",
  back: "M14 4l-8 6 8 6z",
  play: "M6 4l10 6-10 6z",
  pause: "M6 4h3v12H6zM11 4h3v12h-3z",
  next: "M6 4l8 6-8 6z",
  last: "M15 4v12M5 4l8 6-8 6z",
};
const SPEEDS = [0.5, 1, 2, 4, 8];

function icon(name) {
  return svg("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, [svg("path", { d: ICONS[name] })]);
}

const BEATS = {
  label: "What one beat of playing is",
  choices: [["phase", "phase by phase"], ["tile", "tile by tile"]],
  hint: "←→ tile · ↑↓ phase · Space plays",
};

export class Transport {
  /** `grain` describes the second menu: what a beat is, or what the race keeps equal. */
  constructor(actions, grain = BEATS) {
    const button = (name, label, action) => {
      const node = el("button", { type: "button", class: `fa-key fa-key-${name}`, "aria-label": label, title: label }, [icon(name)]);
      node.addEventListener("click", action);
      return node;
    };
    this.playIcons = { play: icon("play"), pause: icon("pause") };
    this.play = button("play", "Play", actions.toggle);
    this.buttons = el("div", { class: "fa-keys" }, [
      button("first", "First tile", actions.first),
      button("back", "Previous tile", actions.back),
      this.play,
      button("next", "Next tile", actions.next),
      button("last", "Last tile", actions.last),
    ]);
    this.title = el("b");
    this.words = el("span", { class: "fa-words" });
    this.text = el("p", { class: "fa-step-text" }, [this.title, this.words]);
    this.live = el("div", { class: "fa-sr", "aria-live": "polite", "data-testid": "sentence" });
    this.scrub = el("input", { type: "range", class: "fa-scrub", min: 0, step: 1, value: 0, "aria-label": "Step" });
    this.scrub.addEventListener("input", () => actions.go(Number(this.scrub.value)));
    this.speed = el("select", { "aria-label": "Playing speed", title: "Playing speed" },
      SPEEDS.map((s) => el("option", { value: s, text: `${s}×`, selected: s === 1 })));
    this.grain = el("select", { "aria-label": grain.label, title: grain.label },
      grain.choices.map(([value, text]) => el("option", { value, text })));
    if (grain.onChoice) this.grain.addEventListener("change", grain.onChoice);
    const hint = el("span", { class: "fa-hint", text: grain.hint });
    const settings = el("div", { class: "fa-settings" }, [this.speed, this.grain, hint]);
    this.root = el("div", { class: "fa-transport", role: "toolbar", "aria-label": "Transport" }, [
      this.buttons, this.text, this.scrub, settings, this.live,
    ]);
  }

  length(steps) {
    this.steps = steps;
    set(this.scrub, { max: steps - 1 });
  }

  layout(trace) {
    this.length(trace.steps);
    this.grain.value = trace.steps > 80 || !trace.header.numbers ? "tile" : this.grain.value;
  }

  draw(f, focusRow, quiet) {
    const where = f.j < 0 ? `row block ${f.i}` : `tile (${f.i}, ${f.j})`;
    const words = sentence(f, focusRow);
    const count = `Step ${f.step + 1} of ${f.steps}`;
    this.show({
      step: f.step,
      title: `${count} · ${where}${f.kind === "full" ? "" : ` · ${f.kind}`}`,
      words: words.slice(words.indexOf(": ") + 2),
      spoken: `${count}, ${f.phase}. ${words}`,
      quiet,
    });
  }

  /** A place on the scrubber, its title, its words, and what a screen reader says of it. */
  show({ step, title, words, spoken, quiet }) {
    set(this.title, { text: title });
    set(this.words, { text: words });
    if (!quiet) set(this.live, { text: spoken });
    if (Number(this.scrub.value) !== step) this.scrub.value = step;
    set(this.scrub, { "aria-valuetext": title });
    this.scrub.style.setProperty("--fa-progress", `${this.steps > 1 ? (step / (this.steps - 1)) * 100 : 100}%`);
  }

  playing(on) {
    this.play.replaceChildren(this.playIcons[on ? "pause" : "play"]);
    set(this.play, { "aria-label": on ? "Pause" : "Play", title: on ? "Pause" : "Play", "aria-pressed": on });
  }
}
