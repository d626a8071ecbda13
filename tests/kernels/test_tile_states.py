"""m and l after every tile, against float64 over the keys seen so far."""

import pytest
import torch

import kernels
from tests.kernels.attention_checks import make_qkv


def direct_states(q, k, *, causal, block_m, block_n):
    """m and l, float64, (B, H, Tr, Tc, Br): max and Σ exp over the keys of blocks 0 … j."""
    n_q, n_k = q.shape[2], k.shape[2]
    s = (q.double() @ k.double().transpose(-1, -2)) / q.shape[-1] ** 0.5
    rows, keys = torch.arange(n_q)[:, None], torch.arange(n_k)[None, :]
    if causal:
        s.masked_fill_((keys > rows + n_k - n_q).to(s.device), float("-inf"))
    Tr, Tc = -(-n_q // block_m), -(-n_k // block_n)
    m = torch.full((*q.shape[:2], Tr, Tc, block_m), float("nan"), dtype=torch.float64)
    l = m.clone()
    for i in range(Tr):
        block = slice(i * block_m, min((i + 1) * block_m, n_q))
        for j in range(Tc):
            if causal and j * block_n > block.stop - 1 + n_k - n_q:
                continue  # the whole tile lies above the diagonal
            seen = s[:, :, block, : (j + 1) * block_n].cpu()
            top = seen.amax(-1)
            total = torch.exp(seen - top.masked_fill(top.isinf(), 0.0)[..., None]).sum(-1)
            m[:, :, i, j, : seen.shape[2]] = top
            l[:, :, i, j, : seen.shape[2]] = total
    return m, l


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize(("n", "block_m", "block_n"), [(37, 5, 16), (50, 16, 16), (1, 4, 1)])
def test_the_reference_without_tiles_is_the_definition(n, block_m, block_n, causal):
    q, k, _ = make_qkv(n, 12, batch=2, heads=2)
    options = {"causal": causal, "block_m": block_m, "block_n": block_n}
    found = kernels.reference_states(q, k, **options)
    for mine, direct in zip(found, direct_states(q, k, **options), strict=True):
        torch.testing.assert_close(mine, direct, atol=1e-12, rtol=1e-12, equal_nan=True)


def test_standard_has_no_tile_states():
    q, k, v = make_qkv(4, 4)
    with pytest.raises(ValueError, match="no running m and l"):
        kernels.tile_states(q, k, v, order="standard")
