"""How long a visit takes: learnt from the recorded schedules, never from those it is judged by."""

from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np

from explainer.algorithms.registry import ALGORITHMS
from explainer.base.cards import CARDS
from explainer.base.fields import causal_text
from explainer.base.records import load
from explainer.base.texts import Texts
from explainer.memory.compiled_tiles import check_fits, slots
from explainer.memory.workload import Workload
from explainer.parallel.launch import programs
from explainer.parallel.simulator import Schedule, read_schedule, shared_times, simulate, slowed
from kernels.spec.fields import MAX_HEADS

t = Texts("parallel")
RECORD = "placement_nvidia_h200"
# What the records were made of, and the only thing that a time in µs is claimed for.
LEARNED_ON, LEARNED_D, LEARNED_TILE = "h200", 64, (128, 64)
VISITS = t("pace")  # the unit where nothing was learnt
JUDGED_N = 4096
JUDGED_HEADS: dict[str | None, int] = {"head": 160, "block": 16}  # by what a program computes


@dataclass(frozen=True)
class CostModel:
    """Time of a program alone: ``start + full · visit + masked · masked_visit``, in ``unit``.

    ``sharing``: how much slower two are that share a multiprocessor; ``favor``: how much faster the
    older of the two runs (see ``simulator.paces``); ``beyond_l2``: how much slower when what the
    running programs come back to is larger than L2; ``spread``: how unequal the times of equal
    programs in equal company are (standard deviation of their logarithm).
    """

    start: float
    visit: float
    masked: float
    sharing: float = 1.0
    favor: float = 1.0
    beyond_l2: float = 1.0
    spread: float = 0.0
    unit: str = "µs"


