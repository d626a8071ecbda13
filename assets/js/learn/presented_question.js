// A lesson's question in a lecture hall: letters to raise a hand for, and the answer with its reason when it is asked for.

import { button, el, set, table } from "../lib/dom.js";
import { t } from "./texts.js";
import { writeUnbroken } from "./unbroken.js";

/** @import { Slide } from "./types.js" */

const LETTERS = "ABCDEF";
const KEYS = [".", "a", "b"]; // a clicker's blank button sends the point or b

const BRIEF = 12; // characters: so short options are printed larger
const LONG = 26;

/** The sign of what is right: it stands beside its text, and moves it neither before the answer nor then.
 * @param {boolean} isRight */
const sign = (isRight) => el("span", { class: "fa-present-sign", text: isRight ? "✓" : "" });

/** The grid of a question that asks for cells, its rows and columns by name where they have one. @param {Slide} slide */
function grid({ cells = [], answer, rows, columns }) {
  const right = new Set(/** @type {number[][]} */ (answer).map((at) => at.join()));
  const name = (/** @type {string} */ text, /** @type {string} */ scope) =>
    el("th", { scope, text });
  return table(
    { class: "fa-present-cells" },
    [],
    columns ? [el("td"), ...columns.map((text) => name(text, "col"))] : null,
    cells.map((row, i) =>
      el("tr", {}, [
        rows && name(rows[i], "row"),
        ...row.map((text, j) => {
          const isRight = right.has(`${i},${j}`);
          return el("td", { class: isRight && "is-right" }, [el("span", { text }), sign(isRight)]);
        }),
      ]),
    ),
  );
}

/** Options as tiles, each with its letter. @param {[string, string][]} options @param {number} answer */
function tiles(options, answer) {
  const longest = Math.max(...options.map(([text]) => text.length));
  const size = longest <= BRIEF ? " is-brief" : longest > LONG ? " is-long" : "";
  const items = options.map(([text], k) => {
    const words = el("span");
    writeUnbroken(words, text);
    const letter = el("b", { class: "fa-present-letter", text: LETTERS[k] });
    return el("li", { class: k === answer && "is-right" }, [letter, words, sign(k === answer)]);
  });
  return el("ol", { class: `fa-present-options${size}`, "data-n": options.length }, items);
}

/** Drawn into `mount`, as explainer/learn writes it. */
export class PresentedQuestion {
  /** @param {HTMLElement} mount @param {Slide} slide */
  constructor(mount, slide) {
    const { options, answer, why = "" } = slide;
    this.mount = mount;
    this.why = el("p", { class: "fa-present-why", role: "status" });
    this.answer = options ? `${LETTERS[answer]}. ${options[answer][1]}` : why;
    this.button = button("", () => this.toggle(), { class: "fa-present-answer" });
    const words = el("h3");
    writeUnbroken(words, slide.words);
    mount.replaceChildren(
      words,
      options ? tiles(options, answer) : grid(slide),
      this.why,
      this.button,
    );
    this.isAnswered = false;
    this.show(false);
  }

  /** @param {boolean} on */
  show(on) {
    this.isAnswered = on;
    this.mount.classList.toggle("is-answered", on);
    writeUnbroken(this.why, on ? this.answer : "");
    set(this.button, { text: on ? t("hall.hide") : t("hall.show") });
  }

  toggle() {
    this.show(!this.isAnswered);
  }

  /** True if the key was for this. @param {KeyboardEvent} event */
  key({ key }) {
    if (!KEYS.includes(key.toLowerCase())) return false;
    this.toggle();
    return true;
  }
}
