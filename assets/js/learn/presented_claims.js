// The claims in a lecture hall: one to decide by raised hands, then its verdict.

import { button, el, set } from "../lib/dom.js";
import { writeUnbroken } from "./unbroken.js";
import { t } from "./texts.js";

const VOTES = { t: true, f: false };
const SHOW = [".", "a", "b"]; // as on a lesson's question

export class PresentedClaims {
  /** @param {HTMLElement} root the screen @param {{truth: boolean, why: string, node: Element}[]} cards
   * @param {() => void} on goes on to the verdict */
  constructor(root, cards, on) {
    Object.assign(this, {
      cards,
      words: el("h3"),
      verdict: el("p", { class: "fa-hall-verdict", role: "status" }),
    });
    this.tiles = new Map(
      [
        [true, t("hall.true")],
        [false, t("hall.false")],
      ].map(([truth, name]) => [truth, this.tile(truth, name, on)]),
    );
    this.show = button(t("hall.show"), on, { class: "fa-hall-answer" });
    this.node = el("div", { class: "fa-hall-claim" }, [
      this.words,
      el("div", { class: "fa-hall-votes" }, [...this.tiles.values()]),
      this.verdict,
      this.show,
    ]);
    root.querySelector(".fa-behind-body").append(this.node);
  }

  tile(truth, name, on) {
    const node = button(
      "",
      () => {
        if (this.isTold) return;
        this.vote = truth;
        on();
      },
      {},
      [
        el("b", { class: "fa-hall-letter", text: name[0] }),
        el("span", { text: name }),
        el("span", { class: "fa-hall-sign", text: "✓" }),
      ],
    );
    return node;
  }

  /** The slides: each claim, then its verdict. */
  get parts() {
    return this.cards.flatMap(() => ["claim", "verdict"]);
  }

  /** Shows a slide; which one it is, in words. */
  lay(part) {
    const k = Math.floor(part / 2);
    const { truth, why, node } = this.cards[k];
    this.isTold = part % 2 === 1;
    writeUnbroken(this.words, node.querySelector(".fa-claim-words").textContent);
    for (const [which, tile] of this.tiles) {
      tile.classList.toggle("is-right", this.isTold && which === truth);
      set(tile, { "aria-pressed": this.isTold && which === this.vote });
    }
    this.verdict.replaceChildren(
      ...(this.isTold
        ? [
            el("b", { text: `${truth ? t("hall.true") : t("hall.false")}. ` }),
            el("span", { text: why }),
          ]
        : []),
    );
    this.show.hidden = this.isTold;
    this.vote = undefined;
    return t("hall.claim", { k: k + 1, n: this.cards.length });
  }

  /** How many slides a key goes on, if it is a vote on the claim that is shown, or asks for its verdict. */
  key({ key }, part) {
    const at = key.toLowerCase();
    const isTold = part % 2 === 1;
    if (SHOW.includes(at)) return isTold ? -1 : 1;
    if (isTold || !(at in VOTES)) return 0;
    this.vote = VOTES[at];
    return 1;
  }

  end() {
    this.node.remove();
  }
}
