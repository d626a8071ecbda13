"""Bytes and other numbers as text; tests/js/test_model.py: the browser writes the same."""

from __future__ import annotations

import math

import pytest

from explainer.base import amounts
from explainer.base.cards import CARDS, KIB, MIB


@pytest.mark.parametrize(
    ("nbytes", "wanted"),
    [
        *[(0, "0 B"), (7.5, "8 B"), (999, "999 B"), (1000, "1,000 B"), (1023, "1,023 B")],
        *[(KIB, "1 KiB"), (1152, "1.12 KiB"), (1664, "1.62 KiB"), (12 * MIB, "12 MiB")],
        *[(99.94 * KIB, "99.9 KiB"), (100.4 * KIB, "100 KiB"), (1023 * KIB, "1,023 KiB")],
        *[(2**41, "2 TiB"), (2**52, "4,096 TiB"), (CARDS["a100"].shared_bytes, "163 KiB")],
    ],
)
def test_amounts(nbytes, wanted):
    assert amounts.amount(nbytes) == wanted


@pytest.mark.parametrize(
    ("writer", "x", "wanted"),
    [
        (amounts.scientific, 2.4e-7, "2.4\u00a0×\u00a010⁻⁷"),
        (amounts.scientific, -3e-9, "−3.0\u00a0×\u00a010⁻⁹"),
        (amounts.scientific, 0, "0"),
        (amounts.milliseconds, 0.05, "50.0 µs"),
        (amounts.milliseconds, 0.27, "0.270 ms"),  # in a column with 0.424 ms (RP 9)
        (amounts.milliseconds, 999.4, "999 ms"),
        (amounts.milliseconds, 999.7, "1.00 s"),
        (amounts.milliseconds, 1234, "1.23 s"),
        (amounts.rounded, 1234.4, "1,234"),
        (amounts.rounded, 0.12345, "0.123"),
        (amounts.format_significant, -1.5e-9, "−1.5\u00a0×\u00a010⁻⁹"),
        (amounts.format_significant, 65504, "65,504"),
        (amounts.format_significant, -0.0, "−0"),
        (amounts.format_significant, math.inf, "∞"),
        (amounts.format_significant, -math.inf, "−∞"),
        (amounts.format_significant, math.nan, "NaN"),
        (amounts.format_fixed, -0.5, "−0.500"),
        (amounts.format_fixed, -1.23e-5, "−1.23\u00a0×\u00a010⁻⁵"),
        (amounts.format_fixed, 2e7, "2.00\u00a0×\u00a010⁷"),
        (amounts.listed, ["a", "b", "c"], "a, b and c"),
    ],
)
def test_numbers(writer, x, wanted):
    assert writer(x) == wanted
