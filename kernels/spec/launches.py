"""How the kernels divide work among programs: heads side by side, parts of the keys. Pure."""

from __future__ import annotations

SECTION_HEADS = 16  # at most, side by side under a causal mask; see LOG.md 14
SECTION_BYTES = 64 << 20  # of their K and V, at most

MAX_PARTS = 256  # one program of the combine loads a piece of each part
PROGRAMS_A_MULTIPROCESSOR = 2
MIN_KEYS = 128  # of a part; a tile of keys is never larger


def section(n_k: int, d: int, itemsize: int) -> int:
    """Return the number of heads whose row blocks are adjacent in a causal launch: enough to fill
    the end of the launch, few enough that their K and V stay in L2."""
    return max(1, min(SECTION_HEADS, SECTION_BYTES // (2 * n_k * d * itemsize)))


def parts_for(programs: int, n_k: int, sms: int) -> int:
    """Return the number of parts that the keys are split into: as many as give each multiprocessor
    two programs, at most one for 128 keys, and at most 256.

    `programs`: of a launch with the keys in one part, B · Hk · row blocks; `sms`: multiprocessors.
    """
    wanted = PROGRAMS_A_MULTIPROCESSOR * sms // programs
    return max(1, min(wanted, n_k // MIN_KEYS, MAX_PARTS))
