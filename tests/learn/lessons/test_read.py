"""The lesson: the kernel runs in Triton's interpreter, fits the page, and its faults show."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from explainer.base.paths import ROOT
from explainer.learn.example import K, Q
from explainer.learn.lessons.read import lesson
from tests.learn.scenes import asked, cases, find_mark

RUN = """
import json, runpy, torch
attention = runpy.run_path("explainer/learn/lessons/read/kernel.txt")["attention"]
torch.manual_seed(0)
off = {}
for n, d, dtype in ((100, 64, "float32"), (64, 16, "float32"), (100, 32, "float16")):
    q, k, v = (torch.randn(2, n, d).to(getattr(torch, dtype)) for _ in range(3))
    o, lse = attention(q, k, v, BR=32, BC=32)
    S = q.double() @ k.double().mT / d**0.5
    S = S.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf)
    want = S.softmax(-1) @ v.double()
    both = o - want, lse - S.logsumexp(-1)
    off[f"{dtype} {n}"] = [float(x.abs().max()) for x in both]
print(json.dumps(off))
"""


def test_the_kernel_is_attention_as_precise_as_the_text_says():
    env = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "-c", RUN], cwd=ROOT, env=env, capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    for case, (output, lse) in json.loads(ran.stdout.splitlines()[-1]).items():
        assert output < (1e-6 if "32" in case.split()[0] else 1e-3) and lse < 2e-6, case


def test_it_fits_the_page_and_every_line_of_its_body_has_a_group():
    assert len(lesson.LINES) <= 40 and max(map(len, lesson.LINES)) <= 80
    first, last = lesson.GROUPS[0][0], lesson.GROUPS[5][-1]
    assert {lesson.group_of(k) for k in range(first, last + 1)} == {*range(6)}
    marked = find_mark("read", "code", line=20)["on"]
    assert 20 in marked and {lesson.group_of(k) for k in marked} == {4}


def test_the_numbers_of_the_row_by_hand():
    """“tired” sees logits of which the largest is 3 before the block and 4 in it."""
    s = K[:6] @ Q[7] / 2
    found = lesson.numbers()
    assert (found["m"], found["m_new"]) == (max(s[:4]), max(s)) == (3, 4)
    assert found["l_new"] == pytest.approx(np.exp(s - 4).sum())
    assert found["alpha"] == pytest.approx(np.exp(-1))


def test_each_fault_stands_in_its_line_and_shows():
    for (fault,), question in zip(cases("read"), asked("read"), strict=True):
        right, wrong = lesson.ASKED[fault]
        assert wrong in question.options[question.answer][0] and lesson.off(fault) > 0.5
        others = [line for k, (line, _) in enumerate(question.options) if k != question.answer]
        assert all(any(line == x.strip() for x in lesson.LINES) for line in others)
        assert f"{lesson.off(fault):.2f}" in question.words and right != wrong
    assert lesson.off("") < 1e-12, "without a fault"
