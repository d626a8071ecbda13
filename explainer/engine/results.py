"""What running attention found: one vocabulary for live and recorded, for a run and for a sweep.

Plain values, so that they cross a pipe, a pickle and JSON as they are; tests hold all of them to
these types, and `kernels.measure.bench`, which imports nothing of this, to the same keys.
"""

from collections.abc import Iterable
from typing import TypeVar

from typing_extensions import TypedDict  # pydantic needs it below Python 3.12

from explainer.base.amounts import listed
from explainer.base.texts import Texts
from explainer.engine.requests import METHODS

t = Texts("engine")

# The histogram of |error|: four bins a decade; below the first and above the last join those.
LOWEST, HIGHEST, A_DECADE = -10, 1, 4
MOST_CELLS = 32  # on a side of a map of tiles
MOST_SEEN = 16  # tiles whose m and l are shown
SIGNED_N, SIGNED_VALUES = 64, 4096  # rows and values of O from which the signed error is judged


class Place(TypedDict):
    """Where figures are from, as far as a record says."""

    device: str
    versions: dict[str, str | int]


class Machine(Place):
    """What a child says of its own; ``reason``: why nothing can run, when not ``available``."""

    available: bool
    reason: str
    interpreted: bool
    arch: str | None


class Histogram(TypedDict):
    """|O − O in float64|: how many are 0, and how many in each bin of log₁₀."""

    exact: int
    counts: list[int]


class _Compared(TypedDict):
    against: str  # "trace", "float64" or "O"; of a learner's function "reports" or "probes"
    tolerance: float  # what rounding explains
    agrees: bool


class TileErrors(TypedDict):
    """The tiles of a comparison as a map of at most MOST_CELLS × MOST_CELLS cells, row by row; a
    cell stands for ``across`` × ``down`` tiles. ``cells``: "." skipped, "=" agrees, "x" differs;
    ``m`` and ``l``: the largest |Δm| and |Δl|/l of each, None where nothing can be compared.
    ``first``: the first tile (i, j) that differs, in the order of rows; of a learner's function in
    the order in which it computes them."""

    rows: int
    columns: int
    down: int
    across: int
    cells: str
    m: list[float | None]
    l: list[float | None]
    first: tuple[int, int] | None


class Seen(TypedDict):
    """m and l of a row after a tile (i, j), as the kernel reported them and as expected."""

    i: int
    j: int
    row: int
    m: float
    l: float
    m_expected: float
    l_expected: float


class Same(_Compared, total=False):
    """A kernel's tiles against the picture's: ``values`` numbers of m and of l in ``tiles`` tiles,
    some of them ``seen``, of the tiles that differ most,
    the largest |Δm| and |Δl|/l, None where they stand in other tiles; or its O: ``o_error``; or of
    the backward pass the ``errors`` of dQ's parts, dK and dV, and the ``largest`` share of what
    rounding explains at its place."""

    map: TileErrors
    seen: list[Seen]
    tiles: int
    values: int
    m_error: float | None
    l_error: float | None
    o_error: float
    errors: dict[str, float | None]
    largest: float | None


class Terms(TypedDict):
    """What adds up to the error that is allowed, each largest over O; judging.py derives them."""

    naive: float  # twice naive attention's error
    rounding: float  # of P and O
    scores: float  # of S


class Signed(TypedDict):
    """The mean error in the direction of O, |Σ e·t / Σ t²|, and what is allowed of it."""

    error: float
    allowed: float


class Gradient(TypedDict):
    """One of dQ, dK, dV, as a row's error, allowed and terms are of O."""

    error: float
    naive_error: float | None
    terms: Terms
    allowed: float


class Repeat(TypedDict):
    """The same gradients once more: of so many ``values`` how many differ in at least one bit, by
    their names; and in deterministic mode, None of methods without that mode."""

    values: int
    differ: dict[str, int]
    deterministic: dict[str, int] | None


class _Method(TypedDict):
    method: str  # one of requests.METHODS


