"""What the pages say is data: every text is used, every use has its text and its values, and no
sentence stands in the code of the pages that moved."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

from explainer.base.paths import ROOT
from explainer.base.texts import FOLDER, Texts, stored
from tests.base import script_texts
from tests.base.script_texts import meant

PAGES = sorted(path.stem for path in FOLDER.glob("*.json"))
MOVED = {  # the code that says what a page says
    "run": (
        *("pages/run", "pages/sweep", "views/run_report", "views/run_details", "views/verdict"),
        *("views/gradients_run_report", "views/sweep_report", "views/times", "views/figures"),
        *("views/backward_report", "views/masks_report", "views/downloads"),
    ),
    "memory": (
        *("pages/memory", "views/memory_report", "views/memory_views", "views/levels_report"),
        *("views/tiles_report", "views/work_report", "views/gradients_report", "views/drawings"),
        *("memory/levels", "memory/compiled_tiles", "memory/traffic_series"),
    ),
    "parallel": (
        *("pages/parallel", "views/parallel_report", "views/parallel_views", "views/decode_report"),
        *("views/balance_report", "views/additions_report", "views/charts"),
        *("parallel/warp_loops", "parallel/launch", "parallel/split_keys", "parallel/warps"),
        "parallel/durations",
    ),
    "step": ("pages/step",),
    "shared": (
        *("pages/workload", "pages/masks", "pages/header", "pages/components", "pages/figure_page"),
        *("views/bar", "views/html", "web/lanes", "web/middleware"),
    ),
    "kinds": ("base/kinds", "base/records"),
    "fields": ("base/fields", "base/own_data", "problem", "memory/workload"),
    "cards": ("base/cards",),
    "trace": ("trace", "algorithms/schedule", "algorithms/tiling"),
    "engine": (
        *("engine/admission", "engine/compiled_code", "engine/engine", "engine/gradient_judging"),
        *("engine/job", "engine/jobs", "engine/judging", "engine/line", "engine/recorded"),
        *("engine/requests", "engine/results", "engine/worker"),
    ),
    "api": ("pages/api",),
    "web": ("web/boards", "web/export", "web/files", "web/guard", "web/mask_map", "web/wire"),
}
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
FILES = [ROOT / f"explainer/{name}.py" for names in MOVED.values() for name in names]
# A sentence, or a phrase of four words; names of classes and of columns have signs between.
SENTENCE = re.compile(
    r"[A-Z][^.!?]* [^.!?]*[.!?](\s|$)|(?:(?<![\w-])[A-Za-z']{2,}[,:;]? ){3}[a-z]+"
)
ELSEWHERE = {  # views whose texts lie in assets/learn; a Python file for visitors to run
    "__init__", "learn_map", "learn_parts", "learn_screens", "learn_sections", "learn_teaching",
    "script",
}  # fmt: skip


def places(text: object) -> set[str]:
    """The names in braces of a text, of a list of them, of texts by name."""
    parts = (
        [text] if isinstance(text, str) else [*(text.values() if isinstance(text, dict) else text)]
    )
    return {name for part in parts for _, name, _, _ in Formatter().parse(part) if name}


@cache
def uses() -> dict[str, list[tuple[str, set[str] | None, str]]]:
    """Of each page: (key, names of the values or None where they are not seen here, file)."""
    found: dict[str, list] = {page: [] for page in PAGES}
    for path in sorted(ROOT.glob("explainer/**/*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        sayers = dict(pair for node in ast.walk(tree) for pair in _sayers(node))
        functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
        inside = [(node, f) for f in functions for node in ast.walk(f)]
        known = {id(node) for node, _ in inside}
        rest = [(node, tree) for node in ast.walk(tree) if id(node) not in known]
        for node, scope in inside + rest:
            said = node.func if isinstance(node, ast.Call) else None
            name = said.value if isinstance(said, ast.Attribute) else said
            if isinstance(name, ast.Name) and name.id in sayers and node.args:
                values = {k.arg for k in node.keywords}
                for key in _keys(node.args[0], scope):
                    told = (
                        None if None in values or getattr(said, "attr", "") == "named" else values
                    )
                    found[sayers[name.id]].append((key, told, path.stem))
    return found


def _sayers(node: ast.AST) -> list[tuple[str, str]]:
    """The names that a statement gives to texts, each with its page."""
    if not isinstance(node, ast.Assign):
        return []
    names, values = node.targets[0], node.value
    pairs = zip(getattr(names, "elts", [names]), getattr(values, "elts", [values]), strict=False)
    return [
        (name.id, value.args[0].value)
        for name, value in pairs
        if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "Texts"
    ]


def _keys(node: ast.AST, tree: ast.AST) -> set[str]:
    """What a key may be: itself, either side of a choice, what its name was given."""
    if isinstance(node, ast.Constant):
        return {node.value}
    if isinstance(node, ast.IfExp):
        return _keys(node.body, tree) | _keys(node.orelse, tree)
    assert isinstance(node, ast.Name), f"a key is not known before it runs: {ast.unparse(node)}"
    given = [
        x.value
        for x in ast.walk(tree)
        if isinstance(x, ast.Assign) and getattr(x.targets[0], "id", "") == node.id
    ]
    keys = [x for x in given if isinstance(x, ast.IfExp | ast.Constant)]
    return {key for x in keys for key in _keys(x, tree)}


def said(page: str, texts: set[str]) -> set[str]:
    """The keys that code and scripts say; those of a key with a value in it are among ``texts``."""
    scripts = [meant(use, texts) for use in script_texts.uses() if use.page == page]
    return {key for key, *_ in uses()[page]}.union(*scripts)


@pytest.mark.parametrize("page", PAGES)
def test_every_text_is_used_and_every_use_has_its_text(page):
    texts = set(stored(page))
    assert said(page, texts) == texts


def test_a_text_that_nothing_says_would_be_found():
    texts = set(stored("step"))
    assert said("step", {*texts, "max.nobody", "kind.no.tile"}) == texts


@pytest.mark.parametrize("page", PAGES)
def test_every_value_has_its_place(page):
    wrong = [
        (file, key, values)
        for key, values, file in uses()[page]
        if values is not None and values != places(stored(page)[key])
    ]
    assert not wrong


def literals(path: Path) -> list[str]:
    """The strings of a file that a reader may see; a value of an f-string is a …."""
    tree = ast.parse(path.read_text("utf-8"))
    silent = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    inner = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and _inner(n.func)]
    silent |= {id(x) for n in inner for x in ast.walk(n)}
    silent |= {id(x) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for x in n.values}
    found = []
    for node in ast.walk(tree):
        if id(node) in silent:
            continue
        if isinstance(node, ast.JoinedStr):
            found.append(
                "".join(
                    getattr(x, "value", "…") if isinstance(x, ast.Constant) else "…"
                    for x in node.values
                )
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append(node.value)
    return found


def _inner(called: ast.expr) -> bool:
    """Is what is said here for the log, for a developer, for who starts the program?"""
    name = getattr(called, "attr", "") or getattr(called, "id", "")
    log = isinstance(called, ast.Attribute) and getattr(called.value, "id", "") == "LOG"
    return log or name in ("ArgumentParser", "TypeError", "ValueError", "WorkerLost")


def test_no_sentence_is_left_in_the_code_of_a_page():
    views = {path for path in ROOT.glob("explainer/views/*.py") if path.stem not in ELSEWHERE}
    assert views <= set(FILES)
    left = {(path.stem, text) for path in FILES for text in literals(path) if SENTENCE.search(text)}
    assert not left


def test_a_sentence_in_code_would_be_found(tmp_path):
    planted = tmp_path / "planted.py"
    planted.write_text(
        '"""Of no use. Pure."""\nx = f"Nothing was found at N = {n:,}."\ny = "fa-a"\n'
        'LOG.info("It began here.")\n'
    )
    assert [text for text in literals(planted) if SENTENCE.search(text)] == [
        "Nothing was found at N = ….",
    ]


@pytest.mark.parametrize("page", PAGES)
def test_texts_are_written_as_the_house_writes(page):
    """No em dash; a rate with "per"; a key once."""
    text = (FOLDER / f"{page}.json").read_text("utf-8")
    assert not re.findall(
        r"—|in place of|\b(?:once|times|twice) an? (?:key|kernel|row|tile)\b", text
    )
    pairs = json.loads(text, object_pairs_hook=list)
    assert len({key for key, _ in pairs}) == len(pairs)


@pytest.mark.parametrize(
    ("key", "values", "named"),
    [
        ("verdict.tile", {"n": 1}, "verdict.tile"),
        ("verdict.tiles", {}, "n"),
        ("verdict.tiles", {"n": 1, "m": 2}, "m"),
    ],
    ids=["key", "value missing", "value without a place"],
)
def test_what_does_not_fit_is_an_error(key, values, named):
    with pytest.raises(KeyError, match=named):
        Texts("run")(key, **values)


def test_a_count_has_its_noun_in_the_right_number():
    said = [Texts("run")("verdict.tiles", n=n) for n in (1, 1024)]
    assert said == ["1 tile per head", "1,024 tiles per head"]
