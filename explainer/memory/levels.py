"""The levels of a card's memory, their sizes and rates, and what a workload keeps in each."""

from dataclasses import dataclass

from explainer.algorithms.registry import ALGORITHMS
from explainer.base import records
from explainer.base.cards import GUIDE, Card
from explainer.base.facts import number
from explainer.base.kinds import Kind, cited, computed, recorded
from explainer.base.texts import Texts
from explainer.memory import tile_budget
from explainer.memory.workload import Workload

FP32 = 4
t = Texts("memory")
NO_RATE = t("level.no_rate")


@dataclass(frozen=True)
class Level:
    """``size_bytes`` of the whole card and ``per_sm_bytes`` of one SM where each has its own;
    ``bytes_per_s`` and ``rate_kind`` are None where no figure is published; ``tensors``: (tensor,
    bytes) of the fused kernel, of one SM where ``per_sm_bytes`` is given; none of L2, a cache."""

    key: str
    name: str
    size_bytes: int
    per_sm_bytes: int | None
    bytes_per_s: float | None
    size_kind: Kind
    rate_kind: Kind | None
    tensors: tuple[tuple[str, int], ...]

    @property
    def room_bytes(self) -> int:
        """What ``tensors`` has to fit into."""
        return self.per_sm_bytes or self.size_bytes

    @property
    def used_bytes(self) -> int:
        """Bytes of all ``tensors``."""
        return sum(n for _, n in self.tensors)


def hbm_tensors(w: Workload, order: str) -> tuple[tuple[str, int], ...]:
    """List (tensor, bytes) in HBM of all heads, forward: S and P where stored, else lse."""
    heads = w.batch * w.heads
    matrix, square = heads * w.n * w.d * w.itemsize, heads * w.n * w.n * w.itemsize
    io = tuple((name, matrix) for name in "QKVO")
    if ALGORITHMS[order].stores_scores:
        return (*io, ("S", square), ("P", square))
    return (*io, ("lse", heads * w.n * FP32))


def _l2_rate(w: Workload) -> tuple[float | None, Kind | None]:
    if w.card == "a100":  # its whitepaper alone has the bytes per clock
        return number("a100.l2") * w.hardware.clock_hz, computed(t("level.l2"))
    record = records.load()
    if w.hardware.name.split()[0] in record["device"]:
        return record["ceilings"]["fp16"]["l2_bytes_per_s"], recorded()
    return None, None


def levels_of(w: Workload) -> tuple[Level, ...]:
    """Registers, shared memory, L2, HBM of the workload's card, with what the FA-2 kernel keeps."""
    card: Card = w.hardware
    parts = tile_budget.budget(w.problem("fa2"))
    l2_rate, l2_kind = _l2_rate(w)
    sheet, guide = cited(card.source), cited(GUIDE)
    source = "level.turing" if card.arch == "sm_75" else "level.guide"
    names = t.named("level.names")

    def of_sm(key: str, room: int, rate: float, kind: str, place: str) -> Level:
        tensors = tuple((part.tensor, part.nbytes) for part in parts if part.place == place)
        size = room * card.sms
        return Level(key, names[key], size, room, rate, guide, computed(kind), tensors)

    return (
        of_sm(
            "registers",
            card.registers_per_sm_bytes,
            card.registers_bytes_per_s,
            t("level.registers"),
            tile_budget.REGISTERS,
        ),
        of_sm(
            "shared",
            card.shared_per_sm_bytes,
            card.shared_bytes_per_s,
            t(source, n=card.shared_bytes_per_clock),
            tile_budget.SHARED,
        ),
        Level("l2", names["l2"], card.l2_bytes, None, l2_rate, sheet, l2_kind, ()),
        Level(
            "hbm",
            card.memory,
            card.hbm_bytes,
            None,
            card.hbm_bytes_per_s,
            sheet,
            sheet,
            hbm_tensors(w, "fa2"),
        ),
    )
