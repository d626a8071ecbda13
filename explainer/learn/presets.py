"""Masks and scores that published models use, scaled to the sequence on screen.

A figure of a model is an entry of the register (assets/facts.json), which has its source.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from explainer.base.facts import FACTS, filled


@dataclass(frozen=True)
class Preset:
    """``mask(n)`` is its text for N tokens on screen; ``score`` and ``sink`` as in a Problem.
    ``says`` tells the models' own numbers, {keys} of the register in it; ``fact`` is the entry
    that is its ground."""

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
    Preset(
        "causal", "Causal", "GPT-2, Llama 3",
        "A query sees itself and what comes before it, as in every decoder.",
        "preset.causal", lambda n: "causal",
    ),
    Preset(
        "full", "Full", "BERT, ViT",
        "An encoder reads in both directions: every query sees every key.",
        "preset.full", lambda n: "full",
    ),
    Preset(
        "window", "Sliding window", "Mistral 7B v0.1",
        "Mistral 7B v0.1: a query sees itself and those before it, {preset.window} keys in all.",
        "preset.window", lambda n: f"causal&{_window(n)}",
    ),
    Preset(
        "sinks", "Window and sinks", "StreamingLLM",
        "StreamingLLM keeps the first {preset.sinks} tokens beside a window of recent ones.",
        "preset.sinks", lambda n: f"causal&{_window(n)}|causal&prefix:{_part(n, 2 / 16)}",
    ),
    Preset(
        "prefix", "Prefix", "PaliGemma",
        "PaliGemma: image ({preset.prefix} tokens in the smallest model) and question see each "
        "other, the answer is causal.",
        "preset.prefix", lambda n: f"causal|prefix:{_part(n, 6 / 16)}",
    ),
    Preset(
        "chunks", "Chunks", "Llama 4, layers with RoPE",
        "Llama 4: causal inside of chunks of {preset.chunks} tokens, in the layers with RoPE.",
        "preset.chunks", lambda n: f"causal&chunk:{_part(n, 4 / 16)}",
    ),
    Preset(
        "documents", "Documents", "packed pretraining, Llama 3",
        "Llama 3 was trained on sequences of {preset.documents} tokens; no document sees another.",
        "preset.documents", lambda n: f"causal&{_documents(n)}",
    ),
    Preset(
        "global", "Global and window", "Longformer",
        "Longformer: half of {preset.global} keys to either side, and a few tokens that see all "
        "and are seen by all.",
        "preset.global", _beside,
    ),
    Preset(
        "gemma", "Soft cap", "Gemma 2, every other layer",
        "Gemma 2 caps scores at {preset.softcap}; every other layer has a window of "
        "{preset.gemma} keys.",
        "preset.softcap", lambda n: f"causal&{_window(n)}", score="softcap:50",
    ),
    Preset(
        "alibi", "ALiBi", "BLOOM, MPT",
        "BLOOM and MPT know where a key stands by a slope per head alone.",
        "preset.alibi", lambda n: "causal", score="alibi",
    ),
    Preset(
        "gpt-oss", "Softmax sinks", "gpt-oss, every other layer",
        "gpt-oss learns a sink per head; every other layer has a window of {preset.gptoss} keys.",
        "preset.gptoss", lambda n: f"causal&window:{_part(n, 4 / 16)},0", sink="0",
    ),
)  # fmt: skip


def told(preset: Preset) -> dict[str, str]:
    """For the browser: everything but the mask, with its source."""
    return {
        "key": preset.key,
        "title": preset.title,
        "models": preset.models,
        "says": filled(preset.says),
        "source": FACTS[preset.fact].ground,
        "score": preset.score,
        "sink": preset.sink,
    }
