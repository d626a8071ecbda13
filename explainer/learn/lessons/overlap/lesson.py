"""FA-3's overlap: who works when on one SM of an H100, by a model fitted to the paper."""

from __future__ import annotations

from explainer.base.cards import CARDS
from explainer.base.facts import number
from explainer.learn.kit import Block, Mark, bar, bars, note, picture, span, timeline, words_of
from explainer.learn.pipeline import (
    ABLATION,
    FITTED,
    LONG,
    MATRIX,
    TMA,
    Slot,
    exponentials,
    makespan,
    run,
    tflops,
)

t = words_of(__name__)

ON_SCREEN = 6  # key tiles
HUES = {"K": "k", "V": "v", "S": "q", "PV": "o", "softmax": "l"}


def measured(variant: str) -> float | None:
    """Return TFLOP/s of the paper's ablation, None for a way that it does not measure."""
    return number(ABLATION[variant]) if variant in ABLATION else None


def share(softmax: float) -> float:
    """Return percent of the time that the tensor cores work where two consumers alternate, in the
    long run: a tile takes each of them two matmuls there, and then ``softmax`` matmuls' time."""
    return 100 * min(1.0, 4 / (2 + softmax))


def _lanes(slots: tuple[Slot, ...]) -> list[tuple[str, list[Mark]]]:
    """The TMA, the tensor cores, and each consumer's softmax."""
    names = t.named("lanes")

    def spans(unit: str, who: int | None = None) -> list[Mark]:
        return [
            span(
                s.start,
                s.end,
                "AB"[s.task.key[1]] if s.task.key[1] >= 0 else s.task.key[0],
                HUES[s.task.key[0]],
                look="pale" if s.task.key[1] == 1 else "full",
                key=" ".join(map(str, s.task.key)),
            )
            for s in slots
            if s.task.unit == unit and who in (None, s.task.key[1])
        ]

    units = {s.task.unit for s in slots} - {TMA, MATRIX}
    softmaxes = [
        (names[f"softmax{'AB'[w]}"], [x for u in units for x in spans(u, w)]) for w in (0, 1)
    ]
    return [(names["loads"], spans(TMA)), (names["matmul"], spans(MATRIX)), *softmaxes]


def compute(variant: str, softmax: float, step: int) -> Block:
    """Show the first ``step`` pieces of work, and the rate over many key tiles."""
    slots = run(variant, ON_SCREEN, softmax)
    done, names = slots[: min(len(slots), step)], t.named("variants")
    peak = CARDS["h100"].tensor_tflops
    model = tflops(run(variant, LONG, softmax))
    paper = measured(variant) if softmax == FITTED else None
    rate = t("rate", rate=model)
    items = [bar(t("model"), model, rate, "q")]
    if paper:
        items.append(bar(t("paper"), paper, t("rate", rate=paper), "o"))
    return picture(
        t("label", variant=names[variant], tiles=ON_SCREEN),
        t("spoken", why=t.named("whys")[variant], model=model, paper=paper or t("nobody")),
        note(t.named("whys")[variant]),
        timeline("", _lanes(done), high=makespan(slots)),
        bars(t("rates", tiles=LONG, softmax=softmax), items, high=peak, limit=(peak, t("peak"))),
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
