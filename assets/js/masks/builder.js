// The mask builder: a full view over the stage, in which a mask is composed of chips and seen at once. It asks the server
// what each text means, and decides nothing itself.

import { all, button, el, find, onTheme, set } from "../lib/dom.js";
import { buildUrl } from "../lib/build.js";
import { errorText, requestOk } from "../lib/server.js";
import { during } from "../lib/pending.js";
import { renumbered, toggled, unpacked, written } from "../model/mask.js";
import { Chips } from "./chips.js";
import { MaskMap } from "./map.js";
import { Scores } from "./scores.js";
import { About, Presets, Work } from "./side.js";
import { t } from "./texts.js";

/** @import { Answer, Unpacked } from "../model/mask.js" */
/** @import { Draft } from "../model/predicates.js" */
/** @import { Fields, Palette } from "./types.js" */

export class Builder {
  /** @type {{n: string, br: string, bc: string}} */
  size;
  /** @type {Fields} */
  wanted;
  /** "term.k" of the chip whose tiles are toggled. @type {string | null} */
  picked = null;
  /** @type {Draft} */
  draft;
  /** @type {Unpacked | undefined} */
  answer;
  /** @type {AbortController | undefined} */
  request;
  failed = false;

  /** @param {{use: (mask: Fields) => void, cancel: () => void}} act */
  constructor(act) {
    this.act = act;
    this.chips = new Chips({
      edit: (draft, field) => this.edit(draft, field),
      pick: (place) => this.pick(place),
    });
    this.map = new MaskMap({ toggle: (i, j) => this.toggle(i, j) });
    this.scores = new Scores({ edit: (score, sink, field) => this.ask({ score, sink }, field) });
    this.work = new Work();
    this.presets = new Presets({ use: (one) => this.start(one) });
    this.wrong = el("p.fa-mask-wrong", { role: "alert", id: "fa-mask-wrong", hidden: true });
    this.text = el("input.fa-mask-text", {
      type: "text",
      "aria-label": t("text"),
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
    });
    this.text.addEventListener("input", () => this.ask({ mask: this.text.value }, this.text));
    this.text.addEventListener(
      "change",
      () => !this.failed && (this.text.value = this.wanted.mask),
    );
    this.took = button(t("use"), () => this.use(), { class: "fa-mask-use" });
    const cancel = button(t("cancel"), () => this.act.cancel(), { class: "fa-mask-cancel" });
    const title = el("h2", { id: "fa-mask-title", text: t("title") });
    const left = el("section.fa-mask-left", { "aria-label": t("mask") }, [
      title,
      this.chips.root,
      this.text,
      this.wrong,
      this.scores.root,
      this.work.root,
    ]);
    const foot = el("div.fa-mask-foot", [this.took, cancel]);
    this.root = el("dialog.fa-masks", { "aria-labelledby": "fa-mask-title", tabindex: -1 }, [
      el("div.fa-mask-columns", [left, this.map.root, this.presets.root]),
      foot,
      this.chips.menu.root,
    ]);
    this.about = new About(this.root);
    foot.append(this.about.root);
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.resizer = new ResizeObserver(() => this.answer && this.draw());
    this.resizer.observe(this.map.box);
    this.themes = onTheme(() => this.map.paint());
  }

  /** As the address has them, the mask that is edited, and the sizes. @param {{n: string, br: string, bc: string} & Fields} problem */
  async open({ n, br, bc, ...mask }) {
    this.size = { n, br, bc };
    this.wanted = mask;
    this.picked = null;
    /** @type {Palette} */
    const palette = await during(
      "mask",
      requestOk(buildUrl("presets", this.size)).then((answer) => answer.json()),
    );
    for (const part of [this.chips, this.scores, this.presets, this.about]) part.learn(palette);
    this.root.show();
    await this.ask({});
    this.root.focus({ preventScroll: true });
  }

  close() {
    this.request?.abort();
    this.resizer.disconnect();
    this.themes.disconnect();
    this.root.remove();
  }

