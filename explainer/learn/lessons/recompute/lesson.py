"""P stored between the passes, or recomputed from lse, on the running example."""

import numpy as np

from explainer.algorithms.registry import ALGORITHMS, BASELINE
from explainer.algorithms.schedule import schedule
from explainer.algorithms.traffic import traffic
from explainer.learn.example import WORDS, K, Q, V, make_example
from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import address, attend, make_problem
from explainer.memory import capacity
from explainer.memory.workload import Workload
from kernels.spec.fields import PASSES
from kernels.spec.formats import ITEMSIZE

t = Words(__name__)
MATMULS = ("scores", "output", "dV", "dP", "dQ", "dK")  # phases that are one


def products(way: str) -> dict[str, list[str]]:
    """{pass: the phases that multiply}, as the loops of "standard" or "fa2" visit a tile."""
    found: dict[str, list[str]] = {}
    for pass_ in PASSES:
        steps = schedule(make_problem(8, 4, 4, order=way), pass_)
        found[pass_] = [x for x in MATMULS if any(x in step.phases for step in steps)]
    return found


def all_products(way: str) -> int:
    """How many matmuls both passes of a training step do."""
    return sum(map(len, products(way).values()))


def square_passes() -> int:
    """How often the standard backward pass reads or writes N × N numbers: P, dP and dS."""
    p = make_problem(8, 4, 4, order=BASELINE)
    moved = traffic(p, "backward")
    return sum(sum(moved[x]) for x in ("P", "dP", "dS")) // (p.n * p.n * ITEMSIZE[p.dtype])


def saved_bytes(n: int, way: str) -> int:
    """The bytes that one head stores between the passes."""
    return capacity.saved_bytes(Workload(n=n, heads=1, dtype="fp16"), way)


def compute(way: str, n: int) -> Block:
    """What is stored of our sentence, then the bytes at N and the matmuls of both passes."""
    S, P, _ = attend(Q, K, V)
    lse = np.logaddexp.reduce(S, axis=1)
    is_stored, names, found = ALGORITHMS[way].stores_scores, t.named("products"), products(way)
    orders = (BASELINE, "fa2")
    return t.picture(
        "label",
        "spoken.standard" if is_stored else "spoken.fa2",
        size=saved_bytes(n, way),
        n=n,
        is_stored=is_stored,
        P=P,
        words=WORDS,
        S=S,
        lse=lse[:, None],
        again=np.exp(S - lse[:, None]),
        keys=orders,
        sizes=[saved_bytes(n, order) for order in orders],
        way=way,
        forward=len(found["forward"]),
        backward=len(found["backward"]),
        forward_keys=found["forward"],
        backward_keys=["again" if x == "scores" else x for x in found["backward"]],
        names=names,
        most=len(products("fa2")["backward"]),
    )


def question(flop: int) -> dict:
    """GFLOP of a training step with P recomputed, from those of one with P stored."""
    one, again = flop / all_products("standard"), all_products("fa2")
    return {
        "answer": one * again,
        "wrong": (flop, one * (again + 1), 2 * flop),
        "figures": {"one": one},
    }


def figures() -> dict[str, object]:
    """Where Step recomputes P, and the traffic of the standard backward pass."""
    problem = make_example()
    at = next(k for k, x in enumerate(schedule(problem, "backward")) if "exp" in x.phases)
    return {"place": f"{address(problem, at, 'exp')}&pass=backward", "passes": square_passes()}
