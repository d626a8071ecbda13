"""Write the whole lesson as files that any host can serve:
``python -m explainer.web.export FOLDER``.

One page with the app's own parts, and in ``data/`` beside it what the app's server would send:
the traces of the tour, of every link of the lesson and of a few presets, the settings of the
widgets, the views of a few workloads, what was recorded. Every address is relative.
"""

import argparse
import base64
import gzip
import json
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from markupsafe import Markup

from explainer.algorithms.registry import PLACED
from explainer.base.amounts import amount
from explainer.base.texts import Texts
from explainer.learn.course import NUMBERS
from explainer.learn.registry import lessons, widgets
from explainer.learn.tour import CHAPTERS
from explainer.problem import Problem
from explainer.views.bar import render_bar
from explainer.views.learn_parts import render_widget
from explainer.views.learn_screens import keys, screen
from explainer.views.run_values import NOTHING_KNOWN, plain_values
from explainer.views.stories.pages import CHAPTERS as STORY_CHAPTERS
from explainer.views.stories.pages import DEFAULTS, make_chapter
from explainer.views.templates import render
from explainer.web import bundle
from explainer.web.files import in_every_order, in_script
from explainer.web.kernel_file import KernelFile
from explainer.web.routes import CONSTANT
from explainer.web.static_responses import (
    limited_controls,
    response_name,
    widget_responses,
)
from explainer.web.stylesheets import APP, STATIC_SITE, join_stylesheets
from explainer.web.wire import pack

t = Texts("web")
Files = dict[str, dict[str, Any]]  # {file: {response_name(query): response}}
PRESETS = (  # title, Problem
    (t("preset.causal"), Problem()),
    (t("preset.sentence"), Problem(n=6, d=16, block_q=2, block_k=2, inputs="sentence")),
    (t("preset.ragged"), Problem(n=14, block_q=4, block_k=5, mask="full")),
    ("FlashAttention-1", Problem(order=PLACED[0])),
    (t("preset.standard"), Problem(order="standard")),
    ("N = 64, d = 64", Problem(n=64, d=64, block_q=16, block_k=16)),
)
LACKS = t.named("lacks")
# What the Run page opens with where there is nothing that runs a kernel.
WITHOUT_SERVER = {"values": plain_values(), "error": None, **NOTHING_KNOWN}


def _named_places() -> list[tuple[str, str]]:
    """List (title, address) of the places of the Step page that the lesson names."""
    found = [(title, urlencode(problem.to_query())) for title, problem in PRESETS]
    found += [
        (t("tour", k=k, title=chapter.title), urlencode(chapter.query()))
        for k, chapter in enumerate(CHAPTERS, 1)
    ]
    return found + [
        (t("lesson", number=NUMBERS[lesson.key], words=link.words), link.query)
        for lesson in lessons()
        for link in lesson.links
        if link.page == "step"
    ]


def _name(problem: Problem, pass_: str = "forward") -> str:
    backward = {"pass": pass_} if pass_ == "backward" else {}
    return response_name((problem.to_query() | backward).items())


def traces(queries: list[str]) -> tuple[Files, dict[str, str]]:
    """Return ({file: {Problem: its trace}}, {Problem: file}); each in every order, so that it can
    race, and in both passes where the query is of the backward one."""
    files: Files = {}
    where: dict[str, str] = {}
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


@cache
def stories() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Return {page: (its workload and the switches of its chapters, {name: a chapter's picture})}:
    each chapter for the page's own workload, with every setting of its switches."""
    found = {}
    for page, makers in STORY_CHAPTERS.items():
        switches, pictures = {}, {}
        for chapter in makers:
            first: Any = make_chapter(page, {"chapter": chapter})
            switches[chapter] = {s["key"]: s["value"] for s in first["switches"]}
            values = [[value for value, _ in s["choices"]] for s in first["switches"]]
            for setting in product(*values):
                query = {"chapter": chapter} | dict(zip(switches[chapter], setting, strict=True))
                name = "&".join(f"{key}={value}" for key, value in query.items())
                pictures[name] = make_chapter(page, query)
        found[page] = ({"defaults": DEFAULTS[page], "switches": switches}, pictures)
    return found


def _screens() -> dict[str, Markup]:
    """Return {file: a screen of the Learn page}; controls have only the values that are stored."""
    found = {f"{key}.html": screen(key) for key in keys()}
    for key, widget in widgets().items():
        whole, narrow = render_widget(key), render_widget(key, limited_controls(widget))
        found = {name: text.replace(whole, narrow) for name, text in found.items()}
    return found


def answers() -> tuple[Files, dict[str, str]]:
    """Return ({file: {request: response}}, {Problem: the file of its trace})."""
    of_widgets = {key: widget_responses(widget) for key, widget in widgets().items()}
    files, where = traces([query for _, query in _named_places()])
    parts: Files = {
        "learn": {name: found for part in of_widgets.values() for name, found in part.items()},
        **{name: {"": text} for name, text in _screens().items()},
        **{name: {"": make()} for name, make in CONSTANT.items()},
        **{page: pictures for page, (_, pictures) in stories().items()},
        "opened": {"": {"run": WITHOUT_SERVER}},
        "yours": {"": KernelFile(None).state()},
    }
    return files | parts, where


def _index(files: list[str], where: dict[str, str]) -> str:
    """Render the page itself."""
    kinds = [name for name in files if name not in set(where.values())]
    content = {"plain": Problem().to_query(), "traces": where, "files": kinds, "lacks": LACKS}
    content |= {"stories": {page: about for page, (about, _) in stories().items()}}
    return render(
        "site/index",
        style=Markup(join_stylesheets(APP + STATIC_SITE)),
        bar=render_bar(),
        places=_named_places(),
        content=Markup(in_script(content)),
        script=Markup(bundle.site().replace("</", "<\\/")),
    )


def site(folder: Path) -> list[Path]:
    """Write the page and its answers; any static host can serve them, under any path."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    files, where = answers()
    written = [folder / "index.html"]
    written[0].write_text(_index([*files], where), encoding="utf-8")
    for name, found in files.items():
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()
        data = base64.b64encode(gzip.compress(text, mtime=0)).decode()
        written.append(folder / "data" / f"{name}.js")
        script = f"(globalThis.faData ??= {{}})[{json.dumps(name)}] = {json.dumps(data)};\n"
        written[-1].write_text(script, encoding="utf-8")
    return written


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the whole lesson as a static site.")
    parser.add_argument("folder", type=Path)
    written = site(parser.parse_args().folder)
    size = amount(sum(path.stat().st_size for path in written))
    print(f"{written[0]}  and {len(written) - 1} files beside it, {size} in all")
