"""FA-3's overlap: who works when on one SM of an H100, by a model fitted to the paper."""

from explainer.base.cards import CARDS
from explainer.base.facts import number
from explainer.learn.kit import Block, Words
from explainer.learn.pipeline import (
    ABLATION,
    FITTED,
    LONG,
    MATRIX,
    TMA,
    exponentials,
    makespan,
    run,
    tflops,
)

t = Words(__name__)

ON_SCREEN = 6  # key tiles
HUES = {"K": "k", "V": "v", "S": "q", "PV": "o", "softmax": "l"}


def measured(variant: str) -> float | None:
    """Return TFLOP/s of the paper's ablation, None for a way that it does not measure."""
    return number(ABLATION[variant]) if variant in ABLATION else None


def share(softmax: float) -> float:
    """Return percent of the time that the tensor cores work where two consumers alternate, in the
    long run: a tile takes each of them two matmuls there, and then ``softmax`` matmuls' time."""
    return 100 * min(1.0, 4 / (2 + softmax))


def compute(variant: str, softmax: float, step: int) -> Block:
    """Show the first ``step`` pieces of work, and the rate over many key tiles."""
    slots = run(variant, ON_SCREEN, softmax)
    done = slots[:step]
    lanes = [[s for s in done if s.task.unit == unit] for unit in (TMA, MATRIX)]
    lanes += [[s for s in done if s.task.key[:2] == ("softmax", who)] for who in (0, 1)]
    paper = measured(variant) if softmax == FITTED else None
    return t.picture(
        variant=t.named("variants")[variant],
        why=t.named("whys")[variant],
        model=tflops(run(variant, LONG, softmax)),
        said=paper or t("nobody"),
        paper=paper,
        lanes=lanes,
        high=makespan(slots),
        softmax=softmax,
        peak=CARDS["h100"].tensor_tflops,
    )


def question(softmax: float) -> dict:
    """The answer, and: one consumer alone, a round of the softmax only, all of it hidden."""
    wrong = (100 * 2 / (2 + softmax), round(100 * 2 / softmax, 1), 100)
    return {"answer": share(softmax), "wrong": wrong}


def figures() -> dict[str, str]:
    """Return what the text names."""
    alone = exponentials()
    plain, both = (tflops(run(v, LONG, alone)) for v in ("pingpong", "overlap"))
    return {
        "fitted": f"{FITTED:g}",
        "alone": f"{alone:.1f}",
        "plain": f"{plain:.0f}",
        "both": f"{both:.0f}",
        "gain": f"{number('fa3.full') / number('fa3.no_overlap') - 1:.0%}",
    }
