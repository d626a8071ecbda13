// A lesson's question in a lecture hall: letters to raise a hand for, and the answer with its reason when it is asked for.

import { button, el, set } from "../lib/dom.js";
import { writeUnbroken } from "./unbroken.js";
import { t } from "./texts.js";

const LETTERS = "ABCDEF";
const KEYS = [".", "a", "b"]; // a clicker's blank button sends "." or "b"

const BRIEF = 12; // characters: so short options are printed larger
const LONG = 26;

/** The sign of what is right: it stands beside its text, and moves it neither before the answer nor then. */
const sign = (isRight) => el("span", { class: "fa-hall-sign", text: isRight ? "✓" : "" });

/** The grid of a question that asks for cells, its rows and columns by name where they have one. */
function grid({ cells, answer, rows, columns }) {
  const right = new Set(answer.map((at) => at.join()));
  const cell = (text, at) =>
    el("td", { class: right.has(at) && "is-right" }, [el("span", { text }), sign(right.has(at))]);
  const name = (text, scope) => el("th", { scope, text });
  const head =
    columns &&
    el("thead", {}, [el("tr", {}, [el("td"), ...columns.map((text) => name(text, "col"))])]);
  const body = cells.map((row, i) =>
    el("tr", {}, [rows && name(rows[i], "row"), ...row.map((text, j) => cell(text, `${i},${j}`))]),
  );
  return el("table", { class: "fa-hall-cells" }, [head, el("tbody", {}, body)]);
}

/** Options as tiles, each with its letter. */
function tiles({ options, answer }) {
  const most = Math.max(...options.map(([text]) => text.length));
  const size = most <= BRIEF ? " is-brief" : most > LONG ? " is-long" : "";
  return el(
    "ol",
    { class: `fa-hall-options${size}`, "data-n": options.length },
    options.map(([text], k) => {
      const said = el("span");
      writeUnbroken(said, text);
      return el("li", { class: k === answer && "is-right" }, [
        el("b", { class: "fa-hall-letter", text: LETTERS[k] }),
        said,
        sign(k === answer),
      ]);
    }),
  );
}

/** Drawn into `mount`, as explainer/learn/hall.py says it. */
export class PresentedQuestion {
  constructor(mount, asked) {
    this.mount = mount;
    this.why = el("p", { class: "fa-hall-why", role: "status" });
    this.said = asked.options
      ? `${LETTERS[asked.answer]}. ${asked.options[asked.answer][1]}`
      : asked.why;
    this.button = button("", () => this.turn(), { class: "fa-hall-answer" });
    const words = el("h3");
    writeUnbroken(words, asked.words);
    mount.replaceChildren(words, asked.options ? tiles(asked) : grid(asked), this.why, this.button);
    this.show(false);
  }

  show(on) {
    this.isAnswered = on;
    this.mount.classList.toggle("is-answered", on);
    writeUnbroken(this.why, on ? this.said : "");
    set(this.button, { text: on ? t("hall.hide") : t("hall.show") });
  }

  turn() {
    this.show(!this.isAnswered);
  }

  /** True if the key was for this. */
  key({ key }) {
    if (!KEYS.includes(key.toLowerCase())) return false;
    this.turn();
    return true;
  }
}
