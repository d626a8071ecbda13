"""Mistakes that were written without a look at the list: found, and named right or not at all."""

from __future__ import annotations

import pytest

from explainer.check.verdict import examine
from tests.check.in_process import load
from tests.check.planted import NUMPY, STEPS, plant

# what it does → (step, what stands there instead, the cause that may be named)
UNUSUAL = {
    "mean in l": ("l", "l = l * alpha + p.mean(1)", None),
    "m scaled": ("m", "m_new = np.maximum(m, s.max(1) * scale)", None),
    "a large epsilon": ("end", "o / (l + 1e-2)[:, None]", None),
    "alpha squared": ("alpha", "alpha = np.exp((m - safe) * 2)", "alpha_applied_twice"),
    "keys reversed in a tile": ("k", "kj = k[j * bc : (j + 1) * bc][::-1]", None),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_an_unusual_mistake_gets_no_wrong_name(name, tmp_path):
    step, new, cause = UNUSUAL[name]
    source = plant(None, NUMPY)
    assert source.count(STEPS[NUMPY][step]) == 1
    found = examine(load(source.replace(STEPS[NUMPY][step], new), tmp_path), "mine.py")
    assert not found.right and found.first and found.cause in (None, cause)
