// The mask builder: a full view over the stage, in which a mask is composed of chips and seen at once. It asks the server
// what each text means, and decides nothing itself.

import { all, button, el, find, giveFocus, onTheme, set } from "../lib/dom.js";
import { buildUrl } from "../lib/build.js";
import { errorText, requestJson } from "../lib/server.js";
import { during } from "../lib/pending.js";
import { renumbered, toggled, unpacked, written } from "../model/mask.js";
import { makeChips } from "./chips.js";
import { makeMap } from "./map.js";
import { makeScores } from "./scores.js";
import { makeAbout, makePresets, makeWork } from "./side.js";
import { t } from "./texts.js";

/** @import { Answer, Unpacked } from "../model/mask.js" */
/** @import { Draft } from "../model/predicates.js" */
/** @import { Fields, Palette } from "./types.js" */

/** The server's JSON. @param {string} name @param {Record<string, string>} query @param {AbortSignal} [signal] */
const load = (name, query, signal) => during("mask", requestJson(buildUrl(name, query), signal));

/** Make the dialog of the builder. @param {{use: (mask: Fields) => void, cancel: () => void}} act */
export function makeBuilder(act) {
  /** @type {{n: string, br: string, bc: string}} */
  let size;
  /** @type {Fields} */
  let wanted;
  /** "term.k" of the chip whose tiles are toggled. @type {string | null} */
  let picked = null;
  /** @type {Draft} */
  let draft;
  /** @type {Unpacked | undefined} */
  let answer;
  /** @type {AbortController | undefined} */
  let request;
  let failed = false;
  const chips = makeChips({ edit, pick });
  const map = makeMap(toggle);
  const scores = makeScores((score, sink, field) => ask({ score, sink }, field));
  const work = makeWork();
  const presets = makePresets(start);
  const wrong = el("p.fa-mask-wrong", { role: "alert", id: "fa-mask-wrong", hidden: true });
  const text = el("input.fa-mask-text", {
    type: "text",
    "aria-label": t("text"),
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
  });
  text.addEventListener("input", () => ask({ mask: text.value }, text));
  text.addEventListener("change", () => !failed && (text.value = wanted.mask));
  const took = button(t("use"), use, { class: "fa-mask-use" });
  const cancel = button(t("cancel"), act.cancel, { class: "fa-mask-cancel" });
  const title = el("h2", { id: "fa-mask-title", text: t("title") });
  const left = el("section.fa-mask-left", { "aria-label": t("mask") }, [
    title,
    chips.root,
    text,
    wrong,
    scores.root,
    work.root,
  ]);
  const foot = el("div.fa-mask-foot", [took, cancel]);
  const root = el("dialog.fa-masks", { "aria-labelledby": "fa-mask-title", tabindex: -1 }, [
    el("div.fa-mask-columns", [left, map.root, presets.root]),
    foot,
    chips.menu.root,
  ]);
  const about = makeAbout(root);
  foot.append(about.root);
  root.addEventListener("keydown", key);
  const resizer = new ResizeObserver(() => answer && draw());
  resizer.observe(map.box);
  const themes = onTheme(() => map.paint());

  /** As the address has them, the mask that is edited, and the sizes. @param {{n: string, br: string, bc: string} & Fields} problem */
  async function open({ n, br, bc, ...mask }) {
    size = { n, br, bc };
    wanted = mask;
    picked = null;
    /** @type {Palette} */
    const palette = await load("presets", size);
    for (const part of [chips, scores, presets, about]) part.learn(palette);
    root.show();
    await ask({});
    giveFocus(root);
  }

  function close() {
    request?.abort();
    resizer.disconnect();
    themes.disconnect();
    root.remove();
  }

  /** What the server says to this text; `field` is where it was typed, so that what is wrong stands beside it.
   * @param {Partial<Fields>} changed @param {HTMLElement | null} field */
  async function ask(changed, field = null) {
    Object.assign(wanted, changed);
    request?.abort();
    const { signal } = (request = new AbortController());
    const typed = field === text;
    if (!typed) text.value = wanted.mask;
    try {
      /** @type {Answer} */
      const found = await load("mask", { ...size, ...wanted }, signal);
      if (signal.aborted) return;
      notify(null, null);
      answer = unpacked(found);
      const { mask, score, sink } = found;
      Object.assign(wanted, { mask, score, sink: sink === null ? "" : String(sink) });
      draft = answer.draft;
      if (!typed) text.value = mask;
      draw();
    } catch (error) {
      if (/** @type {Error} */ (error).name === "AbortError") return;
      notify(errorText(error), field);
    }
  }

  /** The sentence of what is wrong, beside where it is; null: nothing is. @param {string | null} sentence @param {HTMLElement | null} field */
  function notify(sentence, field) {
    failed = sentence !== null;
    set(wrong, { text: sentence ?? "", hidden: sentence ? null : "" });
    for (const node of all(root, "[aria-invalid]"))
      set(node, { "aria-invalid": null, "aria-describedby": null });
    if (field) set(field, { "aria-invalid": "true", "aria-describedby": "fa-mask-wrong" });
    const beside = field?.closest(".fa-mask-term, .fa-mask-scores") ?? text;
    if (beside.nextElementSibling !== wrong) beside.after(wrong);
    set(took, { "aria-disabled": failed ? "true" : null });
    set(root, { "data-wrong": failed ? "" : null });
  }

  /** From a model's mask: what it does to the scores is unfolded, and the map is there to be seen. @param {Fields} preset */
  async function start({ mask, score, sink }) {
    if (score !== "none" || sink) scores.root.open = true;
    await ask({ mask, score, sink });
    map.root.scrollIntoView({ block: "nearest" });
  }

  /** @param {Draft} next @param {HTMLElement | null} field */
  function edit(next, field = null) {
    draft = next;
    chips.draw(draft, picked);
    ask({ mask: written(draft) }, field);
  }

  /** This chip's tiles are toggled on the map from now on, or nobody's. @param {string | null} place */
  function pick(place) {
    picked = place;
    draw();
  }

  /** @param {number} i @param {number} j */
  function toggle(i, j) {
    if (picked === null) return;
    const [index, k] = picked.split(".").map(Number);
    edit(renumbered(draft, index, k, toggled(draft[index][k].numbers, i, j)));
  }

  function draw() {
    if (!answer) return;
    const blocks = draft.flatMap((term, index) =>
      term.flatMap(({ name }, k) => (name === "block" ? [`${index}.${k}`] : [])),
    );
    if (picked && !blocks.includes(picked)) picked = blocks[0] ?? null;
    chips.draw(draft, picked);
    scores.draw(wanted);
    map.draw(answer, picked !== null);
    work.draw(answer);
    about.draw(presets.draw(answer), picked !== null);
    set(root, { "data-mask": answer.mask });
  }

  function use() {
    if (failed || !answer) return find(root, "[aria-invalid]")?.focus();
    const { mask, score, sink } = wanted;
    act.use({ mask, score, sink });
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    event.stopPropagation();
    act.cancel();
  }

  return { root, open, close };
}
