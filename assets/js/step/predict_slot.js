// Where the questions before each step stand: their card comes in a script of its own, since most visitors never ask for them.

import { el } from "../lib/dom.js";

/** @import { PredictScript } from "./types.js" */

export class PredictSlot {
  /** @type {import("../views/predict.js").Predict | null} */
  card;
  /** @type {Promise<unknown> | null | undefined} */
  coming;
  /** @param {(() => Promise<PredictScript>) | undefined} fetch says itself what is wrong; none: nothing comes */
  constructor(fetch) {
    this.fetch = fetch;
    this.card = null;
    this.root = el("section", { hidden: true }); // the card's, as soon as it is there
  }

  /** Return true if the question, or what is linked in one of these, takes this key. @param {KeyboardEvent} event
   * @param {import("./linking.js").Linking[]} linkings */
  takes(event, linkings) {
    return (
      (!this.root.hidden && this.card?.key(event)) ||
      linkings.some((linking) => linking.key(event)) ||
      this.card?.leaves(event)
    );
  }

  /** Fetch the card and put it in its place, hidden or not as that was, then call `onMounted`; `coming` resolves in any case. @param {() => void} onMounted */
  come(onMounted) {
    if (!this.fetch || this.card || this.coming) return;
    const puts = (/** @type {PredictScript} */ script) => {
      this.card = script.mount();
      this.card.root.hidden = this.root.hidden;
      this.root.replaceWith(this.card.root);
      this.root = this.card.root;
      onMounted();
    };
    this.coming = this.fetch().then(puts, () => (this.coming = null)); // another time
  }
}
