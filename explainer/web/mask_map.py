"""What a mask does to the N × N scores, for the mask builder of the Step page: which term keeps a
score, what becomes of the tiles, what is left to do. The browser decides none of it."""

import base64
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from explainer.algorithms import tiling
from explainer.base.cache import cached
from explainer.base.fields import refused
from explainer.base.texts import Texts
from explainer.learn.presets import PRESETS
from explainer.problem import Problem
from kernels.spec.masks import MAX_PREDICATES, MAX_TERMS, PREDICATES, Mask, parse
from kernels.spec.scores import MODIFICATIONS

t = Texts("web")
SIZES = ("n", "br", "bc")
KEYS = (*SIZES, "mask", "score", "sink")
MOST_CELLS = 128  # the longest sequence whose scores are sent one by one
MOST_DRAWN = 1 << 16  # tiles that are sent one by one
MOST_TILES = 1 << 22
THUMBNAIL = 16  # tokens


def parse_problem(query: Mapping[str, str], keys: tuple[str, ...] = KEYS) -> Problem:
    """Parse the Problem whose mask is mapped. Raises ProblemError, also for too many tiles."""
    p = Problem.from_query({key: query[key] for key in keys if key in query})
    if p.Tr * p.Tc > MOST_TILES:
        why = t("map", tiles=p.Tr * p.Tc, most=MOST_TILES)
        raise refused({"br": p.block_q, "bc": p.block_k}, why)
    return p


def halved(p: Problem) -> Problem | None:
    """The same in tiles of half the size; None where there are none, or too many."""
    half = replace(p, block_q=-(-p.block_q // 2), block_k=-(-p.block_k // 2))
    same = (half.block_q, half.block_k) == (p.block_q, p.block_k)
    return None if same or half.Tr * half.Tc > MOST_TILES else half


def _text(x: np.ndarray) -> str:
    return base64.b64encode(x.tobytes()).decode()


def _cells(mask: Mask, n: int) -> dict[str, object]:
    """``kept_by``, int8 (n, n): the first term that keeps a score, −1 for none; ``keeps``, of each
    predicate of each term a bit per score, row by row, high bits first: 1 where it keeps it."""
    each = [[parse(str(one)).keep(n, n) for one in term] for term in mask.terms]
    return {
        "kept_by": _text(mask.kept_by(n, n)),
        "keeps": [[_text(np.packbits(one)) for one in term] for term in each],
    }


def _computed(p: Problem) -> int:
    return int((tiling.kinds(p) != tiling.SKIPPED).sum())


@cached(4 << 20, lambda answer: 1_000 + len(str(answer["cells"])) + len(str(answer["tiles"])))
def mask_map(p: Problem) -> dict[str, object]:
    """Answer ``/fa/mask?n=&br=&bc=&mask=&score=&sink=``.

    ``mask``, ``score`` canonical; ``cells`` up to N = 128, else None; ``tiles.kinds`` uint8
    (Tr, Tc) of indices into full, partial, skipped, None if there are too many to draw; ``half``:
    the same count in tiles of half the size; ``causal``: tiles that causal computes.
    """
    found = tiling.kinds(p)
    drawn = found.size <= MOST_DRAWN
    half = halved(p)
    return {
        "n": p.n,
        "br": p.block_q,
        "bc": p.block_k,
        "mask": str(p.mask),
        "hides": p.mask.hides,
        "score": str(p.score),
        "sink": p.sink,
        "cells": _cells(p.mask, p.n) if p.n <= MOST_CELLS else None,
        "tiles": {
            "Tr": p.Tr,
            "Tc": p.Tc,
            "kinds": _text(found) if drawn else None,
            "counts": tiling.counts(p),
        },
        "half": half
        and {
            "br": half.block_q,
            "bc": half.block_k,
            "computed": _computed(half),
            "of": half.Tr * half.Tc,
        },
        "causal": _computed(replace(p, mask="causal")),
        "scores": {"kept": p.mask.visible(p.n, p.n), "of": p.n * p.n},
    }


def palette(p: Problem) -> dict[str, object]:
    """Answer ``/fa/presets?n=&br=&bc=``: all that a mask can be made of, and the masks of published
    models, for a sequence of this length. ``bits``: the visible scores of 16 tokens, as ``keeps``
    above."""
    predicates = [
        {
            "name": one.name,
            "words": one.words,
            "formula": one.formula,
            "start": one.write(*one.start(p.n, p.block_q, p.block_k)),
            # a list of any length has no fields of its own
            "numbers": None if one.most > 1 else list(one.numbers),
            "low": one.low,
            "high": min(one.high, p.n),
        }
        for one in PREDICATES.values()
    ]
    scores = [
        {key: getattr(one, key) for key in ("name", "label", "words", "formula", "start")}
        for one in MODIFICATIONS.values()
    ]
    presets = []
    for preset in PRESETS:
        small = parse(preset.mask(THUMBNAIL))
        presets.append(
            preset.to_json()
            | {
                "mask": str(parse(preset.mask(p.n))),
                "bits": _text(np.packbits(small.keep(THUMBNAIL, THUMBNAIL))),
                "share": small.visible(THUMBNAIL, THUMBNAIL) / THUMBNAIL**2,
            }
        )
    return {
        "most": {"terms": MAX_TERMS, "predicates": MAX_PREDICATES},
        "predicates": predicates,
        "scores": scores,
        "presets": presets,
    }
