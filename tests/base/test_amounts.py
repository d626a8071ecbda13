"""Bytes and other numbers as text; tests/js/test_model.py: the browser writes the same."""

import pytest

from explainer.base import amounts
from tests.tables import table


@pytest.mark.parametrize(("writer", "x", "wanted"), table(__file__))
def test_numbers(writer, x, wanted):
    assert getattr(amounts, writer)(x) == wanted
