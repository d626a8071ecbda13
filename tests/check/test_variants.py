"""Right functions, however they are written, are passed."""

import math
from itertools import product

import numpy as np
import pytest
import torch as pytorch

from explainer.check.cases import cases
from explainer.check.observe import Seen, rounds_products
from explainer.check.verdict import examine
from kernels.spec.formats import round_to
from tests.check.in_process import load
from tests.check.planted import CS336, NUMPY, RIGHT, TORCH, TRITON, plant

ORDERS = ("rows", "keys", "reversed", "split")
CHOICES = [
    (torch, order, tile, base2, -math.inf if (n + order_n) % 2 else -1e9, skips, reports, norm)
    for n, (torch, tile, base2, norm) in enumerate(
        product((False, True), (None, 6, 8, 16), (False, True), (False, True))
    )
    for order_n, order in enumerate(ORDERS)
    for skips, reports in ((True, True), (False, bool(n % 2)))
]


@pytest.mark.parametrize("torch", [False, True], ids=["arrays", "tensors"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("tile", [None, 6, 8, 16])
def test_a_right_variant_is_passed(tile, order, torch, tmp_path):
    source = (RIGHT / "variants.py").read_text(encoding="utf-8")
    chosen = [x for x in CHOICES if x[:3] == (torch, order, tile)]
    assert len(chosen) == 8
    for n, choice in enumerate(chosen):
        mine = f'CHOSEN = {choice}\ninf = float("inf")\n'.replace("-inf", '-float("inf")')
        kind = {"arrays": "torch" if torch else "numpy"}
        found = examine(load(mine + source, tmp_path, f"variant{n}", **kind), "mine.py")
        assert found.right and not found.cause and not found.warning, (choice, found.sentence)


@pytest.mark.parametrize("implementation", [NUMPY, TORCH, TRITON, CS336])
def test_a_right_implementation_is_passed(implementation, tmp_path):
    found = examine(load(plant(None, implementation), tmp_path), "mine.py")
    assert found.right and found.cause is None and found.first is None
    counts = {
        NUMPY: 14,
        TORCH: 18,
        TRITON: 15 if pytorch.cuda.is_available() else 14,
        CS336: 8,
    }  # bf16 on a GPU alone
    assert len(found.cases) == counts[implementation]


@pytest.mark.parametrize(
    ("of_v", "rounds"),
    [(lambda v: v, False), (lambda v: round_to(v, "fp16"), True), (np.zeros_like, False)],
    ids=["float32", "eleven bits", "without V"],
)
def test_a_function_that_rounds_its_products_is_known(of_v, rounds):
    case = cases(True)[0]
    assert rounds_products(lambda q, k, v, *_: Seen(of_v(v), None), case) is rounds
