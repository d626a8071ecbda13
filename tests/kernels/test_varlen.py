"""Packed sequences and paged caches: each sequence against float64 attention of its own."""

import json
import random
from collections.abc import Callable
from itertools import accumulate, pairwise

import numpy as np
import pytest
import torch

import kernels
from kernels import dispatch, spans, varlen
from kernels.configs import SHARED_KIB
from kernels.hopper import plans, tables
from kernels.hopper.launch import by_tma
from kernels.spec import masks
from tests.kernels.attention_checks import (
    DEVICE,
    DTYPES,
    assert_attention,
    full_and_causal,
    of_64_and_128,
)
from tests.kernels.gradient_checks import assert_gradients, like
from tests.kernels.test_interface import in_fresh_process

CASES, TOGETHER = 250, 17
HEADS = ((1, 1), (2, 1), (4, 2), (3, 3))
of_each_start = pytest.mark.parametrize("first", range(0, CASES, TOGETHER))


def draw(*shape: int, dtype: str, seed: int) -> torch.Tensor:
    """Standard normal numbers, the same on every device."""
    random = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=random).to(DTYPES[dtype]).to(DEVICE)


def offsets(lengths) -> torch.Tensor:
    return torch.tensor([0, *accumulate(lengths)], dtype=torch.int32, device=DEVICE)


def batched(x: torch.Tensor, start: int, stop: int) -> torch.Tensor:
    """Rows of (total, H, d) as (1, H, n, d)."""
    return x[start:stop].transpose(0, 1)[None]


def check_packed(lengths, heads, k_heads, d, dtype, causal, scale=None, seed=0) -> None:
    """O, lse and the gradients of packed sequences of (Nq, Nk) are those of each alone."""
    cu_q, cu_k = (offsets(n) for n in zip(*lengths, strict=True))
    q = draw(int(cu_q[-1]), heads, d, dtype=dtype, seed=seed)
    k, v = (draw(int(cu_k[-1]), k_heads, d, dtype=dtype, seed=seed + i) for i in (1, 2))
    leaves = [x.requires_grad_() for x in (q, k, v)]
    how = {"causal": causal, "scale": scale}
    o, lse = kernels.attention_varlen(*leaves, cu_q, cu_k, **how, return_lse=True)
    assert o.shape == q.shape and lse.shape == q.shape[:2]
    grad_o = like(o)
    grads = torch.autograd.grad(o, leaves, grad_o)
    as_written = [x.transpose(0, 1).is_contiguous() for x in (o, lse, *grads)]
    assert all(as_written), "not copied after the kernels, which write each head's rows together"
    for (a, b), (c, e) in zip(pairwise(cu_q.tolist()), pairwise(cu_k.tolist()), strict=True):
        if a == b or c == e:
            assert not o[a:b].any() and lse[a:b].isneginf().all()
            assert not grads[0][a:b].any() and not grads[1][c:e].any() and not grads[2][c:e].any()
            continue
        with torch.no_grad():
            one = batched(q, a, b), batched(k, c, e), batched(v, c, e)
            found = batched(o, a, b), lse[a:b].T[None]
            assert_attention(*one, lambda *_, found=found, **more: found, **how)
            mine = batched(grads[0], a, b), batched(grads[1], c, e), batched(grads[2], c, e)
        assert_gradients(mine, *one, batched(grad_o, a, b), **how)


def packed_case(number: int, largest: int, dtypes) -> None:
    """The packed case of this number, of sequences of at most `largest` rows."""
    r = random.Random(number)

    def length() -> int:
        return r.choice([0, 1, r.randint(1, largest), r.randint(1, largest)])

    lengths = [(length(), length()) for _ in range(r.randint(1, 5))]
    if r.random() < 0.5:
        lengths = [(n, n) for n, _ in lengths]
    how = *r.choice(HEADS), r.choice([4, 16, 20, 64]), dtypes[number % len(dtypes)]
    check_packed([*lengths, (2, 3)], *how, r.random() < 0.6, r.choice([None, 0.4, -0.3]), number)


def paged_case(number: int, largest: int, dtypes) -> None:
    """The paged case of this number, of at most `largest` keys a sequence."""
    r = random.Random(number)
    page, (heads, k_heads) = r.choice([16, 32, 64, 128, 256]), r.choice(HEADS)
    lengths = [r.choice([0, 1, page, r.randint(1, largest)]) for _ in range(r.randint(1, 4))]
    how = {"dtype": dtypes[number % len(dtypes)], "seed": number}
    check_pages(lengths, page, heads, k_heads, r.choice([4, 16, 20, 64]), r.choice([1, 1, 2, 5]),
                r.choice([None, 1, 3]), r.random() < 0.5, **how)  # fmt: skip


