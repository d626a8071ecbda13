"""The lesson: the engine keeps its limits, serves every token once, and its pages hold them."""

from itertools import pairwise

from explainer.learn.lessons.engines import lesson
from explainer.learn.lessons.engines.lesson import OUT, PAGE, PROMPTS, iterations
from tests.learn.scenes import find_mark


def test_every_iteration_keeps_the_limits_and_nobody_stalls():
    served = iterations()
    for state in served:
        assert sum(state.tokens.values()) <= lesson.BUDGET and len(state.tokens) <= lesson.SEATS
    for before, after in pairwise(served):
        for name, count in before.cached.items():
            if count >= len(PROMPTS[name]) and name in after.cached:
                assert after.tokens[name] == 1, "decoding never stalls"


def test_every_token_is_computed_once_but_for_the_shared_ones():
    total = {name: sum(s.tokens.get(name, 0) for s in iterations()) for name in OUT}
    shared = {"C": 8}  # A's first eight words
    for name, out in OUT.items():
        assert total[name] == len(PROMPTS[name]) + out - shared.get(name, 0)


def test_pages_hold_the_words_that_the_tables_say():
    for state in iterations():
        held = lesson.contents(state)
        for name, table in state.tables.items():
            words = [word for page in table for word in held[page][1]][: state.cached[name]]
            prompt = PROMPTS[name][: state.cached[name]]
            assert words[: len(prompt)] == [*prompt] and {*words[len(prompt) :]} <= {"•"}
            assert len(table) == -(-state.cached[name] // PAGE)
        owned = [p for name, t in state.tables.items() for p in t if len(held[p][0]) == 1]
        assert len(owned) == len({*owned})
    assert iterations()[4].tables["C"][:2] == iterations()[4].tables["A"][:2]


def test_the_frame_moves():
    assert find_mark("engines", "timeline", step=7)["now"] == [6, 7]
