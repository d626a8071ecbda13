"""Every plan of the Hopper kernel, compiled for sm_90 by the installed Triton, without a card."""

import itertools
import re
from dataclasses import replace

import pytest

from kernels.hopper import plans
from kernels.spec import masks
from tests.kernels.hopper.test_hopper import SHARED_BYTES

ROW_BLOCKS = (1, 2, plans.MAX_PAIRED_ROW_BLOCKS + 2)  # odd, even, more than are paired
KEYS = (128, plans.LONG)
# (d, causal, order, peel) of the table and of what `fit` makes of it
SHAPES = sorted(
    {
        (*key, fitted.order, fitted.peel)
        for key, plan in plans.TABLE.items()
        for fitted in (plans.fit(plan, m * plan.block_m, n) for m in ROW_BLOCKS for n in KEYS)
    }
)


def faults(log: str) -> list[str]:
    """What ptxas -v says that would make the kernel slow: memory used as registers, C7512."""
    assert re.search(r"Used \d+ registers", log), f"not ptxas's log: {log!r}"
    memory = r"\b[1-9]\d* bytes (?:stack frame|spill stores|spill loads)"
    return re.findall(rf"{memory}|wgmma\.mma_async instructions are serialized", log)


def assert_fast(answer: dict) -> None:
    """Nothing spilled or serialized, room for the shared memory, and products by wgmma."""
    assert faults(answer["log"]) == []
    assert answer["shared_bytes"] <= SHARED_BYTES
    assert answer["wgmma"] > 0


def test_what_fit_changes_is_compiled_below():
    for (d, causal), plan in plans.TABLE.items():
        for blocks in ROW_BLOCKS:
            for keys in (*KEYS, *(keys + 1 for keys in KEYS)):
                fitted = plans.fit(plan, blocks * plan.block_m, keys)
                assert (d, causal, fitted.order, fitted.peel) in SHAPES
                assert fitted.ragged == (keys % 128 != 0)
                same = {"order": plan.order, "ragged": plan.ragged, "peel": plan.peel}
                assert replace(fitted, **same) == plan
    assert {order for d, causal, order, _ in SHAPES if d == 128} == {"pairs", "queue", "rows"}


def pytest_generate_tests(metafunc):
    """Every plan in one of its forms; with --full in all of them. Of the variants those that take
    the most registers."""
    if "score" in metafunc.fixturenames:
        choices = (64, 128), ("none", "softcap", "alibi"), (False, True), (False, True)
        variants = list(itertools.product(*choices))
        if not metafunc.config.getoption("--full"):
            variants = [v for v in variants if v[1] != "none" and all(v[2:])]
        metafunc.parametrize(("d", "score", "sink", "ranges"), variants)
    if "ragged" in metafunc.fixturenames:
        forms = list(itertools.product((False, True), ("bf16", "fp16")))
        cases = [(*shape, *form) for shape in SHAPES for form in forms]
        if not metafunc.config.getoption("--full"):
            cases = [(*shape, *forms[k % len(forms)]) for k, shape in enumerate(SHAPES)]
        metafunc.parametrize(("d", "causal", "order", "peel", "ragged", "dtype"), cases)


def test_no_plan_spills_or_serializes_its_products(compiled, d, causal, order, peel, ragged, dtype):
    plan = replace(plans.TABLE[d, causal], order=order, peel=peel, ragged=ragged)
    assert_fast(compiled(plan, d, dtype))


def test_no_variant_spills_or_serializes_its_products(compiled, d, score, sink, ranges):
    plan = plans.choose(d, masks.parse("causal&window:9,0"), 999, 999, score, sink)
    assert_fast(compiled(replace(plan, ranges=ranges), d, "bf16" if sink else "fp16"))


def test_a_plan_with_too_few_registers_is_found(compiled):
    plan = replace(plans.TABLE[64, False], consumer_registers=128)
    found = faults(compiled(plan, 64, "bf16")["log"])
    assert [what for what in found if what.endswith("spill stores")]
    assert [what for what in found if what.endswith("are serialized")]


def test_a_kernel_that_does_not_compile_is_a_failure(compiled):
    plan = replace(plans.TABLE[64, False], block_n=48)  # no power of 2
    with pytest.raises(AssertionError, match="power of 2"):
        compiled(plan, 64, "bf16")
