"""A run as a Python file that repeats it with the kernels alone, without this app."""

from __future__ import annotations

from collections.abc import Mapping

SCRIPT = '''"""Attention, {shape}: measured once more.

Run it from the root of this project, where the folder kernels/ is: python this_file.py
Without a CUDA GPU it runs small problems in Triton's interpreter, which checks them but has no
speed. {data}
"""

import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"

import kernels
from kernels.contenders import NotAvailable, Problem, contender
from kernels.memory import peak_bytes
from kernels.timing import interleave

METHODS = {methods!r}
problem = Problem(n={n}, d={d}, causal={causal}, dtype={dtype!r}, batch={b}, heads={h})
device = "cuda" if torch.cuda.is_available() else "cpu"
q, k, v = problem.tensors(seed={seed}, device=device)
q *= {gain}

truth, _ = kernels.reference_attention(q[:1, :1], k[:1, :1], v[:1, :1], causal=problem.causal)
functions = {{}}
for name in METHODS:
    try:
        functions[name] = contender(name, problem, q, k, v, block_m={br}, block_n={bc})
    except NotAvailable as reason:
        print(f"{{name:15}} {{reason}}")
for name, function in functions.items():
    error = (function()[:1, :1].double() - truth).abs().max().item()
    print(f"{{name:15}} error {{error:.2e}}, peak {{peak_bytes(function, device):,}} bytes")
if device == "cuda":
    for name, t in interleave(functions, runs=30).items():
        print(f"{{name:15}} {{t.median_ms:.4f}} ms, p20 {{t.p20_ms:.4f}}, p80 {{t.p80_ms:.4f}}")
'''
SAME = "The numbers are standard normal, as in the run."
OTHER = "The numbers are standard normal here; the run's were made from data = {data}."


def script(query: Mapping[str, str]) -> str:
    """The file for a run's query, whose block sizes are numbers."""
    random = query.get("data") == "random"
    shape = f"N = {query['n']}, d = {query['d']}, {query['mask']}, {query['dtype']}"
    return SCRIPT.format(
        shape=shape,
        data=SAME if random else OTHER.format(data=query.get("data")),
        methods=tuple(query["methods"].split(",")),
        n=int(query["n"]),
        d=int(query["d"]),
        causal=query["mask"] == "causal",
        dtype=query["dtype"],
        b=int(query["b"]),
        h=int(query["h"]),
        seed=int(query.get("seed", 0)),
        gain=float(query.get("gain", 1.0)),
        br=int(query["br"]) if "br" in query else None,
        bc=int(query["bc"]) if "bc" in query else None,
    )
