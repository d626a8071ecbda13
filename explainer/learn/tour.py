"""The guided tour: chapters of at most 60 words, each a Problem and a place in it."""

from __future__ import annotations

from dataclasses import dataclass

from explainer.learn.content import stored
from explainer.problem import Problem


@dataclass(frozen=True)
class Chapter:
    """A title, a text, and where it is: a Problem, a visit (a tick in a comparison), a phase.

    ``spot``: what the text speaks of, by the name that the part of the page bears as ``data-spot``.
    ``mode`` "compare" shows all three loop orders; ``clock`` is then "tile" or "bytes".
    """

    title: str
    text: str
    problem: Problem
    spot: str
    step: int = 0
    phase: str | None = None
    mode: str | None = None
    clock: str | None = None

    def query(self) -> dict[str, str]:
        """The address of this chapter, without its number."""
        place = {"step": str(self.step), "phase": self.phase, "mode": self.mode}
        place["clock"] = self.clock
        return self.problem.to_query() | {k: v for k, v in place.items() if v}


CHAPTERS = tuple(
    Chapter(**entry | {"problem": Problem(**entry.get("problem", {}))}) for entry in stored("tour")
)


def chapters() -> list[dict]:
    """For the browser: title, text, spot and address of every chapter."""
    return [
        {"title": c.title, "text": c.text, "spot": c.spot, "query": c.query()} for c in CHAPTERS
    ]
