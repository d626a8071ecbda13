"""Rungs 10, 13 and 14: kernel fusion, formats on the matrix units, and when it does not help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from explainer.choices import break_even
from explainer.formats import ITEMSIZE
from explainer.hardware import CARDS
from explainer.learn.blocks import Block, Control, Widget, bars, plot, table, text
from explainer.learn.content import CHOICE, CLICK, NUMBER, Question, Rung
from explainer.learn.pipeline import EXP_TFLOPS
from explainer.problem import Problem
from explainer.traffic import launches, requested
from explainer.workload import Workload

Values = Mapping[str, float | str]
Launch = tuple[str, int, int]  # what it is called, bytes read, bytes written


def _choice(key: str, label: str, value: object, values: tuple) -> Control:
    return Control(
        key, label, "choice", str(value), choices=tuple((str(x), str(x)) for x in values)
    )


def amount(nbytes: float) -> str:
    """Bytes in binary units, three digits."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if nbytes < 1024 or unit == "GiB":
            return f"{nbytes:.3g} {unit}" if nbytes < 999.5 else f"{nbytes:,.0f} {unit}"
        nbytes /= 1024
    raise AssertionError


# ---- rung 10: fusion


def chain(what: str, n: int, d: int, dtype: str) -> tuple[tuple[Launch, ...], tuple[Launch, ...]]:
    """Launches (apart, fused) of one head: "softmax", scale → mask → softmax of S (n, n); or
    "attention", three kernels against FA-2 with tiles of 64 × 64. The mask is made from indices."""
    if what == "softmax":
        square = n * n * ITEMSIZE[dtype]
        apart = tuple((name, square, square) for name in ("scale", "mask", "softmax"))
        return apart, (("scale, mask, softmax", square, square),)
    side = min(64, n)
    made = []
    for order in ("standard", "fa2"):
        p = Problem(n=n, d=d, block_q=side, block_k=side, causal=False, order=order, dtype=dtype,
                    inputs="random")  # fmt: skip
        made.append(tuple(
            (name, sum(r for r, _ in moved.values()), sum(w for _, w in moved.values()))
            for name, moved in launches(p)
        ))  # fmt: skip
    return made[0], made[1]


def _fusion(v: Values) -> list[Block]:
    n, d, dtype, card = int(v["n"]), int(v["d"]), str(v["dtype"]), CARDS[str(v["card"])]
    apart, fused = chain(str(v["what"]), n, d, dtype)
    totals = [sum(r + w for _, r, w in group) for group in (apart, fused)]
    floors = [total / card.hbm_bytes_per_s * 1e6 for total in totals]
    rows = [
        (f"{where}: {name}", amount(r), amount(w))
        for where, group in (("apart", apart), ("fused", fused))
        for name, r, w in group
    ]
    names = [f"{len(apart)} launches", f"{len(fused)} launch"]
    items = [(x, float(b), amount(b)) for x, b in zip(names, totals, strict=True)]
    ratio = totals[0] / totals[1]
    verdict = (
        f"Fused it moves {ratio:.2f} times fewer bytes."
        if ratio >= 1
        else f"Fused it moves {1 / ratio:.2f} times more bytes: N is too small for its d."
    )
    return [
        bars("Bytes read from and written to HBM, one head", items, colour="s"),
        table("Launch by launch", ("launch", "reads", "writes"), rows),
        text(verdict, "good" if ratio >= 1 else "bad"),
        text(
            f"At the {card.hbm_bytes_per_s / 1e9:,.0f} GB/s of the {card.name} these bytes take at "
            f"least {floors[0]:.2f} µs apart and {floors[1]:.2f} µs fused. A lower bound: computing, "
            "and some µs for each launch, come on top. An L2 cache that holds S can beat it."
        ),
    ]


# ---- rung 13: formats and matrix units

BITS = {"fp16": 16, "bf16": 16, "tf32": 32, "fp8": 8, "fp4": 4}  # of an operand in a register


