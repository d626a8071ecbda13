"""The kernels run on the GPU where there is one, else in Triton's interpreter."""

import os
import sys

import pytest
import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # read when the kernels are decorated, so before import
    imported = sys.modules.get("kernels")
    if imported is not None and not imported.INTERPRETED:
        raise RuntimeError(
            "kernels was imported before TRITON_INTERPRET=1 was set: set it in tests/conftest.py."
        )


def pytest_runtest_setup(item):
    if item.get_closest_marker("gpu") and not torch.cuda.is_available():
        pytest.skip("needs a CUDA GPU: this grid is too large for the interpreter")


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: needs a CUDA GPU; skipped without one")


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    from tests.kernels.ring_ranks import Ranks

    found = Ranks(tmp_path_factory.mktemp("ring"))
    yield found
    found.close()
