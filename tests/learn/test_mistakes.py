"""What a wrong answer is said to be: each mistake's value, from the numbers of the question's own
words, by arithmetic that the course does not share."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from explainer.learn.content import make_question
from tests.learn.scenes import LESSONS, answers

QUESTIONS = {lesson.question.key: lesson.question for lesson in LESSONS.values()}
NUMBERS = [key for key, q in QUESTIONS.items() if q.kind == "number"]


def lse_mean(a, x, b, y):
    return ((x + y) / 2, (b * x + a * y) / (a + b))


def ordered(x):
    lse, o, *_, times, other = x
    two = lse + math.log(times)
    return (*lse_mean(1, o, times, other), (lse * o + two * other) / (lse + two))


def updates(x):
    start, count, by = x
    above = np.spacing(np.float16(start))
    return (start + by * count, float(np.float16(start + by * count)), start + float(above) * count)


def warp(words, x):
    size = 4 if "fp32" in words else 2
    return (32, 32 * size / 32, len({t * int(x[0]) * (6 - size) // 32 for t in range(32)}))


def neighbor(x, words, kept):
    """On the other side of x, numbers with so many significant bits: x in binary, cut off there."""
    kept_bits = int(re.search(r"(\d+) significant", words)[1])
    gap = 2 ** (int(x).bit_length() - kept_bits)
    low = int(x) // gap * gap
    return low if kept > x else low + gap


# {question: the values of its mistakes from (the numbers in its words, its words, its answer)}
BY = {
    "matmul-open": lambda x, w, a: (
        (1, 1, 1),
        (1, x[0], x[0] * x[3]),
        (x[1], x[1] * x[3], x[0] * x[1] * x[3]),
    ),
    "cat-weight": lambda x, w, a: (
        max(x) / sum(x),
        2 ** max(x) / sum(2**y for y in x),
        1 / (sum(math.exp(y - max(x)) for y in x) - 1),
    ),
    "gpu-sectors": lambda x, w, a: warp(w, x),
    "trips-gib": lambda x, w, a: (
        x[0] / 8192 * 128 / 1024 * x[1],
        x[0] ** 2 * 4 * x[1] / 2**30,
        x[0] ** 2 * 2 / 2**30,
    ),
    "fusion_ratio": lambda x, w, a: (x[0], (2 * x[0] + x[1]) / 2, (x[0] + x[1]) / (1 + x[1])),
    "tiled-reads": lambda x, w, a: (x[0] / x[2], 1, x[2]),
    "order-merge": lambda x, w, a: ordered(x),
    "saves-lse": lambda x, w, a: (
        x[0] * x[1] * 2 / 2**20,
        x[0] * 4 / 2**20,
        2 * x[0] ** 2 * x[1] * 2 / 2**20,
        x[0] * x[1] * 8 / 2**20,
    ),
    "versions-writes": lambda x, w, a: (
        (x[0] ** 2, x[0]),
        (x[0] * (x[0] + 1) / 2,) * 2,
        (x[0], x[0] * (x[0] + 1) / 2),
    ),
    "warps-partial": lambda x, w, a: (
        x[0] * x[1] * 4 / 1024,
        4 * x[0] * x[1] * 2 / 1024,
        4 * x[0] * 4 / 1024,
    ),
    "cores-count": lambda x, w, a: (
        x[3] / x[0] * x[4] / x[1],
        x[3] / x[0] + x[4] / x[1] + x[5] / x[2],
    ),
    "formats-round": lambda x, w, a: (neighbor(x[-1], w, a), x[-1]),
    "overlap-busy": lambda x, w, a: (200 / (2 + x[0]), round(200 / x[0], 1), 100),
    "blackwell-threshold": lambda x, w, a: (
        (128 - x[4]) * 8,
        abs(512 - (128 - x[4]) * 8),
        x[4] * 4,
    ),
    "block_formats-zero": lambda x, w, a: (x[1] / 12, x[1] / 448, 0.25),
    "recompute-work": lambda x, w, a: (x[0], x[0] * 8 / 6, 2 * x[0]),
    "amp-weight": lambda x, w, a: updates(x),
    "gqa-bytes": lambda x, w, a: (
        x[0] * x[2] * 128 * 2 / 1024,
        2 * x[0] * x[1] * 128 * 2 / 1024,
        2 * x[2] * 128 * 2 / 1024,
    ),
    "rope-moved": lambda x, w, a: (x[1], x[2] + x[0] - x[1], round(x[2] * x[1] / x[0])),
    "decode-read": lambda x, w, a: (a / 2, a / x[1], 2 * a),
    "engines-pages": lambda x, w, a: (x[1], x[0] - a, x[0]),
    "mla-smaller": lambda x, w, a: (
        x[0] * x[1] / (x[2] + x[3]),
        2 * x[0] * x[1] / x[2],
        2 * x[1] / (x[2] + x[3]),
    ),
    "sparse-keys": lambda x, w, a: (x[0] / x[1], a * 2 * x[0] / (x[0] + 1), 1 / a),
    "devices-ideal": lambda x, w, a: (50, 100, 100 / x[0]),
    "hybrids-cache": lambda x, w, a: (x[1] / 128, x[0] / (x[0] - 1), x[0] - 1),
    "profile-rate": lambda x, w, a: tuple(
        k * x[1] ** 2 * x[2] * y / (x[3] * 1e-3) / 1e12 for k, y in ((4, 1), (2, x[0]), (1, x[0]))
    ),
}
# {lesson: the answers of its question and of the variants}, worked out on paper.
ANSWERS = {
    "matmul": [(1, 8, 64), (1, 10, 60), (1, 20, 100)],
    "gpu": [16, 16, 32],
    "trips": [192, 48, 256],
    "fusion": [7 / 3, 11 / 3, 13 / 3],
    "tiled": [1024 / 128, 2048 / 64, 4096 / 256],
    "order": [(1 + 3 * 5) / 4, (6 + 2 * 3) / 3, (9 + 4 * 4) / 5],
    "saves": [8, 16, 2],
    "versions": [(36, 8), (21, 6), (78, 12)],
    "warps": [64, 128, 32],
    "cores": [4 * 16 * 4, 8 * 8 * 8, 2 * 1 * 4],
    "overlap": [50, 80, 40],
    "blackwell": [256, 128, 320],
    "block_formats": [0.5, 0.125, 2],
    "recompute": [70, 28, 112],
    "amp": [1, 2, 1 + 8 * 2**-10],
    "gqa": [320, 128, 80],
    "rope": [996, 498, 64],
    "decode": [2**32 / 4.8e9, 80 * 2**29 / 4.8e9, 10 * 2**29 / 4.8e9],
    "engines": [12, 32, 16],
    "mla": [32768 / 576, 16384 / 576, 4096 / 288],
    "devices": [100 * 17 / 31, 100 * 9 / 15, 100 * 5 / 7],
    "hybrids": [4, 8, 6],
}


@pytest.mark.parametrize("key", ANSWERS)
def test_the_answers_by_hand(key):
    assert answers(key) == [pytest.approx(x) for x in ANSWERS[key]]


# Parts of the words whose numbers name something else.
NAMES = r"fp\d+|bf16|FA-\d|e4m3|log2|2\^\(S − m\)|\d+ significant"


# How far off a value may be: rates are written with two or three digits, fp32 adds up its own
# rounding.
OFF = {"profile-rate": 0.01, "amp-weight": 1e-5}


def told(words: str) -> list[float]:
    found = re.findall(r"\d[\d,]*(?:\.\d+)?", re.sub(NAMES, "", words.replace("lse = ", "lse=")))
    return [float(x.rstrip(",").replace(",", "")) for x in found]


@pytest.mark.parametrize("key", NUMBERS)
def test_a_mistake_is_what_it_says(key):
    question = QUESTIONS[key]
    seen, off = 0, OFF.get(key, 1e-9)
    for one in (question, *question.variants):
        values = [value for value, _ in one.mistakes]
        wanted = BY[key](told(one.words), one.words, one.answer)
        for value, words in one.mistakes:
            assert any(np.allclose(value, w, rtol=off) for w in wanted), (value, wanted)
            assert words.endswith(".") and re.match(r"[\d.]", words)
        for w in wanted:
            known = [one.answer, *values]
            assert any(np.allclose(w, v, rtol=off, atol=one.tolerance) for v in known), (w, values)
        seen += len(values)
    assert seen >= len(question.variants) + 1


def test_every_number_question_has_its_mistakes():
    assert set(BY) == {*NUMBERS}


def test_a_mistake_that_gives_the_answer_is_left_out():
    entry = {
        "key": "k",
        "kind": "number",
        "words": "?",
        "answer": 4.0,
        "tolerance": 0.1,
        "reasons": ("a.", "b."),
        "mistakes": ("is one.", "is two.", "is three."),
    }
    made = make_question(entry | {"wrong": (4.05, 2, 2.05)})
    assert made.mistakes == ((2.0, "2 is two."),)
    assert made == make_question(entry | {"wrong": (4.0, 2, 2)})
    with pytest.raises(ValueError, match="zip"):
        make_question(entry | {"wrong": (1, 2)})


def test_a_cell_s_note_is_its_matrix_s():
    """Masks from which token asks which; tiles by counting."""
    mask = QUESTIONS["mask-corner"]
    for one in (mask, *mask.variants):
        first, last, _, most = (int(x) for x in told(one.words))
        assert [int(row) for row in one.rows] == [*range(first, last + 1)]
        assert len(one.notes) == last - first + 1 and len(one.notes[0]) == most + 1
        for r, row in enumerate(one.notes):
            for key, note in enumerate(row):
                assert note.startswith(f"Token {first + r} meets key {key}, ")
                assert ("later" in note) == (key > first + r) == ((r, key) in one.answer)
    windows = QUESTIONS["windows-tiles"]
    sees = (
        lambda q, k: 0 <= q - k <= 5,
        lambda q, k: k <= q and (q < 7) == (k < 7) and (q < 12) == (k < 12),
        lambda q, k: 0 <= q - k <= 3,
    )
    for one, seen in zip((windows, *windows.variants), sees, strict=True):
        for i, row in enumerate(one.notes):
            for j, note in enumerate(row):
                n = sum(seen(4 * i + a, 4 * j + b) for a in range(4) for b in range(4))
                assert f"holds {n or 'no'} visible score" in note
                assert ((i, j) in one.answer) == (n > 0)


def test_a_wrong_choice_says_what_it_would_give():
    """The numbers of those whose reasons are written as text, by other arithmetic."""

    def reasons(key: str, variant: int = -1) -> list[str]:
        question = QUESTIONS[key]
        one = question if variant < 0 else question.variants[variant]
        return [why for _, why in one.options]

    def add_up(share: int, keys: int = 6) -> str:
        return f"add up to {keys / share:g}."

    axis = reasons("softmax-axis")
    assert [why[-len(add_up(n)) :] for why, n in zip(axis, (2, 8, 4), strict=False)] == [
        add_up(2),
        add_up(8),
        add_up(4),
    ]
    assert reasons("softmax-axis", 0)[0].endswith(add_up(4))
    assert all(why.endswith(add_up(8)) for why in reasons("softmax-axis", 0)[2:])
    assert all(why.endswith(add_up(4)) for why in reasons("softmax-axis", 1)[1:3])
    chance = 4096 * math.log10(0.95)
    digits = (
        str(round(chance)).replace("-", "⁻").translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    )
    assert all(f"10{digits}." in reasons("when_not-sparse")[k] for k in (0, 1, 3))