class Figures(TypedDict, total=False):
    """What one method did on one problem, or ``refused``: the sentence why it did not run.

    error … histogram: of O against float64 on the heads judged; ``allowed`` is the sum of
    ``terms``; ``signed`` None: not judged. ``same`` None: too many tiles.
    Peak: beyond q, k, v. Times are a GPU's; ``interpreter_s`` is no speed. median_ms: GPU time;
    loop_ms, host_us, graph_ms: of a call in a loop of ``loop_calls``, on the host, in a replayed
    CUDA graph (or why not), each over its ``…_runs``, where they were measured. ``bytes``:
    requested, of our kernels; ``least_bytes``: each matrix once per kernel, of every method. Of the
    backward pass error … histogram are of that gradient which comes nearest to what is allowed,
    peak, times, FLOPs and bytes of both passes; ``deterministic_ms``: in deterministic mode.
    """

    gradients: dict[str, Gradient]
    repeat: Repeat
    deterministic_ms: float
    naive_error: float | None
    refused: str
    first_ms: float
    interpreter_s: float
    error: float
    relative: float
    bias: float
    terms: Terms
    allowed: float
    signed: Signed | None
    right: bool
    histogram: Histogram
    lse_error: float
    same: Same | None
    peak_bytes: int
    median_ms: float
    p20_ms: float
    p80_ms: float
    runs: int
    loop_ms: float
    loop_p20_ms: float
    loop_p80_ms: float
    loop_runs: int
    loop_calls: int
    host_us: float
    host_p20_us: float
    host_p80_us: float
    host_runs: int
    graph_ms: float
    graph_p20_ms: float
    graph_p80_ms: float
    graph_runs: int
    graph_refused: str
    tflops: float
    flops: float
    block_m: int
    block_n: int
    bytes: int
    least_bytes: int


class Row(_Method, Figures):
    """The figures of one method, with its name."""


class _Shape(Row):
    n: int
    d: int
    dtype: str
    batch: int
    heads: int
    mask: str


class PointRow(_Shape, total=False):
    """A row that says its own problem: of a sweep or of the benchmark. Measured live it says
    ``when``, and the output of nvidia-smi ``after_timing``."""

    score: str
    sink: float | None
    kv_heads: int | None
    dropout: float
    seed: int
    when: str
    after_timing: str


class Choice(TypedDict):
    """The backend that SDPA picks, and PyTorch's reason against each other one."""

    picked: str | None
    reasons: dict[str, str]


class _Found(TypedDict):
    asked: dict[str, str]
    query: dict[str, str]  # of what ran
    machine: Machine | Place
    when: str
    naive_error: float | None
    io_bytes: int  # of Q, K, V and O
    rows: list[Row]
    ceilings: dict[str, float] | None  # of the card: hbm_bytes_per_s, l2_bytes_per_s, flops
    after_timing: list[str]  # output of nvidia-smi: clocks of SM and memory, W, °C


class Result(_Found, total=False):
    """Every method on one request: ``recorded``, where and when; or live, with all the others.

    differs: of a record, the fields in which its problem is not the requested one; naive_refused:
    why naive attention's error is not known; tiles: of one head, by method.
    """

    recorded: str
    differs: list[str]
    heads_judged: int
    naive_refused: str | None
    tiles: dict[str, int]
    chooser: Choice | None


R = TypeVar("R", bound=Row)


def allowed_error(terms: Terms) -> float:
    """Add up the terms of the error that is allowed."""
    return sum((terms["naive"], terms["rounding"], terms["scores"]))


def ran(rows: Iterable[R]) -> list[R]:
    """Those of what was computed."""
    return [row for row in rows if "refused" not in row]


def refused_methods(rows: Iterable[Row]) -> list[str]:
    """Say which methods did not run, a sentence for each reason."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if "refused" in row:
            reasons.setdefault(row["refused"], []).append(METHODS[row["method"]])
    return [t("refused.methods", names=listed(names), why=why) for why, names in reasons.items()]


def timed(rows: Iterable[R]) -> list[R]:
    """Those with median, p20, p80 and TFLOP/s."""
    return [row for row in rows if "median_ms" in row]


def naive_ms(rows: Iterable[Row]) -> float | None:
    """Naive attention's time; None when it was not timed."""
    return next((row["median_ms"] for row in timed(rows) if row["method"] == "naive"), None)


def unknown_machine(device: str) -> Machine:
    """Until it says more of itself."""
    return {
        "available": True,
        "reason": "",
        "interpreted": False,
        "device": device,
        "arch": None,
        "versions": {},
    }


def has_gpu(machine: Machine | None) -> bool | None:
    """Whether kernels run on a GPU there; None while the child that knows it still starts."""
    return machine and machine["available"] and not machine["interpreted"]


def with_older_names(rows: Iterable[PointRow]) -> list[dict]:
    """For programs of before: ``contender`` and ``not_available`` beside what they are now."""
    older = {"method": "contender", "refused": "not_available"}
    return [row | {older[key]: row[key] for key in older if key in row} for row in rows]
