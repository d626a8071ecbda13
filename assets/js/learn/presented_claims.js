// The claims in presentation mode: one to decide by raised hands, then its verdict.

import { all, el, get, set } from "../lib/dom.js";
import { wordsOf } from "./claims.js";
import { t } from "./texts.js";
import { unbroken } from "./unbroken.js";

/** @import { Claim } from "./claims.js" */

/** @type {Record<string, boolean>} */
const VOTES = { t: true, f: false };
const SHOW = [".", "a", "b"]; // as on a lesson's question

/** What a tile votes. @param {HTMLElement} tile */
const truthOf = (tile) => tile.dataset.truth === "true";

/** In the place that explainer/views/templates/learn/behind/claims.html writes. */
export class PresentedClaims {
  /** @param {HTMLElement} root the screen @param {Claim[]} claims @param {() => void} showVerdict */
  constructor(root, claims, showVerdict) {
    this.claims = claims;
    this.words = get(root, ".fa-present-claim h3");
    this.verdict = get(root, ".fa-present-verdict");
    this.show = get(root, ".fa-present-answer");
    this.show.onclick = showVerdict;
    /** @type {boolean | undefined} */
    this.vote = undefined;
    this.isVerdict = false; // the slide that is shown
    this.tiles = all(root, "[data-truth]");
    for (const tile of this.tiles)
      tile.onclick = () => {
        if (this.isVerdict) return;
        this.vote = truthOf(tile);
        showVerdict();
      };
  }

  /** The slides: each claim, then its verdict. */
  get parts() {
    return this.claims.flatMap(() => ["claim", "verdict"]);
  }

  /** Shows a slide; returns which one it is, in words. @param {number} part */
  lay(part) {
    const k = Math.floor(part / 2);
    const claim = this.claims[k];
    this.isVerdict = part % 2 === 1;
    set(this.words, { text: unbroken(wordsOf(claim)) });
    this.verdict.replaceChildren();
    for (const tile of this.tiles) {
      const isRight = this.isVerdict && truthOf(tile) === claim.truth;
      tile.classList.toggle("is-right", isRight);
      set(tile, { "aria-pressed": this.isVerdict && truthOf(tile) === this.vote });
      if (!isRight) continue;
      const name = get(tile, "span").textContent;
      this.verdict.append(el("b", `${name}. `), el("span", claim.why));
    }
    this.show.hidden = this.isVerdict;
    this.vote = undefined;
    return t("present.claim", { k: k + 1, n: this.claims.length });
  }

  /** How many slides a key goes on, if it is a vote on the claim that is shown, or asks for its verdict.
   * @param {KeyboardEvent} event @param {number} part */
  key(event, part) {
    const key = event.key.toLowerCase();
    const isVerdict = part % 2 === 1;
    if (SHOW.includes(key)) return isVerdict ? -1 : 1;
    if (isVerdict || !(key in VOTES)) return 0;
    this.vote = VOTES[key];
    return 1;
  }
}
