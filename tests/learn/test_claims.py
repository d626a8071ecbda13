"""Every claim's demonstration shows what the claim's card says, judged by PyTorch and counting."""

import numpy as np
import pytest
import torch

from explainer.algorithms.traffic import both, traffic
from explainer.base.amounts import amount
from explainer.base.cards import CARDS
from explainer.learn import claim_costs as costs
from explainer.learn import claim_demos as demos
from explainer.learn import claim_sums as sums
from explainer.learn import matrix_units
from explainer.learn.claims import CLAIMS, WIDGETS
from explainer.learn.linear_algebra import make_problem
from explainer.memory.levels import hbm_tensors
from explainer.memory.workload import Workload
from explainer.problem import Problem
from explainer.trace import trace
from tests.learn.scenes import LESSONS, bar_values, block, blocks, find_mark, sdpa

CLAIM = {c.key: c for c in CLAIMS}


TRUE = (
    """exact memory order merge backward overflow tf32 quadruple dq shift written blackwell least"""
)


def test_the_cards_are_whole():
    assert len(CLAIM) == len(CLAIMS) == 26
    assert {c.key for c in CLAIMS if c.truth} == {*TRUE.split()}, "half of them"
    assert {c.key for c in CLAIMS if not c.widget} == {"fa3"}
    shown = {c.widget for c in CLAIMS if c.widget}
    assert shown - set(LESSONS) == set(WIDGETS) and shown <= set(LESSONS) | set(WIDGETS)
    for c in CLAIMS:
        assert c.source and len(c.why.split()) <= 40 and c.words.endswith(".")


def test_the_loops_are_torchs_attention():
    q, k, v = demos.qkv(100)
    S = q @ k.T / np.float32(8)
    for found in (demos.online(S, v, 64), demos.plain(S, v)):
        assert np.abs(found - sdpa(q, k, v)).max() < 1e-6


def test_exact_but_for_rounding():
    for n in (64, 512):
        items = bar_values("claim_exact", n=n, bc=8)
        assert items["float64"] < 1e-14 < 1e-9 < items["fp32"] < 1e-5


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_few_outputs_are_bit_identical_and_both_are_near(seed):
    p = Problem(n=256, d=64, block_q=64, block_k=64, causal=False, inputs="random", seed=seed)
    run = trace(p)
    whole = torch.softmax(torch.from_numpy(run.Q @ run.K.T / np.float32(8)), 1).numpy() @ run.V
    assert 0 < np.mean(whole == run.O) < 0.5
    items = bar_values("claim_bits", seed=seed)
    assert items["tiled"] == pytest.approx(np.abs(run.O - sdpa(run.Q, run.K, run.V)).max(), rel=0.1)
    assert max(items.values()) < 3 * min(items.values()) < 1e-5


def test_traffic_quadruples_and_memory_doubles():
    for d in (32, 64, 128):
        curves = {s["name"]: s["y"] for s in find_mark("claim_io", "plot", d=d)["series"]}
        moved, extra = curves["FA-2: requested bytes"], curves["FA-2: extra memory (lse)"]
        least = curves["FA-2: each matrix once"]
        for i in range(3, len(moved) - 1):
            assert moved[i + 1] / moved[i] == pytest.approx(4, rel=0.02)
            assert extra[i + 1] / extra[i] == least[i + 1] / least[i] == 2


