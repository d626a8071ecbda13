"""Large blocks go back to the system, also after larger ones have been freed."""

import subprocess
import sys

import pytest

# Frees 16 MiB, after which glibc would take 1 MiB from its heap; says whether it came from the
# system.
SCRIPT = """
import ctypes
from explainer.web import heap
if {first}:
    heap.return_freed_memory()
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


@pytest.mark.skipif(sys.platform != "linux", reason="another C library")
def test_what_lies_free_among_small_blocks_goes_back_from_time_to_time():
    """All small blocks but the last, which keeps the heap from shrinking by itself."""
    script = """
import ctypes, threading
from explainer.web import heap
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
blocks = [libc.malloc(8192) for _ in range(12_000)]
for block in blocks:
    ctypes.memset(block, 1, 8192)
held = lambda: int(open("/proc/self/statm").read().split()[1])
for block in blocks[:-1]:
    libc.free(ctypes.c_void_p(block))
before = held()
heap.TRIM_S = 0.01
heap.return_freed_memory()
while held() > before - 10_000:  # pages: 40 MiB of the 96
    threading.Event().wait(0.01)
print("given back")
"""
    run = [sys.executable, "-c", script]
    found = subprocess.run(run, capture_output=True, text=True, timeout=60)
    assert found.stdout.strip() == "given back", found.stderr
