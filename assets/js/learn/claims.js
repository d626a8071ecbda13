// Said often, one at a time: decide, then the proof runs and can be changed. All of them stand in a list as well.

import { el, set } from "../lib/dom.js";

const KEYS = { t: true, f: false };

export class Claims {
  constructor(root, list, { progress }, screen) {
    Object.assign(this, { root, list, progress, screen });
    this.cards = [...list.querySelectorAll("[data-claim]")].map((node) => ({ node, ...JSON.parse(node.dataset.claim) }));
    this.dots = el("span", { class: "fa-claim-dots", role: "img" }, this.cards.map(() => el("i")));
    this.score = el("span");
    root.querySelector("header h2").after(this.dots, this.score);
    this.proved = el("div", { class: "fa-proved", "aria-live": "polite" });
    this.next = el("div", { class: "fa-deciding" });
    this.one = el("div", { class: "fa-claim-one is-first" }, [this.proved, this.next]);
    this.intro = [...root.querySelectorAll(".fa-behind-body > .fa-rung-text")];
    list.before(this.one);
    list.hidden = true;
    this.back = el("button", { type: "button", class: "fa-plain", text: "One at a time" });
    this.back.addEventListener("click", () => this.all(false));
    list.prepend(this.back);
    root.querySelector(".fa-screen-foot").append(el("span", { class: "fa-keys-said", text: "Keys: T true, F false, → skip" }));
    this.from = progress.listeners.push(() => this.tell());
    this.right = new Map();
    this.at = this.open(-1);
    this.board();
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

  /** Until one is decided: all of them, to begin with any. */
  board() {
    this.picks = this.cards.map(({ node }, k) => {
      const pick = el("button", { type: "button", text: node.querySelector(".fa-claim-words").textContent });
      pick.addEventListener("click", () => this.pick(k));
      return pick;
    });
    this.proved.replaceChildren(el("ol", { class: "fa-claim-board", "aria-label": "All claims" }, this.picks.map((pick) => el("li", {}, [pick]))));
  }

  pick(k) {
    this.at = k;
    this.ask();
    this.next.querySelector("h3")?.focus({ preventScroll: true });
  }

  /** The claim that is to be decided now. */
  ask() {
    const card = this.cards[this.at];
    const press = (text, kind, act) => {
      const node = el("button", { type: "button", class: kind, text });
      node.addEventListener("click", act);
      return node;
    };
    const all = press(`All ${this.cards.length} claims`, "fa-plain", () => this.all(true));
    if (!card) {
      this.next.replaceChildren(el("h3", { text: "That was the last one." }), el("div", { class: "fa-claim-foot" }, [all]));
      return this.tell();
    }
    const words = card.node.querySelector(".fa-claim-words").textContent;
    this.next.replaceChildren(
      el("span", { class: "fa-fine", text: this.answered(this.at) ? "Once more" : "Next" }),
      el("h3", { text: words, class: "is-claim", tabindex: -1 }),
      el("div", { class: "fa-true-false", role: "group", "aria-label": "True or false?" }, [press("True", "", () => this.decide(true)), press("False", "", () => this.decide(false))]),
      ...(this.one.classList.contains("is-first") ? this.intro : [el("p", { text: "Decide first. Then the proof runs here, and you can change its numbers." })]),
      el("div", { class: "fa-claim-foot" }, [press("Skip", "fa-plain", () => this.skip()), all]),
    );
    this.tell();
    return undefined;
  }

  decide(means) {
    const card = this.cards[this.at];
    if (!card) return;
    const right = means === card.truth;
    this.progress.tell(`claim:${card.key}`, right);
    this.right.set(this.at, right);
    this.one.classList.remove("is-first");
    this.prove(card, right);
    this.at = this.open(this.at);
    this.ask();
    this.next.querySelector("h3")?.focus({ preventScroll: true });
  }

  /** The proof of what was decided takes the left of the screen; the one before goes back into its card. */
  prove(card, right) {
    for (const { node } of this.cards) if (!node.querySelector(".fa-proof")) node.append(this.proved.querySelector(".fa-proof"));
    const proof = card.node.querySelector(".fa-proof");
    proof.hidden = false;
    const said = el("p", { class: `fa-verdict is-${right ? "right" : "wrong"}` }, [el("b", { text: `${right ? "✓" : "✗"} ${card.truth ? "True." : "False."} ` }), el("span", { text: card.why })]);
    const source = card.source ? el("p", { class: "fa-fine", text: `Source: ${card.source}` }) : null;
    this.proved.replaceChildren(...[el("h3", { text: card.node.querySelector(".fa-claim-words").textContent }), said, proof, source].filter(Boolean));
    this.screen.wake(proof);
  }

  skip() {
    const from = this.at;
    this.at = this.open(from);
    if (this.at === from) this.at = (from + 1) % this.cards.length;
    this.ask();
  }

  all(on) {
    this.root.classList.toggle("is-listed", on);
    this.list.hidden = !on;
    this.one.hidden = on;
  }

  tell() {
    const known = this.cards.map((_, k) => this.answered(k));
    [...this.dots.children].forEach((dot, k) => set(dot, { class: [known[k] === "right" ? "is-right" : known[k] ? "is-wrong" : "", k === this.at ? "is-now" : ""].join(" ").trim() || null }));
    this.picks.forEach((pick, k) => set(pick, { class: known[k] ? `is-${known[k]}` : null, "aria-current": k === this.at ? "true" : null }));
    const right = known.filter((one) => one === "right").length;
    const done = known.filter(Boolean).length;
    set(this.dots, { "aria-label": `${done} of ${known.length} decided` });
    set(this.score, { text: done ? `${right} of ${done} right.` : "" });
  }

  /** T, F and →; true if the key was for this. */
  key(event) {
    if (this.list.hidden === false) return false;
    if (event.key === "ArrowRight" || event.key === "n") this.skip();
    else if (event.key.toLowerCase() in KEYS) this.decide(KEYS[event.key.toLowerCase()]);
    else return false;
    return true;
  }
}
