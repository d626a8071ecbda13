// The query heads as a row of chips, bracketed by the key head that they read, the shown one lit.

import { button, el, get, set } from "../lib/dom.js";
import { cached, groupsOf, readers } from "../model/heads.js";
import { t } from "../model/texts.js";

/** @import { Trace } from "../model/types.js" */
/** @import { OnHead } from "./types.js" */

export class HeadRow {
  /** @param {OnHead} onHead takes the Problem's query with another head; none: they are only seen */
  constructor(onHead) {
    this.onHead = onHead;
    this.row = el("div.fa-head-row", { role: "group", "aria-label": t("heads.current") });
    this.words = el("p.fa-head-words");
    this.root = el("div.fa-heads", { hidden: true }, [this.row, this.words]);
  }

  layout(
    /** @type {Trace} */ {
      header: {
        query,
        problem: { heads },
      },
    },
  ) {
    this.root.hidden = !heads;
    if (!heads) return;
    const had = this.row.contains(document.activeElement);
    const { groups, before, after } = groupsOf(heads);
    const chip = (
      /** @type {number | null} */ head,
      /** @type {string} */ text,
      /** @type {string} */ label,
      isCurrent = false,
    ) => {
      const choose = () => head !== heads.head && this.onHead?.({ ...query, head: String(head) });
      return button(text, choose, {
        class: "fa-head",
        title: label,
        "aria-label": label,
        "aria-pressed": isCurrent ? "true" : "false",
        disabled: !this.onHead,
      });
    };
    const more = (/** @type {number | null} */ head, /** @type {string} */ text) =>
      head !== null && chip(head, text, t("heads.more.to", { h: head, of: heads.q_heads }));
    const brackets = groups.map(({ kv, heads: own }) =>
      el(
        "span",
        { class: `fa-head-group${kv === heads.kv_head ? " is-now" : ""}` },
        own.map((h) => chip(h, String(h), t("heads.reads", { h, kv }), h === heads.head)),
      ),
    );
    const chips = [more(before, "‹"), ...brackets, more(after, "›")];
    this.row.replaceChildren(...chips.filter((node) => node !== false));
    if (had) get(this.row, '[aria-pressed="true"]').focus({ preventScroll: true });
    set(this.root, { "data-head": heads.head });
    this.words.replaceChildren(readers(heads), " ", el("span", cached(heads)));
  }
}
