"""Masks and scores that published models use, scaled to the sequence on screen.

A figure of a model is an entry of the register (assets/facts.json), which has its source.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from explainer.base.facts import FACTS
from explainer.learn.blocks import t


@dataclass(frozen=True)
class Preset:
    """``mask(n)`` is its text for N tokens on screen; ``score`` and ``sink`` as in a Problem.
    ``says`` tells the models' own numbers; ``fact`` is the register's entry that is its ground."""

    key: str
    title: str
    models: str
    says: str
    fact: str
    mask: Callable[[int], str]
    score: str = "none"
    sink: str = ""


def _part(n: int, share: float, least: int = 1) -> int:
    return max(least, round(n * share))


def _window(n: int) -> str:
    return f"window:{_part(n, 5 / 16)},0"


def _documents(n: int) -> str:
    starts = sorted({0, _part(n, 5 / 16), _part(n, 10 / 16)} & set(range(n)))
    return "document:" + ",".join(map(str, starts))


def _beside(n: int) -> str:
    return f"window:{_part(n, 2 / 16)},{_part(n, 2 / 16)}|global:{_part(n, 1 / 16)}"


PRESETS = (
    Preset("causal", *t.row("presets.causal"), "preset.causal", lambda n: "causal"),
    Preset("full", *t.row("presets.full"), "preset.full", lambda n: "full"),
    Preset("window", *t.row("presets.window"), "preset.window", lambda n: f"causal&{_window(n)}"),
    Preset(
        "sinks",
        *t.row("presets.sinks"),
        "preset.sinks",
        lambda n: f"causal&{_window(n)}|causal&prefix:{_part(n, 2 / 16)}",
    ),
    Preset(
        "prefix",
        *t.row("presets.prefix"),
        "preset.prefix",
        lambda n: f"causal|prefix:{_part(n, 6 / 16)}",
    ),
    Preset(
        "chunks",
        *t.row("presets.chunks"),
        "preset.chunks",
        lambda n: f"causal&chunk:{_part(n, 4 / 16)}",
    ),
    Preset(
        "documents",
        *t.row("presets.documents"),
        "preset.documents",
        lambda n: f"causal&{_documents(n)}",
    ),
    Preset("global", *t.row("presets.global"), "preset.global", _beside),
    Preset(
        "gemma",
        *t.row("presets.gemma"),
        "preset.softcap",
        lambda n: f"causal&{_window(n)}",
        score="softcap:50",
    ),
    Preset("alibi", *t.row("presets.alibi"), "preset.alibi", lambda n: "causal", score="alibi"),
    Preset(
        "gpt-oss",
        *t.row("presets.gpt-oss"),
        "preset.gptoss",
        lambda n: f"causal&window:{_part(n, 4 / 16)},0",
        sink="0",
    ),
)


def told(preset: Preset) -> dict[str, str]:
    """For the browser: everything but the mask, with its source."""
    return {
        "key": preset.key,
        "title": preset.title,
        "models": preset.models,
        "says": preset.says,
        "source": FACTS[preset.fact].ground,
        "score": preset.score,
        "sink": preset.sink,
    }