@pytest.mark.parametrize("d", [32, 64, 128])
@pytest.mark.parametrize("size", [32, 64, 128])
def test_flops_are_not_fewer(d, size):
    n = 1024
    found = costs.operations(n, d, size)
    assert found["products"] == {"standard": 4 * n * n * d, "fa2": 4 * n * n * d}
    forward = [sum(c[o] for c in found.values()) for o in ("standard", "fa2")]
    assert forward[1] / forward[0] == pytest.approx(1, abs=0.02)
    tiles = [size * size] * (n // size) ** 2  # counted one by one
    assert found["softmax"]["fa2"] == sum(4 * scores - 2 * size for scores in tiles)
    assert found["rescale"]["fa2"] == sum(size * (d + 5) for _ in tiles)


@pytest.mark.parametrize(("n", "d", "size"), [(512, 64, 64), (256, 32, 128), (2048, 128, 64)])
def test_recomputation_is_a_product_more(n, d, size):
    """4·N²·d forward, five products for four backward."""
    _, moved, finding = blocks("claim_again", n=n, d=d, block=size)
    work = bar_values("claim_again", n=n, d=d, block=size)
    assert [*work.values()] == [k * n * n * d for k in (4, 8, 10)]
    assert "1.17 times the work" in finding["words"]
    requested = [
        both(traffic(make_problem(n, d, size, dtype="fp16", order=order), "backward"))
        for order in ("standard", "fa2")
    ]
    rows = [row[1:] for row in moved["rows"]]
    assert rows[0] == [*map(amount, requested)]
    assert rows[-1] == [amount(2 * n * n), amount(4 * n)]


def test_what_holds_up_attention():
    w = Workload(card="h100", n=4096, d=128, block_q=128, block_k=128)
    found, card = costs.bounds(w), CARDS["h100"]
    naive, fused = (found[f"{way} compulsory"] for way in ("standard", "fa2"))
    assert naive["memory"] > max(naive["products"], naive["exp"])
    assert fused["memory"] < min(fused["products"], fused["exp"])
    once = sum(n for _, n in hbm_tensors(Workload(n=4096, d=128, heads=1), "fa2"))
    assert fused["memory"] == pytest.approx(once / card.hbm_bytes_per_s)
    assert naive["intensity"] == pytest.approx(128 * 4096 / (128 + 4096) / 2, rel=1e-9)
    for way, best in (("standard", naive), ("fa2", fused)):
        assert found[f"{way} requested"]["intensity"] < best["intensity"]
    per_second = 4096**2 / fused["exp"]
    assert per_second == pytest.approx(3.9e12, rel=0.02), "the FA-3 paper's figure"


@pytest.mark.parametrize("key", CARDS)
def test_products_and_exponentials_are_counted_at_one_clock(key):
    """16 exponentials per SM and clock, at the clock that the rate of products belongs to: so the
    two stand in the ratio of what an SM does in a clock, whatever the clock."""
    w = Workload(card=key, n=4096, d=64, block_q=128, block_k=128)
    (found, *_), card = costs.bounds(w).values(), CARDS[key]
    fma = matrix_units.GENERATIONS[card.arch].fma
    assert found["exp"] / found["products"] == pytest.approx(2 * fma / (16 * 4 * 64))
    if key == "h100":  # 4,096 FLOPs and 16 exponentials per clock: at d = 64 neither is longer
        longest = [row[-1] for row in block("claim_bound", "table", card=key)["rows"]]
        assert set(longest) == {"memory", "products and exp"}
    clock = matrix_units.clock_hz(card)
    assert f"{clock / 1e9:.2f} GHz" in blocks("claim_bound", card=key)[-1]["words"]
    assert 1.2e9 < clock < 3e9


def test_tf32_is_not_fp32():
    items = bar_values("claim_tf32")
    assert items["fp32"] < 2e-6 < 1e-4 < items["TF32"] < items["bf16"] < 1e-2


@pytest.mark.parametrize(("n", "low", "high"), [(65, 0.1, 1), (100, 0.01, 0.5), (1023, 5e-5, 1e-3)])
def test_padded_keys_spoil_the_sum(n, low, high):
    """The very wrong sum: keys of zeros that take part."""
    q, k, v = demos.padded_inputs(n, "random", 0)
    truth, zeros = sdpa(q, k, v), np.zeros((-n % 64, 64), np.float32)
    spoilt = sdpa(q, np.concatenate([k, zeros]), np.concatenate([v, zeros]))
    wrong = demos.course_note(q, k, v, 64)
    assert np.abs(wrong - spoilt).max() < 1e-6 and low < np.abs(wrong - truth).max() < high
    theirs, ours = bar_values("claim_padded", n=n).values()
    assert low < theirs < high and ours < 1e-6


@pytest.mark.parametrize("n", [65, 100, 1023])
def test_a_causal_mask_hides_padded_keys(n):
    q, k, v = demos.padded_inputs(n, "random", 0)
    truth = sdpa(q, k, v, is_causal=True)
    assert np.abs(demos.course_note(q, k, v, 64, causal=True) - truth).max() < 2e-6
    said = [b["words"] for b in blocks("claim_padded", n=n, mask="causal") if b["type"] == "text"]
    assert "the causal mask hides them" in said[0]
    assert "Without a causal mask" in CLAIM["padded"].why


@pytest.mark.parametrize(("nq", "nk"), [(1, 4), (2, 5), (3, 3), (8, 8), (1, 1)])
def test_the_triangle_is_aligned_bottom_right(nq, nk):
    q, k, v = (x[:nk] for x in demos.qkv(8, 8, dtype=np.float64))
    whole = sdpa(q, k, v, is_causal=True)[nk - nq :]
    items = bar_values("claim_topleft", nq=nq, nk=nk)
    for name, shift in (("top-left", 0), ("bottom-right", nk - nq)):
        see = torch.ones(nq, nk, dtype=torch.bool).tril(shift)
        assert np.array_equal(demos.causal_masks(nq, nk)[name], see)
        off = np.abs(sdpa(q[nk - nq :], k, v, attn_mask=see) - whole).max()
        assert items[name] == pytest.approx(off, abs=1e-12)
        assert (off > 1e-3) == (shift != nk - nq)


def test_dq_in_two_orders_is_autograds_and_not_the_same_bits():
    q, k, v = (torch.from_numpy(x.astype(float)) for x in demos.qkv(512, seed=3))
    dO = torch.from_numpy(np.random.default_rng(5).standard_normal((16, 64)).astype(np.float32))
    rows = q[:16].clone().requires_grad_()
    (torch.softmax(rows @ k.T / 8, 1) @ v * dO).sum().backward()
    for seed in (1, 2):
        usual, other = sums.partial_dq(seed)
        for found in (usual, other):
            assert np.abs(found - rows.grad.numpy()).max() < 1e-6
        assert 0.1 < (usual == other).mean() < 0.9


def test_what_limits_a_b200():
    found = bar_values("claim_exp", d=64)
    assert found["B200 SXM: exp"] > 1.9 * found["B200 SXM: products"]
    assert found["B200 SXM: exp"] > 0.8 * found["H100 SXM: exp"]
    tied = bar_values("claim_exp", d=128)
    assert tied["B200 SXM: exp"] == pytest.approx(tied["B200 SXM: products"], rel=0.01)
    assert "d = 64" in CLAIM["blackwell"].words and "at d = 128 they tie" in CLAIM["blackwell"].why


def test_rates_and_lengths():
    rates = bar_values("claim_petaflop")
    assert rates["H100 SXM, fp16"] < 1000 < 1978 < rates["H100 SXM, fp8"]
    for dtype in ("bf16", "fp32"):
        assert all(
            len({*row[1:]}) == 1 for row in block("claim_length", "table", dtype=dtype)["rows"]
        )


def test_padded_keys_take_everything_when_scores_are_low():
    q, k, v = demos.padded_inputs(100, "negative", 0)
    assert (q @ k.T).max() < 0
    assert np.abs(demos.course_note(q, k, v, 64)).max() < 1e-6 < 0.1 < np.abs(sdpa(q, k, v)).max()
