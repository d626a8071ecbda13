"""The masks of published models, beside their dense definitions; what is said of them is cited."""

import numpy as np
import pytest

from explainer.base.facts import FACTS
from explainer.learn.presets import PRESETS
from kernels.spec.masks import parse
from kernels.spec.scores import parse as parse_score

I, J = np.indices((16, 16))
BEFORE = J <= I
# Of 16 tokens: what a reader of the papers would draw.
DENSE = {
    "causal": BEFORE,
    "full": np.ones((16, 16), bool),
    "window": BEFORE & (I - J < 6),
    "sinks": BEFORE & ((I - J < 6) | (J < 2)),
    "prefix": BEFORE | (J < 6),
    "chunks": BEFORE & (I // 4 == J // 4),
    "documents": BEFORE & (np.digitize(I, (5, 10)) == np.digitize(J, (5, 10))),
    "global": (abs(I - J) <= 2) | (I == 0) | (J == 0),
    "gemma": BEFORE & (I - J < 6),
    "alibi": BEFORE,
    "gpt-oss": BEFORE & (I - J < 5),
}


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
def test_a_preset_is_what_its_model_does(preset):
    assert (parse(preset.mask(16)).keep(16, 16) == DENSE[preset.key]).all()
    assert parse_score(preset.score).text == preset.score
    assert not preset.sink or float(preset.sink) == 0


def test_each_names_its_ground_and_no_number_of_its_own():
    assert [p.key for p in PRESETS] == list(DENSE)
    for preset in PRESETS:
        entry, said = FACTS[preset.fact], preset.to_json()
        assert entry.source and entry.seen and said["source"] == entry.source
        assert "{" not in said["says"] and said["says"].endswith(".")
