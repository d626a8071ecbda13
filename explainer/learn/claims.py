"""Said often: what holds and what does not, each with its demonstration or its source."""

from __future__ import annotations

from explainer.base import records
from explainer.base.cards import CARDS
from explainer.learn import claim_costs as costs
from explainer.learn import claim_demos as demos
from explainer.learn import claim_sums as sums
from explainer.learn.blocks import Widget
from explainer.learn.content import Claim, stored
from explainer.learn.controls import card, commas, pick, slider
from explainer.learn.wild import SPEED

FIGURES = {
    "h100": CARDS["h100"].source,
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
    Widget("claim_overflow", "exp in every format", (
        slider("x", "Score x", 12.0, 0.0, 100.0, 0.25),
    ), demos.overflow),
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
    Widget("claim_order", "Key blocks shuffled", (
        slider("seed", "Shuffle", 1, 0, 20),
    ), sums.order),
    Widget("claim_merge", "Parts and their weights", (
        pick("n", "Keys", 64, (16, 64, 256)), pick("parts", "Parts", 4, (1, 2, 4, 8)),
    ), sums.merge),
    Widget("claim_shift", "A number added to all scores", (
        slider("by", "Added to all scores", 10, -100, 100),
    ), sums.shift),
    Widget("claim_dq", "The same additions in two orders", (
        slider("seed", "Order", 1, 0, 20),
    ), sums.dq),
    Widget("claim_writes", "O on its way to memory", (
        pick("n", "Length N", 1024, commas((256, 1024, 2048))),
        pick("block", "Tile's side, Br = Bc", 64, (32, 64, 128)),
    ), sums.writes),
    Widget("claim_least", "What is moved", (
        pick("d", "Head dimension d", 64, (32, 64, 128)),
    ), sums.standard_least),
    Widget("claim_exp", "Products and exponentials", (
        pick("d", "Head dimension d", 64, (64, 128)),
    ), sums.exp_bound),
    Widget("claim_length", "Which backend, by length", (
        pick("dtype", "Format", "bf16", ("bf16", "fp16", "fp32")),
    ), sums.length),
    Widget("claim_units", "Matrix instructions", (), sums.units),
    Widget("claim_petaflop", "Rates of the data sheets", (), sums.petaflop),
    Widget("claim_constants", "Bytes by the rows of a block", (
        pick("n", "Length N", 8192, commas((2048, 8192, 32768))),
    ), sums.constants),
    Widget("claim_long", "Scores of a long context", (
        pick("n", "N in units of 1,024", 128, (16, 64, 128, 512)),
    ), sums.long),
    Widget("claim_tf32", "What the operands become", (
        pick("d", "Head dimension d", 64, (16, 64, 256)),
    ), demos.tf32),
    Widget("claim_padded", "Padded keys in the sum", (
        pick("n", "Length N", 65, commas((64, 65, 100, 128, 1023))),
        pick("block", "Block", 64, (16, 32, 64, 128)),
        pick("data", "Scores", "random", (("random", "random"), ("negative", "all far below 0"))),
        pick("mask", "Mask", "full", ("full", "causal")), SEED,
    ), demos.padded),
    Widget("claim_topleft", "Two causal masks", (
        slider("nq", "Queries, Nq", 2, 1, 8),
        slider("nk", "Keys, Nk", 5, 1, 8),
    ), demos.top_left),
)  # fmt: skip
