"""Child process of test_varlen.py: compile the kernels of packed sequences and pages for cards that
need not be here."""

import json

import torch

from kernels import checks, decode, gradients, orders
from kernels.checks import DTYPES
from kernels.launching import Launch
from kernels.tables import SPANS
from kernels.triton_internals import compile_for


def main(capability: int, d: int, dtype: str) -> None:
    """Print {kernel: bytes of shared memory} in JSON."""
    compile_for(capability)
    found = {}

    def compile_only(launch: Launch, *tensors: torch.Tensor) -> None:
        found[launch.kernel.fn.__name__] = launch.compile(*tensors).metadata.shared

    Launch.__call__ = compile_only
    orders.card_of = gradients.card_of = lambda device: f"sm_{capability}"
    checks.check_device = lambda device: None
    decode.DECODE = {**decode.DECODE, "interpreter": decode.DECODE["cuda"]}
    x = torch.empty(1, 4, 1024, d, dtype=DTYPES[dtype])
    spans = torch.zeros(1, 1024, 2, dtype=torch.int32)
    o, lse = orders.prepare(x, x, x, mask=SPANS)(x, x, x, spans)
    for deterministic in (False, True):
        gradients.backward(
            o, None, x, x, x, o, lse, method="readable", deterministic=deterministic, spans=spans
        )
    pages, lengths = torch.empty(8, 16, 4, d, dtype=x.dtype), torch.zeros(1, dtype=torch.int32)
    call = decode.prepare(x[:, :, :1], pages, pages, True, None, 2, True, True, 8)
    call(x[:, :, :1], pages, pages, lengths, torch.zeros(1, 8, dtype=torch.int32))
    print(json.dumps(found))
