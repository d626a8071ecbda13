"""What holds once every lesson is written: to be called by tests then, and by who writes them now.

``.venv/bin/python -m tests.learn.whole`` says what is missing; test_course.py calls all.
"""

from __future__ import annotations

from collections import Counter

from explainer.learn import claims, content, course
from explainer.learn.registry import lessons
from tests.learn.scenes import questions

MOST_WORDS = 90
GUESS = 0.55  # most that a reader is right who always guesses the same way


def every_lesson_is_written() -> None:
    assert [lesson.key for lesson in lessons()] == [*course.ORDER]


def texts_are_short() -> None:
    long = {lesson.key: len(lesson.words.split()) for lesson in lessons()}
    assert {key: n for key, n in long.items() if n > MOST_WORDS} == {}
    lines = {line: len(line) for lesson in lessons() for line in lesson.lines}
    assert {line: n for line, n in lines.items() if n > 60} == {}
    assert {r.key: len(r.headline) for r in lessons() if len(r.headline) > 56} == {}


def guesses(asked: list[content.Question]) -> dict[str, float]:
    """{way to guess: share of the choice questions that it gets right}. A question with k options
    counts as one; a position beyond its last option is its last."""
    choices = [q for q in asked if q.kind == content.CHOICE]
    right: Counter[str] = Counter()
    for q in choices:
        sizes = [len(words) for words, _ in q.options]
        for at in range(max(len(x.options) for x in choices)):
            right[f"always option {at + 1}"] += min(at, len(sizes) - 1) == q.answer
        right["always the last"] += q.answer == len(sizes) - 1
        right["always the longest"] += sizes.index(max(sizes)) == q.answer
        right["always the shortest"] += sizes.index(min(sizes)) == q.answer
    return {way: count / len(choices) for way, count in right.items()}


def questions_cannot_be_guessed() -> None:
    asked = [one for question in questions() for one in (question, *question.variants)]
    assert {way: share for way, share in guesses(asked).items() if share > GUESS} == {}


def claims_cannot_be_guessed() -> None:
    true = sum(claim.truth for claim in claims.CLAIMS) / len(claims.CLAIMS)
    assert 1 - GUESS <= true <= GUESS, f"{true:.0%} of the claims are true"


ALL = (
    every_lesson_is_written,
    texts_are_short,
    questions_cannot_be_guessed,
    claims_cannot_be_guessed,
)

if __name__ == "__main__":
    for check in ALL:
        try:
            check()
            print(f"holds: {check.__name__}")
        except AssertionError as error:
            print(f"fails: {check.__name__}\n  {error}")
