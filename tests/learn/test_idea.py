"""Group 3 but for its second lesson: fusion, tile by tile, any order, what it saves."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest
import torch

from explainer.algorithms.algorithm import COMPULSORY
from explainer.algorithms.schedule import schedule
from explainer.base.paths import ASSETS
from explainer.base.records import load
from explainer.learn import any_order, fusion, saves, tiled
from tests.learn.scenes import LESSONS, blocks, data, texts
from tests.tools import NODE

# ---- fusion


@pytest.mark.parametrize("n", [32, 1024, 16384])
def test_the_chains_by_hand(n):
    d, square = 64, 2 * n * n
    apart, fused = fusion.chain("softmax", n)
    assert sum(r + w for _, r, w in apart) == 6 * square
    assert sum(r + w for _, r, w in fused) == 2 * square
    apart, fused = fusion.chain("attention", n)
    matrix = 2 * n * d
    assert [r for _, r, _ in apart] == [2 * matrix, square, square + matrix]
    assert [w for _, _, w in apart] == [square, square, matrix]
    assert [x[1:] for x in fused] == [(3 * matrix, matrix + 4 * n)]


def test_both_sides_of_the_picture_use_one_convention():
    said = texts("fusion", what="attention", n=1024)
    n, d = 1024, 64
    total = [2 * (4 * n * d + 4 * n * n), 2 * 4 * n * d + 4 * n]  # FACTS: least, least
    assert [x for x in said if "µs" in x] == [
        f"8.5 MiB: {total[0] / 4.8e12 * 1e6:.2f} µs",
        f"516 KiB: {total[1] / 4.8e12 * 1e6:.2f} µs",
    ]
    for way, lse in (("attention", True), ("softmax", False)):
        (*_, fine) = blocks("fusion", what=way, n=n)
        assert (f"writes O and {4 * n // 1024} KiB of lse" in fine["words"]) == lse


# ---- tile by tile


def test_the_steps_are_the_step_page_s():
    steps = schedule(tiled.SMALL)
    assert list(tiled.places()) == [(k, ph) for k, s in enumerate(steps) for ph in s.phases]
    read, written = tiled.moved(len(steps) - 1, steps[-1].phases[-1])
    moves = [t for s in steps for t in s.transfers]
    assert read == sum(t.nbytes for t in moves if t.op == "read")
    assert written == sum(t.nbytes for t in moves if t.op == "write")
    for step in (1, 2, len(tiled.places())):
        assert blocks("tiled", step=step)[0]["words"].startswith(f"Step {step} of")


# ---- any order, any split


@pytest.mark.parametrize("order", [range(8), range(7, -1, -1), (5, 2, 7, 0, 3, 6, 1, 4)])
def test_any_order_is_torch_s_softmax(order):
    S, V = (torch.from_numpy(np.array(x)).double() for x in any_order.row())
    want = (torch.softmax(S, 0) @ V).numpy()
    assert np.abs(any_order.visited(order) - want).max() < 1e-6
    made = data("order", order=",".join(map(str, order)))
    assert made["order"] == list(order)
    assert sorted(map(int, made["next"])) == list(range(8))


@pytest.mark.parametrize("count", (2, 4, 8))
def test_parts_merge_by_their_lse(count):
    S, V = (torch.from_numpy(np.array(x)).double() for x in any_order.row())
    parts = [
        (float(torch.logsumexp(s, 0)), (torch.softmax(s, 0) @ v).numpy())
        for s, v in zip(S.chunk(count), V.chunk(count), strict=True)
    ]
    lse, O = any_order.merged(parts)
    assert lse == pytest.approx(float(torch.logsumexp(S, 0)))
    np.testing.assert_allclose(O, (torch.softmax(S, 0) @ V).numpy(), atol=1e-12)
    assert f"lse {lse:.2f}" in texts("order", how=count)


WALK = """
import {{ moved, walk }} from "{path}";
const {{ blocks, order }} = {given};
console.log(JSON.stringify([walk(blocks, order), moved([0, 1, 2, 3], 3, 0), moved([0, 1], 0, 9)]));
"""


@pytest.mark.parametrize("planted", [0.0, 0.5])
def test_the_picture_walks_as_numpy_does(planted):
    """``planted``: a fault that must be seen."""
    order = [5, 2, 7, 0, 3, 6, 1, 4]
    S, _ = any_order.row()
    found = [any_order.block(j) for j in range(8)]
    given = {
        "blocks": {"m": [x + planted for x, _, _ in found], "l": [x for _, x, _ in found]},
        "order": order,
    }
    path = ASSETS / "js/learn/pictures/order.js"
    code = WALK.format(path=path, given=json.dumps(given))
    done = subprocess.run([NODE, "--input-type=module", "-e", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    walked, first, last = json.loads(done.stdout)
    assert (first, last) == ([3, 0, 1, 2], [1, 0])
    same = True
    for k, at in enumerate(walked):
        seen = np.concatenate([S[j * 8 : j * 8 + 8] for j in order[: k + 1]]).astype(float)
        same &= abs(at["m"] - seen.max()) < 1e-6
        same &= abs(at["l"] - np.exp(seen - seen.max()).sum()) < 1e-5
    assert same == (planted == 0)


# ---- what it saves


@pytest.mark.parametrize("named", saves.WAYS)
@pytest.mark.parametrize("n", [256, 4096, 65_536])
def test_bytes_by_one_convention_on_both_sides(n, named):
    way = saves.WAYS[named]
    d, tr, tc = 128, -(-n // 128), -(-n // 64)
    if way == COMPULSORY:
        standard, fa2 = 2 * (4 * n * d + 4 * n * n), 2 * 4 * n * d + 4 * n
    else:  # FACTS: requested, of all loops alike
        standard = 2 * (tc * n * d + tr * n * d + n * n + 2 * n * n + n * n + tr * n * d + n * d)
        fa2 = 2 * (2 * n * d + 2 * tr * n * d) + 4 * n
    assert (saves.moved("standard", n, way), saves.moved("fa2", n, way)) == (standard, fa2)
    said = blocks("saves", n=n, way=named)[0]["words"]
    assert f"{standard / fa2:.3g} times fewer" in said


def test_the_times_are_the_record_s():
    found = saves.recorded()
    rows = [r for r in load()["rows"] if (r["d"], r["mask"], r["dtype"]) == (128, "full", "bf16")]
    for n, pair in found.items():
        by = {r["method"]: r for r in rows if r["n"] == n}
        assert pair == tuple(by[method].get("median_ms") for method in ("naive", "fa2"))
        assert {r["batch"] for r in by.values()} == {max(1, saves.TOKENS // n)}
        assert {r["heads"] for r in by.values()} == {saves.HEADS}
    assert found[65_536][0] is None and "S and P did not fit" in texts("saves", n=65_536)
    (slow, fast), (slower, faster) = found[8_192], found[16_384]
    more = LESSONS["saves"].more
    assert f"falls from {slow / fast:.1f} to {slower / faster:.1f} times" in more
    assert f"takes only {slower / slow:.1f} times" in more
