"""Level 0: every question of the newcomers' list has its place, and its answer is PyTorch's."""

from __future__ import annotations

import json

import pytest
import torch
import torch.nn.functional as F

from explainer.algorithms.traffic import traffic
from explainer.learn import level0, level0_shown
from explainer.learn.content import CHOICE, CLICK, NUMBER, ORDER
from explainer.learn.registry import answer, rungs
from explainer.memory.workload import Workload
from explainer.views.learn_screens import screen

KNOWN = {known.question.key.removeprefix("known-"): known for known in level0.KNOWN}
# The list of the note "FlashAttention2" (QTCM, Level 0): its Q1 to Q11 and the worked example of
# Q8, by what each asks; the rung that must answer it.
LIST = {
    "Q1 L2 norm": ("norm", "dot"),
    "Q2 dot product": ("dot", "dot"),
    "Q3 matrix product": ("product", "matmul"),
    "Q4 softmax, the largest": ("share", "softmax"),
    "Q4 softmax, dim": ("axis", "softmax"),
    "Q5 SRAM and DRAM": ("memory", "memory"),
    "Q6 subtracting the maximum": ("maximum", "safe"),
    "Q7 tiling": ("tiles", "memory"),
    "Q8 The cat sat": ("cat", "cat"),
    "Q8 causal mask": ("causal", "mask"),
    "Q9 a mask of 0 and 1": ("zero-one", "mask"),
    "Q10 kernel fusion": ("fusion", "fusion"),
    "Q11 16 bits": ("sixteen", "formats"),
}


def ran(key: str) -> dict:
    """What the code shown with a question leaves behind."""
    space = {"torch": torch, "F": F}
    exec(KNOWN[key].code, space)  # our own text, not a reader's
    return space


def block(key: str, label: str) -> list[list]:
    """The rows of the matrix of this label."""
    found = answer({"w": f"known-{key}"})["blocks"]
    return next(b["rows"] for b in found if b.get("label", "").startswith(label))


def test_the_whole_list_has_its_place():
    assert dict(LIST.values()) == {k: v.rung for k, v in KNOWN.items()}
    html = screen("level0")
    for known in KNOWN.values():
        assert html.count(f'data-widget="{known.question.key}"') == 1
        assert f"rung={known.rung}" in html
    assert {known.rung for known in KNOWN.values()} <= {rung.key for rung in rungs()}


@pytest.mark.parametrize("known", level0.KNOWN, ids=lambda k: k.question.key)
def test_a_question_is_whole(known):
    question = known.question
    assert question.words.endswith(("?", ".", ")"))
    if question.kind == CHOICE:
        assert 0 <= question.answer < len(question.options) >= 3
        assert len({why for _, why in question.options}) == len(question.options)
    elif question.kind in (NUMBER, CLICK):
        right, wrong = question.reasons
        assert right.endswith(".") and wrong.endswith(".")
    assert all(why for _, why in question.options)
    shown = answer({"w": question.key})["blocks"]
    assert [b["lines"] for b in shown if b["type"] == "code"] == [known.code] * bool(known.code)


@pytest.mark.parametrize("key", ["norm", "dot", "share", "cat"])
def test_a_number_is_pytorchs(key):
    question = KNOWN[key].question
    assert ran(key)["answer"] == pytest.approx(question.answer, abs=1e-6)
    assert 0 < question.tolerance < 0.01


def test_what_is_said_below_a_number_is_that_number():
    for key, said in (("norm", " = 5.000"), ("dot", " = 32")):
        (words,) = (b["words"] for b in answer({"w": f"known-{key}"})["blocks"][:1])
        assert words.endswith(said)
    assert block("share", "exp")[1][2] == pytest.approx(KNOWN["share"].question.answer)
    assert block("cat", "Softmax")[1][1] == pytest.approx(KNOWN["cat"].question.answer)


def test_the_matrix_product_is_pytorchs():
    question = KNOWN["product"].question
    product = ran("product")["answer"].int().tolist()
    texts = [text for text, _ in question.options]
    assert json.loads(texts[question.answer]) == product == block("product", "A B")
    others = [json.loads(text) for k, text in enumerate(texts) if k != question.answer]
    A, B = (torch.tensor(x.tolist()) for x in (level0_shown.LEFT, level0_shown.RIGHT))
    assert others == [(A * B).tolist(), (B @ A).tolist(), (A @ B).T.tolist()]


def test_the_axis_is_pytorchs_and_a_vector_has_one():
    space = {"torch": torch, "F": F}
    with pytest.raises(IndexError):
        exec(KNOWN["axis"].code, space)
    assert space["answer"] is True
    for key, label in (("rows", "dim = 1"), ("columns", "dim = 0")):
        assert torch.allclose(space[key].double(), torch.tensor(block("axis", label)).double())


def test_the_maximum_saves_what_overflows():
    space = ran("maximum")
    assert space["bare"].isnan().all()
    bare, safe = block("maximum", "exp of")[1], block("maximum", "With")[2]
    assert bare == ["NaN"] * 3
    assert torch.allclose(space["answer"], torch.tensor(safe))


def test_the_masks_are_pytorchs():
    assert sorted(map(tuple, ran("causal")["answer"])) == list(KNOWN["causal"].question.answer)
    weights = torch.tensor(block("causal", "Softmax"))
    assert torch.allclose(ran("causal")["weights"], weights)
    assert torch.allclose(ran("zero-one")["answer"], torch.tensor(block("zero-one", "Weights")))


@pytest.mark.parametrize("word", ["0", "1", "-inf"])
def test_the_lines_in_order_hide_the_keys_only_with_the_right_word(word):
    question = KNOWN["zero-one"].question
    assert question.kind == ORDER
    ((gap, offered, right),) = question.gaps
    assert word in offered
    lines = [text for text, _ in question.options]
    lines[gap] = lines[gap].replace("___", word)
    torch.manual_seed(0)
    Q, K, V = torch.randn(3, 3, 4)
    mask = torch.tensor(level0_shown.HIDDEN)
    space = {"torch": torch, "F": F, "Q": Q, "K": K, "V": V, "mask": mask}
    exec("\n".join(lines), space)
    hides = bool((space["P"][mask == 1] == 0).all())
    assert hides == (word == right)
    if hides:
        wanted = F.scaled_dot_product_attention(Q[None], K[None], V[None], mask[None] == 0)[0]
        assert torch.allclose(space["O"], wanted, atol=1e-6)


def test_the_bytes_are_the_traces():
    n, d = level0_shown.N, level0_shown.D
    apart, fused = 2 * (4 * n * d + 4 * n * n), 2 * 4 * n * d + 4 * n  # FACTS.md: the least
    assert level0_shown.fusion_bytes() == (apart, fused)
    small = Workload(n=n, d=d, block_q=128, block_k=128, dtype="fp16").problem("fa2")
    sides = answer({"w": "known-tiles"})["blocks"][0]
    assert sum(map(sum, traffic(small).values())) in [size for _, size, _ in sides["items"]]
    assert "asks" in sides["label"]
    said = answer({"w": "known-fusion"})["blocks"][1]["words"]
    assert said.startswith(f"{apart / fused:.1f} times fewer")


def test_shared_memory_is_an_order_of_magnitude_faster():
    bars = answer({"w": "known-memory"})["blocks"][0]["items"]
    assert bars[0][1] / bars[1][1] == pytest.approx(10, rel=0.05)
