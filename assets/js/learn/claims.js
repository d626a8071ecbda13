// Common claims, one at a time: decide, then the proof runs and can be changed. All of them stand in a list as well.

import { all, around, el, find, get, giveFocus, set, setText } from "../lib/dom.js";
import { t } from "./texts.js";

/** @import { Progress } from "./progress.js" */
/** @typedef {{key: string, truth: boolean, why: string, source?: string, node: HTMLElement}} Claim */

/** What a key says of a claim. @type {Record<string, boolean>} */
export const VOTES = { t: true, f: false };

/** @param {Claim} claim */
export const wordsOf = ({ node }) => get(node, ".fa-claim-words").textContent;

/** Make the claims live, in the places that explainer/views/templates/learn/behind/claims.html writes. `wake` starts the widgets of a proof.
 * @param {HTMLElement} root @param {HTMLElement} list @param {Progress} progress @param {(proof: HTMLElement) => void} wake */
export function makeClaims(root, list, progress, wake) {
  /** @type {Claim[]} */
  const claims = all(list, "[data-claim]").map((node) => ({
    node,
    ...JSON.parse(node.dataset.claim ?? ""),
  }));
  const dots = el(
    "span.fa-claim-dots",
    { role: "img" },
    claims.map(() => el("i")),
  );
  const score = el("span");
  get(root, "header h2").after(dots, score);
  const one = get(root, ".fa-claim-one");
  const proved = get(one, ".fa-proved");
  const choices = get(proved, "ol");
  const next = get(one, ".fa-deciding");
  const live = get(one, "[aria-live]");
  /** The claims that were here before. @type {number[]} */
  const trail = [];
  const words = all(root, ".fa-behind-body > .fa-lesson-text");
  const keys = get(root, ".fa-keys-hint");
  progress.listeners.push(showProgress);
  root.addEventListener("click", (event) => clicked(around(event, "button")));
  let isProved = false;
  let at = openAfter(-1);
  showAll(false);
  ask();

  /** @param {HTMLElement | null} button */
  function clicked(button) {
    const { pick, decide, claims: act } = button?.dataset ?? {};
    if (pick) goToClaim(Number(pick));
    if (decide) answer(decide === "true");
    if (act === "skip") skip();
    if (act === "next") goOn();
    if (act !== "all" && act !== "one") return;
    showAll(act === "all");
    const first = act === "all" ? "[data-claims=one]" : ".fa-deciding :is(h3, button)";
    giveFocus(find(root, first));
  }

  /** Shows what can be done now, as the template of this name has it. @param {"ask" | "proved" | "over"} name */
  function stage(name) {
    /** @type {HTMLTemplateElement} */
    const template = get(one, `[data-stage=${name}]`);
    next.replaceChildren(template.content.cloneNode(true));
  }

  /** @param {number} k */
  function answerOf(k) {
    return progress.of(`claim:${claims[k].key}`);
  }

  /** The next one that has not been decided, around the end; −1 if none is left. @param {number} from */
  function openAfter(from) {
    const order = claims.map((_, k) => (from + 1 + k) % claims.length);
    return order.find((k) => !answerOf(k)) ?? -1;
  }

  /** @param {number} k */
  function goToClaim(k) {
    trail.push(at);
    goTo(k);
  }

  /** Asks another claim, which has the keyboard. @param {number} k */
  function goTo(k) {
    at = k;
    setText(live, "");
    ask();
    giveFocus(find(next, "h3"));
  }

  /** Puts a proof that was shown back into its card. */
  function returnProof() {
    const proof = find(proved, ".fa-proof");
    const home = claims.find(({ node }) => !find(node, ".fa-proof"));
    if (proof) home?.node.append(proof);
  }

  /** At the end: the score, and the claims that were not decided right. */
  function showEnd() {
    const left = claims.map((_, k) => k).filter((k) => answerOf(k) !== "right");
    const n = claims.length;
    stage("over");
    get(next, "h3").textContent = t("claims.over", { right: n - left.length, n });
    get(next, "ol").append(...left.map((k) => choices.children[k].cloneNode(true)));
    if (!left.length) for (const node of all(next, "p, ol")) node.remove();
  }

  /** Asks the claim that is to be decided now. Above it, before a proof: all claims until one was decided, then what this is. */
  function ask() {
    const claim = claims[at];
    isProved = one.classList.toggle("is-proved", false);
    returnProof();
    const isFirst = one.classList.toggle("is-first", !claims.some((_, k) => answerOf(k)));
    proved.replaceChildren(...(isFirst ? [choices] : words));
    if (claim) {
      const place = t("present.claim", { k: at + 1, n: claims.length });
      stage("ask");
      get(next, ".fa-fine").textContent = answerOf(at) ? `${place}. ${t("claims.again")}` : place;
      get(next, "h3").textContent = wordsOf(claim);
      if (isFirst) get(next, "p").replaceWith(...words);
    } else showEnd();
    showProgress();
  }

  /** @param {boolean} isTrue the reader's answer */
  function answer(isTrue) {
    const claim = claims[at];
    if (!claim || isProved) return;
    const question = wordsOf(claim);
    const answer = t(isTrue ? "claims.said_true" : "claims.said_false");
    progress.record(`claim:${claim.key}`, isTrue === claim.truth, {
      lesson: "claims",
      question,
      answer,
    });
    one.classList.remove("is-first");
    isProved = one.classList.toggle("is-proved", true);
    prove(claim, isTrue);
    stage("proved");
    const go = get(next, "button");
    go.textContent = t(openAfter(at) < 0 ? "claims.on" : "claims.go");
    showProgress();
    giveFocus(go);
  }

  function goOn() {
    goToClaim(openAfter(at));
  }

  /** To the claim that was here before. */
  function goBack() {
    const k = trail.pop();
    if (k !== undefined) goTo(k);
  }

  /** Shows what was decided and its proof. @param {Claim} claim @param {boolean} isTrue */
  function prove(claim, isTrue) {
    returnProof();
    const { truth, why, source } = claim;
    const proof = get(claim.node, ".fa-proof");
    proof.hidden = false;
    const isRight = isTrue === truth;
    const answer = t(isTrue ? "claims.said_true" : "claims.said_false");
    const verdict = el("p", { class: `fa-verdict is-${isRight ? "right" : "wrong"}` }, [
      el("b", `${isRight ? "✓" : "✗"} ${answer} `),
      el("span", t(truth ? "claims.is_true" : "claims.is_false", { why })),
    ]);
    proved.replaceChildren(el("h3", wordsOf(claim)), verdict, proof);
    if (source) proved.append(el("p.fa-fine", t("claims.source", { source })));
    setText(live, verdict.textContent);
    wake(proof);
  }

  function skip() {
    if (isProved) return goOn();
    const next = openAfter(at);
    goToClaim(next === at ? (at + 1) % claims.length : next);
  }

  /** Shows the list of all, or one at a time. @param {boolean} on */
  function showAll(on) {
    root.classList.toggle("is-listed", on);
    list.hidden = !on;
    one.hidden = on;
    keys.hidden = on;
  }

  function showProgress() {
    const answers = claims.map((_, k) => answerOf(k));
    answers.forEach((answer, k) => {
      const now = k === at;
      const looks = [answer && (answer === "right" ? "is-right" : "is-wrong"), now && "is-now"];
      set(dots.children[k], { class: looks.filter(Boolean).join(" ") || null });
      set(get(choices.children[k], "button"), { "aria-current": now ? "true" : null });
    });
    const right = answers.filter((one) => one === "right").length;
    const done = answers.filter(Boolean).length;
    set(dots, { "aria-label": t("claims.decided", { done, n: answers.length }) });
    setText(score, done ? t("claims.right", { right, done }) : "");
  }

  /** Takes T, F and the arrows; true if the key was for this. @param {KeyboardEvent} event */
  function key(event) {
    const key = event.key.toLowerCase();
    if (!list.hidden) return false;
    if (event.key === "ArrowRight" || event.key === "n") skip();
    else if (event.key === "ArrowLeft") goBack();
    else if (key in VOTES) answer(VOTES[key]);
    else return false;
    return true;
  }

  return { claims, showAll, key };
}