  /** What the server says to this text; `field` is where it was typed, so that what is wrong stands beside it.
   * @param {Partial<Fields>} changed @param {HTMLElement | null} field */
  async ask(changed, field = null) {
    Object.assign(this.wanted, changed);
    this.request?.abort();
    const request = (this.request = new AbortController());
    const typed = field === this.text;
    if (!typed) this.text.value = this.wanted.mask;
    try {
      /** @type {Answer} */
      const answer = await during(
        "mask",
        requestOk(buildUrl("mask", { ...this.size, ...this.wanted }), request.signal).then(
          (found) => found.json(),
        ),
      );
      if (request.signal.aborted) return;
      this.notify(null, null);
      this.answer = unpacked(answer);
      Object.assign(this.wanted, {
        mask: answer.mask,
        score: answer.score,
        sink: answer.sink === null ? "" : String(answer.sink),
      });
      this.draft = this.answer.draft;
      if (!typed) this.text.value = answer.mask;
      this.draw();
    } catch (error) {
      if (/** @type {Error} */ (error).name === "AbortError") return;
      this.notify(errorText(error), field);
    }
  }

  /** The sentence of what is wrong, beside where it is; null: nothing is. @param {string | null} sentence @param {HTMLElement | null} field */
  notify(sentence, field) {
    this.failed = sentence !== null;
    set(this.wrong, { text: sentence ?? "", hidden: sentence ? null : "" });
    for (const node of all(this.root, "[aria-invalid]"))
      set(node, { "aria-invalid": null, "aria-describedby": null });
    if (field) set(field, { "aria-invalid": "true", "aria-describedby": "fa-mask-wrong" });
    const beside = field?.closest(".fa-mask-term, .fa-mask-scores") ?? this.text;
    if (beside.nextElementSibling !== this.wrong) beside.after(this.wrong);
    set(this.took, { "aria-disabled": this.failed ? "true" : null });
    set(this.root, { "data-wrong": this.failed ? "" : null });
  }

  /** From a model's mask: what it does to the scores is unfolded, and the map is there to be seen. @param {Fields} preset */
  async start({ mask, score, sink }) {
    if (score !== "none" || sink) this.scores.root.open = true;
    await this.ask({ mask, score, sink });
    this.map.root.scrollIntoView({ block: "nearest" });
  }

  /** @param {Draft} draft @param {HTMLElement | null} field */
  edit(draft, field = null) {
    this.draft = draft;
    this.chips.draw(draft, this.picked);
    this.ask({ mask: written(draft) }, field);
  }

  /** This chip's tiles are toggled on the map from now on, or nobody's. @param {string | null} place */
  pick(place) {
    this.picked = place;
    this.draw();
  }

  /** @param {number} i @param {number} j */
  toggle(i, j) {
    if (this.picked === null) return;
    const [index, k] = this.picked.split(".").map(Number);
    this.edit(renumbered(this.draft, index, k, toggled(this.draft[index][k].numbers, i, j)));
  }

  draw() {
    const { answer } = this;
    if (!answer) return;
    const blocks = this.draft.flatMap((term, index) =>
      term.flatMap(({ name }, k) => (name === "block" ? [`${index}.${k}`] : [])),
    );
    if (this.picked && !blocks.includes(this.picked)) this.picked = blocks[0] ?? null;
    this.chips.draw(this.draft, this.picked);
    this.scores.draw(this.wanted);
    this.map.draw(answer, this.picked !== null);
    this.work.draw(answer);
    this.presets.draw(answer);
    this.about.draw(this.presets.now, this.picked !== null);
    set(this.root, { "data-mask": answer.mask });
  }

  use() {
    if (this.failed || !this.answer) return find(this.root, "[aria-invalid]")?.focus();
    const { mask, score, sink } = this.wanted;
    this.act.use({ mask, score, sink });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    event.stopPropagation();
    this.act.cancel();
  }
}
