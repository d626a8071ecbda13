"""Each path walked as a reader walks it: no lesson uses a term before a lesson gave it."""

import pytest

from explainer.learn import course, glossary
from explainer.learn.content import Lesson
from explainer.views import learn_parts
from tests.learn.scenes import LESSONS

KEYS = {term.key for term in glossary.TERMS}
# What a reader brings, as the page that asks where to start says: dot products, matrix products and
# exp. What softmax does the first lesson of the short paths says once more.
BROUGHT = {"dot-product", "matmul", "exp", "norm", "token", "N", "d", "softmax"}
# What a text may name in passing: programs, papers and shapes, which it explains there.
NAMED = {
    *("B", "H", "i", "j", "fa1", "fa2", "sdpa", "attention", "load", "store", "output"),
    *("backward", "backend"),
}
# What a lesson explains once more, for paths that leave out the lesson that gives it.
# "Logits" are S, which 1.3 and 1.4 describe and 1.5 names.
AGAIN = {
    "attention": {"logit"},
    "cat": {"S"},
    "decode": {"kv-cache"},
    "memory": {"sm"},
    "safe": {"fp16", "bf16", "fp32", "number-format"},
    "softmax": {"Q", "S"},
    "tiled": {"mask", "causal"},
}


def key_of(term: str) -> str:
    """Return the glossary's key of a term by its key or as texts write it."""
    return term if term in KEYS else glossary.spelled()[term]


def terms(lesson: Lesson) -> set[str]:
    """Return the terms that a lesson's text and question name."""
    pattern, keys = learn_parts._terms()
    texts = [lesson.words, lesson.headline, *lesson.lines, lesson.question.words]
    return {keys[found] for text in texts for found in pattern.findall(text)}


def walked(path: course.Path) -> dict[str, set[str]]:
    """Return {lesson: the terms that it needs or names and nothing gave before}."""
    known, missing = BROUGHT | NAMED, {}
    for key in path.lessons:
        lesson = LESSONS[key]
        given = {*map(key_of, lesson.gives)} | AGAIN.get(key, set())
        wanted = {*map(key_of, lesson.needs)} | terms(lesson)
        missing[key] = wanted - known - given
        known |= given
    return missing


@pytest.mark.parametrize("path", course.PATHS, ids=lambda path: path.key)
def test_no_lesson_uses_a_term_before_it_is_given(path):
    assert {key: found for key, found in walked(path).items() if found} == {}


def test_a_term_is_introduced_once():
    given: dict[str, str] = {}
    for key in course.ORDER:
        for term in map(key_of, LESSONS[key].gives):
            assert given.setdefault(term, key) == key, (term, key, given[term])
