// The claims in a lecture hall: one to decide by raised hands, then its verdict.

import { el, set } from "../lib/dom.js";
import { sayer } from "../lib/texts.js";
import told from "../../texts/learn_scripts.json" with { type: "json" };

const say = sayer(told);

const ASKED = "tf.b"; // raised hands, or a clicker's blank button

export class HallClaims {
  /** @param {HTMLElement} root the screen @param {{truth: boolean, why: string, node: Element}[]} cards @param {(by: number) => void} turn to the next slide or back */
  constructor(root, cards, turn) {
    this.cards = cards;
    const [words, verdict] = [el("h3"), el("p", { class: "fa-hall-verdict", role: "status" })];
    Object.assign(this, { words, verdict, count: el("p", { class: "fa-hall-count" }) });
    this.button = el("button", { type: "button", class: "fa-hall-answer" });
    this.button.addEventListener("click", () => turn(this.isTold ? -1 : 1));
    this.node = el("div", { class: "fa-hall-claim" }, [this.count, words, verdict, this.button]);
    root.querySelector(".fa-behind-body").append(this.node);
  }

  /** The slides: each claim, then its verdict. */
  get parts() {
    return this.cards.flatMap(() => ["claim", "verdict"]);
  }

  lay(part) {
    const k = Math.floor(part / 2);
    const { truth, why, node } = this.cards[k];
    set(this.count, { text: say("hall.claim", { k: k + 1, n: this.cards.length }) });
    set(this.words, { text: node.querySelector(".fa-claim-words").textContent });
    this.isTold = part % 2 === 1;
    this.verdict.replaceChildren(...(this.isTold ? [el("b", { text: `${truth ? say("hall.true") : say("hall.false")} ` }), el("span", { text: why })] : []));
    set(this.button, { text: this.isTold ? say("hall.hide") : say("hall.show") });
  }

  /** Where a key leads: 1 to the verdict, −1 back to its claim, 0 if it is not for this. */
  key({ key }) {
    if (key.length > 1 || !ASKED.includes(key.toLowerCase())) return 0;
    return this.isTold ? -1 : 1;
  }

  end() {
    this.node.remove();
  }
}
