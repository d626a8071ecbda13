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
from jinja2 import nodes

from explainer.algorithms.registry import LABELS, MAIN
from explainer.base import texts as page_texts
from explainer.base.paths import ROOT
from explainer.base.texts import FOLDER, Texts
from explainer.learn.folder import KEYS, read_data
from explainer.views.templates import ENVIRONMENT
from tests.base import script_texts
from tests.base.python_strings import strings

FILES = sorted(path.stem for path in FOLDER.glob("*.json"))
# The words of a lesson's folder are a page of their own.
LESSONS = {f"lesson {key}": read_data(key)["words"] for key in KEYS if read_data(key).get("words")}
PAGES = [*FILES, *LESSONS]
TEMPLATES = sorted(ROOT.glob("explainer/views/templates/**/*.html"))
ALGORITHMS = [*ROOT.glob("explainer/algorithms/*.py")]
INNER = re.compile(r"ArgumentParser|(Type|Value)Error|WorkerLost|LOG\b")  # what developers read
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
# A sentence, or a phrase of four words; names of classes and of columns have signs between. A
# formula has neither a space nor a word of three letters.
SENTENCE = re.compile(
    r"[A-Z][^.!?]* [^.!?]*[.!?](\s|$)|(?:(?<![\w-])[A-Za-z']{2,}[,:;]? ){3}[a-z]+"
)
# Pseudocode; a Python file for visitors to run; what a command line, a log, a metric or a developer
# is told.
ELSEWHERE = {"script", "logs", "texts", "child", "browser", "bundle", "connections", "metrics"}
ELSEWHERE |= {
    "__main__",
    "plugin",
    "app",
    "gradio_internals",
    "listings",
    *(path.stem for path in ALGORITHMS),
}


def stored(page: str) -> dict:
    """The texts of a page, or of a lesson."""
    return LESSONS[page] if page in LESSONS else page_texts.stored(page)


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
        sayers = dict(pair for node in ast.walk(tree) for pair in _sayers(node, path))
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
            first = getattr(node.args[0], "id", "") if getattr(said, "id", "") == "table" else ""
            if first in sayers:  # a table of a story: its title, and its head beside it
                values = {k.arg for k in node.keywords}
                for key in _keys(node.args[1], scope):
                    found[sayers[first]] += [
                        (key, values, path.stem),
                        (f"{key}.head", None, path.stem),
                    ]
    for path in TEMPLATES:
        for page, key, values in template_uses(path.read_text("utf-8")):
            found[page].append((key, values, path.stem))
    return found


def template_uses(source: str) -> list[tuple[str, str, set[str] | None]]:
    """(page, key, names of the values) of the texts that a template takes from ``texts(page)``."""
    tree, found = ENVIRONMENT.parse(source), []
    pages = {
        node.target.name: node.node.args[0].value
        for node in tree.find_all(nodes.Assign)
        if isinstance(node.node, nodes.Call) and getattr(node.node.node, "name", "") == "texts"
    }
    for call in tree.find_all(nodes.Call):
        is_method = isinstance(call.node, nodes.Getattr)
        name = getattr(call.node.node if is_method else call.node, "name", "")
        if name in pages:
            values = None if is_method else {pair.key for pair in call.kwargs}
            found += [(pages[name], key, values) for key in template_keys(call.args[0])]
    return found


def template_keys(node: nodes.Node) -> list[str]:
    """The keys that an expression in a template may be: itself, or either side of a choice."""
    if isinstance(node, nodes.CondExpr):
        return [*template_keys(node.expr1), *template_keys(node.expr2)]
    assert isinstance(node, nodes.Const), "a key is not known before the template is rendered"
    return [node.value]


def _sayers(node: ast.AST, path: Path) -> list[tuple[str, str]]:
    """The names that a statement gives to texts, or brings from a room that shares them, each with
    its page."""
    if isinstance(node, ast.ImportFrom):
        return (
            [("t", "learn")]
            if node.module == "explainer.learn.blocks" and any(x.name == "t" for x in node.names)
            else []
        )
    if not isinstance(node, ast.Assign):
        return []
    names, values = node.targets[0], node.value
    pairs = zip(getattr(names, "elts", [names]), getattr(values, "elts", [values]), strict=False)
    pages = {"Texts": lambda call: call.args[0].value, "words_of": lambda _: lesson}
    lesson = f"lesson {path.parent.name}"
    return [
        (name.id, pages[value.func.id](value))
        for name, value in pairs
        if isinstance(value, ast.Call) and getattr(value.func, "id", "") in pages
    ]


