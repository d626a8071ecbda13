// A rung's question in a lecture hall: letters to raise a hand for, and the answer with its reason when it is asked for.

import { el, set } from "../lib/dom.js";
import { sayer } from "../lib/texts.js";
import told from "../../texts/learn_scripts.json" with { type: "json" };

const say = sayer(told);

const LETTERS = "ABCDEF";
const KEYS = [".", "a", "b"]; // a clicker's blank button sends "." or "b"

/** The grid of a question that asks for cells; with `rows`, tokens that ask keys, both are named. */
function grid({ cells, rows, answer }) {
  const right = new Set(answer.map((at) => at.join()));
  const cell = (text, at) => el("td", { class: right.has(at) && "is-right" }, [el("span", { text }), el("span", { class: "fa-hall-sign", text: right.has(at) ? " ✓" : "" })]);
  const head = rows.length ? [el("thead", {}, [el("tr", {}, [el("th"), ...cells[0].map((_, j) => el("th", { scope: "col", text: say("hall.key", { n: j }) }))])])] : [];
  const name = (i) => (rows.length ? [el("th", { scope: "row", text: say("hall.token", { n: rows[i] }) })] : []);
  return el("table", { class: "fa-hall-cells" }, [...head, el("tbody", {}, cells.map((row, i) => el("tr", {}, [...name(i), ...row.map((text, j) => cell(text, `${i},${j}`))])))]);
}

/** Options one below the other, each with its letter. */
function list({ options, answer }) {
  return el("ol", { class: "fa-hall-options" }, options.map(([text], k) => el("li", { class: k === answer && "is-right" }, [
    el("b", { class: "fa-hall-letter", text: LETTERS[k] }), el("span", { text }), el("span", { class: "fa-hall-sign", text: k === answer ? "✓" : "" }),
  ])));
}

/** Drawn into `mount`, as explainer/learn/hall.py says it. */
export class HallQuestion {
  constructor(mount, asked) {
    this.mount = mount;
    this.why = el("p", { class: "fa-hall-why", role: "status" });
    this.said = asked.options ? `${LETTERS[asked.answer]}. ${asked.options[asked.answer][1]}` : asked.why;
    this.button = el("button", { type: "button", class: "fa-hall-answer" });
    this.button.addEventListener("click", () => this.turn());
    mount.replaceChildren(el("h3", { text: asked.words }), asked.options ? list(asked) : grid(asked), this.why, this.button);
    this.show(false);
  }

  show(on) {
    this.isAnswered = on;
    this.mount.classList.toggle("is-answered", on);
    set(this.why, { text: on ? this.said : "" });
    set(this.button, { text: on ? say("hall.hide") : say("hall.show") });
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
