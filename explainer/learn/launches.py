"""Launches of kernels: the compulsory bytes that each loads and stores, and a flow of them."""

from collections.abc import Sequence

from explainer.algorithms.algorithm import COMPULSORY
from explainer.algorithms.traffic import launches
from explainer.base.amounts import amount
from explainer.learn.kit import Mark, mark
from explainer.learn.linear_algebra import make_problem
from kernels.spec.formats import ITEMSIZE

Moved = dict[str, int]
Launch = tuple[str, Moved, Moved]  # its name, bytes loaded and stored by tensor
HUES = {"Q": "q", "K": "k", "V": "v", "O": "o", "lse": "l"}
LSE_BYTES = 4


def attention(order: str, n: int, d: int, dtype: str, heads: int = 1) -> list[Launch]:
    """Return the launches of an algorithm, each matrix once per kernel."""
    side = min(n, 128)  # which tensors move does not depend on N, how many bytes do
    matrix = heads * n * ITEMSIZE[dtype]
    size = {x: matrix * (n if x in "SP" else d) for x in "QKVSPO"} | {"lse": heads * n * LSE_BYTES}
    return [
        (
            name,
            {x: size[x] for x, (loaded, _) in moved.items() if loaded},
            {x: size[x] for x, (_, stored) in moved.items() if stored},
        )
        for name, moved in launches(
            make_problem(side, d, side, order=order, dtype=dtype), COMPULSORY
        )
    ]


def total(group: Sequence[Launch]) -> int:
    """Return all the bytes that launches move."""
    return sum(sum(loaded.values()) + sum(stored.values()) for _, loaded, stored in group)


def launch_flow(title: str, group: Sequence[Launch], names: dict[str, str], most: int) -> Mark:
    """Show matrices in HBM and kernels in turn; an arrow is as thick as its share of ``most``."""
    columns: list[list[Mark]] = []
    arrows: list[Mark] = []

    def move(start: str, end: str, tensor: str, size: int) -> None:
        hue = HUES.get(tensor, "s")
        arrows.append(mark("arrow", start=start, end=end, hue=hue, amount=0.6 * size / most))

    def show(tensors: Moved, k: int) -> None:
        columns.append(
            [
                mark("node", key=f"{x}{k}", text=x, remark=amount(size), hue=HUES.get(x, "s"))
                for x, size in tensors.items()
            ]
        )

    before: Moved = {}
    for k, (name, loaded, stored) in enumerate(group):
        show({**before, **loaded}, k)
        columns.append([mark("node", key=f"kernel{k}", text=names[name], on=True)])
        for x, size in loaded.items():
            move(f"{x}{k}", f"kernel{k}", x, size)
        for x, size in stored.items():
            move(f"kernel{k}", f"{x}{k + 1}", x, size)
        before = stored
    show(before, len(group))
    return mark("flow", title=title, columns=columns, arrows=arrows)