def workload_of(row: dict) -> Workload:
    """The Workload of a recorded schedule, its heads as batch × heads."""
    heads = row["heads"]
    batch = next(b for b in range(1, heads + 1) if heads % b == 0 and heads // b <= MAX_HEADS)
    return Workload(
        card=LEARNED_ON,
        n=row["n"],
        d=row["d"],
        block_q=row["block_m"],
        block_k=row["block_n"],
        batch=batch,
        heads=heads // batch,
        mask=causal_text(row["causal"]),
        dtype=row["dtype"],
    )


def is_unseen(row: dict) -> bool:
    """Whether this record is one of the four cases that the simulation is held to."""
    return row["n"] == JUDGED_N and row["heads"] == JUDGED_HEADS[ALGORITHMS[row["order"]].program]


def _parts(row: dict) -> np.ndarray:
    """(programs, 3): 1, full visits, masked visits."""
    launch = programs(workload_of(row), row["order"])
    return np.stack([np.ones(len(launch.full)), launch.full, launch.masked], 1)


@cache
def learn_model(order: str) -> CostModel:
    """The pace of this order's kernel on the H200, d = 64, 16 bit, from its recorded schedules.

    Alone: least squares over launches with at most one program a multiprocessor. Sharing: least
    squares for the pace of the older and of the younger one of two, such that the time that each
    program of a larger launch ran alone, as the older and as the younger one makes up its work.
    Beyond L2: how much longer programs took than alone. Spread: of programs that had the same work
    and were the older one of two from start to end.
    """
    rows = [r for r in load(RECORD)["rows"] if r["order"] == order and not is_unseen(r)]
    single = [r for r in rows if len(r["programs"]) <= r["sms"]]
    parts = np.concatenate([_parts(r) for r in single])
    took = np.concatenate([read_schedule(r).durations for r in single])
    by_block = ALGORITHMS[order].program == "block"
    columns = [0, 1, 2] if by_block else [2]
    weights = 1 / took[:, None]
    found = np.zeros(3)
    found[columns] = np.linalg.lstsq(parts[:, columns] * weights, took * weights[:, 0])[0]
    start, visit, masked = (float(x) for x in found)
    crowded = [r for r in rows if len(r["programs"]) > r["sms"]]
    if by_block:
        shared = [(r, _parts(r) @ found, shared_times(read_schedule(r))) for r in crowded]
        times = np.concatenate([ran / alone[:, None] for _, alone, ran in shared])
        older, younger = np.linalg.lstsq(times[:, 1:], 1 - times[:, 0])[0]
        full = [(r, ran) for r, _, ran in shared if not r["causal"]]
        # Of equal work in equal company: always the older one of two.
        equal = [
            np.log(read_schedule(r).durations[(ran[:, ::2] == 0).all(1)]).std() for r, ran in full
        ]
        sharing, favor = 2 / float(older + younger), float(older / younger)
        spread = float(np.mean(equal))
        return CostModel(start, visit, masked, sharing, favor, spread=spread)
    l2_bytes = CARDS[LEARNED_ON].l2_bytes
    wide = [r for r in crowded if _come_back(workload_of(r)) * r["sms"] > l2_bytes]
    ratio = [
        np.median(read_schedule(r).durations[: r["sms"]] / (_parts(r) @ found)[: r["sms"]])
        for r in wide
    ]
    return CostModel(0.0, masked, masked, beyond_l2=float(np.mean(ratio)))


def _come_back(w: Workload) -> int:
    """Count the bytes that a program of a whole head moves anew for every key block: Q, O, l, m."""
    return 2 * w.n * w.d * w.itemsize + 2 * w.n * 4


# Of the backward pass nothing was recorded: every visit counts as one, whoever runs beside it.
EQUAL = CostModel(0.0, 1.0, 1.0, unit=t("pace.backward"))


def cost_model(w: Workload, order: str, pass_: str = "forward") -> CostModel:
    """The learnt pace where it was learnt, else the same relations with a visit of FA-2 as
    the unit; EQUAL in the backward pass."""
    if pass_ == "backward":
        return EQUAL
    known = learn_model(order)
    here = (w.card, w.d, (w.block_q, w.block_k))
    if here == (LEARNED_ON, LEARNED_D, LEARNED_TILE) and w.itemsize == 2:
        return known
    one = learn_model("fa2").visit  # the same unit for both orders, so that they can be compared
    times = {key: getattr(known, key) / one for key in ("start", "visit", "masked")}
    return replace(known, **times, unit=VISITS)


@lru_cache(maxsize=32)
def schedule(w: Workload, order: str, row_order: str = "", pass_: str = "forward") -> Schedule:
    """The simulated schedule of this launch on the workload's card, in its pace's unit. Where
    programs share multiprocessors their times spread as the recorded ones do, always by the same
    random numbers.

    Raises ProblemError for too many programs, or for a tile that has no room on the card.
    """
    places = 1  # in the backward pass, whose kernel was not compiled for the record
    if pass_ == "forward":
        check_fits(w, order)
        places = slots(w, order).programs
    launch, p = programs(w, order, row_order, pass_), cost_model(w, order, pass_)
    cost = p.start + launch.full * p.visit + launch.masked * p.masked
    if len(cost) > w.hardware.sms:
        cost *= np.exp(p.spread * np.random.default_rng(0).standard_normal(len(cost)))
    found = simulate(cost, w.hardware.sms, places, p.sharing, p.favor)
    if ALGORITHMS[order].program == "block" or pass_ == "backward":
        return found
    return slowed(found, w.hardware.l2_bytes / _come_back(w), p.beyond_l2)


@dataclass(frozen=True, eq=False)
class Comparison:
    """A real schedule and the simulation of the same launch, both in µs from the first start.

    ``scaled``: whether the simulation's unit had to be taken from the real run itself, because
    nothing was learnt for this card, d or tile.
    """

    real: Schedule
    simulated: Schedule
    scaled: bool

    @property
    def off(self) -> float:
        """Makespan simulated ÷ real − 1."""
        return self.simulated.makespan / self.real.makespan - 1


def compare(w: Workload, order: str, row: dict) -> Comparison:
    """Put the record of a run of ``order`` on ``w`` beside its simulation."""
    found = read_schedule(row)
    model = schedule(w, order)
    scaled = cost_model(w, order).unit != "µs"
    if scaled:
        unit = found.durations.sum() / model.durations.sum()
        model = replace(model, start=model.start * unit, end=model.end * unit)
    return Comparison(found, model, scaled)
