"""The guided tour: chapters of at most 60 words, each a Problem, a pass and a place in it; those
of the forward pass first."""

from dataclasses import dataclass

from explainer.learn.content import stored
from explainer.problem import Problem
from kernels.spec.fields import PASSES


@dataclass(frozen=True)
class Chapter:
    """A title, a text, and where it is: a Problem, a pass, a visit (a tick in a comparison), a
    phase.

    ``spot``: what the text speaks of, by the name that the part of the page bears as ``data-spot``.
    ``mode`` "compare" shows all three loop orders; ``clock`` is then "tile" or "bytes".
    """

    title: str
    text: str
    problem: Problem
    spot: str
    step: int = 0
    phase: str | None = None
    pass_: str = PASSES[0]
    mode: str | None = None
    clock: str | None = None

    def query(self) -> dict[str, str]:
        """The address of this chapter, without its number."""
        place = {"step": str(self.step), "phase": self.phase, "mode": self.mode}
        place |= {"clock": self.clock, "pass": self.pass_ if self.pass_ != PASSES[0] else None}
        return self.problem.to_query() | {k: v for k, v in place.items() if v}


def _chapter(problem: dict | None = None, **entry) -> Chapter:
    pass_ = entry.pop("pass", PASSES[0])
    return Chapter(problem=Problem(**problem or {}), pass_=pass_, **entry)


CHAPTERS = tuple(_chapter(**entry) for entry in stored("tour"))


def chapters() -> list[dict]:
    """For the browser: title, text, spot, pass and address of every chapter."""
    return [
        {"title": c.title, "text": c.text, "spot": c.spot, "pass": c.pass_, "query": c.query()}
        for c in CHAPTERS
    ]
