"""Ask PyTorch's SDPA which backend it picks for an input, and why not the others.

`python -m kernels.measure.chooser` asks on this GPU, in both passes, with and without a causal
mask, in each precision, at each head dimension of D; assets/recorded/choices_<gpu>.json holds it.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch.backends import cuda
from torch.nn.attention import SDPBackend

from ..checks import DTYPES
from ..spec.fields import PASSES
from .recording import FOLDER, describe, require_gpu, write_rows

D = (16, 32, 64, 80, 96, 128, 160, 192, 256, 512)
N, HEADS = 4096, 16  # the choice depends on neither

# contender → its backend, and PyTorch's function that says whether it can run
SDPA = {
    "sdpa_flash": SDPBackend.FLASH_ATTENTION,
    "sdpa_cudnn": SDPBackend.CUDNN_ATTENTION,
    "sdpa_efficient": SDPBackend.EFFICIENT_ATTENTION,
    "sdpa_math": SDPBackend.MATH,
}
_CAN_USE = {
    "sdpa_flash": cuda.can_use_flash_attention,
    "sdpa_cudnn": cuda.can_use_cudnn_attention,
    "sdpa_efficient": cuda.can_use_efficient_attention,
}
_NAMES = {int(backend.value): name for name, backend in SDPA.items()}

# "[W… sdp_utils.cpp:255] Warning: … (function check_head_dim)", as PyTorch's C++ writes it
_WARNING = re.compile(r"Warning: (.*?)(?: \(function \w+\))?$", re.MULTILINE)


def sdpa_choice(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool) -> dict:
    """Return {"picked": contender or None, "reasons": {contender: sentence}}, of (B, H, N, d).

    The reasons are PyTorch's own warnings. A backend that could run but was not picked has "":
    PyTorch goes by an order of preference.
    """
    choose: Callable = getattr(torch, "_fused_sdp_choice")  # noqa: B009 — it has no public name
    number = choose(q, k, v, None, 0.0, causal)
    parameters = cuda.SDPAParams(q, k, v, None, 0.0, causal, False)
    reasons = {}
    for name, can_use in _CAN_USE.items():
        with _stderr() as written:
            works = can_use(parameters, debug=True)
            texts = dict.fromkeys(_WARNING.findall(written()))
        reasons[name] = "" if works else " ".join(texts) or "PyTorch gives no reason."
    return {"picked": _NAMES.get(int(number)), "reasons": reasons}


@contextmanager
def _stderr() -> Iterator[Callable[[], str]]:
    """Yield a function to what is written to file descriptor 2 within the block: these warnings do
    not pass through Python."""
    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)

        def text() -> str:
            file.seek(0)
            return file.read().decode("utf-8", "replace")

        try:
            yield text
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=describe(__doc__))
    parser.add_argument("--out", type=Path, help="in place of a file in assets/recorded")
    args = parser.parse_args()
    require_gpu("chooser")
    device = "_".join(torch.cuda.get_device_name().lower().split())
    rows = []
    for pass_, dtype, mask, d in itertools.product(PASSES, DTYPES, ("full", "causal"), D):
        q = torch.zeros(1, HEADS, N, d, dtype=DTYPES[dtype], device="cuda")
        q.requires_grad_(pass_ == "backward")
        row = {"d": d, "mask": mask, "dtype": dtype, "pass": pass_}
        rows.append(row | sdpa_choice(q, q, q, causal=mask == "causal"))
    path = args.out or FOLDER / f"choices_{device}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_rows(path, "python -m kernels.measure.chooser", rows)
    print(f"{len(rows)} rows: {path}")


if __name__ == "__main__":
    main()
