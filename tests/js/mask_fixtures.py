"""What the mask builder is told; what each predicate keeps, by its definition."""

import numpy as np

from explainer.web.mask_map import mask_map, parse_problem
from kernels.spec.predicates import PREDICATES
from tests.by_hand import keeps

TOKENS = 16
SIZE = {"n": str(TOKENS), "br": "4", "bc": "4"}
MASKS = ("causal&window:6,0|prefix:2", "full", "causal", "chunk:4", "window:2,2|global:1")
LARGE = {"n": "4096", "br": "128", "bc": "64", "mask": "causal&window:256,0"}
PIECES = (
    "full",
    "causal",
    "window:3,1",
    "dilated:3",
    "prefix:2",
    "global:2",
    "document:0,5,9",
    "chunk:5",
    "block:4x2,0.0,1.0-2",
)
assert {text.partition(":")[0] for text in PIECES} == set(PREDICATES), "add to PIECES"


def masks() -> dict:
    """Return the answers of ``/fa/mask``, and of each predicate a sign per score."""
    i, j = np.indices((TOKENS, TOKENS))
    return {
        "answers": [
            mask_map(parse_problem(query))
            for query in (*(SIZE | {"mask": mask} for mask in MASKS), LARGE)
        ],
        "predicates": [
            {
                "text": text,
                "n": TOKENS,
                "keep": "".join(map(str, keeps(text, i, j).astype(int).flat)),
            }
            for text in PIECES
        ],
    }
