"""Masks against their own definition, written out score by score (tests/by_hand.py)."""

import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.spec import masks
from tests import by_hand
from tests.tables import table

WRONG_ONCE, LOOKED_AT, LARGE = table(__file__).values()
SIZES = st.integers(1, 26)
RANDOM = st.randoms(use_true_random=False)


def hull(found):
    """start, stop of where a row of bools is True; 0, 0 where it never is."""
    where = np.flatnonzero(found)
    return (where[0], where[-1] + 1) if where.size else (0, 0)


def check(text, n_q, n_k, block_q, block_k):
    mask, rows = masks.parse(text), np.arange(n_k - n_q, n_k)[:, None]  # from the bottom right
    dense = by_hand.sees(text, rows, np.arange(n_k)[None])
    assert (mask.keep(n_q, n_k) == dense).all()
    assert mask.visible(n_q, n_k) == dense.sum()
    assert mask.hides or dense.all()
    check_tiles(mask, dense, block_q, block_k)
    alone = [masks.parse(str(t)) for term in mask.terms for t in term]
    parts = [one.tiles(n_q, n_k, block_q, block_k) for one in alone]
    np.testing.assert_array_equal(mask.parts(n_q, n_k, block_q, block_k), parts)
    check_ranges(mask, dense, block_q, block_k)
    kept_by = mask.kept_by(n_q, n_k)
    assert kept_by.dtype == np.int8 and ((kept_by >= 0) == dense).all()
    for index, term in enumerate(mask.terms):
        keeps = masks.parse("&".join(map(str, term))).keep(n_q, n_k)
        assert keeps[kept_by == index].all() and not keeps[(kept_by > index) | (kept_by < 0)].any()


def check_tiles(mask, dense, block_q, block_k):
    kinds = mask.tiles(*dense.shape, block_q, block_k)
    visited = {False: [[] for _ in kinds], True: [[] for _ in kinds.T]}
    for i, row in enumerate(by_hand.tiles(dense, block_q, block_k)):
        for j, tile in enumerate(row):
            want = "full" if tile.all() else "partial" if tile.any() else "skipped"
            assert masks.TILE_KINDS[kinds[i, j]] == want
            if tile.any():
                visited[False][i].append(2 * j + (not tile.all()))
                visited[True][j].append(2 * i + (not tile.all()))
    for by_keys, want in visited.items():
        pointers, entries = mask.lists(*dense.shape, block_q, block_k, by_keys=by_keys)
        assert pointers.dtype == entries.dtype == np.int32 and pointers[0] == 0
        assert [list(x) for x in np.split(entries, pointers[1:])[:-1]] == want
        assert len(entries) == pointers[-1]


def check_ranges(mask, dense, block_q, block_k):
    each = [hull(row) for row in dense]
    found = mask.spans(*dense.shape)
    if all(row[start:stop].all() for row, (start, stop) in zip(dense, each, strict=True)):
        assert found[0].dtype == found[1].dtype == np.int32
        assert list(zip(*found, strict=True)) == each
    else:
        assert found is None
    for ask, scores, block in (
        (mask.key_range, dense, block_q),
        (mask.row_range, dense.T, block_k),
    ):
        found = [*zip(*ask(*dense.shape, block), strict=True)]
        assert found == [hull(strip.any(0)) for (strip,) in by_hand.tiles(scores, block, 99)]


@pytest.mark.parametrize("name", masks.PREDICATES)
@settings(max_examples=30)
@given(RANDOM, SIZES, SIZES, SIZES, SIZES)
def test_a_mask_is_what_its_name_says(name, draw, n_q, n_k, block_q, block_k):
    text = by_hand.draw_predicate(draw, max(n_q, n_k), name)
    check(text, n_q, n_k, block_q, block_k)


@settings(max_examples=200)
@given(RANDOM, SIZES, SIZES, SIZES, SIZES)
def test_any_expression_is_what_its_predicates_say(draw, n_q, n_k, block_q, block_k):
    parts = (by_hand.draw_mask(draw, max(n_q, n_k)) for _ in range(draw.randint(1, 2)))
    check("|".join(parts), n_q, n_k, block_q, block_k)


@settings(max_examples=150)
@given(RANDOM, SIZES, SIZES, SIZES, SIZES)
def test_a_part_of_the_scores_has_the_mask_of_the_whole(draw, n_q, n_k, block_q, block_k):
    """Rows and keys of a part, as the mask's `at` counts them, are classed as the whole's."""
    text = by_hand.draw_mask(draw, 60)
    rows, keys = draw.randint(0, 30) - (n_k - n_q), draw.randint(0, 30)
    part = masks.parse(text).at(rows, keys)
    at = np.arange(n_k - n_q, n_k)[:, None] + rows
    dense = by_hand.sees(text, at, np.arange(n_k)[None] + keys)
    assert (part.keep(n_q, n_k) == dense).all() and part.visible(n_q, n_k) == dense.sum()
    check_tiles(part, dense, block_q, block_k)
    check_ranges(part, dense, block_q, block_k)


