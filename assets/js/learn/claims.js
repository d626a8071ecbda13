// Common claims, one at a time: decide, then the proof runs and can be changed. All of them stand in a list as well.

import { all, around, el, find, get, set } from "../lib/dom.js";
import { t } from "./texts.js";

/** @import { Progress } from "./progress.js" */
/** @import { Screen } from "./screen.js" */
/** @typedef {{key: string, truth: boolean, why: string, source?: string, node: HTMLElement}} Claim */

/** @type {Record<string, boolean>} */
const KEYS = { t: true, f: false };

/** @param {Claim} claim */
export const wordsOf = ({ node }) => get(node, ".fa-claim-words").textContent ?? "";

/** In the places that explainer/views/templates/learn/behind/claims.html writes. */
export class Claims {
  /** @param {HTMLElement} root @param {HTMLElement} list @param {Progress} progress @param {Screen} screen */
  constructor(root, list, progress, screen) {
    this.root = root;
    this.list = list;
    this.progress = progress;
    this.screen = screen;
    /** @type {Claim[]} */
    this.claims = all(list, "[data-claim]").map((node) => ({
      node,
      ...JSON.parse(node.dataset.claim ?? ""),
    }));
    const dots = this.claims.map(() => el("i"));
    this.dots = el("span.fa-claim-dots", { role: "img" }, dots);
    this.score = el("span");
    get(root, "header h2").after(this.dots, this.score);
    this.one = get(root, ".fa-claim-one");
    this.proof = get(this.one, ".fa-proved");
    this.choices = get(this.proof, "ol");
    this.next = get(this.one, ".fa-deciding");
    this.live = get(this.one, "[aria-live]");
    /** The claims that were here before. @type {number[]} */
    this.trail = [];
    this.words = all(root, ".fa-behind-body > .fa-lesson-text");
    this.keys = get(root, ".fa-keys-hint");
    progress.listeners.push(() => this.showProgress());
    root.addEventListener("click", (event) => this.clicked(around(event, "button")));
    this.isProved = false;
    this.at = this.openAfter(-1);
    this.showAll(false);
    this.ask();
  }

  /** @param {HTMLElement | null} button */
  clicked(button) {
    const { pick, decide, claims } = button?.dataset ?? {};
    if (pick) this.pick(Number(pick));
    if (decide) this.decide(decide === "true");
    if (claims === "skip") this.skip();
    if (claims === "next") this.goOn();
    if (claims !== "all" && claims !== "one") return;
    this.showAll(claims === "all");
    const first = claims === "all" ? "[data-claims=one]" : ".fa-deciding :is(h3, button)";
    find(this.root, first)?.focus({ preventScroll: true });
  }

  /** Shows what can be done now, as the template of this name has it. @param {"ask" | "proved" | "over"} name */
  stage(name) {
    const template = /** @type {HTMLTemplateElement} */ (get(this.one, `[data-stage=${name}]`));
    this.next.replaceChildren(template.content.cloneNode(true));
  }

  /** @param {number} k */
  answerOf(k) {
    return this.progress.of(`claim:${this.claims[k].key}`);
  }

  /** The next one that has not been decided, around the end; −1 if none is left. @param {number} from */
  openAfter(from) {
    const order = this.claims.map((_, k) => (from + 1 + k) % this.claims.length);
    return order.find((k) => !this.answerOf(k)) ?? -1;
  }

  /** @param {number} k */
  pick(k) {
    this.trail.push(this.at);
    this.goTo(k);
  }

  /** Asks another claim, which has the keyboard. @param {number} k */
  goTo(k) {
    this.at = k;
    set(this.live, { text: "" });
    this.ask();
    find(this.next, "h3")?.focus({ preventScroll: true });
  }

  /** Puts a proof that was shown back into its card. */
  returnProof() {
    const proof = find(this.proof, ".fa-proof");
    const home = this.claims.find(({ node }) => !find(node, ".fa-proof"));
    if (proof) home?.node.append(proof);
  }

  /** At the end: the score, and the claims that were not decided right. */
  showEnd() {
    const left = this.claims.map((_, k) => k).filter((k) => this.answerOf(k) !== "right");
    const n = this.claims.length;
    this.stage("over");
    set(get(this.next, "h3"), { text: t("claims.over", { right: n - left.length, n }) });
    get(this.next, "ol").append(...left.map((k) => this.choices.children[k].cloneNode(true)));
    if (!left.length) for (const node of all(this.next, "p, ol")) node.remove();
  }

