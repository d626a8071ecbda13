"""For every test: no call home; without a GPU the kernels run in Triton's interpreter; pairwise."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests import pairs
from tests.compiler import Compiler

settings.register_profile("here", deadline=None)  # a busy machine is no failure
settings.load_profile("here")

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
# Small arrays and several processes on two cores: a second thread of torch's only costs.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Read when the kernels are decorated, so before anything imports them; asking torch would cost
# seconds that most tests do not need.
if not Path("/dev/nvidiactl").exists():
    os.environ["TRITON_INTERPRET"] = "1"


LEFT_OUT: pytest.StashKey[dict[str, int]] = pytest.StashKey()


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="every test: whole products, every group")
    parser.addoption(
        "--changed", action="store_true", help="leave out groups whose code has not changed"
    )


def pytest_configure(config):
    config.addinivalue_line("markers", "pairwise: of a product of cases, only each pair is met")
    config.addinivalue_line("markers", "full: a case that runs with --full alone")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--full"):
        items[:], left_out = pairs.choose(items)
        config.hook.pytest_deselected(items=left_out)
    if config.getoption("--changed"):
        from tests import tiers  # reads YAML, which a machine that runs the kernels alone may lack

        items[:], groups = tiers.choose(items)
        for left_out in groups.values():
            config.hook.pytest_deselected(items=left_out)
        config.stash[LEFT_OUT] = {key: len(left_out) for key, left_out in groups.items()}
        if hasattr(config, "workeroutput"):  # of xdist, whose workers collect for the one that says
            config.workeroutput["left_out"] = config.stash[LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", {})


def pytest_terminal_summary(terminalreporter, config):
    for key, count in config.stash.get(LEFT_OUT, {}).items():
        terminalreporter.write_line(f"left out, unchanged since it passed: {key} ({count} tests)")


@pytest.fixture(scope="session")
def compiler():
    """``with compiler.serving():`` compiles in one process, each request once in a run."""
    one = Compiler()
    yield one
    one.close()
