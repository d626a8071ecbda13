// Said often, one at a time: decide, then the proof runs and can be changed. All of them stand in a list as well.

import { all, button, el, set } from "../lib/dom.js";
import { t } from "./texts.js";

const KEYS = { t: true, f: false };

export class Claims {
  constructor(root, list, { progress }, screen) {
    Object.assign(this, { root, list, progress, screen });
    this.cards = all(list, "[data-claim]").map((node) => ({
      node,
      ...JSON.parse(node.dataset.claim),
    }));
    this.dots = el(
      "span",
      { class: "fa-claim-dots", role: "img" },
      this.cards.map(() => el("i")),
    );
    this.score = el("span");
    root.querySelector("header h2").after(this.dots, this.score);
    this.proved = el("div", { class: "fa-proved" });
    this.live = el("p", { class: "fa-sr", "aria-live": "polite" });
    this.trail = [];
    this.next = el("div", { class: "fa-deciding" });
    this.one = el("div", { class: "fa-claim-one" }, [this.proved, this.next, this.live]);
    list.before(this.one);
    list.hidden = true;
    this.back = button(
      t("claims.one"),
      () => {
        this.all(false);
        this.next.querySelector("h3, button")?.focus({ preventScroll: true });
      },
      { class: "fa-plain" },
    );
    list.prepend(this.back);
    this.keys = el("span", { class: "fa-keys-said", text: t("claims.keys") });
    root.querySelector(".fa-screen-foot").append(this.keys);
    progress.listeners.push(() => this.tell());
    this.at = this.open(-1);
    this.board = this.boardOf();
    this.ask();
  }

  answered(k) {
    return this.progress.of(`claim:${this.cards[k].key}`);
  }

  /** The next one that has not been decided, around the end; −1 if none is left. */
  open(from) {
    const order = this.cards.map((_, k) => (from + 1 + k) % this.cards.length);
    return order.find((k) => !this.answered(k)) ?? -1;
  }

  /** Until one is decided, all of them, to begin with any. */
  boardOf() {
    this.picks = this.cards.map((_, k) => this.press(this.wordsOf(k), "", () => this.pick(k)));
    return el(
      "ol",
      { class: "fa-claim-board", "aria-label": t("claims.board") },
      this.picks.map((pick) => el("li", {}, [pick])),
    );
  }

  pick(k) {
    this.trail.push(this.at);
    this.to(k);
  }

  /** Another claim is asked, and has the keyboard. */
  to(k) {
    this.at = k;
    set(this.live, { text: "" });
    this.ask();
    this.next.querySelector("h3")?.focus({ preventScroll: true });
  }

  /** Before a proof: all claims until one was decided, then what this is. A proof that was shown goes back into its card. */
  intro() {
    this.words ??= all(this.root, ".fa-behind-body > .fa-lesson-text");
    this.putBack();
    const first = this.one.classList.toggle(
      "is-first",
      !this.cards.some((_, k) => this.answered(k)),
    );
    this.proved.replaceChildren(...(first ? [this.board] : this.words));
    return first ? this.words : [el("p", { text: t("claims.decide") })];
  }

  putBack() {
    for (const { node } of this.cards)
      if (!node.querySelector(".fa-proof")) node.append(this.proved.querySelector(".fa-proof"));
  }

  press(text, kind, act) {
    const node = button(text, act, { class: kind });
    return node;
  }

  get foot() {
    return this.press(t("claims.all", { n: this.cards.length }), "fa-plain", () => {
      this.all(true);
      this.back.focus({ preventScroll: true });
    });
  }

  /** At the end: the score, and the claims that were not decided right. */
  get over() {
    const left = this.cards.map((_, k) => k).filter((k) => this.answered(k) !== "right");
    const n = this.cards.length;
    const board = left.map((k) =>
      el("li", {}, [this.press(this.wordsOf(k), "", () => this.pick(k))]),
    );
    const title = el("h3", {
      text: t("claims.over", { right: n - left.length, n }),
      tabindex: -1,
    });
    return left.length
      ? [
          title,
          el("p", { text: t("claims.look") }),
          el("ol", { class: "fa-claim-board is-left" }, board),
        ]
      : [title];
  }

  wordsOf(k) {
    return this.cards[k].node.querySelector(".fa-claim-words").textContent;
  }

