"""The lesson: scores and tiles as a dense mask has them."""

import numpy as np
import pytest

from explainer.learn.lessons.windows import lesson
from tests.learn.scenes import find_mark


def dense(kind: str, width: int) -> np.ndarray:
    i, j = np.indices((32, 32))
    causal = j <= i
    document = np.digitize(i, lesson.STARTS) == np.digitize(j, lesson.STARTS)
    listed = (j // 4 == 0) | (j // 4 == i // 4) | (j // 4 == i // 4 // 2)
    masks = {"causal": causal, "window": i - j < width, "documents": document, "block": listed}
    return causal & masks[kind]


@pytest.mark.parametrize("kind", ("causal", "window", "documents", "block"))
@pytest.mark.parametrize("width", (1, 10, 32))
def test_scores_and_tiles_are_those_of_a_dense_mask(kind, width):
    keep = dense(kind, width)
    blocks = keep.reshape(8, 4, 8, 4)
    tiles, full = (f(axis=(1, 3)).repeat(4, 0).repeat(4, 1) for f in (blocks.any, blocks.all))
    cells = find_mark("windows", "grid", what=kind, width=width)["cells"]
    wanted = np.where(tiles, keep * np.where(full, 1.0, 0.4), None).tolist()
    assert cells == wanted
    bars = find_mark("windows", "bars", what=kind, width=width)["items"]
    counted = {bar["key"]: bar["value"] for bar in bars}
    assert counted["skipped"] == (~tiles).sum() / 16 and sum(counted.values()) == 64
