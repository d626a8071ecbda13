"""The GPUs that the pages talk about: rates from NVIDIA's own documents, memory from its driver."""

import json
from dataclasses import dataclass
from typing import Any

from explainer.base.paths import ASSETS
from explainer.base.texts import Texts
from kernels.spec.occupancy import SM_LIMITS

KIB, MIB = 2**10, 2**20
t = Texts("cards")
GUIDE = t("guide")


@dataclass(frozen=True)
class Card:
    """One GPU. Bytes in bytes, ``hbm_bytes_per_s`` in B/s, rates in TFLOP/s, dense.

    ``hbm_bytes`` is what the driver reports as the card's memory (nvidia-smi's MiB), which is not
    quite what the name says; ``memory`` is its kind (the T4 and the RTX cards have GDDR in place of
    HBM). ``shared_bytes`` is what one thread block may use (opt-in maximum),
    ``shared_per_sm_bytes`` what an SM has. ``fp32_lanes`` of an SM (architecture whitepapers).
    ``shared_bytes_per_clock``: what shared memory gives an SM in a clock: 32 banks of 4 bytes each
    (CUDA C++ Programming Guide), on Turing what its 16 load and store units can take (whitepaper).
    ``tensor_tflops``: fp16 products with fp32 sums, no sparsity; ``fp32_tflops``: the ordinary
    units. ``driver_names``: how PyTorch names the card, in small letters; variants with other
    clocks are not in the table on purpose.
    """

    name: str
    arch: str
    year: int
    sms: int
    fp32_lanes: int
    shared_bytes_per_clock: int
    shared_bytes: int
    shared_per_sm_bytes: int
    l2_bytes: int
    memory: str
    hbm_bytes: int
    hbm_bytes_per_s: float
    tensor_tflops: float
    fp32_tflops: float
    source: str
    driver_names: tuple[str, ...]
    registers_per_sm_bytes: int = 256 * KIB

    @property
    def clock_hz(self) -> float:
        """Boost clock: what the fp32 peak takes of this many lanes, two operations each."""
        return self.fp32_tflops * 1e12 / (2 * self.fp32_lanes * self.sms)

    @property
    def shared_bytes_per_s(self) -> float:
        """Of all SMs together."""
        return self.shared_bytes_per_clock * self.sms * self.clock_hz

    @property
    def registers_bytes_per_s(self) -> float:
        """What a multiply-add on every lane moves: three operands read, one written, 4 bytes."""
        return 16 * self.fp32_lanes * self.sms * self.clock_hz


def _card(
    arch: str,
    l2_mib: float,
    hbm_mib: int,
    hbm_gb_per_s: float,
    sheets: str,
    driver_names: list[str],
    **rest: Any,
) -> Card:
    """Make a card of an entry of ``assets/cards.json``; its shared memory is its architecture's."""
    shared_kib, reserved_kib, *_ = SM_LIMITS[arch]
    return Card(
        arch=arch,
        shared_bytes=(shared_kib - reserved_kib) * KIB,
        shared_per_sm_bytes=shared_kib * KIB,
        l2_bytes=int(l2_mib * MIB),
        hbm_bytes=hbm_mib * MIB,
        hbm_bytes_per_s=hbm_gb_per_s * 1e9,
        source=t("source", sheets=sheets, guide=GUIDE),
        driver_names=tuple(driver_names),
        **rest,
    )


# key in a URL → card
CARDS = {
    key: _card(**entry)
    for key, entry in json.loads((ASSETS / "cards.json").read_text(encoding="utf-8")).items()
}


def find(device: str) -> Card | None:
    """The card that the driver calls this, None for one that is not in the table."""
    name = device.strip().lower()
    return next((card for card in CARDS.values() if name in card.driver_names), None)


def peak_tflops(device: str, dtype: str) -> float | None:
    """The data sheet's rate for products in ``dtype`` with fp32 sums; None when it is not known.

    fp32: the ordinary units, since TF32 is not used. The T4's matrix units do not take bf16.
    """
    card = find(device)
    if card is None or (card.arch == "sm_75" and dtype == "bf16"):
        return None
    return card.fp32_tflops if dtype == "fp32" else card.tensor_tflops
