"""Record where and when a program ran: its multiprocessor, and the GPU's clock at start and end."""

import triton
from triton.language.extra.cuda import globaltimer, smid

from .triton_internals import tl


@triton.jit
def clock():
    """Return nanoseconds of the clock that all multiprocessors share."""
    return globaltimer()


@triton.jit
def stamp(STAMPS, began):
    """Write row program_id of STAMPS (programs, 3), int64: multiprocessor, start, end in ns."""
    tl.debug_barrier()  # every warp of the program is done
    row = STAMPS + tl.program_id(0).to(tl.int64) * 3
    tl.store(row, smid().to(tl.int64))
    tl.store(row + 1, began)
    tl.store(row + 2, globaltimer())
