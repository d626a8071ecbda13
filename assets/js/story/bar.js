// The transport of a story: back, play, Next, the chapters, the scrubber and where it stands.

import { button, el, set } from "../lib/dom.js";
import { icon, iconButton } from "../views/transport.js";
import { t, texts } from "./texts.js";

/** @typedef {{act: (action: string) => unknown, open: (chapter: string) => unknown, go: (at: number) => void}} Moves */

export class StoryBar {
  /** @param {string[]} chapters @param {Moves} moves */
  constructor(chapters, moves) {
    this.play = iconButton("play", t("play"), () => moves.act("toggle"));
    this.next = el("span", t("next"));
    this.pills = chapters.map((name) =>
      button(texts.chapters[name], () => moves.open(name), {
        class: "fa-pill",
        "data-chapter": name,
      }),
    );
    this.scrub = el("input", {
      type: "range",
      class: "fa-scrub",
      min: 0,
      step: 1,
      value: 0,
      "aria-label": t("scrubber"),
    });
    this.scrub.addEventListener("input", () => moves.go(Number(this.scrub.value)));
    this.label = el("b");
    this.note = el("span");
    this.root = el("div.fa-story-bar", { role: "toolbar", "aria-label": t("transport") }, [
      iconButton("back", t("back"), () => moves.act("backward")),
      this.play,
      button("", () => moves.act("forward"), { class: "fa-next" }, [this.next, icon("forward")]),
      el("nav.fa-pills", { "aria-label": t("chapters.name") }, this.pills),
      this.scrub,
      el("p.fa-story-label", [this.label, this.note]),
    ]);
  }

  /** @param {string} chapter @param {number} last the last position */
  layout(chapter, last) {
    set(this.scrub, { max: last });
    for (const pill of this.pills)
      set(pill, { "aria-current": pill.dataset.chapter === chapter ? "page" : null });
  }

  /** A position, what it is called, and where Next leads from there.
   * @param {{at: number, last: number, label: string, note: string, next: string}} place */
  show({ at, last, label, note, next }) {
    set(this.label, { text: label });
    set(this.note, { text: note });
    set(this.next, { text: next });
    this.scrub.value = String(at);
    set(this.scrub, { "aria-valuetext": `${label} ${note}` });
    this.scrub.style.setProperty("--fa-progress", `${(100 * at) / Math.max(1, last)}%`);
  }

  /** @param {boolean} isPlaying */
  playing(isPlaying) {
    const label = t(isPlaying ? "pause" : "play");
    this.play.replaceChildren(icon(isPlaying ? "pause" : "play"));
    set(this.play, { "aria-label": label, title: label, "aria-pressed": isPlaying });
  }
}
