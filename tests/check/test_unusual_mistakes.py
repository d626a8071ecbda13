"""Mistakes that were written without a look at the list: found, and named right or not at all."""

from __future__ import annotations

import pytest

from explainer.check.terminal import cells, render
from explainer.check.verdict import examine
from tests.check.in_process import load
from tests.check.planted import NUMPY, RIGHT, STEPS, TORCH, plant

# what it does → (step, what stands there instead, the cause that may be named)
UNUSUAL = {
    "mean in l": ("l", "l = l * alpha + p.mean(1)", "l_of_other_sum"),
    "m scaled": ("m", "m_new = np.maximum(m, s.max(1) * scale)", None),
    "a large epsilon": ("end", "o / (l + 1e-2)[:, None]", None),
    "alpha squared": ("alpha", "alpha = np.exp((m - safe) * 2)", "alpha_applied_twice"),
    "keys reversed in a tile": ("k", "kj = k[j * bc : (j + 1) * bc][::-1]", None),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_an_unusual_mistake_gets_no_wrong_name(name, tmp_path):
    step, new, cause = UNUSUAL[name]
    source = plant(None, NUMPY)
    assert source.count(STEPS[NUMPY][step]) == 1
    found = examine(load(source.replace(STEPS[NUMPY][step], new), tmp_path), "mine.py")
    assert not found.right and found.first and found.cause in (None, cause)


def test_the_rows_of_a_wrong_gradient_are_of_its_row_block(tmp_path):
    found = examine(load(plant("dq_scale_missing", TORCH), tmp_path), "mine.py")
    assert (found.first["what"], found.first["i"], found.first["j"]) == ("dQ", 0, None)
    assert set(found.first["rows"]) <= {0, 1, 2, 3}


def test_a_wrong_head_is_named(tmp_path):
    found = examine(load(plant("q_of_other_head", NUMPY), tmp_path), "mine.py")
    assert (found.first["problem"], found.first["sequence"], found.first["head"]) == ("heads", 0, 1)
    assert "sequence 0, head 1" in found.sentence


def test_a_weight_that_the_mask_does_not_give_is_named(tmp_path):
    """From outside, without a name for the mistake: rows of the last block see one key too many."""
    source = plant(None, NUMPY).replace("offset >= cols", "offset + (rows[:, None] >= 12) >= cols")
    found = examine(load(source.replace("if report:", "if False:"), tmp_path), "mine.py")
    assert found.cause is None and found.weight == (12, 13, "added")
    assert (found.first["i"], found.first["j"]) == (3, 3)
    text = render(found, False)
    weight = text.index("row 12 gives weight to key 13, which is masked")
    assert text.index("O and lse are not right") < weight < text.index(" yours ")


def test_the_map_of_a_gradient_is_of_its_own_order(tmp_path):
    """Keys are outside: tiles before the first wrong one are right, all after it not reached."""
    found = examine(load(plant("d_missing", TORCH), tmp_path), "mine.py")
    assert (found.first["i"], found.first["j"]) == (0, 0)
    assert cells(found)[1] == ["pending", "pending", "skipped", "skipped"]
    text = render(found, False)
    assert text.count("these are the numbers") == 0 and "  key 0   yours " in text


def test_numbers_that_differ_look_different(tmp_path):
    source = plant(None, NUMPY).replace("p.sum(1)", "p.sum(1) * np.float32(1.001)")
    found = examine(load(source, tmp_path), "mine.py")
    lines = render(found, False).splitlines()
    yours = [n for n, line in enumerate(lines) if " yours " in line]
    assert yours and all(lines[n].split()[-1] != lines[n + 1].split()[-1] for n in yours)


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        # One tile of 16 keys gives 0, as other mistakes do with the tiles that it was told.
        ("o * alpha[:, None] + p @ vj", "(o + p @ vj) * alpha[:, None]", "alpha_after_sum"),
        # One case alone lacks its last keys; a loop without a key block lacks them in all.
        ("j * bc > rows[-1] + offset", "j * bc > rows[-1]", "mask_not_aligned"),
    ],
)
def test_a_name_holds_for_the_other_cases_too(old, new, cause, tmp_path):
    source = plant(None, NUMPY).replace("if report:", "if False:").replace(old, new)
    source = source.replace("n, d = q.shape\n", "n, d = q.shape\n    br = bc = 16\n")
    assert examine(load(source, tmp_path), "mine.py").cause == cause


def test_an_lse_that_is_nan_without_keys_is_named(tmp_path):
    source = plant(None, NUMPY).replace(
        "L[i * br : (i + 1) * br] = m", "L[i * br : (i + 1) * br] = m - m + m"
    )
    found = examine(load(source, tmp_path), "mine.py")
    assert (found.first["problem"], found.first["what"]) == ("rows_without_keys", "lse")
    assert found.cause == "empty_rows_nan"


@pytest.mark.parametrize(
    ("is_normalized", "old", "new"),
    [
        (True, "a, b = a * l1, b * l2", "pass"),  # weights of m alone
        (True, "a, b = a * l1, b * l2", "a, b = l1, l2"),
        (False, "exp(m1 - top0), exp(m2 - top0)", "np.ones_like(m1), np.ones_like(m2)"),
    ],
)
def test_ranges_of_keys_that_are_merged_by_other_weights_are_named(
    is_normalized, old, new, tmp_path
):
    source = (RIGHT / "variants.py").read_text(encoding="utf-8")
    assert source.count(old) == 1
    chosen = f"CHOSEN = {(False, 'split', None, False, -1e9, True, False, is_normalized)}\n"
    found = examine(load(chosen + source.replace(old, new), tmp_path, arrays="numpy"), "mine.py")
    assert found.cause == "splits_merged_by_other_weights", found.sentence


@pytest.mark.parametrize("key", ["divided_every_tile", "l_not_rescaled", "ragged_keys_counted"])
def test_tiles_of_its_own_are_found_by_the_numbers_in_the_file(key, tmp_path):
    source = plant(key, NUMPY).replace("if report:", "if False:")
    source = source.replace("n, d = q.shape\n", "n, d = q.shape\n    br, bc = 32, 24\n")
    assert examine(load(source.replace("block_q", "rows"), tmp_path), "mine.py").cause == key


def test_a_tile_of_64_is_not_the_whole_row(tmp_path):
    """D of one tile is right where that is all there is."""
    source = plant("d_of_tile_only", TORCH).replace("= ctx.rules", "= *ctx.rules[:2], 64, 64")
    found = examine(load(source, tmp_path), "mine.py")
    assert found.cause == "d_of_tile_only" and found.first["problem"] == "long"


def test_a_name_holds_for_the_other_gradients_too(tmp_path):
    """Rows begin at the first block that sees all keys: one case alone lacks its last keys."""
    source = plant(None, TORCH).replace("scale=None, block_q=16, block_k=16", "scale=None")
    source = source.replace(
        "apply(q, k, v, causal, scale, block_q, block_k)", "apply(q, k, v, causal, scale, 64, 16)"
    )
    late = "max(0, -(-(first + n - nk) // block_q)) * block_q if causal else 0"
    loop = STEPS[TORCH]["rows2"]
    source = source.replace(loop, loop.replace("0", late, 1))
    assert late in source
    assert examine(load(source, tmp_path), "mine.py").cause == "diagonal_skipped_in_backward"