def _keys(node: ast.AST, tree: ast.AST) -> set[str]:
    """What a key may be: itself, either side of a choice, what its name was given."""
    if isinstance(node, ast.Constant):
        return {node.value}
    if isinstance(node, ast.IfExp):
        return _keys(node.body, tree) | _keys(node.orelse, tree)
    if "self.key" in ast.unparse(node):  # an algorithm's own texts
        is_forward = isinstance(node, ast.Attribute)
        return {*LABELS} if is_forward else {f"{key} backward" for key in MAIN}
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
    scripts = [use.matches(texts) for use in script_texts.uses() if use.page == page]
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


def test_no_sentence_is_left_in_the_code_of_a_page():
    files = [path for path in ROOT.glob("explainer/**/*.py") if path.stem not in ELSEWHERE]
    assert len(files) > 120
    found = {(path.stem, text) for path in files for text in sentences(path.read_text("utf-8"))}
    assert not found
    assert not [x for path in TEMPLATES for x in template_sentences(path.read_text("utf-8"))]


def sentences(source: str) -> list[str]:
    """The sentences in the strings of a module that a reader may see; a value of an f-string is
    a …. What is raised or logged is for developers."""
    tree = ast.parse(source)
    inner = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and INNER.search(ast.unparse(node.func))
    ]
    silent = frozenset(x for node in inner for x in ast.walk(node))

    def write(parts: list[ast.expr]) -> str:
        return "".join(str(x.value) if isinstance(x, ast.Constant) else "…" for x in parts)

    return [
        x for x in strings(tree, write, silent) if SENTENCE.search(x) and re.search("[a-z]{3}", x)
    ]


def template_sentences(source: str) -> list[str]:
    """The sentences that a template itself says, beside its tags and comments."""
    data = "".join(node.data for node in ENVIRONMENT.parse(source).find_all(nodes.TemplateData))
    return [x for x in re.split(r"<[^>]*>", data) if SENTENCE.search(x)]


def test_a_sentence_in_code_would_be_found():
    source = (
        '"""Of no use. Pure."""\nx = f"Nothing was found at N = {n:,}."\ny = "fa-a", "dK = ?"\n'
        'raise ValueError("This is for who writes it.")\nLOG.info("It began here.")\n'
    )
    assert sentences(source) == ["Nothing was found at N = …."]


def test_the_texts_and_sentences_of_a_template_would_be_found():
    source = """{% set t = texts("run") %}<p title="{{ x }}">{# A remark. #}It was not run.</p>
      {{ t("same" if x else "slow", n=1|number(",")) }}{{ t.row("all.head")[0] }}"""
    uses = [("run", "same", {"n"}), ("run", "slow", {"n"}), ("run", "all.head", None)]
    assert sorted(template_uses(source), key=str) == sorted(uses, key=str)
    assert template_sentences(source) == ["It was not run."]


@pytest.mark.parametrize("page", FILES)
def test_no_key_stands_twice(page):
    pairs = json.loads((FOLDER / f"{page}.json").read_text("utf-8"), object_pairs_hook=list)
    assert len(dict(pairs)) == len(pairs)


@pytest.mark.parametrize(
    ("key", "values", "named"),
    [
        ("warps.barrier", {"n": 1}, "warps.barrier"),
        ("warps.barriers", {}, "n"),
        ("warps.barriers", {"n": 1, "m": 2}, "m"),
    ],
    ids=["key", "value missing", "value without a place"],
)
def test_what_does_not_fit_is_an_error(key, values, named):
    with pytest.raises(KeyError, match=named):
        Texts("parallel")(key, **values)


def test_a_count_has_its_noun_in_the_right_number():
    said = [Texts("parallel")("warps.barriers", n=n) for n in (1, 1024)]
    assert said == ["1 barrier", "1,024 barriers"]