  /** The claim that is to be decided now. */
  ask() {
    const card = this.cards[this.at];
    const { press } = this;
    this.isProved = this.one.classList.toggle("is-proved", false);
    const before = this.intro();
    if (!card) {
      this.next.replaceChildren(...this.over, el("div", { class: "fa-claim-foot" }, [this.foot]));
      return this.tell();
    }
    const place = t("hall.claim", { k: this.at + 1, n: this.cards.length });
    this.next.replaceChildren(
      el("span", {
        class: "fa-fine",
        text: this.answered(this.at) ? `${place}. ${t("claims.again")}` : place,
      }),
      el("h3", { text: this.wordsOf(this.at), class: "is-claim", tabindex: -1 }),
      el("div", { class: "fa-true-false", role: "group", "aria-label": t("claims.ask") }, [
        press(t("true"), "", () => this.decide(true)),
        press(t("false"), "", () => this.decide(false)),
      ]),
      ...before,
      el("div", { class: "fa-claim-foot" }, [
        press(t("claims.skip"), "fa-plain", () => this.skip()),
        this.foot,
      ]),
    );
    this.tell();
    return undefined;
  }

  decide(means) {
    const card = this.cards[this.at];
    if (!card || this.isProved) return;
    const right = means === card.truth;
    this.progress.record(`claim:${card.key}`, right);
    this.one.classList.remove("is-first");
    this.isProved = this.one.classList.toggle("is-proved", true);
    this.prove(card, means);
    const go = this.press(
      this.open(this.at) < 0 ? t("claims.on") : t("claims.go"),
      "fa-small is-main",
      () => this.goOn(),
    );
    this.next.replaceChildren(go, el("div", { class: "fa-claim-foot" }, [this.foot]));
    this.tell();
    go.focus({ preventScroll: true });
  }

  goOn() {
    this.pick(this.open(this.at));
  }

  /** To the claim that was here before. */
  goBack() {
    if (this.trail.length) this.to(this.trail.pop());
  }

  /** What was decided and its proof. */
  prove(card, means) {
    this.putBack();
    const proof = card.node.querySelector(".fa-proof");
    proof.hidden = false;
    const right = means === card.truth;
    const [meant, { why }] = [means ? t("claims.said_true") : t("claims.said_false"), card];
    const truth = card.truth ? t("claims.is_true", { why }) : t("claims.is_false", { why });
    const said = el("p", { class: `fa-verdict is-${right ? "right" : "wrong"}` }, [
      el("b", { text: `${right ? "✓" : "✗"} ${meant} ` }),
      el("span", { text: truth }),
    ]);
    const source = card.source
      ? el("p", { class: "fa-fine", text: t("claims.source", { source: card.source }) })
      : null;
    this.proved.replaceChildren(
      ...[
        el("h3", { text: card.node.querySelector(".fa-claim-words").textContent }),
        said,
        proof,
        source,
      ].filter(Boolean),
    );
    set(this.live, { text: said.textContent });
    this.screen.wake(proof);
  }

  skip() {
    if (this.isProved) return this.goOn();
    const from = this.at;
    const next = this.open(from);
    return this.pick(next === from ? (from + 1) % this.cards.length : next);
  }

  all(on) {
    this.root.classList.toggle("is-listed", on);
    this.list.hidden = !on;
    this.one.hidden = on;
    this.keys.hidden = on;
  }

  tell() {
    const known = this.cards.map((_, k) => this.answered(k));
    [...this.dots.children].forEach((dot, k) =>
      set(dot, {
        class:
          [
            known[k] === "right" ? "is-right" : known[k] ? "is-wrong" : "",
            k === this.at ? "is-now" : "",
          ]
            .join(" ")
            .trim() || null,
      }),
    );
    this.picks.forEach((pick, k) =>
      set(pick, {
        class: known[k] ? `is-${known[k]}` : null,
        "aria-current": k === this.at ? "true" : null,
      }),
    );
    const right = known.filter((one) => one === "right").length;
    const done = known.filter(Boolean).length;
    set(this.dots, { "aria-label": t("claims.decided", { done, n: known.length }) });
    set(this.score, { text: done ? t("claims.right", { right, done }) : "" });
  }

  /** T, F and →; true if the key was for this. */
  key(event) {
    if (this.list.hidden === false) return false;
    if (event.key === "ArrowRight" || event.key === "n") this.skip();
    else if (event.key === "ArrowLeft") this.goBack();
    else if (event.key.toLowerCase() in KEYS) this.decide(KEYS[event.key.toLowerCase()]);
    else return false;
    return true;
  }
}
