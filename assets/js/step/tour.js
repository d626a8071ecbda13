// The guided tour: a panel with a chapter's text, and Space to go on.

import { el, set } from "../lib/dom.js";

export class Tour {
  /** @param options {chapters() → promise, show(query string), onChapter(number | null)} */
  constructor(options) {
    this.options = options;
    this.count = el("span", { class: "fa-tour-count" });
    this.title = el("h2");
    this.text = el("p");
    const button = (text, action, more = {}) => {
      const node = el("button", { type: "button", class: "fa-link", text, ...more });
      node.addEventListener("click", action);
      return node;
    };
    this.back = button("Back", () => this.go(this.at - 1));
    this.next = button("Next", () => this.go(this.at + 1), { class: "fa-link is-main", title: "Space" });
    const close = button("×", () => this.close(), { class: "fa-tour-close", "aria-label": "Leave the tour" });
    this.root = el("aside", { class: "fa-player fa-tour", "aria-label": "Guided tour", "data-testid": "tour", hidden: true }, [
      el("div", { class: "fa-tour-head" }, [this.count, close]),
      el("div", { "aria-live": "polite" }, [this.title, this.text]),
      el("div", { class: "fa-tour-keys" }, [this.back, this.next]),
    ]);
    document.body.append(this.root); // above the controls, whatever layers they make
    document.addEventListener("keydown", (event) => this.key(event), { capture: true });
  }

  /** While the tour is open, Space goes on in it. */
  key(event) {
    if (this.root.hidden || event.key !== " " || event.target.closest?.("input, textarea, select, button")) return;
    event.preventDefault();
    event.stopPropagation();
    this.go(this.at + 1);
  }

  /** Chapter k, counted from 0; beyond the last one the tour is over. */
  async go(k) {
    this.chapters ??= await this.options.chapters();
    if (k >= this.chapters.length) return this.close();
    this.at = Math.max(0, k);
    const { title, text, query } = this.chapters[this.at];
    this.root.hidden = false;
    document.body.classList.add("fa-touring");
    set(this.root, { "data-chapter": this.at + 1 });
    set(this.count, { text: `${this.at + 1} of ${this.chapters.length}` });
    set(this.title, { text: title });
    set(this.text, { text });
    this.back.disabled = this.at === 0;
    set(this.next, { text: this.at === this.chapters.length - 1 ? "Finish" : "Next" });
    this.options.onChapter?.(this.at + 1);
    this.options.show(new URLSearchParams(query).toString());
  }

  close() {
    this.root.hidden = true;
    document.body.classList.remove("fa-touring");
    this.options.onChapter?.(null);
  }
}