def test_a_part_on_the_diagonal_is_causal_itself():
    assert masks.parse("causal").at(8, 8) == masks.parse("causal")
    assert masks.parse("causal&window:4,0").at(24, 8) == masks.parse("causal&window:4,0").at(16, 0)
    assert masks.parse("prefix:4").at(8, 8) != masks.parse("prefix:4")


@pytest.mark.parametrize(("text", "sizes"), WRONG_ONCE)
def test_expressions_that_were_wrong_once(text, sizes):
    check(text, *sizes)


@settings(max_examples=60)
@given(RANDOM)
def test_one_text_for_one_mask(draw):
    text = by_hand.draw_mask(draw, 12)
    mask = masks.parse(text)
    assert masks.parse(mask.text) == mask and str(mask) == mask.text
    terms = [[*term.split("&"), term.split("&")[0]] for term in text.split("|")]
    for listed in (*terms, terms):
        draw.shuffle(listed)
    assert masks.parse(" | ".join(map(" & ".join, terms))) == mask
    order = [list(masks.PREDICATES).index(t.name) for t in mask.terms[0]]
    assert order == sorted(order)


@pytest.mark.parametrize("shift", [-5, 0, 3])
def test_tensors_are_asked_like_arrays(shift):
    each = "window:9,2&document:0,3,11", "dilated:3&global:2", "chunk:4&causal", "block:2x3,1.1-2"
    row, key = np.arange(17)[:, None] + shift, np.arange(17 + shift)[None]
    for text in (*masks.PLAIN, *each, "|".join(each)):
        mask = masks.parse(text)
        for ask in (mask.sees, mask.hidden):
            found = ask(torch.from_numpy(row), torch.from_numpy(key)).numpy()
            assert (np.broadcast_to(found, (17, 17 + shift)) == ask(row, key)).all()
        assert (mask.sees(row, key) == ~mask.hidden(row, key)).all()


N = 65_536  # what is visible there was counted by hand, from the lengths of intervals


@pytest.mark.parametrize(("text", "visible"), LARGE)
def test_no_mask_needs_memory_for_all_scores(text, visible):
    """At N = 65,536 all scores are 4 GiB of bool."""
    mask = masks.parse(text)
    tracemalloc.start()
    kinds = mask.tiles(N, N, 128, 128)
    found = mask.visible(N, N)
    mask.lists(N, N, 128, 128, by_keys=True)
    mask.key_range(N, N, 128)
    mask.row_range(N, N, 128)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 128 * 2**20
    assert visible is None or found == visible
    at = np.random.default_rng(1).integers(0, 512, (200, 2))
    for i, j in np.vstack((at, np.stack((at[:, 0], np.maximum(at[:, 0] - at[:, 1] % 9, 0)), 1))):
        tile = mask.keep(N, N, slice(i * 128, i * 128 + 128), slice(j * 128, j * 128 + 128))
        assert kinds[i, j] == (0 if tile.all() else 1 if tile.any() else 2)


@pytest.mark.parametrize(("text", "most"), LOOKED_AT)
def test_a_tile_is_looked_at_only_where_two_predicates_cut_it(text, most, monkeypatch):
    sizes = []
    look = masks.Mask._look
    monkeypatch.setattr(
        masks.Mask,
        "_look",
        lambda self, some, *rest: sizes.append(some.size) or look(self, some, *rest),
    )
    masks.parse(text).tiles(4096, 4096, 64, 64)
    assert sum(sizes) <= most


def test_longer_than_any_address_allows():
    """Whoever calls the kernels may have more keys than the app: none is cut off."""
    mask = masks.parse("dilated:65521&dilated:65519|window:1,0")
    assert mask.visible(1, 300_000) == 2
    assert masks.parse("global:5").key_range(3, 300_000, 2)[1].tolist() == [5, 5]
    assert masks.parse("causal").row_range(2, 300_000, 100_000)[1].tolist() == [2, 2, 2]


def test_keywords_and_texts_mean_one_mask():
    assert masks.from_keywords(True) == masks.of(True) == masks.from_keywords(True, "causal & full")
    assert masks.from_keywords(False, masks.parse("prefix:3|causal")).text == "causal|prefix:3"
    with pytest.raises(ValueError, match="contradicts causal = True"):
        masks.from_keywords(True, "causal|prefix:3")
    with pytest.raises(ValueError, match="mask = 'windw' is not allowed: “windw” at character 1"):
        masks.from_keywords(False, "windw")


def test_flops_are_counted_by_the_papers_convention_or_by_what_is_seen():
    assert masks.flops(masks.of(False), 2, 8, 8, 4) == 4 * 2 * 8 * 8 * 4
    assert masks.flops(masks.of(True), 2, 8, 8, 4) == 4 * 2 * 8 * 8 * 4 / 2
    assert masks.flops(masks.parse("window:1,0"), 2, 8, 8, 4) == 4 * 2 * 15 * 4
