"""The whole lesson as files that any host can serve: ``python -m explainer.web.export FOLDER``.

One page with the app's own parts, and in ``data/`` beside it what the app's server would be asked:
the traces of the tour, of every link of the lesson and of a few presets, the settings of the
widgets, the views of a few workloads, what was recorded. Every address is relative.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import shutil
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import plotly
from markupsafe import Markup

from explainer.base.amounts import amount
from explainer.base.texts import Texts
from explainer.learn import glossary
from explainer.learn.course import NUMBERS
from explainer.learn.registry import lessons, widgets
from explainer.learn.tour import CHAPTERS, chapters
from explainer.parallel.warps import START, from_query, packed
from explainer.problem import Problem
from explainer.views.bar import BAR
from explainer.views.html import awaited, div, tag
from explainer.views.learn_parts import render_widget
from explainer.views.learn_screens import keys, outline, screen
from explainer.web import bundle
from explainer.web.files import in_every_order, in_script
from explainer.web.listings import listings
from explainer.web.static_pages import STATIC_PAGES, StaticPage
from explainer.web.static_responses import (
    Responses,
    limited_controls,
    linked_addresses,
    response_name,
    widget_responses,
)
from explainer.web.stylesheets import APP, STATIC_SITE, join_stylesheets
from explainer.web.wire import pack

say = Texts("web")
LIBRARY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
PRESETS = (  # title, Problem
    (say("preset.causal"), Problem()),
    (say("preset.sentence"), Problem(n=6, d=16, block_q=2, block_k=2, inputs="sentence")),
    (say("preset.ragged"), Problem(n=14, block_q=4, block_k=5, mask="full")),
    ("FlashAttention-1", Problem(order="fa1")),
    (say("preset.standard"), Problem(order="standard")),
    ("N = 64, d = 64", Problem(n=64, d=64, block_q=16, block_k=16)),
)
TABS = say.named("tabs")
LACKS, OTHER = say.named("lacks"), say("other")

RADIO = Markup('<input type="radio" name="{}" value="{}" {}>')

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
script-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src blob:; frame-src 'none'">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
{style}
</style>
</head>
<body class="fa-site">
<div class="gradio-container"><main class="main app">
<div id="top">{bar}</div>
<div id="pages">{pages}</div>
</main></div>
<script type="application/json" id="content">{content}</script>
<script type="module">
{script}</script>
</body>
</html>
"""


def _mount(name: str) -> Markup:
    return tag("div", div("fa-mount"), id=name)


def _choices(name: str, title: str, choices: dict[str, str]) -> Markup:
    """A row of choices, as the app's pages of figures have them; the first is made."""
    labels = Markup()
    for k, (value, label) in enumerate(choices.items()):
        box = RADIO.format(name, value, "" if k else "checked")
        labels += tag("label", box, tag("span", label))
    legend = tag("legend", title, class_="fa-live")
    return tag("fieldset", legend, div("wrap", labels), data_choice=name.partition("-")[2])


def _board(board: StaticPage) -> Markup:
    rows = [_choices(f"{board.name}-view", say("choice.view"), dict(board.views))]
    if board.choices:
        rows.append(_choices(f"{board.name}-more", say("choice.more"), dict(board.choices)))
    loads = {str(k): label for k, (label, _) in enumerate(board.workloads)}
    rows.append(_choices(f"{board.name}-workload", say("choice.workload"), loads))
    warps = [tag("div", _mount("warps"), data_place="warps")] if "warps" in board.views else []
    main = div(
        "fa-main",
        tag("p", board.lacks, class_="fa-site-note"),
        div("fa-views", *rows),
        tag("p", data_place="notice", role="status", class_="fa-site-notice", hidden=""),
        div("fa-run-block", awaited(), data_place="head"),
        div("fa-plots", data_place="charts"),
        *warps,
        div("fa-run-block", data_place="tail"),
    )
    told = json.dumps(board.to_json() | {"lacks": OTHER})
    return div("fa-page fa-run-page fa-figure-page", main, data_page=told)


def _step(found: list[tuple[str, str]]) -> Markup:
    """The player, and in the place of its controls the Problems that are here."""
    said = tag("p", say("problems"))
    links = (tag("a", title, href=f"?{query}") for title, query in found)
    controls = div("fa-controls fa-step-controls", said, *links)
    return div("fa-page", controls, div("fa-main", _mount("player")))


def _named_places() -> list[tuple[str, str]]:
    """(title, address) of the places of the Step page that the lesson names."""
    found = [(title, urlencode(problem.to_query())) for title, problem in PRESETS]
    found += [
        (say("tour", k=k, title=chapter.title), urlencode(chapter.query()))
        for k, chapter in enumerate(CHAPTERS, 1)
    ]
    return found + [
        (say("lesson", number=NUMBERS[lesson.key], words=link.words), link.query)
        for lesson in lessons()
        for link in lesson.links
        if link.page == "step"
    ]


