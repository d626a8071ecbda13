"""Look up what compiling made of a tile: whether it fits a card, and how often on an SM."""

from typing import NamedTuple

from explainer.base.fields import refused
from explainer.base.records import rows_where
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from kernels.spec.occupancy import allocated_registers

t = Texts("memory")
COMPILED_D = (64, 128, 256)
REGISTER_BYTES = 4


def padded(d: int) -> int:
    """The d that was compiled, for any d."""
    return next(size for size in COMPILED_D if d <= size)


def check_fits(w: Workload, order: str) -> None:
    """Raises ProblemError when the compiled kernel has no room on the card."""
    report = compiled(w, order)
    if report and not report["fits"]:
        shared, most = report["shared_bytes"], w.hardware.shared_bytes
        why = t("tiles.no_room", needed=shared, most=most)
        where = t("tiles.no_room_at", card=w.hardware.name, d=w.d)
        raise refused({"br": w.block_q, "bc": w.block_k}, why, where)


def compiled(w: Workload, order: str = "fa2") -> dict | None:
    """Look up what compiling the kernel for this card, d, mask and tile gave; None where it was not
    compiled, or the compiler refused. The plain kernel stands for that of any mask but causal.

    fp16 stands for bf16; the kernel pads d to 64, 128 or 256. FA-1 was compiled for the tile that
    its table has.
    """
    if w.itemsize != 2:
        return None
    kernel = {"arch": w.hardware.arch, "causal": w.is_causal, "order": order}
    tile = {"d": padded(w.d), "block_m": w.block_q, "block_n": w.block_k}
    found = rows_where("compiled", **kernel, **tile)
    return next((row for row in found if "refused" not in row), None)


class Allocation(NamedTuple):
    """What a program of the compiled kernel takes of its SM: ``shared_bytes``, ``register_bytes``
    as they are given out, ``threads``, ``registers`` of a thread as compiled; ``buffers`` of K and
    V in shared memory, 0 where its bytes are not those of Q and whole buffers."""

    shared_bytes: int
    register_bytes: int
    threads: int
    registers: int
    buffers: int


def allocation(w: Workload) -> Allocation | None:
    """Return what a program of FA-2 takes of its SM; None where it was not compiled."""
    report = compiled(w)
    if report is None:
        return None
    warps, shared = report["num_warps"], report["shared_bytes"]
    q, kv = w.block_q * padded(w.d) * w.itemsize, 2 * w.block_k * padded(w.d) * w.itemsize
    buffers, rest = divmod(shared - q, kv)
    return Allocation(
        shared,
        REGISTER_BYTES * allocated_registers(warps, report["registers"]),
        32 * warps,
        report["registers"],
        0 if rest else max(0, buffers),
    )


class Slots(NamedTuple):
    """``programs`` that an SM runs at once, and whether the compiled kernel says so."""

    programs: int
    is_compiled: bool


def slots(w: Workload, order: str) -> Slots:
    """Return how many programs one multiprocessor runs at once.

    One where it was not compiled; 0 where the compiled kernel does not fit. Of another mask than
    full and causal the plain kernel's, which is a guess.
    """
    report = compiled(w, order)
    if report is None:
        return Slots(1, False)
    return Slots(report["blocks_per_sm"], w.mask.plain)
