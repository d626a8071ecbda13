"""Every plan of the Hopper kernel, compiled for sm_90 by the installed Triton, without a card."""

import re
from dataclasses import replace
from itertools import product

import pytest

from kernels.hopper import plans
from kernels.spec import masks
from tests.kernels.hopper.conftest import only_full
from tests.kernels.hopper.test_hopper import SHARED_BYTES

STACK = 160  # bytes of a thread
ROW_BLOCKS = (1, 2, plans.MAX_PAIRED_ROW_BLOCKS + 2)  # odd, even, more than are paired
KEYS = (128, plans.LONG)
HEADS = ((64, 64), (128, 128), (192, 192), (192, 128), (256, 256))  # d of Q and K, and of V


def chosen(d: int, d_v: int, causal: bool, row_blocks: int = 1, keys: int = 128) -> plans.Plan:
    """The plan for so many row blocks."""
    n_q = row_blocks * plans.TABLE[d, causal].block_m
    return plans.choose(d, masks.of(causal), n_q, keys, d_v=d_v)


# (d, d_v, causal, order, peel) of the table and of what `fit` makes of it
SHAPES = sorted(
    {
        (d, d_v, causal, plan.order, plan.peel)
        for (d, d_v), causal in product(HEADS, (False, True))
        for plan in (chosen(d, d_v, causal, m, n) for m in ROW_BLOCKS for n in KEYS)
    }
)


def faults(log: str) -> list[str]:
    """What ptxas -v says that would make the kernel slow: memory used as registers, C7512."""
    assert re.search(r"Used \d+ registers", log), f"not ptxas's log: {log!r}"
    memory = r"\b[1-9]\d* bytes (?:stack frame|spill stores|spill loads)"
    return re.findall(rf"{memory}|wgmma\.mma_async instructions are serialized", log)


def assert_fast(answer: dict, stack: int = 0) -> None:
    """Nothing spilled or serialized, room for the shared memory, and products by wgmma.

    `stack`: bytes of a thread that ptxas may keep in memory, of which it stores and loads some.
    """
    found = faults(answer["log"])
    if stack:
        assert int(re.search(r"(\d+) bytes stack frame", answer["log"])[1]) <= stack
        found = [what for what in found if "bytes" not in what]
    assert found == []
    assert answer["shared_bytes"] <= SHARED_BYTES
    assert answer["wgmma"] > 0


def assert_forward_is_fast(answer: dict, d: int) -> None:
    """`assert_fast`, but beyond d = 128 only Triton 3.6 keeps all in registers.

    3.9 stores addresses that it reads once a tile; in the loops over key blocks without a mask it
    reads one number, with ALiBi.
    """
    assert_fast(answer, STACK if d > 128 and not answer["triton"].startswith("3.6") else 0)


def test_what_fit_changes_is_compiled_below():
    for (d, causal), plan in plans.TABLE.items():
        for blocks in ROW_BLOCKS:
            for keys in (*KEYS, *(keys + 1 for keys in KEYS)):
                fitted = plans.fit(plan, blocks * plan.block_m, keys)
                assert (d, d, causal, fitted.order, fitted.peel) in SHAPES
                assert fitted.ragged == (keys % 128 != 0)
                same = {"order": plan.order, "ragged": plan.ragged, "peel": plan.peel}
                assert replace(fitted, **same) == plan
    assert {order for d, *_, order, _ in SHAPES if d == 128} == {"pairs", "queue", "rows"}


FORMS = [*product((False, True), ("bf16", "fp16"))]
CASES = [(*shape, *form) for shape in SHAPES for form in FORMS]
CHOICES = HEADS, ("none", "softcap", "alibi"), (False, True), (False, True)
VARIANTS = [*product(*CHOICES)]


@pytest.mark.parametrize(
    "case", only_full(CASES, [(*shape, *FORMS[k % 4]) for k, shape in enumerate(SHAPES)])
)
def test_no_plan_spills_or_serializes_its_products(compiled, case):
    """In one of its forms; with --full in all of them."""
    d, d_v, causal, order, peel, ragged, dtype = case
    plan = replace(chosen(d, d_v, causal), order=order, peel=peel, ragged=ragged)
    assert_forward_is_fast(compiled(plan, d, dtype), d)


@pytest.mark.parametrize(
    "variant", only_full(VARIANTS, [v for v in VARIANTS if v[1] != "none" and all(v[2:])])
)
def test_no_variant_spills_or_serializes_its_products(compiled, variant):
    """Those that take the most registers; with --full all."""
    (d, d_v), score, sink, ranges = variant
    plan = plans.choose(d, masks.parse("causal&window:9,0"), 999, 999, score, sink, d_v)
    answer = compiled(replace(plan, ranges=ranges), d, "bf16" if sink else "fp16")
    assert_forward_is_fast(answer, d)


FP8 = [*product((1, 2), (64, 128), (False, True), (False, True))]


@pytest.mark.parametrize("case", only_full(FP8, FP8[1::2]))
def test_no_plan_in_fp8_spills_or_serializes_its_products(compiled, case):
    levels, d, causal, ragged = case
    plan = (plans.FP8_ONE_LEVEL if levels == 1 else plans.FP8)[d, causal]
    assert_fast(compiled(replace(plan, ragged=ragged), d, "e4m3"))


def test_a_plan_with_too_few_registers_is_found(compiled):
    plan = replace(plans.TABLE[64, False], consumer_registers=128)
    found = faults(compiled(plan, 64, "bf16")["log"])
    assert [what for what in found if what.endswith("spill stores")]
    assert [what for what in found if what.endswith("are serialized")]


def test_a_kernel_that_does_not_compile_is_a_failure(compiled):
    plan = replace(plans.TABLE[64, False], block_n=48)  # no power of 2
    with pytest.raises(AssertionError, match="power of 2"):
        compiled(plan, 64, "bf16")
