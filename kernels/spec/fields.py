"""The table of fields: what a Problem, a run, a sweep and a workload can say, one row each.

Pure data: the classes and addresses of the explainer, the signatures of its API, its controls and
the browser's keys are made from it, and the kernels' benchmarks take their defaults from it. What a
field is called stands in assets/texts/fields.json under its name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .algorithms import ORDERS

DTYPES = ("fp32", "fp16", "bf16")  # in which Q, K, V and O can be stored
FP8 = "e4m3"  # in which Q, K and V can be, beside an O in STORED
STORED = {FP8: "bf16"}
PASSES = ("forward", "backward")
CACHES = ("contiguous", "paged")  # how K and V lie in HBM
INPUT_NAMES = ("rising", "random", "spike", "outlier", "sentence", "own")

MAX_N = 65_536
MAX_N_MADE = 16_384  # beyond it the data can only be random: the others look at all N² scores
MAX_D = 256
MAX_SEED = 2**31 - 1
MIN_GAIN, MAX_GAIN = 0.01, 10_000.0
MAX_SINK = 10_000.0
MAX_DROPOUT = 0.999
MAX_BATCH, MAX_HEADS = 64, 128

Kind = Literal["whole", "number", "choice", "mask", "score", "text", "methods"]


@dataclass(frozen=True)
class Field:
    """One field. ``name`` in code, ``key`` in an address, ``kind`` of its values.

    ``default``: a Problem's or a run's. Numbers from ``low`` to ``high``, unless the class that has
    the field narrows the range (a tile may not be longer than the sequence). ``choices`` of a
    choice. ``is_optional``: None, or an empty text, stands for none. ``is_written``: an address
    has it also where it is the default. ``title``: what a sentence calls it, where the texts do
    not.
    """

    name: str
    key: str
    kind: Kind = "whole"
    default: str | float | None = None
    low: float = 0
    high: float = 0
    choices: tuple[str, ...] = ()
    is_optional: bool = False
    is_written: bool = True
    title: str = ""


def by_name(*fields: Field) -> dict[str, Field]:
    """Index fields by their names."""
    return {field.name: field for field in fields}


FIELDS = by_name(
    Field("n", "n", "whole", 16, 1, MAX_N),
    Field("d", "d", "whole", 8, 1, MAX_D),
    Field("block_q", "br", "whole", 4, 1, MAX_N),
    Field("block_k", "bc", "whole", 4, 1, MAX_N),
    Field("mask", "mask", "mask", "causal"),
    Field("order", "order", "choice", "fa2", choices=ORDERS),
    Field("dtype", "dtype", "choice", "fp32", choices=DTYPES),
    Field("inputs", "data", "choice", "random", choices=INPUT_NAMES),
    Field("seed", "seed", "whole", 9, 0, MAX_SEED),
    Field("text", "text", "text", "", is_written=False),
    Field("gain", "gain", "number", 1.0, MIN_GAIN, MAX_GAIN, is_written=False),
    Field("score", "score", "score", "none", is_written=False),
    Field("sink", "sink", "number", None, -MAX_SINK, MAX_SINK, is_optional=True, is_written=False),
    Field("q_heads", "hq", "whole", 1, 1, MAX_HEADS, is_written=False),
    Field("kv_heads", "hk", "whole", 1, 1, MAX_HEADS, is_written=False),
    Field("head", "head", "whole", 0, 0, MAX_HEADS - 1, is_written=False),
    Field("dropout", "dropout", "number", 0.0, 0, MAX_DROPOUT, is_written=False),
    Field("rope", "rope", "number", 0.0, 0, 1e9, is_written=False),
    Field("cache", "kv", "choice", "contiguous", choices=CACHES, is_written=False),
    Field("batch", "b", "whole", 1, 1, MAX_BATCH),
    Field("heads", "h", "whole", 1, 1, MAX_HEADS),
    Field("methods", "methods", "methods"),
    Field("pass", "pass", "choice", "forward", choices=PASSES, is_written=False),
    Field("longest", "longest", "whole", MAX_N, 256, MAX_N),
)


def default(name: str) -> Any:
    """Return a Problem's or a run's default of this field."""
    return FIELDS[name].default
