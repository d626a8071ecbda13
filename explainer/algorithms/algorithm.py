"""What an algorithm has to say of itself: a file of it fills one of these, and all else is fed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from explainer.algorithms.numbers import Run, Visit
from explainer.algorithms.transfers import Moved, Step
from explainer.base.texts import Texts
from explainer.problem import Problem

say = Texts("trace")
SKIPS = "skip what the mask hides whole"
REQUESTED, COMPULSORY = "requested", "compulsory"
# How bytes are counted, of every algorithm alike; a number of bytes says by which of the two.
CONVENTIONS = say.named("conventions")
WHERE = say.named("bytes_where")  # after "bytes"


@dataclass(frozen=True)
class Line:
    """A line of pseudocode. ``phase`` lights it, where there are stages only in its
    ``stage``; ``first``: only where ``opens`` is read; ``note`` stands beside it, ``general`` in
    its place under a mask that is neither full nor causal. In the text the browser says of the
    Problem: for ``{hidden}`` what its mask and its ragged edge hide, for ``{score}`` what it does
    to S and for ``{slope}`` the slope of that, for ``{m}`` and ``{l}`` where a row starts, for
    ``{top}`` and ``{more}`` a strip's m and what its sink adds to l."""

    text: str
    phase: str | None = None
    note: str | None = None
    stage: str | None = None
    first: bool = False
    general: str | None = None


@dataclass(frozen=True)
class Algorithm:
    """In one of the two passes. ``key`` in an address and of a colour (assets/css, ``colour`` in
    charts); ``label`` on pages.

    ``steps``: its loop without numbers; ``compute``: the same loop with them (of a BackwardRun to
    BackwardVisits in the backward pass); ``requested`` and ``compulsory``: its bytes by either of
    CONVENTIONS, without listing the tiles, and ``closed_form`` the same as text, where dQ₃₂ is dQ
    in fp32; ``opens``: the tensor whose reading begins a block of the outer loop; ``running``: it
    keeps m and l from tile to tile; ``saved_for_backward``: what its forward pass saves
    for the backward pass beside Q, K, V and O; ``launches``: kernel → the tensors that it (reads,
    writes), all if there is one, and in the backward pass.
    """

    key: str
    label: str
    colour: str
    dash: str
    sign: str
    symbol: str
    opens: str
    running: bool
    pseudocode: tuple[Line, ...]
    closed_form: dict[str, str]
    saved_for_backward: tuple[str, ...]
    steps: Callable[[Problem], Iterator[Step]]
    compute: Callable[[Run, tuple[Step, ...]], Iterator[Visit]]
    requested: Callable[[Problem], Moved]
    compulsory: Callable[[Problem], Moved]
    launches: dict[str, tuple[str, str]] | None = None
