"""Small pieces of HTML that the pages are made of. Text is escaped here, by markupsafe: what is not
Markup already, made by these functions, is text, wherever it stands."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from markupsafe import Markup, escape

from explainer.base.kinds import Kind, required
from explainer.base.texts import Texts

say = Texts("shared")
PASSES = say.named("passes")  # as a switch has them


def tag(name: str, *content: str, **attributes: object) -> Markup:
    """One element around ``content``: HTML where it is Markup, else text; an attribute's value is
    always text. class_ → class, a_b → a-b."""
    given = "".join(
        f' {k.rstrip("_").replace("_", "-")}="{escape(str(v))}"' for k, v in attributes.items()
    )
    return Markup(f"<{name}{given}>{Markup().join(content)}</{name}>")


def div(kind: str, *content: str, **attributes: object) -> Markup:
    """A ``div`` of this class."""
    return tag("div", *content, class_=kind, **attributes)


def words(text: str, kind: str = "") -> Markup:
    """A paragraph of plain text."""
    return tag("p", text, class_=kind) if kind else tag("p", text)


def badge(kind: Kind) -> Markup:
    """Beside a heading or a figure, in every mode: of what kind it is."""
    return tag("span", required(kind).text, class_="fa-kind", title=str(kind))


def card(name: str, title: str, kind: Kind, remark: str, *body: str) -> Markup:
    """A card with the heading that the Step page's cards have; ``kind`` of its figures."""
    remarks = [tag("span", remark, class_="fa-remark")] if remark else []
    head = div("fa-card-head", tag("h2", title), badge(kind), *remarks)
    return tag("section", head, *body, class_=f"fa-card fa-{name}")


def mark(good: bool) -> Markup:
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
) -> Markup:
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
    name, track = tag("span", label), tag("span", fill, class_="fa-run-track")
    return div(f"fa-run-bar has-{len(cells)}", name, track, *(tag("b", text) for text in cells))


def absent(label: str, sentence: str) -> Markup:
    """In a bar's place: why there is none."""
    return div("fa-run-bar is-absent", tag("span", label), tag("em", sentence))


def table(head: tuple[str, ...], rows: list[tuple[str, ...]], caption: str) -> Markup:
    """A table with row headings that scrolls inside its card when it is wide."""
    top = tag("thead", tag("tr", *(tag("th", text, scope="col") for text in head)))
    lines = (
        tag("tr", tag("th", first, scope="row"), *(tag("td", text) for text in rest))
        for first, *rest in rows
    )
    whole = tag("table", tag("caption", caption), top, tag("tbody", *lines))
    return div("fa-run-table", whole, tabindex=0, role="region", aria_label=caption)


def filled(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> tuple:
    """The same without the columns that nothing is known for."""
    kept = [k for k in range(len(head)) if any(row[k] not in ("", "–") for row in rows)]
    return tuple(head[k] for k in kept), [tuple(row[k] for k in kept) for row in rows]


def said(text: str, kind: Kind) -> Markup:
    """The sentence that a view begins with; ``kind`` of its figures."""
    return tag("p", tag("span", text), " ", badge(kind), class_="fa-finding")


def memory_page(*parts: str, view: str) -> Markup:
    """A view of the Memory page."""
    return div("fa-run", *parts, data_testid="memory", data_view=view)


def awaited() -> Markup:
    """In the place of a view that the server has yet to make."""
    return div("fa-run", div("fa-awaited", words(say("awaited"))))


def saving(*more: Markup) -> Markup:
    """The buttons that save the rows around them, and others."""
    kinds = (("CSV", "csv"), ("JSON", "json"))
    buttons = (tag("button", text, type="button", data_download=kind) for text, kind in kinds)
    return div("fa-run-tools", *buttons, *more)


def figures_of(
    name: str,
    kind: Kind | list[Kind],
    head: tuple[str, ...],
    rows: Sequence[Mapping],
    caption: str,
) -> Markup:
    """The figures of a view as a folded table with downloads; keys of a row are its columns, and
    the last says its ``kind``: one for all rows, or one for each.

    The table is made in the browser when it is unfolded: most who come here do not ask for it.
    """
    kinds = kind if isinstance(kind, list) else [required(kind)] * len(rows)
    lines = [dict(row) | {"kind": str(required(k))} for row, k in zip(rows, kinds, strict=True)]
    data = json.dumps({"what": caption, "head": [*head, "kind"], "rows": lines}, allow_nan=False)
    body = tag("details", tag("summary", caption), saving(), class_="fa-figures")
    return tag("div", body, data_rows=data, data_name=f"flashattention-{name}")
