"""Mistakes planted in four right implementations: planted.yaml says which, and where."""

from pathlib import Path

from tests.tables import table

RIGHT = Path(__file__).parent / "right"
NUMPY, TORCH, TRITON, CS336 = "numpy_loop", "torch_loop", "triton_kernel", "cs336_style"

# Implementation → step → what stands there; key → implementation → step → what stands there instead
STEPS, PLANTED = table(__file__).values()


def plant(key: str | None, implementation: str) -> str:
    """Return the source of an implementation with a mistake, or none. A step must stand there once
    for each place that the mistake changes."""
    source = (RIGHT / f"{implementation}.py").read_text(encoding="utf-8")
    for step, new in PLANTED[key][implementation].items() if key else ():
        old = STEPS[implementation][step]
        assert source.count(old) == 1, (key, implementation, step, source.count(old))
        source = source.replace(old, new)
    return source
