// The transport bar: first, previous, play, next, last; scrub; speed; the step in words.

import { el, set, svg } from "./dom.js";
import { sentence } from "./phases.js";

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

export class Transport {
  constructor(actions) {
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
    this.grain = el("select", { "aria-label": "What one beat of playing is", title: "What one beat of playing is" }, [
      el("option", { value: "phase", text: "phase by phase" }),
      el("option", { value: "tile", text: "tile by tile" }),
    ]);
    const hint = el("span", { class: "fa-hint", text: "←→ tile · ↑↓ phase · Space plays" });
    const settings = el("div", { class: "fa-settings" }, [this.speed, this.grain, hint]);
    this.root = el("div", { class: "fa-transport", role: "toolbar", "aria-label": "Transport" }, [
      this.buttons, this.text, this.scrub, settings, this.live,
    ]);
  }

  layout(trace) {
    set(this.scrub, { max: trace.steps - 1 });
    this.grain.value = trace.steps > 80 || !trace.header.numbers ? "tile" : this.grain.value;
  }

  draw(f, focusRow, quiet) {
    const where = f.j < 0 ? `row block ${f.i}` : `tile (${f.i}, ${f.j})`;
    set(this.title, { text: `Step ${f.step + 1} of ${f.steps} · ${where}${f.kind === "full" ? "" : ` · ${f.kind}`}` });
    const words = sentence(f, focusRow);
    set(this.words, { text: words.slice(words.indexOf(": ") + 2) });
    if (!quiet) set(this.live, { text: `Step ${f.step + 1} of ${f.steps}, ${f.phase}. ${words}` });
    if (Number(this.scrub.value) !== f.step) this.scrub.value = f.step;
    set(this.scrub, { "aria-valuetext": `${f.step + 1} of ${f.steps}, ${where}` });
    this.scrub.style.setProperty("--fa-progress", `${f.steps > 1 ? (f.step / (f.steps - 1)) * 100 : 100}%`);
  }

  playing(on) {
    this.play.replaceChildren(this.playIcons[on ? "pause" : "play"]);
    set(this.play, { "aria-label": on ? "Pause" : "Play", title: on ? "Pause" : "Play", "aria-pressed": on });
  }
}