def _name(problem: Problem, pass_: str = "forward") -> str:
    backward = {"pass": pass_} if pass_ == "backward" else {}
    return response_name((problem.to_query() | backward).items())


def traces(queries: list[str]) -> tuple[dict[str, Responses], dict[str, str]]:
    """({file: {Problem: its trace}}, {Problem: file}); each in every order, so that it can race,
    and in both passes where the query is of the backward one."""
    files, where = {}, {}
    for query in queries:
        parts = dict(parse_qsl(query))
        both = ("forward", "backward") if parts.get("pass") == "backward" else ("forward",)
        problems = in_every_order(Problem.from_query(parts))
        every = {_name(p, pass_): (p, pass_) for p in problems for pass_ in both}
        if where.keys() >= every.keys():
            continue
        file = f"trace{len(files)}"
        files[file] = {
            k: f"base64,{base64.b64encode(pack(*run)).decode()}" for k, run in every.items()
        }
        where |= dict.fromkeys(every, file)
    return files, where


def _screens() -> dict[str, str]:
    """{file: a screen of the Learn page}; controls reach what is held and nothing between."""
    found = {f"{key}.html": screen(key) for key in keys()}
    for key, widget in widgets().items():
        whole, narrow = render_widget(key), render_widget(key, limited_controls(widget))
        found = {name: text.replace(whole, narrow) for name, text in found.items()}
    return found


def answers() -> tuple[dict[str, Responses], dict[str, str]]:
    """({file: {what is asked: the answer}}, {Problem: the file of its trace})."""
    of_widgets = {key: widget_responses(widget) for key, widget in widgets().items()}
    led_to = [query for _, query in _named_places()] + linked_addresses(of_widgets)
    files, where = traces(led_to)
    tile = packed(*from_query(START))
    files |= {
        "learn": {name: found for part in of_widgets.values() for name, found in part.items()},
        "course": {"": outline()},
        **{name: {"": text} for name, text in _screens().items()},
        "glossary": {"": glossary.data()},
        "listing": {"": listings()},
        "tour": {"": chapters()},
        "warps": {"": tile},
        **{page.name: page.views_by_query() for page in STATIC_PAGES},
    }
    return files, where


def _index(files: list[str], where: dict[str, str]) -> str:
    """The page itself."""
    panels = {"step": _step(_named_places()), "learn": _mount("learn")}
    panels |= {board.name: _board(board) for board in STATIC_PAGES}
    tabs, places = Markup(), Markup()
    for name, title in TABS.items():
        first = name == "step"
        tabs += tag(
            "button",
            title,
            type="button",
            role="tab",
            data_tab_id=name,
            id=f"tab-{name}",
            aria_controls=f"page-{name}",
            aria_selected=str(first).lower(),
            tabindex=0 if first else -1,
            class_="selected" if first else "",
        )
        places += tag(
            "div",
            panels[name],
            role="tabpanel",
            id=f"page-{name}",
            aria_labelledby=f"tab-{name}",
            **({} if first else {"hidden": ""}),
        )
    bar = div("tab-wrapper", div("tab-container", tabs, role="tablist", aria_label=say("pages")))
    kinds = [name for name in files if name not in set(where.values())]
    plain = Problem().to_query()
    content = {"plain": plain, "traces": where, "files": kinds, "lacks": LACKS}
    return PAGE.format(
        title=say("title"),
        style=join_stylesheets((*APP, *STATIC_SITE)),
        bar=BAR,
        pages=bar + places,
        content=in_script(content),
        script=bundle.site().replace("</", "<\\/"),
    )


def site(folder: Path) -> list[Path]:
    """Writes the page, its answers and the library of its charts; any static host can serve them,
    under any path."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    files, where = answers()
    written = [folder / "index.html"]
    written[0].write_text(_index([*files], where), encoding="utf-8")
    for name, found in files.items():
        told = json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()
        data = base64.b64encode(gzip.compress(told, mtime=0)).decode()
        written.append(folder / "data" / f"{name}.js")
        script = f"(globalThis.faData ??= {{}})[{json.dumps(name)}] = {json.dumps(data)};\n"
        written[-1].write_text(script, encoding="utf-8")
    written.append(Path(shutil.copy(LIBRARY, folder)))
    return written


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the whole lesson as a static site.")
    parser.add_argument("folder", type=Path)
    written = site(parser.parse_args().folder)
    size = amount(sum(path.stat().st_size for path in written))
    print(f"{written[0]}  and {len(written) - 1} files beside it, {size} in all")
