"""What the mask builder is told; what each predicate keeps, said once more by its definition."""

from __future__ import annotations

from pathlib import Path

from explainer.web.mask_map import mask_map, parse_problem
from kernels.spec.predicates import PREDICATES
from tests.js.fixtures import write

TOKENS = 16
SIZE = {"n": str(TOKENS), "br": "4", "bc": "4"}
MASKS = ("causal&window:6,0|prefix:2", "full", "causal", "chunk:4", "window:2,2|global:1")
LARGE = {"n": "4096", "br": "128", "bc": "64", "mask": "causal&window:256,0"}
KEEPS = {
    ("full", ""): lambda i, j: True,
    ("causal", ""): lambda i, j: j <= i,
    ("window", "3,1"): lambda i, j: -1 <= i - j <= 3,
    ("dilated", "3"): lambda i, j: (i - j) % 3 == 0,
    ("prefix", "2"): lambda i, j: j in (0, 1),
    ("global", "2"): lambda i, j: min(i, j) < 2,
    ("document", "0,5,9"): lambda i, j: (i >= 5) + (i >= 9) == (j >= 5) + (j >= 9),
    ("chunk", "5"): lambda i, j: i // 5 == j // 5,
    ("block", "4x2,0.0,1.0-2"): lambda i, j: (i // 4, j // 2) in {(0, 0), (1, 0), (1, 1), (1, 2)},
}
assert {name for name, _ in KEEPS} == set(PREDICATES)


def write_masks(folder: Path) -> None:
    """Answers of ``/fa/mask``, and of each predicate a sign per score."""
    places = [(i, j) for i in range(TOKENS) for j in range(TOKENS)]
    case = {
        "answers": [
            mask_map(parse_problem(query))
            for query in (*(SIZE | {"mask": mask} for mask in MASKS), LARGE)
        ],
        "predicates": [
            {
                "name": name,
                "numbers": numbers,
                "n": TOKENS,
                "keep": "".join(str(int(keeps(i, j))) for i, j in places),
            }
            for (name, numbers), keeps in KEEPS.items()
        ],
    }
    write(folder, "masks-all", case)
