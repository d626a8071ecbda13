"""The GPUs that the pages talk about: rates from NVIDIA's own documents, memory from its driver."""

from __future__ import annotations

from dataclasses import dataclass

from explainer.base.texts import Texts

KIB, MIB = 2**10, 2**20
say = Texts("cards")
GUIDE = say("guide")

# fp32 lanes of an SM (architecture whitepapers); bytes that shared memory gives an SM in a clock
# (CUDA C++ Programming Guide: 32 banks, 4 bytes each).
LANES = {"sm_75": 64, "sm_80": 64, "sm_89": 128, "sm_90": 128, "sm_100": 128, "sm_120": 128}
SHARED_BYTES_PER_CLOCK = {"sm_75": 64}  # 16 load and store units (Turing whitepaper); else 128


@dataclass(frozen=True)
class Card:
    """One GPU. Bytes in bytes, ``hbm_bytes_per_s`` in B/s, rates in TFLOP/s, dense.

    ``hbm_bytes`` is what the driver reports as the card's memory (nvidia-smi's MiB), which is not
    quite what the name says (the T4 and the RTX cards have GDDR in place of HBM).
    ``shared_bytes`` is what one thread block may use (opt-in maximum), ``shared_per_sm_bytes`` what
    an SM has. ``tensor_tflops``: fp16 products with fp32 sums, no sparsity; ``fp32_tflops``: the
    ordinary units.
    """

    name: str
    arch: str
    year: int
    sms: int
    shared_bytes: int
    shared_per_sm_bytes: int
    registers_per_sm_bytes: int
    l2_bytes: int
    hbm_bytes: int
    hbm_bytes_per_s: float
    tensor_tflops: float
    fp32_tflops: float
    source: str

    @property
    def clock_hz(self) -> float:
        """Boost clock: what the fp32 peak takes of this many lanes, two operations each."""
        return self.fp32_tflops * 1e12 / (2 * LANES[self.arch] * self.sms)

    @property
    def shared_bytes_per_clock(self) -> int:
        """Of one SM: 32 banks of 4 bytes each, or what its load and store units can take."""
        return SHARED_BYTES_PER_CLOCK.get(self.arch, 128)

    @property
    def shared_bytes_per_s(self) -> float:
        """Of all SMs together."""
        return self.shared_bytes_per_clock * self.sms * self.clock_hz

    @property
    def registers_bytes_per_s(self) -> float:
        """What a multiply-add on every lane moves: three operands read, one written, 4 bytes."""
        return 16 * LANES[self.arch] * self.sms * self.clock_hz


def _card(name, arch, year, sms, shared, per_sm, l2_mib, hbm_mib, gb_per_s, tensor, fp32, source):
    return Card(
        name=name,
        arch=arch,
        year=year,
        sms=sms,
        shared_bytes=shared * KIB,
        shared_per_sm_bytes=per_sm * KIB,
        registers_per_sm_bytes=256 * KIB,
        l2_bytes=int(l2_mib * MIB),
        hbm_bytes=hbm_mib * MIB,
        hbm_bytes_per_s=gb_per_s * 1e9,
        tensor_tflops=tensor,
        fp32_tflops=fp32,
        source=say("source", sheets=source, guide=GUIDE),
    )


# key in a URL → card
CARDS = {
    "t4": _card(
        "T4",
        "sm_75",
        2018,
        40,
        64,
        64,
        4,
        15_360,
        320,
        65.0,
        8.1,
        say("t4"),
    ),
    "a100": _card(
        "A100 80 GB SXM",
        "sm_80",
        2020,
        108,
        163,
        164,
        40,
        81_920,
        2039,
        312.0,
        19.5,
        say("a100"),
    ),
    "h100": _card(
        "H100 SXM",
        "sm_90",
        2022,
        132,
        227,
        228,
        50,
        81_559,
        3350,
        989.4,
        66.9,
        say("h100"),
    ),
    "h200": _card(
        "H200 SXM",
        "sm_90",
        2023,
        132,
        227,
        228,
        60,
        143_771,
        4800,
        989.4,
        66.9,
        say("h200"),
    ),
    "b200": _card(
        "B200 SXM",
        "sm_100",
        2024,
        148,
        227,
        228,
        126.5,
        183_359,
        7700,
        2250.0,
        75.0,
        say("b200"),
    ),
    "rtx4090": _card(
        "RTX 4090",
        "sm_89",
        2022,
        128,
        99,
        100,
        72,
        24_564,
        1008,
        165.2,
        82.6,
        say("rtx4090"),
    ),
    "rtxpro6000": _card(
        "RTX Pro 6000 Blackwell",
        "sm_120",
        2025,
        188,
        99,
        100,
        128,
        97_887,
        1792,
        503.8,
        125.0,
        say("rtxpro6000"),
    ),
}

# How PyTorch names cards of the table; variants with other clocks are not in it on purpose.
_DRIVER_NAMES = {
    "tesla t4": "t4",
    "nvidia a100-sxm4-80gb": "a100",
    "nvidia h100 80gb hbm3": "h100",
    "nvidia h200": "h200",
    "nvidia b200": "b200",
    "nvidia geforce rtx 4090": "rtx4090",
    "nvidia rtx pro 6000 blackwell server edition": "rtxpro6000",
    "nvidia rtx pro 6000 blackwell workstation edition": "rtxpro6000",
}


def find(device: str) -> Card | None:
    """The card that the driver calls this, None for one that is not in the table."""
    key = _DRIVER_NAMES.get(device.strip().lower())
    return CARDS[key] if key else None


def peak_tflops(device: str, dtype: str) -> float | None:
    """The data sheet's rate for products in ``dtype`` with fp32 sums; None when it is not known.

    fp32: the ordinary units, since TF32 is not used. The T4's matrix units do not take bf16.
    """
    card = find(device)
    if card is None or (card.arch == "sm_75" and dtype == "bf16"):
        return None
    return card.fp32_tflops if dtype == "fp32" else card.tensor_tflops
