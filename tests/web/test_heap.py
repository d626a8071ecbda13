"""Large blocks go back to the system, also after larger ones have been freed."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Frees 16 MiB, after which glibc would take 1 MiB from its heap; says whether it came from the
# system.
SCRIPT = """
import ctypes
from explainer.web import heap
if {first}:
    heap.give_back()
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks more".split()]
    _fields_ += [(f"f{{k}}", ctypes.c_size_t) for k in range(5)]
mallinfo = ctypes.CDLL(None).mallinfo2
mallinfo.restype = Info
large = bytearray(16 << 20)
del large
before = mallinfo().hblks
held = bytearray(1 << 20)
print(mallinfo().hblks - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="another C library")
@pytest.mark.parametrize("first", [True, False])
def test_a_large_block_comes_from_the_system(first):
    run = [sys.executable, "-c", SCRIPT.format(first=first)]
    found = subprocess.run(run, capture_output=True, text=True)
    if "mallinfo2" in found.stderr:
        pytest.skip("another C library")
    assert found.stdout.strip() == str(int(first)), found.stderr
