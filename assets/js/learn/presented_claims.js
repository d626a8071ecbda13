// The claims in presentation mode: one to decide by raised hands, then its verdict.

import { all, el, get, set, setText } from "../lib/dom.js";
import { VOTES, wordsOf } from "./claims.js";
import { KEYS } from "./presented_question.js";
import { t } from "./texts.js";
import { unbroken } from "./unbroken.js";

/** @import { Claim } from "./claims.js" */

/** What a tile votes. @param {HTMLElement} tile */
const truthOf = (tile) => tile.dataset.truth === "true";

/** Make the claims' slides, in the place that explainer/views/templates/learn/behind/claims.html writes.
 * @param {HTMLElement} root the screen @param {Claim[]} claims @param {() => void} showVerdict */
export function makePresentedClaims(root, claims, showVerdict) {
  /** @type {boolean | undefined} */
  let vote;
  let isVerdict = false; // the slide that is shown
  /** The slides: each claim, then its verdict. */
  const parts = claims.flatMap(() => ["claim", "verdict"]);
  const words = get(root, ".fa-present-claim h3");
  const verdict = get(root, ".fa-present-verdict");
  const show = get(root, ".fa-present-answer");
  show.onclick = showVerdict;
  const tiles = all(root, "[data-truth]");
  for (const tile of tiles)
    tile.onclick = () => {
      if (isVerdict) return;
      vote = truthOf(tile);
      showVerdict();
    };

  /** Shows a slide; returns which one it is, in words. @param {number} part */
  function lay(part) {
    const k = Math.floor(part / 2);
    const claim = claims[k];
    isVerdict = part % 2 === 1;
    setText(words, unbroken(wordsOf(claim)));
    verdict.replaceChildren();
    for (const tile of tiles) {
      const isRight = isVerdict && truthOf(tile) === claim.truth;
      tile.classList.toggle("is-right", isRight);
      set(tile, { "aria-pressed": isVerdict && truthOf(tile) === vote });
      if (!isRight) continue;
      const name = get(tile, "span").textContent;
      verdict.append(el("b", `${name}. `), el("span", claim.why));
    }
    show.hidden = isVerdict;
    vote = undefined;
    return t("present.claim", { k: k + 1, n: claims.length });
  }

  /** How many slides a key goes on, if it is a vote on the claim that is shown, or asks for its verdict.
   * @param {KeyboardEvent} event */
  function key(event) {
    const key = event.key.toLowerCase();
    if (KEYS.includes(key)) return isVerdict ? -1 : 1;
    if (isVerdict || !(key in VOTES)) return 0;
    vote = VOTES[key];
    return 1;
  }

  return { parts, lay, key };
}