def check_pages(lengths, page, heads, k_heads, d, n_q, parts, causal, dtype="fp32", seed=0) -> None:
    """Decoding with pages in any order, of a pool of which others lie between, is decoding with
    each batch's keys alone, and that of a contiguous cache with lengths."""
    width, batch = max(1, -(-max(lengths) // page)), len(lengths)
    random = torch.Generator().manual_seed(seed)
    table = torch.randperm(batch * width + 3, generator=random)[: batch * width].view(batch, width)
    q = draw(batch, heads, n_q, d, dtype=dtype, seed=seed)
    pool = batch * width + 3, 2
    k = draw(*pool, page, k_heads, d, dtype=dtype, seed=seed + 1)[:, 1]
    v = draw(*pool, k_heads, page, d, dtype=dtype, seed=seed + 2)[:, 1].transpose(1, 2)
    keys, values = (x[table.to(DEVICE)].flatten(1, 2).transpose(1, 2) for x in (k, v))
    for b, n in enumerate(lengths):
        table[b, -(-n // page) :] = -1  # is not read
    how = {"lengths": torch.tensor(lengths, dtype=torch.int32, device=DEVICE), "parts": parts}
    pages = how | {"block_table": table.to(torch.int32).to(DEVICE)}
    options = {"causal": causal, "return_lse": True}
    found = kernels.decode_attention(q, k, v, **pages, **options)
    beside = kernels.decode_attention(q, keys, values, **how, **options)
    for b, n in enumerate(lengths):
        for o, lse in (found, beside):
            if not n:
                assert not o[b].any() and lse[b].isneginf().all()
                continue
            mine = o[b : b + 1], lse[b : b + 1]
            one = q[b : b + 1], keys[b : b + 1, :, :n], values[b : b + 1, :, :n]
            assert_attention(*one, lambda *_, mine=mine, **more: mine, causal=causal)


def run(case: Callable, first: int, config: pytest.Config) -> None:
    """The cases from a number on: under --full and on a GPU all of them, else the first."""
    on_gpu = DEVICE == "cuda"
    largest, dtypes = (300, ("fp16", "bf16")) if on_gpu else (60, tuple(DTYPES))
    whole = on_gpu or config.getoption("--full")
    for number in range(first, first + (TOGETHER if whole else 1)):
        try:
            case(number, largest, dtypes)
        except Exception as error:
            raise AssertionError(f"case {number}") from error


@of_each_start
def test_random_varlen(first, pytestconfig):
    run(packed_case, first, pytestconfig)


@of_each_start
def test_random_paged(first, pytestconfig):
    run(paged_case, first, pytestconfig)


@full_and_causal
@of_64_and_128
def test_varlen_of_more_than_a_tile(d, causal):
    """Row blocks of two sequences and of one, with keys that all rows see."""
    lengths = [(150, 150), (3, 3), (0, 70), (130, 200), (200, 130)]
    check_packed(lengths, 2, 1, d, "fp16", causal)


@full_and_causal
@pytest.mark.parametrize(
    ("lengths", "k_heads", "is_batch"),
    [
        ([(110, 110)] * 3, 2, True),
        ([(105, 128)] * 2, 2, True),
        ([(128, 105)] * 2, 2, True),
        ([(110, 110)] * 2, 1, False),
        ([(110, 110), (110, 110), (0, 110)], 2, False),
        ([(110, 110), (110, 111)], 2, False),
        ([(110, 130)] * 2, 2, False),
        ([(60, 60)] * 2, 2, False),
        ([(0, 0)] * 2, 2, False),
    ],
)
def test_varlen_of_one_length_is_a_dense_batch(lengths, k_heads, is_batch, causal, monkeypatch):
    """Where blocks are nearly full, without spans, by views that TMA copies as they are."""
    seen = []

    def attend(*given):
        seen.append(given)
        return dispatch.attend(*given)

    monkeypatch.setattr(varlen, "attend", attend)
    check_packed(lengths, 2, k_heads, 32, "fp32", causal)
    ((q, k, v, _, found, _),) = seen
    assert (found is None) == is_batch
    assert [x.stride(2) for x in (q, k, v)] == [64, 32 * k_heads, 32 * k_heads], "not copied"
    assert len(q) == (2 if is_batch else 1) and not by_tma(q=q, k=k, v=v)


@pytest.mark.gpu
@full_and_causal
@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
@pytest.mark.parametrize("d", [32, 64, 96, 128, 192, 256])
def test_varlen_of_many_tiles(d, dtype, causal):
    """As many as the fastest kernel that takes it needs to be chosen."""
    lengths = [(700, 700), (1, 1), (513, 513), (0, 0), (128, 128), (300, 300)]
    check_packed(lengths, 8, 2, d, dtype, causal)
    check_packed([(300, 900), (900, 300), (5, 0)], 8, 8, d, dtype, causal)
    for one in ((500, 500), (256, 890), (890, 256)):
        check_packed([one] * 5, 8, 8, d, dtype, causal)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
@pytest.mark.parametrize("page", [16, 64, 256])
def test_paged_caches_of_many_keys(page, dtype):
    check_pages([5000, 1, 0, 4096, 3333], page, 8, 2, 128, 1, None, False, dtype)
    check_pages([5000, 17], page, 8, 8, 64, 4, None, True, dtype)


def test_offsets_that_change_are_read_again():
    x, cu = draw(6, 2, 16, dtype="fp32", seed=0), offsets([2, 4])
    before = kernels.attention_varlen(x, x, x, cu, cu)
    cu[1] = 3
    other = offsets([3, 3])
    found = kernels.attention_varlen(x, x, x, cu, cu)
    assert torch.equal(found, kernels.attention_varlen(x, x, x, other, other))
    assert not torch.equal(found, before)
    masked = kernels.attention_varlen(x, x, x, cu, cu, causal=True)
    assert not torch.equal(masked, found), "the same offsets under another mask"


def test_torch_compile_sees_varlen_whole():
    x, cu = draw(9, 2, 16, dtype="fp32", seed=0).requires_grad_(), offsets([2, 4, 3])

    def loss(x):
        return kernels.attention_varlen(x, x * 2, x, cu, cu, causal=True).square().sum()

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    found, want = (torch.autograd.grad(call(x), x)[0] for call in (compiled, loss))
    torch.testing.assert_close(found, want, atol=1e-5, rtol=1e-5)


@full_and_causal
def test_spans_of_offsets_are_those_of_documents(causal):
    """Rows, keys, row blocks and the Hopper kernels' tables, by the mask of the same sequences."""
    starts, n = (0, 5, 129, 141, 333), 517
    text = f"document:{','.join(map(str, starts))}"
    mask = masks.parse(f"causal&{text}" if causal else text)
    cu = torch.tensor([*starts, n], dtype=torch.int32)
    found = varlen.spans_of_offsets(cu, cu, n, n, cu.device, causal)
    assert found.dtype == torch.int32 and spans.is_rising(found)
    np.testing.assert_array_equal(found[0].numpy(), np.stack(mask.spans(n, n), 1))
    by_keys = spans.by_keys(found, n)
    np.testing.assert_array_equal(by_keys[0].numpy(), np.stack(mask.spans(n, n, True), 1))
    for block in (64, 48):
        seen = mask.tiles(n, n, block, 64).T != masks.SKIPPED
        want = [(np.flatnonzero(x)[0], np.flatnonzero(x)[-1] + 1) for x in seen]
        np.testing.assert_array_equal(spans.row_blocks(found, n, block, 64)[0].numpy(), want)
    for rows, of_keys in ((found, False), (by_keys, True)):
        made = tables.of_spans(rows[0], 128, 128, of_keys)
        want = tables.on_device(mask, n, n, 128, 128, torch.device("cpu"), of_keys)
        assert torch.equal(made.spans, want.spans) and torch.equal(made.tiles, want.tiles)


@pytest.mark.parametrize("dtype", ["bf16", "fp32"])
@pytest.mark.parametrize("d", [64, 128, 256])
@pytest.mark.parametrize("capability", [80, 90, 100, 120])
@pytest.mark.pairwise
def test_random_cards_hold_the_kernels(capability, d, dtype):
    """Compiled for a card that need not be here, each kernel fits its shared memory."""
    code = f"from tests.kernels.spans_child import main\nmain({capability}, {d}, {dtype!r})"
    found = json.loads(in_fresh_process(code, CUDA_VISIBLE_DEVICES=""))
    limit = SHARED_KIB[f"sm_{capability}"] * 1024
    assert {"fa2_kernel", "keys_kernel", "rows_kernel", "split_kernel"} <= set(found)
    assert max(found.values()) <= limit, found


def test_sequences_that_begin_within_a_block_are_counted():
    """By this number the Hopper kernel chooses its loops: a last block that is not full is one."""
    for lengths, cuts in (
        ([128, 256, 0, 384], 0),
        ([128, 100, 156, 130], 2),
        ([50] * 3, 3),
        ([], 0),
    ):
        cu = offsets(lengths)
        found = varlen.spans_of_offsets(cu, cu, sum(lengths), sum(lengths), cu.device, False)
        assert vars(found)["cuts"] == cuts
    tiles = plans.TABLED[128]  # of the plans whose loops this chooses, the one with large blocks
    assert varlen.ROWS == tiles.block_m == tiles.block_n
