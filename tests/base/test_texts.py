"""What the pages say is data: every text is used, and every use has its text and its values. Of
scripts TypeScript checks the keys."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
from jinja2 import nodes

from explainer.algorithms.registry import LABELS, MAIN
from explainer.base import texts as page_texts
from explainer.base.paths import ASSETS, ROOT
from explainer.base.texts import FOLDER, Texts
from explainer.learn.folder import KEYS, read_data
from explainer.views.templates import ENVIRONMENT

FILES = sorted(path.stem for path in FOLDER.glob("*.json"))
# The words of a lesson's folder are a page of their own.
LESSONS = {f"lesson {key}": read_data(key)["words"] for key in KEYS if read_data(key).get("words")}
PAGES = [*FILES, *LESSONS]
CODE = sorted(ROOT.glob("explainer/**/*.py"))
TEMPLATES = sorted(ROOT.glob("explainer/views/templates/**/*.[ht]*"))


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
def written() -> tuple[set[str], str]:
    """The words in quotes in code, scripts and templates, or behind a dot in scripts; and as one
    pattern the strings with a value in them."""
    paths = [*CODE, *TEMPLATES, *ASSETS.glob("js/**/*.js"), *ASSETS.glob("check/verdict.*")]
    text = "\n".join(path.read_text("utf-8") for path in paths)
    plain = {*re.findall(r"(?<=[\"'`.])[\w. -]+", text), *re.findall(r"(?<=[{,] )\w+", text)}
    text = re.sub(r"\$\{[^{}]*\}|\{[\w.]+\}", "…", text)
    composed = re.findall(r"[\"`]([a-z][\w.]*\.\w*…[\w.…]*|…+\.[a-z]{4,}|[a-z]+ …)[\"`]", text)
    forms = "|".join(r"[\w.]+".join(map(re.escape, x.split("…"))) for x in composed)
    return plain, rf"(?:{forms})(?:\.\w+)?"  # of Step's phrases a stage may have its own


@pytest.mark.parametrize("page", PAGES)
def test_every_text_is_used(page):
    plain, composed = written()
    of_algorithms = {*LABELS, *(f"{key} backward" for key in MAIN)}
    unused = {key for key in stored(page) if not re.fullmatch(composed, key)}
    assert not unused - plain - of_algorithms


def uses() -> Iterator[tuple[str, str, set[str] | None, str]]:
    """(page, key, names of the values or None where they are not seen here, file)."""
    for path in CODE:
        tree = ast.parse(path.read_text("utf-8"))
        sayers = dict(pair for node in ast.walk(tree) for pair in _sayers(node, path))
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            is_method = isinstance(call.func, ast.Attribute)
            name = call.func.value if isinstance(call.func, ast.Attribute) else call.func
            keys = call.args
            if getattr(call.func, "id", "") == "table":  # table(t, key), the title of a table
                name, *keys = call.args
            if isinstance(name, ast.Name) and name.id in sayers and keys:
                values = {k.arg for k in call.keywords}
                seen = None if is_method or None in values else values
                yield from ((sayers[name.id], k, seen, path.stem) for k in keys_of(keys[0]))
    for path in TEMPLATES:
        yield from ((*use, path.stem) for use in template_uses(path.read_text("utf-8")))


def keys_of(node: ast.expr) -> list[str]:
    """The keys that stand there: one, or either side of a choice."""
    if isinstance(node, ast.IfExp):
        return keys_of(node.body) + keys_of(node.orelse)
    return [node.value] if isinstance(node, ast.Constant) else []


def template_uses(source: str) -> Iterator[tuple[str, str, set[str] | None]]:
    """(page, key, names of the values) of the texts that a template takes from ``texts(page)``."""
    tree = ENVIRONMENT.parse(source)
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
            choice = call.args[0]
            sides = [choice.expr1, choice.expr2] if isinstance(choice, nodes.CondExpr) else [choice]
            for side in sides:
                if isinstance(side, nodes.Const):  # else the key is a value, as in Python
                    yield pages[name], side.value, values


def _sayers(node: ast.AST, path: Path) -> list[tuple[str, str]]:
    """The names that a statement gives to texts, or brings from a room that shares them, each with
    its page."""
    if isinstance(node, ast.ImportFrom) and node.module == "explainer.learn.blocks":
        return [("t", "learn")] * any(x.name == "t" for x in node.names)
    if not isinstance(node, ast.Assign):
        return []
    names, values = node.targets[0], node.value
    pairs = zip(getattr(names, "elts", [names]), getattr(values, "elts", [values]), strict=False)
    pages = {
        "Texts": lambda call: call.args[0].value,
        "Words": lambda _: f"lesson {path.parent.name}",
    }
    return [
        (name.id, pages[value.func.id](value))
        for name, value in pairs
        if isinstance(value, ast.Call) and getattr(value.func, "id", "") in pages
    ]


def test_every_use_has_its_text_and_every_value_its_place():
    found = [*uses()]
    assert len(found) > 900
    assert not [use for use in found if use[1] not in stored(use[0])]
    wrong = [
        (page, key, values, file)
        for page, key, values, file in found
        if values is not None and values != places(stored(page)[key])
    ]
    assert not wrong


def test_the_texts_of_a_template_would_be_found():
    source = """{% set t = texts("run") %}<p title="{{ x }}">{# A remark. #}</p>
      {{ t("same" if x else "slow", n=1|number(",")) }}{{ t.row("all.head")[0] }}"""
    uses = [("run", "same", {"n"}), ("run", "slow", {"n"}), ("run", "all.head", None)]
    assert sorted(template_uses(source), key=str) == sorted(uses, key=str)


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