  /** Asks the claim that is to be decided now. Above it, before a proof: all claims until one was decided, then what this is. */
  ask() {
    const claim = this.claims[this.at];
    this.isProved = this.one.classList.toggle("is-proved", false);
    this.returnProof();
    const isFirst = this.one.classList.toggle(
      "is-first",
      !this.claims.some((_, k) => this.answerOf(k)),
    );
    this.proof.replaceChildren(...(isFirst ? [this.choices] : this.words));
    if (claim) {
      const place = t("present.claim", { k: this.at + 1, n: this.claims.length });
      const text = this.answerOf(this.at) ? `${place}. ${t("claims.again")}` : place;
      this.stage("ask");
      set(get(this.next, ".fa-fine"), { text });
      set(get(this.next, "h3"), { text: wordsOf(claim) });
      if (isFirst) get(this.next, "p").replaceWith(...this.words);
    } else this.showEnd();
    this.showProgress();
  }

  /** @param {boolean} isTrue the reader's answer */
  decide(isTrue) {
    const claim = this.claims[this.at];
    if (!claim || this.isProved) return;
    const question = wordsOf(claim);
    const answer = isTrue ? t("claims.said_true") : t("claims.said_false");
    this.progress.record(`claim:${claim.key}`, isTrue === claim.truth, {
      lesson: "claims",
      question,
      answer,
    });
    this.one.classList.remove("is-first");
    this.isProved = this.one.classList.toggle("is-proved", true);
    this.prove(claim, isTrue);
    this.stage("proved");
    const go = get(this.next, "button");
    set(go, { text: this.openAfter(this.at) < 0 ? t("claims.on") : t("claims.go") });
    this.showProgress();
    go.focus({ preventScroll: true });
  }

  goOn() {
    this.pick(this.openAfter(this.at));
  }

  /** To the claim that was here before. */
  goBack() {
    const k = this.trail.pop();
    if (k !== undefined) this.goTo(k);
  }

  /** Shows what was decided and its proof. @param {Claim} claim @param {boolean} isTrue */
  prove(claim, isTrue) {
    this.returnProof();
    const { truth, why, source } = claim;
    const proof = get(claim.node, ".fa-proof");
    proof.hidden = false;
    const isRight = isTrue === truth;
    const answer = isTrue ? t("claims.said_true") : t("claims.said_false");
    const verdict = el("p", { class: `fa-verdict is-${isRight ? "right" : "wrong"}` }, [
      el("b", `${isRight ? "✓" : "✗"} ${answer} `),
      el("span", truth ? t("claims.is_true", { why }) : t("claims.is_false", { why })),
    ]);
    this.proof.replaceChildren(el("h3", wordsOf(claim)), verdict, proof);
    if (source)
      this.proof.append(el("p.fa-fine", t("claims.source", { source })));
    set(this.live, { text: verdict.textContent });
    this.screen.wake(proof);
  }

  skip() {
    if (this.isProved) return this.goOn();
    const next = this.openAfter(this.at);
    this.pick(next === this.at ? (this.at + 1) % this.claims.length : next);
  }

  /** Shows the list of all, or one at a time. @param {boolean} on */
  showAll(on) {
    this.root.classList.toggle("is-listed", on);
    this.list.hidden = !on;
    this.one.hidden = on;
    this.keys.hidden = on;
  }

  showProgress() {
    const answers = this.claims.map((_, k) => this.answerOf(k));
    answers.forEach((answer, k) => {
      const now = k === this.at;
      const looks = [answer && (answer === "right" ? "is-right" : "is-wrong"), now && "is-now"];
      set(this.dots.children[k], { class: looks.filter(Boolean).join(" ") || null });
      set(get(this.choices.children[k], "button"), { "aria-current": now ? "true" : null });
    });
    const right = answers.filter((one) => one === "right").length;
    const done = answers.filter(Boolean).length;
    set(this.dots, { "aria-label": t("claims.decided", { done, n: answers.length }) });
    set(this.score, { text: done ? t("claims.right", { right, done }) : "" });
  }

  /** Takes T, F and the arrows; true if the key was for this. @param {KeyboardEvent} event */
  key(event) {
    const key = event.key.toLowerCase();
    if (!this.list.hidden) return false;
    if (event.key === "ArrowRight" || event.key === "n") this.skip();
    else if (event.key === "ArrowLeft") this.goBack();
    else if (key in KEYS) this.decide(KEYS[key]);
    else return false;
    return true;
  }
}
