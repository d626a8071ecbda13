// The query heads as a row of chips, bracketed by the key head that they read, the shown one lit.

import { button, el, get, giveFocus, set } from "../lib/dom.js";
import { cached, groupsOf, readers } from "../model/heads.js";
import { t } from "../model/texts.js";

/** @import { Trace } from "../model/types.js" */
/** @import { OnHead } from "./types.js" */

/** Make the row of heads. @param {OnHead} onHead takes the Problem's query with another head; none: they are only seen */
export function makeHeadRow(onHead) {
  const row = el("div.fa-head-row", { role: "group", "aria-label": t("heads.current") });
  const words = el("p.fa-head-words");
  const root = el("div.fa-heads", { hidden: true }, [row, words]);

  function layout(
    /** @type {Trace} */ {
      header: {
        query,
        problem: { heads },
      },
    },
  ) {
    root.hidden = !heads;
    if (!heads) return;
    const had = row.contains(document.activeElement);
    const { groups, before, after } = groupsOf(heads);
    const chip = (
      /** @type {number | null} */ head,
      /** @type {string} */ text,
      /** @type {string} */ label,
      isCurrent = false,
    ) => {
      const choose = () => head !== heads.head && onHead?.({ ...query, head: String(head) });
      return button(text, choose, {
        class: "fa-head",
        title: label,
        "aria-label": label,
        "aria-pressed": isCurrent ? "true" : "false",
        disabled: !onHead,
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
    row.replaceChildren(...chips.filter((node) => node !== false));
    if (had) giveFocus(get(row, '[aria-pressed="true"]'));
    set(root, { "data-head": heads.head });
    words.replaceChildren(readers(heads), " ", el("span", cached(heads)));
  }

  return { root, layout };
}
