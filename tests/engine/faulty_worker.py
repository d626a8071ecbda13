"""The real worker, in which some seeds break things for real: CUDA's memory and its space."""

import os

from explainer.engine import worker
from explainer.engine.requests import RunRequest

ILLEGAL, FULL = 901, 902


def _illegal() -> None:
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def wild(P):
        at = tl.arange(0, 128).to(tl.int64) * (1 << 40)
        tl.store(P + at, 1.0)

    wild[(1,)](torch.zeros(1, device="cuda"))
    torch.cuda.synchronize()


def _full() -> None:
    import torch

    if torch.cuda.is_available():
        torch.empty(1 << 42, dtype=torch.uint8, device="cuda")
    raise torch.OutOfMemoryError("as the allocator says it")


def main() -> None:
    """Patches what answers, then serves as ever.

    Not behind everybody else: what runs beside the tests may be endless.
    """
    os.nice = lambda by: 0
    worker._prefer_gpu()
    from explainer.engine import jobs

    real = jobs.answer

    def answer(request, report):
        seed = request.problem.seed if isinstance(request, RunRequest) else 0
        if seed == ILLEGAL:
            _illegal()
        if seed == FULL:
            _full()
        return real(request, report)

    jobs.answer = answer
    worker.main()


if __name__ == "__main__":
    main()
