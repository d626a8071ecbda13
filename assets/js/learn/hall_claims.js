// The claims in a lecture hall: one to decide by raised hands, then its verdict.

import { el, set } from "../lib/dom.js";
import { sayer } from "../lib/texts.js";
import told from "../../texts/learn_scripts.json" with { type: "json" };

const say = sayer(told);

const VOTES = { t: true, f: false };

export class HallClaims {
  /** @param {HTMLElement} root the screen @param {{truth: boolean, why: string, node: Element}[]} cards */
  constructor(root, cards) {
    this.cards = cards;
    const [words, verdict] = [el("h3"), el("p", { class: "fa-hall-verdict", role: "status" })];
    Object.assign(this, { words, verdict, count: el("p", { class: "fa-hall-count" }) });
    this.node = el("div", { class: "fa-hall-claim" }, [this.count, words, el("p", { class: "fa-hall-votes", text: say("hall.votes") }), verdict]);
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
    const isTold = part % 2 === 1;
    const voted = this.vote === undefined ? "" : this.vote === truth ? "✓ " : "✗ ";
    this.verdict.replaceChildren(...(isTold ? [el("b", { text: `${voted}${truth ? say("hall.true") : say("hall.false")} ` }), el("span", { text: why })] : []));
    this.vote = undefined;
  }

  /** True if the key was a vote on the claim that is shown. */
  key({ key }, part) {
    if (part % 2 || !(key.toLowerCase() in VOTES)) return false;
    this.vote = VOTES[key.toLowerCase()];
    return true;
  }

  end() {
    this.node.remove();
  }
}
