"""Group 6: heads, positions, windows, decoding and engines, against counting and PyTorch."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from explainer.base.cards import CARDS
from explainer.base.records import load
from explainer.learn import decoding, heads, linear_algebra, positions, windows
from tests.learn.scenes import (
    asked,
    blocks,
    cases,
    choices,
    default_hides_the_answer,
    shapes,
    words,
)


@pytest.mark.parametrize("key", ["gqa", "rope"])
def test_no_answer_stands_beside_its_question(key):
    default_hides_the_answer(key)


def test_the_cache_by_allocating_it():
    one = torch.empty(32, 2, 8, 128, dtype=torch.float16)
    assert heads.cache(8, 1) == one.numel() * one.element_size()
    assert "With every head its own it does not fit." in words("gqa", tokens=524_288)
    assert heads.cache(32, 524_288) > CARDS["h200"].hbm_bytes > heads.cache(8, 524_288)


def test_every_query_head_reads_one_head_of_k():
    for kv in (32, 8, 1):
        drawn = shapes("gqa", hk=kv)
        ends = [
            s["d"].split("L")[1].split()[0]
            for s in drawn
            if s["kind"] == "path" and s.get("look") == "is-quiet"
        ]
        assert len(ends) == 32 and len(set(ends)) == kv
        assert sum(str(s.get("key", "")).startswith("k ") for s in drawn) == kv


def test_a_moved_pair_scores_as_before():
    """The rotation itself is judged by the kernels' in test_variants.py."""
    for question, (i, j, to) in zip(asked("rope"), cases("rope"), strict=True):
        assert positions.score(to, question.answer) == pytest.approx(positions.score(i, j))
        assert positions.score(to, j) != pytest.approx(positions.score(i, j), abs=1e-3)


def test_alibis_line_is_the_papers():
    for head in range(4):
        assert positions.added(head, 6) == -6 / 2 ** (head + 1)  # 8 heads: 1/2, 1/4, 1/8 …
    assert "at i − j = 7: −3.500" in words("rope")


def dense(kind: str, width: int) -> np.ndarray:
    i, j = np.indices((32, 32))
    causal = j <= i
    document = np.digitize(i, windows.STARTS) == np.digitize(j, windows.STARTS)
    listed = (j // 4 == 0) | (j // 4 == i // 4) | (j // 4 == i // 4 // 2)
    return (
        causal
        & {"causal": causal, "window": i - j < width, "documents": document, "block": listed}[kind]
    )


@pytest.mark.parametrize("kind", windows.KINDS)
@pytest.mark.parametrize("width", [1, 10, 32])
def test_tiles_are_counted_as_a_dense_mask_has_them(kind, width):
    keep = dense(kind, width)
    tiles = keep.reshape(8, 4, 8, 4)
    any_, all_ = tiles.any(axis=(1, 3)), tiles.all(axis=(1, 3))
    found = windows.counts(windows.problem(kind, width))
    assert found == {"full": all_.sum(), "partial": (any_ & ~all_).sum(), "skipped": (~any_).sum()}
    said = words("windows", what=kind, width=width)
    assert f"{keep.sum():,} of 1,024 scores" in said
    assert f"{found['skipped']} of 64 tiles" in said
    drawn = sum(
        round(s["w"] + 1.5)
        for s in shapes("windows", what=kind, width=width)
        if s["kind"] == "box" and "key" not in s
    )
    assert drawn == keep.sum() * windows.CELL


def test_pages_hold_every_token_once():
    for tokens in (8, 22, 32):
        table = decoding.pages(tokens)
        taken = [page for found in table.values() for page in found]
        assert len(taken) == len({*taken}) and max(taken) < decoding.POOL
        assert {name: len(found) for name, found in table.items()} == {
            "A": -(-tokens // 4),
            "B": 3,
            "C": 2,
        }
    runs = np.diff(decoding.pages(32)["A"])
    assert (runs != 1).any(), "a page need not follow the one before"


def test_the_parts_that_are_drawn_weigh_what_their_lse_says():
    for tokens, count in ((22, 4), (8, 8), (32, 2)):
        p = decoding.problem(tokens)
        found, O, _ = decoding.split_keys.parts(p, count)
        assert linear_algebra.weighed(tuple((np.exp(x.lse), x.O) for x in found)) == pytest.approx(
            O
        )
        assert f"{found[0].weight:.2f}" in words("decode", tokens=tokens, parts=count)


@pytest.mark.parametrize("tokens", range(8, 33))
@pytest.mark.parametrize("count", choices("decode", "parts"))
def test_the_numbers_of_the_parts_stand_apart(tokens, count):
    """At 8 px per character of this type, 4 px between two."""
    for row in ("lse", "weight"):
        found = [
            s
            for s in shapes("decode", tokens=tokens, parts=count)
            if str(s.get("key", "")).startswith(f"{row} ")
        ]
        ends = sorted((s["x"] - 4 * len(s["text"]), s["x"] + 4 * len(s["text"])) for s in found)
        assert all(b[0] - a[1] >= 4 for a, b in pairwise(ends)), (row, ends)
        assert ends[0][0] >= 0 and ends[-1][1] <= 405


@pytest.mark.parametrize("count", choices("decode", "parts"))
def test_the_decoding_kernel_s_times_are_the_record(count):
    rows = {
        r["splits"]: r
        for r in load("decode_nvidia_h200")["rows"]
        if (r["n_k"], r["heads"]) == (16_384, 16) and "splits" in r
    }
    assert [k for k, r in rows.items() if r["rule"]] == [2 * CARDS["h200"].sms // 16] == [16]
    fine = blocks("decode", tokens=22, parts=count)[-1]["words"]
    for parts in {1, count, 16}:
        unit = " µs" * (parts == 1)
        assert fine.count(f"{1e3 * rows[parts]['median_ms']:.3g}{unit} in ") == 1
    weights = [s for s in shapes("decode", parts=count) if s.get("key", "").startswith("weight ")]
    assert len(weights) == (count if count <= 8 else 1), "else the heaviest alone"
