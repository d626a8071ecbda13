// The transport of a story: back, play, Next, the chapters, the scrubber and where it stands.

import { button, el, set } from "../lib/dom.js";
import { icon, iconButton, makePlay, makeScrub } from "../views/transport.js";
import { t, texts } from "./texts.js";

/** @typedef {{act: (action: string) => unknown, open: (chapter: string) => unknown, go: (at: number) => void}} Moves */

/** Make it. @param {string[]} chapters @param {Moves} moves */
export function makeStoryBar(chapters, moves) {
  const play = makePlay(() => moves.act("toggle"));
  const nextText = el("span", t("next"));
  const pills = chapters.map((name) =>
    button(texts.chapters[name], () => moves.open(name), {
      class: "fa-pill",
      "data-chapter": name,
    }),
  );
  const scrub = makeScrub(t("scrubber"), moves.go);
  const labelText = el("b");
  const noteText = el("span");
  const root = el("div.fa-story-bar", { role: "toolbar", "aria-label": t("transport") }, [
    iconButton("back", t("back"), () => moves.act("backward")),
    play.root,
    button("", () => moves.act("forward"), { class: "fa-next" }, [nextText, icon("forward")]),
    el("nav.fa-pills", { "aria-label": t("chapters.name") }, pills),
    scrub.root,
    el("p.fa-story-label", [labelText, noteText]),
  ]);

  /** A position of a chapter, what it is called, and where Next leads from there.
   * @param {{chapter: string, at: number, last: number, label: string, note: string, next: string}} place */
  function show({ chapter, at, last, label, note, next }) {
    for (const pill of pills)
      set(pill, { "aria-current": pill.dataset.chapter === chapter ? "page" : null });
    set(labelText, { text: label });
    set(noteText, { text: note });
    set(nextText, { text: next });
    scrub.show(at, last, `${label} ${note}`);
  }

  return { root, show, playing: play.show };
}
