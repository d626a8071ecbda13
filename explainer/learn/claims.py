"""Said often: what holds and what does not, each with its demonstration or its source."""

from __future__ import annotations

from explainer.base import records
from explainer.base.cards import CARDS
from explainer.base.texts import Texts
from explainer.learn import claim_costs as costs
from explainer.learn import claim_demos as demos
from explainer.learn import claim_sums as sums
from explainer.learn.blocks import Control, Widget
from explainer.learn.content import Claim, stored
from explainer.learn.controls import card, commas, pick, slider
from explainer.learn.ecosystem import SPEED

tell = Texts("learn")

FIGURES = {
    "h100": CARDS["h100"].source,
    "speed": SPEED,
    "about": records.about(),
}
CLAIMS = tuple(Claim(**entry) for entry in stored("claims", **FIGURES))


def _n(value: int, *choices: int) -> Control:
    """What it starts with, then its choices, as the two below."""
    return pick("n", tell("claims.label.n"), value, commas(choices))


def _d(value: int, *choices: int) -> Control:
    return pick("d", tell("claims.label.d"), value, choices)


def _block(value: int, *choices: int) -> Control:
    return pick("block", tell("claims.label.side"), value, choices)


SEED = slider("seed", tell("claims.label.seed"), 0, 0, 20)

WIDGETS = (
    Widget(
        "claim_exact",
        tell("claims.exact"),
        (
            _n(256, 64, 256, 512),
            pick("bc", tell("claims.label.bc"), 32, (8, 32, 64)),
        ),
        demos.exact,
    ),
    Widget("claim_bits", tell("claims.bits"), (_n(256, 64, 256, 512), SEED), demos.bits),
    Widget(
        "claim_io",
        tell("claims.io"),
        (
            _d(64, 32, 64, 128),
            _block(64, 32, 64, 128, 256),
        ),
        costs.io,
    ),
    Widget(
        "claim_kept",
        tell("claims.kept"),
        (
            _n(4096, 1024, 2048, 4096, 8192, 16384),
            _block(32, 16, 32, 64, 128),
        ),
        costs.kept,
    ),
    Widget(
        "claim_overflow",
        tell("claims.overflow"),
        (slider("x", tell("claims.label.x"), 12.0, 0.0, 100.0, 0.25),),
        demos.overflow,
    ),
    Widget(
        "claim_flops",
        tell("claims.flops"),
        (
            _n(1024, 256, 1024, 4096),
            _d(64, 32, 64, 128),
            _block(64, 32, 64, 128),
        ),
        costs.flops,
    ),
    Widget(
        "claim_again",
        tell("claims.again"),
        (
            _n(512, 256, 512, 1024, 2048),
            _d(64, 32, 64, 128),
            _block(64, 64, 128),
        ),
        costs.again,
    ),
    Widget(
        "claim_bound",
        tell("claims.bound"),
        (
            card("h100"),
            _n(4096, 256, 1024, 4096, 16384),
            _d(64, 32, 64, 128, 256),
        ),
        costs.bound,
    ),
    Widget(
        "claim_order",
        tell("claims.order"),
        (slider("seed", tell("claims.label.shuffle"), 1, 0, 20),),
        sums.order,
    ),
    Widget(
        "claim_merge",
        tell("claims.merge"),
        (
            pick("n", tell("claims.label.keys"), 64, (16, 64, 256)),
            pick("parts", tell("claims.label.parts"), 4, (1, 2, 4, 8)),
        ),
        sums.merge,
    ),
    Widget(
        "claim_shift",
        tell("claims.shift"),
        (slider("by", tell("claims.label.by"), 10, -100, 100),),
        sums.shift,
    ),
    Widget(
        "claim_dq",
        tell("claims.dq"),
        (slider("seed", tell("claims.label.order"), 1, 0, 20),),
        sums.dq,
    ),
    Widget(
        "claim_writes",
        tell("claims.writes"),
        (
            _n(1024, 256, 1024, 2048),
            _block(64, 32, 64, 128),
        ),
        sums.writes,
    ),
    Widget("claim_least", tell("claims.least"), (_d(64, 32, 64, 128),), sums.standard_least),
    Widget("claim_exp", tell("claims.exp"), (_d(64, 64, 128),), sums.exp_bound),
    Widget(
        "claim_length",
        tell("claims.length"),
        (pick("dtype", tell("claims.label.format"), "bf16", ("bf16", "fp16", "fp32")),),
        sums.length,
    ),
    Widget("claim_units", tell("claims.units"), (), sums.units),
    Widget("claim_petaflop", tell("claims.petaflop"), (), sums.petaflop),
    Widget(
        "claim_constants", tell("claims.constants"), (_n(8192, 2048, 8192, 32768),), sums.constants
    ),
    Widget(
        "claim_long",
        tell("claims.long"),
        (pick("n", tell("claims.label.thousands"), 128, (16, 64, 128, 512)),),
        sums.long,
    ),
    Widget("claim_tf32", tell("claims.tf32"), (_d(64, 16, 64, 256),), demos.tf32),
    Widget(
        "claim_padded",
        tell("claims.padded"),
        (
            _n(65, 64, 65, 100, 128, 1023),
            pick("block", tell("claims.label.block"), 64, (16, 32, 64, 128)),
            pick("data", tell("claims.label.scores"), "random", tell.named("claims.data").items()),
            pick("mask", tell("claims.label.masks"), "full", ("full", "causal")),
            SEED,
        ),
        demos.padded,
    ),
    Widget(
        "claim_topleft",
        tell("claims.topleft"),
        (
            slider("nq", tell("claims.label.nq"), 2, 1, 8),
            slider("nk", tell("claims.label.nk"), 5, 1, 8),
        ),
        demos.top_left,
    ),
)
