"""Small pieces of HTML and of text that the Run page is made of; every text is escaped."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape


def tag(name: str, content: str, **attributes: object) -> str:
    """One element; ``content`` is HTML, attribute values are escaped. class_ → class, a_b → a-b."""
    given = "".join(
        f' {k.rstrip("_").replace("_", "-")}="{escape(str(v))}"' for k, v in attributes.items()
    )
    return f"<{name}{given}>{content}</{name}>"


def div(kind: str, *content: str, **attributes: object) -> str:
    """A ``div`` of this class."""
    return tag("div", "".join(content), class_=kind, **attributes)


def words(text: str, kind: str = "") -> str:
    """A paragraph of plain text."""
    return tag("p", escape(text), class_=kind) if kind else tag("p", escape(text))


def card(name: str, title: str, remark: str, *body: str) -> str:
    """A card with the heading that the Step page's cards have."""
    head = tag("h2", escape(title)) + tag("span", escape(remark), class_="fa-remark")
    return tag("section", div("fa-card-head", head) + "".join(body), class_=f"fa-card fa-{name}")


def mark(good: bool) -> str:
    """✓ or ✗ in a disc."""
    return tag("span", "✓" if good else "✗", class_="fa-mark" if good else "fa-mark is-bad")


def bar(
    label: str,
    share: float,
    cells: tuple[str, ...],
    kind: str,
    *,
    whisker: tuple[float, float] | None = None,
    limit: float | None = None,
) -> str:
    """One labelled bar of ``share`` of its track; ``whisker`` (low, high) and ``limit``: shares.

    ``cells`` are the figures beside it.
    """
    fill = tag("i", "", class_=f"fa-fill fa-is-{kind}", style=f"width:{100 * share:.2f}%")
    if whisker:
        low, high = (100 * x for x in whisker)
        style = f"left:{low:.2f}%;width:{max(0.2, high - low):.2f}%"
        fill += tag("i", "", class_="fa-whisker", style=style)
    if limit is not None:
        fill += tag("i", "", class_="fa-limit", style=f"left:{100 * limit:.2f}%")
    name, track = tag("span", escape(label)), tag("span", fill, class_="fa-run-track")
    values = "".join(tag("b", escape(text)) for text in cells)
    return div(f"fa-run-bar has-{len(cells)}", name, track, values)


def absent(label: str, sentence: str) -> str:
    """In a bar's place: why there is none."""
    name = tag("span", escape(label))
    return div("fa-run-bar is-absent", name, tag("em", escape(sentence)))


def table(head: tuple[str, ...], rows: list[tuple[str, ...]], caption: str) -> str:
    """A table with row headings that scrolls inside its card when it is wide."""
    top = "".join(tag("th", escape(text), scope="col") for text in head)
    body = ""
    for first, *rest in rows:
        cells = "".join(tag("td", escape(text)) for text in rest)
        body += tag("tr", tag("th", escape(first), scope="row") + cells)
    inner = tag("caption", escape(caption)) + tag("thead", tag("tr", top)) + tag("tbody", body)
    return div("fa-run-table", tag("table", inner), tabindex=0, role="region", aria_label=caption)


def said(text: str) -> str:
    """The sentence that a view begins with."""
    return tag("p", escape(text), class_="fa-finding")


def memory_page(*parts: str, view: str) -> str:
    """A view of the Memory page."""
    return div("fa-run", *parts, data_testid="memory", data_view=view)


def figures_of(name: str, head: tuple[str, ...], rows: Sequence[Mapping], caption: str) -> str:
    """The figures of a view as a folded table with downloads; keys of a row are its columns.

    The table is made in the browser when it is unfolded: most who come here do not ask for it.
    """
    buttons = "".join(
        tag("button", text, type="button", data_download=kind)
        for text, kind in (("CSV", "csv"), ("JSON", "json"))
    )
    inside = tag("summary", escape(caption)) + div("fa-run-tools", buttons)
    data = json.dumps({"what": caption, "head": head, "rows": list(rows)}, allow_nan=False)
    body = tag("details", inside, class_="fa-figures")
    return tag("div", body, data_rows=data, data_name=f"flashattention-{name}")