@dataclass(frozen=True)
class Generation:
    """Matrix units of one architecture. ``shape`` (m, n, k) of one instruction with fp16 operands
    and fp32 sums, its largest; ``fma`` multiply-adds of an SM in a clock, fp16 with fp32 sums."""

    name: str
    instruction: str
    shape: tuple[int, int, int]
    threads: str
    fma: int
    formats: tuple[str, ...]
    source: str

    def at(self, fmt: str) -> tuple[tuple[int, int, int], int]:
        """Shape and multiply-adds a clock for another format: half the bits, twice the k."""
        m, n, k = self.shape
        return (m, n, k * 16 // BITS[fmt]), self.fma * 16 // BITS[fmt]


AMPERE = ("fp16", "bf16", "tf32")
GENERATIONS = {
    "sm_70": Generation("Volta (V100)", "mma.sync", (8, 8, 4), "8 threads, 4 at once in a warp",
        512, ("fp16",), "Volta whitepaper: 8 tensor cores × 64; PTX ISA, mma"),
    "sm_75": Generation("Turing (T4)", "mma.sync", (16, 8, 8), "32 threads, a warp",
        512, ("fp16",), "Turing whitepaper: 8 tensor cores × 64; PTX ISA, mma"),
    "sm_80": Generation("Ampere (A100)", "mma.sync", (16, 8, 16), "32 threads, a warp",
        1024, AMPERE, "Ampere whitepaper: 4 tensor cores × 256; PTX ISA, mma"),
    "sm_89": Generation("Ada (RTX 4090)", "mma.sync", (16, 8, 16), "32 threads, a warp",
        256, (*AMPERE, "fp8"), "from the Ada whitepaper's TFLOP/s; PTX ISA, mma"),
    "sm_90": Generation("Hopper (H100)", "wgmma", (64, 256, 16), "128 threads, a warpgroup",
        2048, (*AMPERE, "fp8"), "Hopper whitepaper: 4 tensor cores × 512; PTX ISA, wgmma"),
    "sm_100": Generation("Blackwell (B200)", "tcgen05.mma", (128, 256, 16), "1 thread starts it",
        4096, (*AMPERE, "fp8", "fp4"),
        "twice Hopper's, CUTLASS guide to tcgen05; PTX ISA, tcgen05.mma; two SMs together: m = 256"),
    "sm_120": Generation("Blackwell (RTX Pro 6000)", "mma.sync", (16, 8, 16), "32 threads, a warp",
        512, (*AMPERE, "fp8", "fp4"), "from the data sheet's TFLOP/s; PTX ISA, mma"),
}  # fmt: skip


def instructions(shape: tuple[int, int, int], br: int, bc: int, d: int) -> int:
    """How many of these one tile's S = Q Kᵀ takes; a started one counts whole."""
    m, n, k = shape
    return -(-br // m) * -(-bc // min(n, -(-bc // 8) * 8)) * -(-d // k)  # n in steps of 8


def _rate(arch: str, fmt: str) -> str:
    card = next((c for c in CARDS.values() if c.arch == arch), None)
    if card is None:
        return "not in our table"
    return f"{card.tensor_tflops * 16 / BITS[fmt]:,.0f}"


def _formats(v: Values) -> list[Block]:
    arch, br, bc, d = str(v["arch"]), int(v["br"]), int(v["bc"]), int(v["d"])
    asked, gen = str(v["format"]), GENERATIONS[arch]
    fmt = "tf32" if asked == "fp32" else asked
    rows = []
    for key, g in GENERATIONS.items():
        if fmt not in g.formats:
            rows.append((f"{key} {g.name}", g.instruction, "—", "—", "—", g.source))
            continue
        (m, n, k), fma = g.at(fmt)
        rows.append((f"{key} {g.name}", f"{g.instruction}, {g.threads}", f"{m} × {n} × {k}",
                     f"{fma:,}", _rate(key, fmt), g.source))  # fmt: skip
    label = f"One instruction with {fmt} operands, by generation"
    head = ("generation", "instruction", "m × n × k", "FMA an SM and clock", "TFLOP/s", "source")
    out = [table(label, head, rows)]
    if asked == "fp32":
        out.append(text(
            "No matrix unit here multiplies fp32. It takes TF32: fp32's 8 exponent bits, 10 of its "
            "23 mantissa bits. Triton's tl.dot on fp32 is TF32 by default; PyTorch's matrix "
            "product needs to be allowed it.", "bad"))  # fmt: skip
    if fmt not in gen.formats:
        words = (
            f"The matrix units of {gen.name} do not take {fmt}: ordinary units, or a conversion."
        )
        return [*out, text(words, "bad")]
    shape, fma = gen.at(fmt)
    used, clocks = instructions(shape, br, bc, d), br * bc * d / fma
    out.append(text(
        f"S = Q Kᵀ of one tile, {br} × {bc} × {d}: {used:,} instruction{'s' * (used != 1)} on "
        f"{gen.name}, at least {clocks:,.0f} clocks of one SM."))  # fmt: skip
    if br < shape[0]:
        out.append(text(
            f"Br = {br} fills only part of m = {shape[0]}: the rest is wasted, or the compiler "
            "takes a smaller, slower instruction.", "bad"))  # fmt: skip
    words = "FMA: a multiply and an add, two FLOPs. Dense rates, sums in fp32; other formats scaled"
    out.append(text(f"{words} from fp16 by their bits, as the data sheets do.", "fine"))
    return out


# ---- rung 14: when it does not help

NS = tuple(2**k for k in range(5, 15))
HIDDEN, DS = 4096, (8, 16, 32, 64, 128, 256)


def ratio(n: int, d: int, br: int, bc: int, dtype: str, order: str = "fa2") -> float:
    """Bytes of ``order`` ÷ bytes of standard attention, no mask."""
    tiled = requested(n, d, False, dtype, order, br, bc)
    return tiled / requested(n, d, False, dtype, "standard", br, bc)


def decode_ratio(n: int, d: int) -> float:
    """One query: elements of a fused kernel ÷ of three kernels (S and P are one row each)."""
    return (2 * n * d + 2 * d) / (2 * n * d + 2 * d + 4 * n)


def exp_share(d: int) -> float:
    """Time of a tile's exponentials ÷ time of its two products, H100, whatever the tile."""
    return (1 / EXP_TFLOPS) / (4 * d / CARDS["h100"].tensor_tflops)


def layer_share(n: int) -> float:
    """Attention's part of a layer's FLOPs: 4·N²·h of it, beside 24·N·h² of the projections (8) and
    a feed-forward of width 4h (16)."""
    return n / (n + 6 * HIDDEN)


def _tiles(n: int, d: int, br: int, bc: int, dtype: str) -> list[Block]:
    series = [{"name": name, "x": list(NS), "y": [ratio(k, d, br, bc, dtype, order) for k in NS],
               "colour": colour, "points": True}
              for name, order, colour in (("FA-1", "fa1", "k"), ("FA-2", "fa2", "o"))]  # fmt: skip
    ones = {"name": "standard", "x": list(NS), "y": [1.0] * len(NS), "colour": "plain"}
    one, two = (ratio(n, d, br, bc, dtype, order) for order in ("fa1", "fa2"))
    w = Workload(n=n, d=d, block_q=16, block_k=16, dtype=dtype)
    side = break_even(w, "fa2")
    even = (f"At this N and d, FA-2 needs square tiles of at least {side} to move no more than "
            "standard attention." if side else "No tile up to N breaks even here.")  # fmt: skip
    return [
        plot(f"Bytes ÷ standard attention's, d = {d}, {br} × {bc} tiles, {dtype}", [*series, ones],
             x_label="N", y_label="ratio", log_x=True, log_y=True),
        text(f"N = {n:,}: FA-1 {one:.2f}, FA-2 {two:.2f} times standard's bytes; "
             f"FA-2 ÷ FA-1 = {two / one:.2f}.", "good" if two < 1 else "bad"),
        text(even),
        text("Requests to global memory, no mask. The L2 cache answers many re-reads.", "fine"),
    ]  # fmt: skip


def _decode(n: int, d: int) -> list[Block]:
    r, sms = decode_ratio(n, d), CARDS["h100"].sms
    items = [(f"d = {x}", decode_ratio(n, x), f"{decode_ratio(n, x):.3f}") for x in DS]
    return [
        bars(f"One query against {n:,} keys: bytes fused ÷ apart", items, colour="o", limit=1.0),
        text(f"d = {d}: {r:.3f}. K and V, {2 * n * d:,} numbers, must be read either way; S and P "
             f"are one row. Fusing saves {1 - r:.1%}.", "bad"),
        text(f"And a head is one row block: 16 heads are 16 programs on {sms} SMs of an H100. "
             "Splitting the keys helps there: see flash decoding on the Parallel page."),
    ]  # fmt: skip


def _heads(d: int) -> list[Block]:
    items = [(f"d = {x}", exp_share(x), f"{exp_share(x):.2f}") for x in DS]
    return [
        bars("Exponentials' time ÷ products' time, H100, fp16", items, colour="l", limit=1.0),
        text(f"d = {d}: {exp_share(d):.2f}. A score costs one exponential and 4·d FLOPs of "
             "products. Tiny heads wait for the exponentials, whatever the memory does. Below 16 "
             "the matrix unit also pads d."),
    ]  # fmt: skip


def _layer(n: int) -> list[Block]:
    share = layer_share(n)
    items = [(f"N = {k:,}", layer_share(k), f"{layer_share(k):.0%}") for k in NS]
    return [
        bars(f"Attention's share of a layer's FLOPs, hidden size {HIDDEN:,}", items, limit=1.0),
        text(f"N = {n:,}: {share:.1%}. Were time like FLOPs, attention twice as fast would make "
             f"the layer {1 / (1 - share / 2):.3f} times as fast. Weights and products rule here."
             if share < 0.5 else f"N = {n:,}: {share:.0%}. Attention rules this layer."),
    ]  # fmt: skip


def _when_not(v: Values) -> list[Block]:
    n, d, dtype = int(v["n"]), int(v["d"]), str(v["dtype"])
    if v["case"] == "tiles":
        return _tiles(n, d, int(v["br"]), int(v["bc"]), dtype)
    return {"decode": lambda: _decode(n, d), "heads": lambda: _heads(d),
            "layer": lambda: _layer(n)}[str(v["case"])]()  # fmt: skip


_CARDS = tuple((key, card.name) for key, card in CARDS.items())
_FORMATS = ("fp32", "tf32", "bf16", "fp16", "fp8", "fp4")
_SIDES = (16, 32, 64, 128, 256)
WIDGETS = (
    Widget("fusion", "One launch or three", (
        Control("what", "Chain", "choice", "softmax", choices=(
            ("softmax", "scale → mask → softmax"), ("attention", "attention, FA-2"))),
        _choice("n", "N", 1024, NS), _choice("d", "Head dimension d", 64, DS),
        _choice("dtype", "Format", "fp16", tuple(ITEMSIZE)),
        Control("card", "Card", "choice", "h100", choices=_CARDS)), _fusion),
    Widget("formats", "What one instruction multiplies", (
        Control("arch", "Generation", "choice", "sm_90",
                choices=tuple((k, f"{k} {g.name}") for k, g in GENERATIONS.items())),
        _choice("format", "Format", "fp16", _FORMATS), _choice("br", "Br", 64, _SIDES),
        _choice("bc", "Bc", 128, _SIDES), _choice("d", "Head dimension d", 64, DS[1:])), _formats),
    Widget("when_not", "When it does not help", (
        Control("case", "Case", "choice", "tiles", choices=(
            ("tiles", "small N, small tiles"), ("decode", "one query"),
            ("heads", "tiny heads"), ("layer", "another part rules"))),
        _choice("n", "N", 256, NS[1:]), _choice("d", "Head dimension d", 64, DS),
        _choice("br", "Br", 32, _SIDES), _choice("bc", "Bc", 64, _SIDES),
        _choice("dtype", "Format", "fp32", tuple(ITEMSIZE))), _when_not),
)  # fmt: skip

_ASKED_N, _ASKED_SIDE = (256, 1024, 4096), (16, 32, 64)  # the cells of rung 14's question
_LOSES = tuple((r, c) for r, side in enumerate(_ASKED_SIDE) for c, n in enumerate(_ASKED_N)
               if ratio(n, 64, side, side, "fp16") > 1)  # fmt: skip

RUNGS = (
    Rung(
        "fusion",
        "Kernel fusion",
        "A kernel reads its input from HBM and writes its result back. Three small kernels in a "
        "row, scale, mask, softmax, move the whole matrix three times each way, though each does "
        "only a few operations a number. Fused into one launch, a row is read once, stays on chip "
        "for all three, and is written once. FlashAttention goes further: it fuses the two matrix "
        "products as well, so that S and P are never written at all. The price: K and V are read "
        "again for every row block. So fusing does not always move less.",
        "fusion",
        Question(
            "fusion_ratio", NUMBER,
            "S has 1,024 × 1,024 numbers. Scale, mask and softmax run as three launches. How many "
            "times fewer bytes does one fused launch move?",
            answer=3.0, tolerance=0.01,
            reasons=(
                "Three launches read and write S three times; the fused one reads and writes once.",
                "Count reads and writes of S: each launch has one of either.",
            ),
        ),
        "n=16&d=8&br=4&bc=4&mask=full&order=standard&step=16&phase=load",
        "See S come back from HBM for the softmax",
    ),
    Rung(
        "formats",
        "Formats and matrix units",
        "Tensor cores multiply small matrices: one instruction takes m × k and k × n numbers and "
        "adds the product to m × n sums in fp32. From Volta's 8 × 8 × 4 it grew to Hopper's "
        "64 × 256 × 16. Half the bits, twice the k: fp8 is twice as fast as fp16, fp16 twice as "
        "fast as TF32. There is no fp32: TF32 keeps fp32's range but 10 mantissa bits, and Triton's "
        "tl.dot uses it for fp32 unless told otherwise. Attention keeps m, ℓ and O in fp32 and "
        "rounds only what goes into a product.",
        "formats",
        Question(
            "formats_dot", CHOICE,
            "On a GPU, q and k are fp32 tensors and a Triton kernel says tl.dot(q, k). How many "
            "mantissa bits of each number enter the product?",
            options=(
                ("23", "fp32 has 23, but the matrix unit does not take them by default."),
                ("10", "TF32 is the default: fp32's exponent, 10 mantissa bits. Ask for "
                 "input_precision=\"ieee\" to get all 23."),
                ("7", "That is bf16. Nothing converts to it unasked."),
                ("3", "That is fp8 e4m3."),
            ),
            answer=1,
        ),
        "n=16&d=8&br=4&bc=4&mask=causal&order=fa2&dtype=bf16&step=3&phase=scores",
        "See a tile's scores with bf16 operands",
    ),
    Rung(
        "when_not",
        "When it does not help",
        "FlashAttention trades S and P, N² numbers each, for repeated reads of K and V. With small "
        "N or small tiles the trade is bad: FA-2 can move more than standard attention, and more "
        "than FA-1. In decoding there is one query: S is a single row, and K and V must be read "
        "anyway. With tiny heads the exponentials cost more time than the products. And in a short "
        "sequence attention is a small part of the layer: the weights rule. Measure before you "
        "choose. FLOPs never fall; the backward pass even computes S again.",
        "when_not",
        Question(
            "when_not_cells", CLICK,
            "d = 64, fp16, no mask, square tiles. Click every case in which FA-2 moves more bytes "
            "than standard attention.",
            cells=tuple(tuple(f"N = {n:,}, tile {side} × {side}" for n in _ASKED_N)
                        for side in _ASKED_SIDE),
            answer=_LOSES,
            reasons=(
                "Right: per score FA-2 reads about 2·d ÷ Br numbers, standard moves 4. With d = 64 "
                "the balance is near Br = 32.",
                "Compare 2·d ÷ Br with 4 numbers a score, then add Q and O: they count at small N.",
            ),
        ),
        "n=1024&d=64&br=32&bc=32&mask=full&order=fa1&step=745&mode=compare&clock=bytes",
        "Race the three orders by bytes, tiles of 32 × 32",
    ),
)  # fmt: skip
