// Beside the map: what is left to do, as bars, the masks of published models to start from, and at the foot what all of
// it means.

import { all, button, el, on, set, setText, svg } from "../lib/dom.js";
import { integer } from "../lib/format.js";
import { computed, insight, runs, share } from "../model/mask.js";
import { t } from "./texts.js";

/** @import { Children } from "../lib/dom.js" */
/** @import { Answer } from "../model/mask.js" */
/** @import { Palette, Preset } from "./types.js" */
/** @typedef {{says: string, source?: string}} Remark */

const DRAWN = 16; // tokens of a thumbnail
/** @type {Remark} */
const TILES = { says: t("about.tiles") };
/** @type {Remark} */
const SINK = { says: t("about.sink"), source: t("about.sink.source") };

/** Draw the scores kept, the tiles computed, and those of half the size. */
export function makeWork() {
  const bars = el("div.fa-mask-bars");
  const lesson = el("p.fa-mask-insight");
  const root = el("section.fa-mask-work", { "aria-labelledby": "fa-mask-left" }, [
    el("h3", { id: "fa-mask-left", text: t("left") }),
    bars,
    lesson,
  ]);

  /** @param {Answer} answer */
  function draw(answer) {
    const { br, bc, half, scores, tiles } = answer;
    /** @param {{br: number, bc: number}} of @returns {Children} */
    const sized = (of) => [
      t("left.tiles"),
      el("span.fa-mask-long", ` ${t("left.computed")}`),
      t("left.size", { br: of.br, bc: of.bc }),
    ];
    /** @type {[name: Children, part: number, whole: number, what: string][]} */
    const rows = [
      [[t("left.scores")], scores.kept, scores.of, "scores"],
      [sized({ br, bc }), computed(answer), tiles.Tr * tiles.Tc, "tiles"],
    ];
    if (half) rows.push([sized(half), half.computed, half.of, "half"]);
    bars.replaceChildren(
      ...rows.map(([name, part, whole, what]) =>
        el("div.fa-mask-bar", { "data-what": what, "data-part": part, "data-whole": whole }, [
          el("span", name),
          el("span.fa-mask-count", [
            el("b", integer(part)),
            ` ${t("left.of", { n: whole })} `,
            el("i", share(part, whole)),
          ]),
          el("div.fa-mask-track", { "aria-hidden": "true" }, [
            el("i", { style: `width:${(100 * part) / whole}%` }),
          ]),
        ]),
      ),
    );
    setText(lesson, insight(answer));
  }

  return { root, draw };
}

/** The kept scores of 16 tokens as one shape. @param {string} bits */
function thumbnail(bits) {
  const shape = runs(bits, DRAWN)
    .map(([i, from, to]) => `M${from} ${i}h${to - from}v1h${from - to}z`)
    .join("");
  return svg("svg.fa-mask-thumb", { viewBox: `0 0 ${DRAWN} ${DRAWN}`, "aria-hidden": "true" }, [
    svg("path", { d: shape }),
  ]);
}

/** Make the list of published masks. @param {(preset: Preset) => void} use */
export function makePresets(use) {
  /** @type {Preset[]} */
  let known = [];
  const list = el("div.fa-mask-presets-list");
  const root = el("section.fa-mask-presets", { "aria-labelledby": "fa-mask-start" }, [
    el("header", [
      el("h3", { id: "fa-mask-start", text: t("presets") }),
      el("span", t("presets.kept", { n: DRAWN })),
    ]),
    list,
  ]);

  /** @param {Palette} palette */
  function learn({ presets }) {
    known = presets;
    list.replaceChildren(
      ...presets.map((one) =>
        button(
          [
            thumbnail(one.bits),
            el("span", [el("b", one.title), el("span", one.models)]),
            el("span.fa-mask-share", share(one.share, 1)),
          ],
          () => use(one),
          { class: "fa-mask-preset", "data-preset": one.key, "aria-describedby": "fa-mask-about" },
        ),
      ),
    );
  }

  /** Mark which of them this is, and return its key, if it is one. @param {Answer} answer */
  function draw({ mask, score, sink }) {
    const same = (/** @type {Preset} */ one) =>
      one.mask === mask && one.score === score && one.sink === (sink === null ? "" : String(sink));
    const now = known.find(same)?.key ?? null;
    for (const node of all(list, "[data-preset]"))
      set(node, { "aria-pressed": String(node.dataset.preset === now) });
    return now;
  }

  return { root, learn, draw };
}

/** Make the paragraph on what the mouse or the keyboard is on, else on the mask. On a phone it is on the mask alone: whatever
 * made it longer or shorter would move what a finger is on.
 * @param {HTMLElement} place in which all of it stands */
export function makeAbout(place) {
  /** By what stands there. @type {Map<string, Remark>} */
  let known = new Map();
  /** @type {Remark | null} */
  let rests = null;

  const root = el("p", { id: "fa-mask-about" });
  on(place, ["pointerover", "focusin"], ({ target }) => tell(target));
  place.addEventListener("pointerleave", () => tell());

  /** @param {Palette} palette */
  function learn({ presets, predicates, scores }) {
    known = new Map([
      ["sink", SINK],
      ["tiles", TILES],
    ]);
    for (const { key, says, source } of presets) known.set(`preset ${key}`, { says, source });
    for (const { name, words, formula, numbers } of predicates)
      known.set(name, {
        says: t("about.one", {
          name: [name, numbers?.join(", ")].filter(Boolean).join(" "),
          words,
        }),
        source: t("about.predicate", { formula }),
      });
    for (const { name, words, formula } of scores)
      known.set(`score ${name}`, {
        says: t("about.one", { name, words }),
        source: t("about.score", { formula }),
      });
  }

  /** @param {string | null} preset the key of the one that this mask is @param {boolean} picks whether tiles are toggled */
  function draw(preset, picks) {
    rests = known.get(`preset ${preset}`) ?? (picks ? TILES : null);
    tell();
  }

  /** @param {EventTarget | null} target */
  function tell(target = null) {
    const [under, focused] = [target, document.activeElement].map((node) => {
      /** @type {HTMLElement | null} */
      const part = node instanceof Element ? node.closest("[data-preset], [data-about]") : null;
      const { preset, about = "" } = part?.dataset ?? {};
      return known.get(preset ? `preset ${preset}` : about);
    });
    const one = (root.closest(".fa-narrow") ? null : (under ?? focused)) ?? rests;
    set(root, { "data-empty": one ? null : "" });
    root.replaceChildren(
      ...(one
        ? [el("span", `${one.says} `), ...(one.source ? [el("cite", one.source)] : [])]
        : [t("about")]),
    );
  }

  return { root, learn, draw };
}
