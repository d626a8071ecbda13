"""The formats bit by bit: against PyTorch's dtypes, TF32 against masks on fp32 patterns."""

import numpy as np
import pytest
import torch

from kernels.spec.formats import FORMATS, round_to

DTYPES = {
    "fp32": (torch.float32, torch.int32),
    "bf16": (torch.bfloat16, torch.int16),
    "fp16": (torch.float16, torch.int16),
    "e4m3": (torch.float8_e4m3fn, torch.uint8),
    "e5m2": (torch.float8_e5m2, torch.uint8),
}
SATURATES = bool(torch.isfinite(torch.tensor([1e9]).to(torch.float8_e4m3fn).float()).all())


def representable(f) -> np.ndarray:
    """Every number of a narrow format, 60,000 of a wide one, both signs; finite, as PyTorch has it
    and, for TF32, as the upper bits of fp32."""
    random = np.random.default_rng(1)
    bits = np.arange(1 << f.width) if f.width <= 16 else random.integers(0, 1 << f.width, 60_000)
    if f.name == "tf32":
        bits, dtype, bits_dtype = bits << 13, torch.float32, torch.int32
    else:
        dtype, bits_dtype = DTYPES[f.name]
    x = torch.from_numpy(bits).to(bits_dtype).view(dtype).double()
    return x[x.isfinite()].numpy()


def inputs(f) -> np.ndarray:
    """Values as fp32: random patterns, the format's numbers, the middles between neighbours, one
    fp32 step beside those, the edges, ±0, inf, nan. float32."""
    rng = np.random.default_rng(0)
    patterns = rng.integers(0, 2**32, 20_000, dtype=np.uint32).view(np.float32)
    patterns = patterns[~np.isnan(patterns)]
    spread = (rng.standard_normal(20_000) * 2.0 ** rng.integers(-40, 40, 20_000)).astype(np.float32)
    numbers = np.unique(representable(f))
    with np.errstate(over="ignore"):
        middles = ((numbers[1:] + numbers[:-1]) / 2).astype(np.float32)
        beside = [np.nextafter(middles, np.float32(s)) for s in (-np.inf, np.inf)]
        edges = np.array([f.largest, f.smallest_normal, f.smallest_subnormal])
        edges = np.outer(edges, [0.25, 0.5, 0.5000001, 0.75, 1, 1.03, 1.0625, 1.07, 2, 1e9])
        all_ones = np.uint32(0x7FFFFFFF).view(np.float32)  # NaN, as it is after some arithmetic
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, all_ones, *edges.ravel(), *-edges.ravel()]
        return np.concatenate(
            [patterns, spread, numbers.astype(np.float32), middles, *beside, np.float32(special)]
        )


@pytest.mark.parametrize("name", DTYPES)
def test_bit_by_bit_as_torch(name):
    f, (dtype, bits_dtype) = FORMATS[name], DTYPES[name]
    x = inputs(f)
    if not SATURATES and name == "e4m3":  # torch before 2026: NaN above 464, covered below
        x = x[~(np.abs(x) > 464)]
    theirs = torch.from_numpy(x).to(dtype)
    number = ~np.isnan(x)
    kept = theirs.to(torch.float64).numpy()
    assert len(x) >= 10_000
    for kind in (np.abs(x) < f.smallest_normal, np.abs(x) > f.largest, x == 0, ~number):
        assert kind.any()
    assert np.array_equal(f.round_to(x), kept, equal_nan=True)
    assert f.width < 16 or np.array_equal(round_to(x, name), kept, equal_nan=True)
    assert np.array_equal(np.signbit(f.round_to(x))[number], np.signbit(kept)[number])
    bits = theirs.view(bits_dtype).numpy().astype(np.int64) & ((1 << f.width) - 1)
    encoded = torch.from_numpy(f.encode(x).astype(np.int64))
    assert np.array_equal(encoded[number], bits[number])
    assert encoded[~number].to(bits_dtype).view(dtype).isnan().all()
    for value, pattern in zip(x[number][::5000], bits[number][::5000], strict=True):
        sign, exponent, mantissa = f.fields(value)
        assert (len(exponent), len(mantissa)) == (f.exponent_bits, f.mantissa_bits)
        assert int(sign + exponent + mantissa, 2) == pattern


def test_e4m3_beyond_its_range():
    f = FORMATS["e4m3"]
    over = np.array([464.1, 480, 1e9, np.inf])
    assert np.array_equal(f.round_to([*over, *-over]), [448] * 4 + [-448] * 4)
    assert f.round_to(464.0) == 448 and np.isnan(f.round_to(np.nan))


def test_tf32_by_masks_on_fp32():
    f = FORMATS["tf32"]
    x = inputs(f)
    x = x[~np.isnan(x)]
    bits = x.view(np.uint32).astype(np.uint64)
    kept = (bits + 0xFFF + ((bits >> 13) & 1)) & 0xFFFFE000  # half a place, ties to even
    assert np.array_equal(f.round_to(x), kept.astype(np.uint32).view(np.float32).astype(np.float64))
    assert np.array_equal(f.encode(x), kept >> 13)
    assert len(x) > 10_000 and f.width == 19


@pytest.mark.parametrize("name", DTYPES)
def test_limits_are_torchs(name):
    f, info = FORMATS[name], torch.finfo(DTYPES[name][0])
    assert (f.largest, f.smallest_normal) == (info.max, info.smallest_normal)
    assert f.unit_roundoff == info.eps / 2
    assert f.smallest_subnormal == info.smallest_normal * info.eps
