"""What depends on the algorithm. A file for each fills one of these, and all else reads it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from explainer.algorithms.transfers import Moved, Step
from explainer.base.texts import Texts
from explainer.problem import Problem

t, TEXTS = Texts("trace"), Texts("algorithms")
REQUESTED, COMPULSORY = "requested", "compulsory"
# How bytes are counted, of every algorithm alike; a number of bytes names one of the two.
CONVENTIONS = t.named("conventions")
WHERE = t.named("bytes_where")  # after "bytes"


@dataclass(frozen=True)
class Size:
    """Count what one pass takes where nothing is skipped.

    ``visits`` of its loop, ``moves`` of blocks in them; numbers in the arrays of all visits:
    ``squares`` matrices of N × N in tiles, and ``rest``, statistics and sums.
    """

    visits: int
    moves: int
    squares: int
    rest: int


@dataclass(frozen=True)
class Stage:
    """Describe one of an algorithm's kernels for the picture. ``on_chip``: the matrices and
    statistics that it holds; ``wide``: S and P are strips of whole rows; ``columns``: what a
    column of S stands for."""

    on_chip: str
    wide: bool = False
    columns: Literal["keys", "lanes"] = "keys"


@dataclass(frozen=True)
class Algorithm:
    """Declare an algorithm in one of the two passes. ``key`` stands in addresses, ``hue`` (a CSS
    colour) on the Step page.

    ``steps``: the loop without numbers; ``compute``: the same loop with them (from a Run to Visits,
    in the backward pass from a BackwardRun to BackwardVisits); ``moved``: the requested bytes, or
    with ``once`` the compulsory ones, without listing the tiles; ``size``: see Size.

    ``opens``: the tensor whose reading begins a block of the ``outer`` loop. ``program``: what one
    program of its kernel computes, a whole head or one outer block; None where launches are not
    simulated. ``launches``: kernel → the tensors that it (reads, writes), all if there is one, and
    in the backward pass. ``kernel``: in the backward pass, the method of
    ``kernels.gradients`` that runs it; None if nothing does. ``lanes``: programs that share a row
    block, each with its own part of the keys.

    ``running``: m and l are carried from tile to tile. ``output``: O after a visit is
    "unnormalized" (on chip, divided once at the end), "normalized" (in HBM, divided every time), or
    "final" (one stage makes it whole). ``stores_scores``: S and P go through HBM whole, and no tile
    is skipped. ``scales_dQ``: each visit scales its part of dQ. ``saved_for_backward``: beside Q,
    K, V, O. ``strips``: the tensors beside the map of the scores, where they are not the usual
    ones; ``stages``: its kernels.

    ``variant_of``: the key of the algorithm that it varies. A variant stands in menus; in lanes,
    totals and charts it stands where it is chosen.
    """

    key: str
    label: str
    hue: str
    opens: str
    outer: Literal["rows", "keys"]
    program: Literal["head", "block"] | None
    running: bool
    output: Literal["unnormalized", "normalized", "final"]
    saved_for_backward: tuple[str, ...]
    steps: Callable[[Problem], Iterator[Step]]
    compute: Callable[[Any, tuple[Step, ...]], Iterator[Any]]
    moved: Callable[[Problem, bool], Moved]
    size: Callable[[Problem], Size]
    kernel: str | None = None
    launches: dict[str, tuple[Sequence[str], Sequence[str]]] | None = None
    lanes: int = 1
    stores_scores: bool = False
    scales_dQ: bool = False
    strips: dict[str, tuple[str, ...]] = field(default_factory=dict)
    stages: dict[str, Stage] = field(default_factory=dict)
    variant_of: str | None = None
    pass_: str = "forward"

    @property
    def texts(self) -> dict[str, Any]:
        """Its words in algorithms.json.

        ``closed_form``: the bytes by each convention, where dQ₃₂ is dQ in fp32. Of a line of the
        ``pseudocode`` ``phase`` lights it, where there are stages only in its ``stage``; ``first``:
        only where ``opens`` is read; ``note`` stands beside it, ``general`` in its place under a
        mask that is neither full nor causal. The browser fills in the text: for ``{hidden}`` what
        the mask and the ragged edge hide, for ``{score}`` what is done to S and for ``{slope}`` its
        derivative, for ``{m}`` and ``{l}`` where a row starts, for ``{top}`` and ``{more}`` a
        strip's m and what its sink adds to l.
        """
        words: dict[str, Any] = TEXTS.named(self.pass_)
        return words[self.key]
