"""The precision lab: a number in every format, sums, loss scaling, softmax over a long row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from explainer.base.amounts import power, written
from explainer.base.formats import FORMATS, Format
from explainer.base.formats import round_to as stored
from explainer.learn.blocks import Block, Widget, bars, bits, plot, table, text
from explainer.learn.content import SECTIONS
from explainer.learn.controls import commas, pick, slider

COLOURS = dict(zip(FORMATS, ("plain", "q", "v", "k", "o", "l"), strict=True))
MOST_POINTS = 40  # of a curve


def relative(kept: float, x: float) -> float:
    """|kept − x| / |x|; 0 when both are 0, infinite when only x is."""
    if kept == x:
        return 0.0
    return abs(kept - x) / abs(x) if x else math.inf


def fate(f: Format, x: float, kept: float) -> str:
    """What became of x, in words."""
    if kept == x:
        return "exact"
    if math.isinf(kept):
        return f"overflow: the largest number is {written(f.largest)}"
    if abs(x) > f.largest and not f.has_infinity:
        return f"overflow: there is no infinity, so it stays at {written(f.largest)}"
    if kept == 0:
        return f"underflow: the smallest number above 0 is {written(f.smallest_subnormal)}"
    error = f"error {written(kept - x)}, {written(100 * relative(kept, x), 2)} %"
    if abs(kept) < f.smallest_normal:
        return f"subnormal, fewer bits are left: {error}"
    return error


def terms(data: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The two vectors (n,) float64 of a dot product: ones, positive, or signed."""
    if data == "ones":
        return np.ones(n), np.ones(n)
    rng = np.random.default_rng(7)
    x, y = rng.uniform(0, 1, (2, n)) if data == "positive" else rng.standard_normal((2, n))
    return x, y


def narrow_sums(f: Format, x: np.ndarray, y: np.ndarray) -> tuple[list[float], int]:
    """Partial sums (n) with operands, products and sums in ``f``, and how many terms other than
    0 changed nothing."""
    sums, total, swamped = [], 0.0, 0
    for product in f.round_to(f.round_to(x) * f.round_to(y)).tolist():
        grown = f.round_one(total + product)
        swamped += grown == total and product != 0
        total = grown
        sums.append(total)
    return sums, swamped


def wide_sum(f: Format, x: np.ndarray, y: np.ndarray) -> float:
    """Operands in ``f``, products and sums in fp32, term by term: as a tensor core's sum is kept
    (which adds several terms at once)."""
    products = (f.round_to(x) * f.round_to(y)).astype(np.float32)
    return float(np.cumsum(products)[-1])


def _accumulate(given: Mapping[str, float | str]) -> list[Block]:
    n = int(given["length"])
    x, y = terms(str(given["data"]), n)
    exact = np.cumsum(x * y)
    shown = np.unique(np.linspace(0, n - 1, MOST_POINTS).round().astype(int))
    xs = (shown + 1).tolist()
    curves = [{"name": "float64", "x": xs, "y": exact[shown].tolist(), "colour": "m"}]
    rows, stuck = [], []
    for key, f in FORMATS.items():
        sums, swamped = narrow_sums(f, x, y)
        wide = wide_sum(f, x, y)
        errors = [written(100 * relative(s, exact[-1]), 2) + " %" for s in (sums[-1], wide)]
        rows.append((f.title, written(sums[-1], 7), errors[0], written(wide, 7), errors[1],
                     f"{swamped:,} of {n:,}"))  # fmt: skip
        curves.append({"name": f.title, "x": xs, "y": [sums[i] for i in shown],
                       "colour": COLOURS[key]})  # fmt: skip
        if swamped > n // 4:
            stuck.append(f"{f.title} (ends at {written(sums[-1])})")
    head = ("format", "sum kept in it", "error", "sum kept in fp32", "error", "terms swamped")
    verdict = "More than a quarter of the terms changed nothing: " + ", ".join(stuck) + "."
    return [
        text(f"The true sum of {n:,} products is {written(exact[-1], 8)}."),
        table("The same dot product in each format", head, rows),
        plot("The sum as it grows, kept in each format", curves, x_label="terms added",
             y_label="sum"),
        text(verdict if stuck else "Here no format loses a quarter of its terms.",
             "bad" if stuck else "good"),
    ]  # fmt: skip


