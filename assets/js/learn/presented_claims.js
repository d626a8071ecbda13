// The claims in a lecture hall: one to decide by raised hands, then its verdict.

import { button, el, get, set } from "../lib/dom.js";
import { wordsOf } from "./claims.js";
import { t } from "./texts.js";
import { writeUnbroken } from "./unbroken.js";

/** @import { Claim } from "./claims.js" */

/** @type {Record<string, boolean>} */
const VOTES = { t: true, f: false };
const SHOW = [".", "a", "b"]; // as on a lesson's question

const nameOf = (/** @type {boolean} */ truth) => (truth ? t("hall.true") : t("hall.false"));

export class PresentedClaims {
  /** @param {HTMLElement} root the screen @param {Claim[]} claims @param {() => void} showVerdict */
  constructor(root, claims, showVerdict) {
    this.claims = claims;
    this.words = el("h3");
    this.verdict = el("p", { class: "fa-present-verdict", role: "status" });
    /** @type {boolean | undefined} */
    this.vote = undefined;
    this.isVerdict = false; // the slide that is shown
    this.tiles = [true, false].map((truth) => {
      const name = nameOf(truth);
      const choose = () => {
        if (this.isVerdict) return;
        this.vote = truth;
        showVerdict();
      };
      const node = button("", choose, {}, [
        el("b", { class: "fa-present-letter", text: name[0] }),
        el("span", { text: name }),
        el("span", { class: "fa-present-sign", text: "✓" }),
      ]);
      return { truth, node };
    });
    this.show = button(t("hall.show"), showVerdict, { class: "fa-present-answer" });
    this.node = el("div", { class: "fa-present-claim" }, [
      this.words,
      el(
        "div",
        { class: "fa-present-votes" },
        this.tiles.map(({ node }) => node),
      ),
      this.verdict,
      this.show,
    ]);
    get(root, ".fa-behind-body").append(this.node);
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
    writeUnbroken(this.words, wordsOf(claim));
    for (const { truth, node } of this.tiles) {
      node.classList.toggle("is-right", this.isVerdict && truth === claim.truth);
      set(node, { "aria-pressed": this.isVerdict && truth === this.vote });
    }
    this.verdict.replaceChildren();
    if (this.isVerdict)
      this.verdict.append(
        el("b", { text: `${nameOf(claim.truth)}. ` }),
        el("span", { text: claim.why }),
      );
    this.show.hidden = this.isVerdict;
    this.vote = undefined;
    return t("hall.claim", { k: k + 1, n: this.claims.length });
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

  end() {
    this.node.remove();
  }
}
