"""How many thread blocks a multiprocessor holds at once. Pure."""

from __future__ import annotations

# Per multiprocessor (CUDA C++ Programming Guide, technical specifications per compute capability):
# shared KiB, of which so many are reserved per block, threads, blocks. All have 65,536 registers,
# given out 256 at a time to a warp, at most 255 to a thread.
SM_LIMITS = {
    "sm_75": (64, 0, 1024, 16),
    "sm_80": (164, 1, 2048, 32),
    "sm_89": (100, 1, 1536, 24),
    "sm_90": (228, 1, 2048, 32),
    "sm_100": (228, 1, 2048, 32),
    "sm_120": (100, 1, 1536, 24),
}
REGISTERS, MOST_REGISTERS = 65536, 255


def allocated_registers(num_warps: int, registers: int) -> int:
    """Registers that a block takes of an SM: of each warp in steps of 256, so of each thread in
    steps of eight."""
    return num_warps * (-(-registers * 32 // 256) * 256)


def room(arch: str, num_warps: int, registers: int, shared_bytes: int) -> dict[str, int]:
    """{resource: how many blocks it would allow alone}; ``registers`` per thread, ``shared_bytes``
    per block."""
    shared_kib, reserved_kib, threads, blocks = SM_LIMITS[arch]
    by_registers = REGISTERS // allocated_registers(num_warps, registers)
    return {
        "registers": by_registers if registers <= MOST_REGISTERS else 0,
        "shared memory": shared_kib * 1024 // (shared_bytes + reserved_kib * 1024),
        "threads": threads // (32 * num_warps),
        "blocks": blocks,
    }


def occupancy(arch: str, num_warps: int, registers: int, shared_bytes: int) -> tuple[int, str]:
    """Blocks that one multiprocessor holds at once, and what stops it from holding one more."""
    found = room(arch, num_warps, registers, shared_bytes)
    limit = "shared memory" if not found["shared memory"] else min(found, key=found.__getitem__)
    return found[limit], limit
