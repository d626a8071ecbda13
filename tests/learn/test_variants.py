"""Rung 14: each variant against PyTorch, dense definitions and counting by hand."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa

from explainer.algorithms.schedule import schedule
from explainer.base.amounts import amount
from explainer.base.facts import FACTS, number
from explainer.learn import variants
from explainer.learn.presets import PRESETS
from explainer.learn.registry import answer
from explainer.learn.variants import FEW, GROUPS, HEADS, SHOWN, VARIANTS, WIDE
from explainer.learn.variants_shown import LINES, NS, RUNGS
from explainer.problem import Problem
from kernels.masks import parse
from kernels.rotary import rope

X = variants.example()
Q, K, V, OTHER = (torch.from_numpy(x) for x in (X.Q, X.K, X.V, X.other))
I, J = np.indices((16, 16))
BEFORE = J <= I
BLOCK = (J // 2 == 0) | (J // 2 == I // 2) | (J // 2 == I // 4)
# What each hides of the 16 tokens on screen, as a reader of the papers would draw it.
KEPT = {"window": I - J < 5 + 1, "documents": np.digitize(I, (5, 10)) == np.digitize(J, (5, 10)),
        "block": BLOCK}  # fmt: skip


def blocks(**query: object) -> list[dict]:
    return answer({"w": "variants"} | {k: str(v) for k, v in query.items()})["blocks"]


def kind(name: str, **query: object) -> list[dict]:
    return [b for b in blocks(**query) if b["type"] == name]


def attention(key: str) -> torch.Tensor:
    """O (16, 8) of the tokens on screen as PyTorch computes it."""
    q, k, mask = Q, K, torch.from_numpy(KEPT.get(key, BEFORE) & BEFORE)
    bias = torch.zeros(16, 16, dtype=torch.float64).masked_fill(~mask, -torch.inf)
    if key == "alibi":
        bias = bias + 0.5 * torch.from_numpy(J - I)
    if key == "rope":
        q, k = (rope(x[None])[0] for x in (q, k))
    return sdpa(q[None], k[None], V[None], attn_mask=bias[None])[0]


@pytest.mark.parametrize("key", ["causal", *(k for k in VARIANTS if k != "linear")])
def test_weights_are_pytorchs(key):
    P = variants.weights(key)
    assert np.abs(P @ X.V - attention(key).numpy()).max() < (1e-5 if key == "rope" else 1e-12)
    assert np.abs(P.sum(axis=1) - 1).max() < 1e-12
    assert ((P > 0) == (KEPT.get(key, True) & BEFORE)).all()


def test_heads_of_a_group_share_keys_and_not_weights():
    q = torch.stack((Q, OTHER))[None]
    found = sdpa(q, K[None, None], V[None, None], is_causal=True, enable_gqa=True)[0].numpy()
    for head in (0, 1):
        P = variants.weights("gqa", second=bool(head))
        assert np.abs(P @ X.V - found[head]).max() < 1e-12
    assert np.abs(variants.weights() - variants.weights("mqa", second=True)).max() > 0.1
    for key, few in (("gqa", 2), ("mqa", 1)):
        share = np.repeat(np.arange(few), FEW // few)  # as enable_gqa has it
        wanted = ["".join("9" if h == g else "." for g in range(few)) for h in share]
        assert variants.levels(key) == wanted


@pytest.mark.parametrize("base", [10_000.0, 500_000.0])
def test_rope_is_the_kernels(base):
    for offset in (0, 3, 1000):
        theirs = rope(Q[None], base=base, offset=offset)[0].numpy()
        ours = variants.rope(X.Q, np.arange(offset, offset + 16), base)
        assert np.abs(ours - theirs).max() < 1e-6


def test_ropes_product_depends_on_the_distance_alone():
    at = np.arange(16)
    found = variants.products(X.Q[0], X.K[0], at, at)
    for d in range(-15, 16):
        assert np.ptp(np.diagonal(found, d)) < 1e-12
    assert np.ptp(found) > 1
    (shown,) = (b for b in kind("table", what="rope", row=9) if "rotated" in b["label"])
    same = [row[2] for row in shown["rows"] if row[1] == "5"]
    assert len(same) == 4 == len(shown["rows"]) - 1 and len(set(same)) == 1
    assert shown["rows"][-1][2] != same[0]
    assert float(same[0].replace("−", "-")) == pytest.approx(found[9, 4], abs=1e-6)


def test_linear_attention_is_its_formula_and_not_softmax():
    phi = [torch.nn.functional.elu(x) + 1 for x in (Q, K)]
    A = torch.tril(phi[0] @ phi[1].T)
    wanted = (A @ V / A.sum(dim=1, keepdim=True)).numpy()
    assert np.abs(variants.linear(X.Q, X.K, X.V) - wanted).max() < 1e-12
    assert np.abs(variants.weights("linear") @ X.V - wanted).max() < 1e-12
    exact, off = variants.errors().values()
    assert exact < 1e-6 and off == pytest.approx(
        np.abs(wanted - attention("causal").numpy()).max(), abs=1e-12
    )
    (shown,) = (b for b in kind("table", what="linear") if "difference" in b["label"])
    assert f"{off:.3f}" == shown["rows"][1][1] and off > 0.5


def test_alibis_lines_have_the_papers_slopes():
    """Of 8 heads 1/2, 1/4, … 1/256 (arXiv 2108.12409, section 3)."""
    _, lines = kind("plot", what="alibi")
    for h, series in zip(LINES, lines["series"], strict=True):
        assert series["name"] == f"head {h}, slope 1/{2 ** (h + 1)}"
        assert np.allclose(series["y"], [-d / 2 ** (h + 1) for d in series["x"]], atol=0)


def test_pictures_say_what_is_kept():
    for key in VARIANTS.keys() - GROUPS.keys():
        drawn = np.array([list(row) for row in variants.levels(key)])
        assert ((drawn != ".") == (KEPT.get(key, True) & BEFORE)).all(), key
        shown, size = kind("cells", what=key)[0], VARIANTS[key].problem.block_q
        kept = (KEPT.get(key, True) & BEFORE).reshape(16 // size, size, 16 // size, size)
        for (i, j), said in np.ndenumerate(np.array(shown["kinds"])):
            tile = kept[i, :, j]
            assert said == ("full" if tile.all() else "partial" if tile.any() else "skipped")
        assert bool(shown["kinds"]) == (key in KEPT)


@pytest.mark.parametrize("row", [0, 7, 15])
@pytest.mark.parametrize("key", KEPT)
def test_a_query_is_told_what_it_sees(key, row):
    keep = KEPT[key] & BEFORE
    said = next(b["words"] for b in kind("text", what=key, row=row) if "Query" in b["words"])
    assert f"Query {row} sees {keep[row].sum()} of the {row + 1} keys" in said
    kinds = np.array(kind("cells", what=key)[0]["kinds"])
    assert (
        f"{(kinds == 'skipped').sum()} are never loaded, {(kinds == 'partial').sum()} are" in said
    )
    P = kind("plot", what=key, row=row)[0]["series"][1]["y"]
    assert [x > 0 for x in P] == keep[row, : row + 1].tolist()


@pytest.mark.parametrize("n", NS)
def test_the_table_counts_right(n):
    """Each number by a sum of its own; a cache is what one more query may meet."""
    causal, i = n * (n + 1) // 2, np.arange(n)
    window, size = int(number("preset.window")), n // 8
    scores = {"window": np.minimum(i + 1, window).sum(),
              "documents": (n // 2048) * 2048 * 2049 // 2,
              "block": 8 * size * (size + 1) // 2 + (7 + 6) * size * size}  # fmt: skip
    lasts = {"window": min(n, window), "documents": 2048}
    heads = {"gqa": 8, "mqa": 1}
    (shown,) = (b for b in kind("table", what="gqa", n=n) if "Beside" in b["label"])
    assert shown["marked"] == 1
    for key, row in zip(["causal", *VARIANTS], shown["rows"], strict=True):
        one = 2 * heads.get(key, 32) * 128 * 2
        wanted = [f"{scores.get(key, causal) / n**2:.1%}", amount(one),
                  amount(lasts.get(key, n) * one)]  # fmt: skip
        if key == "linear":
            wanted = ["0", "0 B", amount(32 * (128 * 128 + 128) * 2)]
        assert [x.replace("\u00a0", " ") for x in row[1:4]] == wanted, key
        assert variants.at_size(key, n).visible(n, n) == scores.get(key, causal), key
        assert row[5] == ("no" if key == "linear" else "yes")


def test_the_shape_is_llama_3s_and_the_state_is_what_the_loop_holds():
    assert (HEADS, GROUPS["gqa"]) == (32, int(FACTS["preset.gqa"].shown)) and WIDE == 4096 // 32
    assert int(FACTS["preset.mqa"].shown) == GROUPS["mqa"]


def test_every_variant_names_its_ground_and_leads_on():
    keys = {p.key for p in PRESETS}
    for key, v in VARIANTS.items():
        models, source = v.grounds
        assert models and source and (not v.preset or v.preset in keys)
        fine = next(b["words"] for b in kind("text", what=key) if b["kind"] == "fine")
        assert models in fine and source in fine and len(v.says.split()) <= 45
        query = dict(parse_qsl(kind("link", what=key)[0]["query"]))
        if query.get("page") == "memory":
            assert key in GROUPS
            continue
        problem = Problem.from_query(query)
        assert problem.mask == v.problem.mask and problem.score == v.problem.score
        visit = schedule(problem)[int(query["step"])]
        assert query["phase"] in visit.phases and visit.kind == "partial"


def test_the_questions_answer_is_the_only_one_that_does_it():
    """8 times less at any length, and every earlier key weighed by softmax."""
    (rung,) = RUNGS
    assert len(rung.words.split()) <= 90
    window, gqa = (int(re.search(r"\d+", rung.question.options[k][0])[0]) for k in (0, 2))
    one = variants.per_token
    fits = []
    for n in NS:
        caches = (n // window * one(HEADS), n * one(HEADS), n * one(gqa))
        state = variants.cache("linear", n)
        narrow = parse(f"causal&window:{n // window - 1},0")
        sees_all = [m.visible(n, n) == n * (n + 1) // 2 for m in (narrow, *(SHOWN.mask,) * 3)]
        softmax = (True, True, True, False)
        fits.append(
            [
                8 * c == n * one(HEADS) and all_keys and weighed
                for c, all_keys, weighed in zip((*caches, state), sees_all, softmax, strict=True)
            ]
        )
    assert all([k for k, ok in enumerate(row) if ok] == [rung.question.answer] for row in fits)
    lengths = [len(words) for words, _ in rung.question.options]
    assert max(lengths) < 1.3 * min(lengths), "none stands out"
    assert all(reason for _, reason in rung.question.options)
