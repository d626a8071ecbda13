// The transport of a story: back, play, Next, the chapters, the scrubber and where it stands.

import { button, el, set } from "../lib/dom.js";
import { icon, iconButton } from "../views/transport.js";
import { t, texts } from "./texts.js";

/** @typedef {{act: (action: string) => unknown, open: (chapter: string) => unknown, go: (at: number) => void}} Moves */

/** Make it. @param {string[]} chapters @param {Moves} moves */
export function makeStoryBar(chapters, moves) {
  const play = iconButton("play", t("play"), () => moves.act("toggle"));
  const nextText = el("span", t("next"));
  const pills = chapters.map((name) =>
    button(texts.chapters[name], () => moves.open(name), {
      class: "fa-pill",
      "data-chapter": name,
    }),
  );
  const scrub = el("input", {
    type: "range",
    class: "fa-scrub",
    min: 0,
    step: 1,
    value: 0,
    "aria-label": t("scrubber"),
  });
  scrub.addEventListener("input", () => moves.go(Number(scrub.value)));
  const labelText = el("b");
  const noteText = el("span");
  const root = el("div.fa-story-bar", { role: "toolbar", "aria-label": t("transport") }, [
    iconButton("back", t("back"), () => moves.act("backward")),
    play,
    button("", () => moves.act("forward"), { class: "fa-next" }, [nextText, icon("forward")]),
    el("nav.fa-pills", { "aria-label": t("chapters.name") }, pills),
    scrub,
    el("p.fa-story-label", [labelText, noteText]),
  ]);

  /** @param {string} chapter @param {number} last the last position */
  function layout(chapter, last) {
    set(scrub, { max: last });
    for (const pill of pills)
      set(pill, { "aria-current": pill.dataset.chapter === chapter ? "page" : null });
  }

  /** A position, what it is called, and where Next leads from there.
   * @param {{at: number, last: number, label: string, note: string, next: string}} place */
  function show({ at, last, label, note, next }) {
    set(labelText, { text: label });
    set(noteText, { text: note });
    set(nextText, { text: next });
    scrub.value = String(at);
    set(scrub, { "aria-valuetext": `${label} ${note}` });
    scrub.style.setProperty("--fa-progress", `${(100 * at) / Math.max(1, last)}%`);
  }

  /** @param {boolean} isPlaying */
  function playing(isPlaying) {
    const label = t(isPlaying ? "pause" : "play");
    play.replaceChildren(icon(isPlaying ? "pause" : "play"));
    set(play, { "aria-label": label, title: label, "aria-pressed": isPlaying });
  }

  return { root, layout, show, playing };
}
