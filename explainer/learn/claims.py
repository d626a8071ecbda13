"""Said often: what holds and what does not, each with its demonstration or its source."""

from __future__ import annotations

from explainer.base import records
from explainer.base.amounts import amount
from explainer.base.cards import CARDS
from explainer.learn import claim_costs as costs
from explainer.learn import claim_demos as demos
from explainer.learn.blocks import Widget
from explainer.learn.content import Claim, stored
from explainer.learn.controls import card, commas, pick, slider
from explainer.learn.wild import SPEED

FIGURES = {
    "a100": CARDS["a100"].source,
    "h100": CARDS["h100"].source,
    "sms": CARDS["a100"].sms,
    "block": amount(CARDS["a100"].shared_bytes),
    "speed": SPEED,
    "about": records.about(),
}
CLAIMS = tuple(Claim(**entry) for entry in stored("claims", **FIGURES))
SEED = slider("seed", "Seed of the random numbers", 0, 0, 20)

WIDGETS = (
    Widget("claim_exact", "The same, but for rounding", (
        pick("n", "Length N", 256, (64, 256, 512)),
        pick("bc", "Key block Bc", 32, (8, 32, 64)),
    ), demos.exact),
    Widget("claim_bits", "How many outputs agree in every bit", (
        pick("n", "Length N", 256, (64, 256, 512)), SEED,
    ), demos.bits),
    Widget("claim_io", "Bytes over N", (
        pick("d", "Head dimension d", 64, (32, 64, 128)),
        pick("block", "Tile's side, Br = Bc", 64, (32, 64, 128, 256)),
    ), costs.io),
    Widget("claim_kept", "On chip and off chip", (
        pick("n", "Length N", 4096, commas((1024, 2048, 4096, 8192, 16384))),
        pick("block", "Tile's side, Br = Bc", 32, (16, 32, 64, 128)),
    ), costs.kept),
    Widget("claim_trips", "How often K is read", (
        pick("n", "Length N", 4096, commas((256, 1024, 4096, 16384))),
    ), costs.trips),
    Widget("claim_overflow", "exp in every format", (
        slider("x", "Score x", 12.0, 0.0, 100.0, 0.25),
    ), demos.overflow),
    Widget("claim_sram", "One SM and all SMs", (
        pick("d", "Head dimension d", 64, (32, 64, 128, 256)),
        pick("dtype", "Precision", "fp16", ("fp16", "bf16", "fp32")),
    ), costs.on_chip),
    Widget("claim_flops", "Operations, counted", (
        pick("n", "Length N", 1024, commas((256, 1024, 4096))),
        pick("d", "Head dimension d", 64, (32, 64, 128)),
        pick("block", "Tile's side, Br = Bc", 64, (32, 64, 128)),
    ), costs.flops),
    Widget("claim_again", "P stored or computed again", (
        pick("n", "Length N", 512, commas((256, 512, 1024, 2048))),
        pick("d", "Head dimension d", 64, (32, 64, 128)),
        pick("block", "Tile's side, Br = Bc", 64, (64, 128)),
    ), costs.again),
    Widget("claim_bound", "Memory, products or exp", (
        card("h100"),
        pick("n", "Length N", 4096, commas((256, 1024, 4096, 16384))),
        pick("d", "Head dimension d", 64, (32, 64, 128, 256)),
    ), costs.bound),
    Widget("claim_order", "Key blocks shuffled", (SEED,), demos.order),
    Widget("claim_tf32", "What the operands become", (
        pick("d", "Head dimension d", 64, (16, 64, 256)),
    ), demos.tf32),
    Widget("claim_half", "Tiles that causal skipping leaves", (
        slider("tiles", "Tiles a side, T", 4, 1, 32),
    ), costs.half),
    Widget("claim_padded", "Padded keys in the sum", (
        pick("n", "Length N", 65, commas((64, 65, 100, 128, 1023))),
        pick("block", "Block", 64, (16, 32, 64, 128)),
        pick("data", "Scores", "random", (("random", "random"), ("negative", "all far below 0"))),
        pick("mask", "Mask", "full", ("full", "causal")), SEED,
    ), demos.padded),
    Widget("claim_minus", "A mask of −10⁹", (
        slider("masked", "Keys masked, of 4", 4, 0, 4),
        pick("score", "Other scores", "1", (("1", "1"), ("-2e9", "−2·10⁹"))),
    ), demos.hidden_keys),
    Widget("claim_topleft", "Two causal masks", (
        slider("nq", "Queries, Nq", 2, 1, 8),
        slider("nk", "Keys, Nk", 5, 1, 8),
    ), demos.top_left),
)  # fmt: skip
