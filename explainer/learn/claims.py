"""Judge common claims: what holds and what does not, each with its demonstration or its source."""

from collections.abc import Callable
from functools import partial
from typing import Any

from explainer.base import records
from explainer.base.cards import CARDS
from explainer.learn import claim_costs as costs
from explainer.learn import claim_demos as demos
from explainer.learn import claim_sums as sums
from explainer.learn.content import Claim, stored
from explainer.learn.ecosystem import SPEED
from explainer.learn.folder import read_shown
from explainer.learn.kit import Block, read_blocks

_STORED = stored("claims", h100=CARDS["h100"].source, speed=SPEED, about=records.about())
CLAIMS = tuple(Claim(**entry) for entry in _STORED)

DEMONSTRATIONS = {
    "claim_exact": demos.exact,
    "claim_bits": demos.bits,
    "claim_io": costs.io,
    "claim_flops": costs.flops,
    "claim_again": costs.again,
    "claim_bound": costs.bound,
    "claim_shift": sums.shift,
    "claim_dq": sums.dq,
    "claim_exp": sums.exp_bound,
    "claim_length": sums.length,
    "claim_petaflop": sums.petaflop,
    "claim_constants": sums.constants,
    "claim_long": sums.long,
    "claim_tf32": demos.tf32,
    "claim_padded": demos.padded,
    "claim_topleft": demos.top_left,
}


SHOWN = read_shown("claims")


def _show(widget: str, compute: Callable[..., demos.Values], /, **controls: Any) -> list[Block]:
    """Return the blocks of a demonstration with what it computes."""
    return read_blocks(SHOWN[widget], compute(**controls))


WIDGETS = {key: partial(_show, key, compute) for key, compute in DEMONSTRATIONS.items()}
