"""fp8 attention against float64 and against second implementations with torch's own e4m3."""

import numpy as np
import pytest
import torch

from explainer.algorithms.inputs import make_inputs
from explainer.learn.lessons.formats import fp8, lesson
from explainer.learn.linear_algebra import make_problem
from tests.learn.scenes import choices, find_mark


def test_the_rotation_is_orthogonal_and_keeps_the_scores():
    m = fp8.hadamard().astype(np.float64)
    np.testing.assert_allclose(m @ m.T, np.eye(fp8.D), atol=1e-6)
    q, k, _ = fp8.inputs(30, 0)
    np.testing.assert_allclose(
        (q @ m) @ (k @ m).T, q.astype(np.float64) @ k.T, rtol=1e-4, atol=1e-2
    )


def by_hand(q, k, v, way: str, block: int) -> np.ndarray:
    """The same with torch's own e4m3, block by block, a second implementation."""
    q, k, v = (torch.from_numpy(x.copy()) for x in (q, k, v))
    if way == "rotated":
        m = torch.from_numpy(fp8.hadamard().copy())
        q, k = q @ m, k @ m
    size = {"none": 64, "tensor": 64}.get(way, block)

    def back(x: torch.Tensor) -> torch.Tensor:
        out = []
        for part in x.split(size):
            s = 1.0 if way == "none" else 448 / part.abs().max()
            out.append((part * s).clamp(-448, 448).to(torch.float8_e4m3fn).float() / s)
        return torch.cat(out)

    q, k, v = back(q), back(k), back(v)
    S = q @ k.T / 4
    P = torch.exp(S - S.amax(1, keepdim=True))
    P8 = (P * 256).to(torch.float8_e4m3fn).float() / 256
    return (P8 @ v / P.sum(1, keepdim=True)).numpy()


@pytest.mark.parametrize("way", list(fp8.WAYS))
def test_attention_against_a_second_implementation(way):
    for seed in range(4):
        q, k, v = fp8.inputs(10, seed)
        ours = fp8.attention(q, k, v, way, 16)
        off = np.abs(ours - by_hand(q, k, v, way, 16))
        # A last bit of fp32 may tip a rounding to e4m3; few numbers may differ visibly.
        assert np.median(off) < 1e-5 and (off > 1e-3 * np.abs(v).max()).mean() < 0.05


def test_what_the_page_says_about_the_ways():
    """The rotation wins where one channel is large in Q and K."""
    found = fp8.errors(30, 16)
    assert found["rotated"] < 0.5 * min(found[w] for w in ("none", "tensor", "block"))
    calm = fp8.errors(1, 16).values()
    assert max(calm) < 1.2 * min(calm)


def exponent(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x == 0, -999.0, torch.floor(torch.log2(x.abs())))


def cut(x: torch.Tensor, of: torch.Tensor) -> torch.Tensor:
    """Cut x off 13 bits below this exponent, towards 0."""
    unit = 2.0 ** (of.clamp(min=-200) - 13)
    return torch.trunc(x / unit) * unit


def tensor_core(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Multiply a (rows, keys) by b (keys, d), 32 products at a time, in float64."""
    total = torch.zeros(len(a), b.shape[1], dtype=torch.float64)
    for x, y in zip(a.split(32, dim=1), b.split(32), strict=True):
        places = exponent(x)[:, :, None] + exponent(y)
        place = torch.maximum(places.amax(1), exponent(total))
        total = cut(x[:, :, None] * y, place[:, None]).sum(1) + cut(total, place)
        total = cut(total, exponent(total))
    return total


def summed_by_hand(n: int, mean: int) -> dict[str, float]:
    """The errors of sums once more, all in float64 but for the operands."""
    q, k, v = (torch.from_numpy(x.copy()).double() for x in make_inputs(make_problem(n, 16, 128)))
    q, v = q[:16], v + mean

    def to_fp8(x: torch.Tensor) -> torch.Tensor:
        return x.clamp(-448, 448).float().to(torch.float8_e4m3fn).double()

    qs, ks, vs = (448 / x.abs().max() for x in (q, k, v))
    q8, k8, v8 = to_fp8(q * qs), to_fp8(k * ks), to_fp8(v * vs)
    right = torch.softmax(q @ k.T / 4, dim=1) @ v
    S = q8 @ k8.T / (qs * ks) / 4
    P = torch.exp(S - S.amax(1, keepdim=True))
    P8 = to_fp8(256 * P)
    parts = zip(P8.split(128, dim=1), v8.split(128), strict=True)
    sums = {
        "exact": P8 @ v8,
        "one": tensor_core(P8, v8),
        "two": sum(tensor_core(*part) for part in parts),
    }
    scale = 256 * vs * P.sum(1, keepdim=True)
    return {way: (x / scale - right).square().mean().sqrt().item() for way, x in sums.items()}


@pytest.mark.parametrize("mean", (0, 4))
@pytest.mark.parametrize("keys", (256, 1024))
def test_sums_against_a_second_implementation(keys, mean):
    """They may differ where a last bit of fp32 tips a weight to another number of e4m3."""
    assert fp8.sum_errors(keys, mean) == pytest.approx(summed_by_hand(keys, mean), rel=0.02)


def test_what_the_page_says_about_sums():
    """One accumulator loses digits of a long sum of one sign, and of no other."""
    for keys in choices("formats", "keys"):
        for mean in choices("formats", "mean"):
            bars = find_mark("formats", "bars", show="sums", keys=keys, mean=mean)
            exact, one, two = (item["value"] for item in bars["items"])
            assert two <= 1.25 * exact
            assert ("no more error" in bars["title"]) == (mean == 0) == (one < 1.01 * two)
    recorded = float(lesson.figures()["levels"])
    assert one / two == pytest.approx(recorded, rel=0.15), "4,096 keys, V around 4, on an H200"
    long, short = (fp8.sum_errors(keys, 4) for keys in (4096, 1024))
    assert long["one"] > 4 * short["one"] and short["one"] > 3 * fp8.sum_errors(256, 4)["one"]
