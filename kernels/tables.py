"""Turn a mask and a score into arguments of a kernel: two texts, and tables in HBM.

The texts are known when the kernel is compiled, with their numbers. What may be long, or may differ
between calls that share the code, is in a table: documents, visible blocks, biases, visited tiles.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch

from .launching import refuse_capture
from .spec import scores
from .spec.masks import Mask, Term
from .spec.scores import Score

NONE = scores.parse("none")
SPANS = Mask("spans", ())  # a tensor of each call says which keys a row sees: one interval
MAX_TILES = 1 << 24  # of a list, which has 4 bytes for each
Numbers = tuple[int | float, ...]
Tables = tuple[torch.Tensor, ...] | None


@lru_cache(maxsize=256)
def rules(
    mask: Mask, score: Score, n_q: int, n_k: int, device: torch.device,
    block_q: int | None = None, block_k: int | None = None, by_keys: bool = False,
) -> tuple[dict[str, str], Tables]:  # fmt: skip
    """Return ({MASK, SCORE}, TABLES), which masking.py and scoring.py read; None for no table.

    With Br and Bc, and a mask that is not plain, the first two tables are `Mask.lists`, int32: of
    each row block its visited key blocks, `by_keys` of each key block its row blocks. Cached: a
    call in a loop costs no work. Raises ValueError where the list would be too long, RuntimeError
    while a CUDA graph is captured, each with one sentence.
    """
    tables: list[np.ndarray] = []
    if block_q and block_k and not mask.plain and mask != SPANS:
        tiles = -(-n_q // block_q) * -(-n_k // block_k)
        if tiles > MAX_TILES:
            raise ValueError(
                f"block_m = {block_q} and block_n = {block_k} make {tiles:,} tiles; under a mask "
                f"other than full and causal at most {MAX_TILES:,} are listed."
            )
        tables += mask.lists(n_q, n_k, block_q, block_k, by_keys=by_keys)

    def text(name: str, numbers: Numbers, found: list[np.ndarray]) -> str:
        """The name, and the places of its tables instead of numbers that may be many."""
        if found:
            numbers = (*numbers, *range(len(tables), len(tables) + len(found)))
            tables.extend(found)
        return f"{name}:{','.join(map(str, numbers))}" if numbers else name

    end = n_k + max(mask.rows, mask.keys)
    terms = [[text(*_of_predicate(one, end)) for one in term] for term in mask.terms]
    steps = [text(*_of_step(*step)) for step in score.steps]
    constants = {
        "MASK": "|".join(map("&".join, terms)) or mask.text,
        "SCORE": "&".join(steps) or NONE.text,
    }
    if mask.rows or mask.keys:
        shift = np.array([mask.rows, mask.keys, end], np.int32)
        constants["MASK"] += "@" + text("shift", (), [shift])
    if tables:
        refuse_capture(f"mask = {mask.text[:80]}, score = {score.text[:80]}")
    return constants, tuple(torch.from_numpy(x).to(device) for x in tables) or None


def dropping(dropout: float, seed: int, tables: Tables, device: torch.device) -> tuple[str, Tables]:
    """Return DROPOUT, a text made as SCORE is, and the TABLES with the seed as one more."""
    if not dropout:
        return NONE.text, tables
    tables = tables or ()
    seeds = torch.tensor([seed], dtype=torch.int64, device=device)
    return f"dropout:{dropout!r},{len(tables)}", (*tables, seeds)


def _of_predicate(term: Term, end: int) -> tuple[str, Numbers, list[np.ndarray]]:
    """Return name, numbers for the code, and tables of the positions 0 … end − 1."""
    position = np.arange(end)
    if term.name == "document":
        document = np.searchsorted(term.numbers, position, side="right")
        return term.name, (), [document.astype(np.int32)]
    if term.predicate.parts is None:  # all but "block"
        return term.name, term.numbers, []
    parts = term.predicate.parts(*term.numbers)  # rows start, stop, keys start, stop
    strips = [np.unique(parts[:, side : side + 2]) for side in (0, 2)]
    visible = np.zeros([len(edges) + 1 for edges in strips], np.uint8)
    for part in parts:
        a, b = np.searchsorted(strips[0], part[:2]) + 1
        c, d = np.searchsorted(strips[1], part[2:]) + 1
        visible[a:b, c:d] = 1
    rows, keys = (np.searchsorted(edges, position, side="right") for edges in strips)
    rows = rows * visible.shape[1]
    return term.name, (), [rows.astype(np.int32), keys.astype(np.int32), visible]


def _of_step(name: str, numbers: Numbers) -> tuple[str, Numbers, list[np.ndarray]]:
    """Return the same of one modification of the scores."""
    if name == "bias":
        return name, (len(numbers),), [np.array(numbers, np.float32)]
    return name, numbers, []