def gradients(size: float) -> np.ndarray:
    """500 gradients (500,) whose powers of two lie around ``size``, with a spread of 3."""
    rng = np.random.default_rng(11)
    return np.exp2(size + 3 * rng.standard_normal(500))


def lost(f: Format, size: float, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each k the shares of the gradients that become 0, and that pass the largest number."""
    scaled = gradients(size) * np.exp2(k)[:, None]
    kept = f.round_to(scaled)
    over = np.isinf(kept) if f.has_infinity else scaled > f.largest
    return (kept == 0).mean(axis=1), over.mean(axis=1)


def _loss_scaling(given: Mapping[str, float | str]) -> list[Block]:
    f, size, k = FORMATS[str(given["format"])], int(given["size"]), int(given["k"])
    gradient = 1.25 * 2.0**size
    scaled = gradient * 2.0**k
    plain, kept = float(f.round_to(gradient)), float(f.round_to(scaled))
    back = kept / 2.0**k
    ks = np.arange(41)
    zero, over = lost(f, size, ks)
    good = ks[(zero == 0) & (over == 0)]
    fits = f"Every k from {good[0]} to {good[-1]}" if len(good) else "No k"
    verdict = f"{fits} keeps all 500 gradients of this size. At k = {k}: "
    verdict += f"{zero[k]:.1%} become 0, {over[k]:.1%} overflow."
    head = ("step", "value")
    rows = [
        ("the gradient", written(gradient)),
        (f"kept in {f.title} as it is", written(plain)),
        (f"× {power(2, k)}, kept in {f.title}", written(kept)),
        (f"in fp32, ÷ {power(2, k)}", written(back)),
        ("error at the end", written(100 * relative(back, gradient), 2) + " %"),
    ]
    curves = [
        {"name": name, "x": ks.tolist(), "y": (100 * y).round(1).tolist(), "colour": colour}
        for name, y, colour in (("become 0", zero, "q"), ("overflow", over, "o"))
    ]
    return [
        bits(f"The gradient in {f.title}", *f.fields(gradient), written(plain),
             fate(f, gradient, plain)),
        bits(f"The gradient × {power(2, k)} in {f.title}", *f.fields(scaled), written(kept),
             fate(f, scaled, kept)),
        table("There and back", head, rows),
        plot("Gradients lost, for each k", curves, x_label="k", y_label="% of 500 gradients"),
        text(verdict, "good" if zero[k] == over[k] == 0 else "bad"),
    ]  # fmt: skip


# What is kept short, by letter; the first is what nothing else can be better than.
CASES = {
    "nothing": "",
    "P, for P V only (as kernels do)": "P",
    "m": "m",
    "S, before exp": "S",
    "ℓ": "l",
    "S, m, P and ℓ": "SmPl",
}


@lru_cache(maxsize=32)
def long_row(dtype: str, n: int, bc: int, spread: float) -> np.ndarray:
    """Relative error of O (cases, visits) against float64: one row of n scores with this standard
    deviation, bc keys a visit; what a case names is kept in ``dtype`` (bf16 or fp16), all else in
    fp32."""
    rng = np.random.default_rng(3)
    S_all = (spread * rng.standard_normal(n)).astype(np.float32)
    V_all = stored(1 + 0.5 * rng.standard_normal((n, 8)), dtype)
    short = {x: np.array([[x in kept] for kept in CASES.values()]) for x in "SmPl"}

    def keep(x: np.ndarray, what: str) -> np.ndarray:
        return np.where(short[what], stored(x, dtype), x)

    m = np.full((len(CASES), 1), -np.inf, np.float32)
    l, O = np.zeros_like(m), np.zeros((len(CASES), 8), np.float32)
    scores, found = keep(S_all[None, :], "S"), []
    for start in range(0, n, bc):
        S, V = scores[:, start : start + bc], V_all[start : start + bc]
        m_new = keep(np.maximum(m, S.max(axis=1, keepdims=True)), "m")
        P, alpha = np.exp(S - m_new), np.exp(m - m_new)
        l = keep(alpha * l + P.sum(axis=1, keepdims=True), "l")
        O = alpha * O + keep(P, "P") @ V
        m = m_new
        found.append(O / l)
    weights = np.exp(S_all.astype(np.float64) - S_all.max())
    exact = np.cumsum(weights[:, None] * V_all, axis=0) / np.cumsum(weights)[:, None]
    exact = exact[np.append(np.arange(bc, n, bc), n) - 1]  # at the end of each block
    error = np.abs(np.stack(found, axis=1) - exact).max(axis=2) / np.abs(exact).max(axis=1)
    error.setflags(write=False)
    return error


def _softmax_fp32(given: Mapping[str, float | str]) -> list[Block]:
    f, n, bc = FORMATS[str(given["format"])], int(given["n"]), int(given["bc"])
    errors = long_row(f.name, n, bc, given["spread"])
    final = errors[:, -1]
    seen = np.minimum(np.arange(1, errors.shape[1] + 1) * bc, n)
    shown = np.unique(np.linspace(0, len(seen) - 1, MOST_POINTS).round().astype(int))
    curves = [
        {"name": name, "x": seen[shown].tolist(), "colour": colour,
         "y": [float(f"{e:.3g}") if e else None for e in errors[i, shown]]}
        for i, (name, colour) in enumerate(zip(CASES, COLOURS.values(), strict=True))
    ]  # fmt: skip
    beside = [f"{written(e, 2)}, {e / final[0]:,.0f} × fp32" for e in final]
    items = [(name, float(e), b) for name, e, b in zip(CASES, final, beside, strict=True)]
    name, worst = max(zip(CASES, final, strict=True), key=lambda pair: pair[1])
    return [
        bars(f"Error of O after {n:,} keys, by what is kept in {f.title}", items, log=True),
        plot(f"The error as keys arrive, {bc} at a time", curves, x_label="keys seen",
             y_label="relative error of O", log_x=True, log_y=True),
        text(f"Kept in {f.title}, the worst here is: {name}. O is off by {worst:.2%}.",
             "bad" if worst > 0.01 else "plain"),
    ]  # fmt: skip


def _titled(*keys: str) -> tuple[tuple[str, str], ...]:
    return tuple((key, FORMATS[key].title) for key in keys)


DATA = (("ones", "ones: count"), ("positive", "random, 0 to 1"), ("signed", "random, both signs"))

WIDGETS = (
    Widget("accumulate", SECTIONS["lab-accumulate"]["title"], (
        pick("data", "Products", "ones", DATA),
        pick("length", "Length", 4096, commas((16, 64, 256, 1024, 2048, 4096))),
    ), _accumulate),
    Widget("loss_scaling", SECTIONS["lab-loss_scaling"]["title"], (
        pick("format", "Format", "fp16", _titled("fp16", "e5m2", "e4m3", "bf16")),
        slider("size", "Gradient's power of two", -27, -40, 0),
        slider("k", "Scale by 2 to the power k", 0, 0, 40),
    ), _loss_scaling),
    Widget("softmax_fp32", SECTIONS["lab-softmax_fp32"]["title"], (
        pick("format", "Short format", "bf16", _titled("bf16", "fp16")),
        pick("n", "Row's length N", 2048, commas((128, 512, 1024, 2048))),
        pick("bc", "Keys a block, Bc", 16, (4, 16, 64)),
        slider("spread", "Spread of the scores", 1.0, 0.0, 4.0, 0.25),
    ), _softmax_fp32),
)  # fmt: skip
