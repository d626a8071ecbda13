"""Write a run as a Python file that repeats it with the kernels alone, without this app."""

from collections.abc import Mapping, Sequence

from explainer.engine import admission
from explainer.engine.requests import ORDERS, RunRequest
from explainer.views.downloads import describe_scores

SCRIPT = '''"""Attention, {shape}: measured once more.

Save this file in the root of the project's repository, beside the folder kernels/, and run it
there: python this_file.py. Without a CUDA GPU it runs small problems in Triton's interpreter,
which checks them but has no speed.

{data}{measured}
"""

import os

{numpy}import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"

import kernels
from kernels.measure.calls import call_times
from kernels.measure.contenders import NotAvailable, contender, head_of, random_tensors
from kernels.measure.memory import peak_bytes
from kernels.measure.timing import interleave
from kernels.spec.cases import BenchmarkCase

METHODS = {methods!r}
RULES = {rules!r}
problem = BenchmarkCase(n={n}, d={d}, dtype={dtype!r}, batch={b}, heads={h}{shared}, **RULES)
device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cpu" and {tiles} > {most}:
    raise SystemExit("{tiles:,} tiles in all: Triton's interpreter takes {most:,}, without a GPU.")
q, k, v = random_tensors(problem, seed={seed}, device=device)
{inputs}{truth}functions = {{}}
for name in METHODS:
    try:
        function = contender(name, problem, q, k, v, block_m={br}, block_n={bc})
        functions[name] = {function}
    except NotAvailable as reason:
        print(f"{{name:15}} {{reason}}")
for name, function in functions.items():
    error = error_of(function())
    print(f"{{name:15}} error {{error:.2e}}, peak {{peak_bytes(function, device):,}} bytes")
if device == "cuda":
    times = interleave(functions, runs=30)
    waited = call_times(functions, {{name: t.median_ms for name, t in times.items()}})
    for name, t in times.items():
        spread = f"p20 {{t.p20_ms:.4f}}, p80 {{t.p80_ms:.4f}}"
        call = waited[name].get("loop_ms", t.median_ms)
        print(f"{{name:15}} {{t.median_ms:.4f}} ms on the GPU, {{spread}}; a call {{call:.4f}} ms")
'''
# One head of the run is NumPy's, as on the Step page; the others come from the device's generator.
DRAWN = """q *= {gain}


def drawn(head):
    random = np.random.default_rng([{seed}, head] if head else {seed})
    numbers = random.standard_normal((3, problem.n, problem.d), dtype=np.float32)
    return [torch.from_numpy(x) for x in numbers]


first = [drawn({head})[0], *drawn({kv_head})[1:]]
{turned}first[0] *= {gain}
for x, one, head in zip((q, k, v), first, ({head}, {kv_head}, {kv_head})):
    x[0, head] = one
"""
# What is judged, and by what: O of two heads, or the gradients of all.
FORWARD = """heads = sorted({{(0, {head}), (problem.batch - 1, problem.heads - 1)}})


def reference(b, h):
    part = head_of(q, k, v, b, h)
    return kernels.reference_attention(*part, **RULES{place})[0][0, 0]


truth = {{head: reference(*head) for head in heads}}


def error_of(o):
    return max((o[head].double() - truth[head]).abs().max().item() for head in heads)


"""
BACKWARD = """leaves = [x.requires_grad_() for x in (q, k, v)]
random = torch.Generator(device).manual_seed({seed})
grad_o = torch.randn(q.shape, device=device, dtype=q.dtype, generator=random)
truth = kernels.reference_gradients(q, k, v, grad_o, **RULES)[:3]


def with_backward(forward):
    return lambda: torch.autograd.grad(forward(), leaves, grad_o)


def error_of(gradients):
    pairs = zip(gradients, truth)
    return max((one.double() - right).abs().max().item() for one, right in pairs)


"""
TURNED = "q, k = (kernels.rope(x, {rope}) for x in (q, k))\n"
FIRST_TURNED = "first[:2] = [kernels.rope(x, {rope}) for x in first[:2]]\n"
SAME = """The numbers are the run's: standard normal, one head from NumPy's generator, any others
from the device's, which differs between CPU and GPU."""
RECORDED = "The numbers are the record's: standard normal, from the GPU's generator."
OTHER = """The numbers are standard normal here; the run's were made from data = {data}, so the
errors differ."""


OF_HEADS = ", of_heads=(h, problem.heads, b)"  # where heads differ in more than their numbers


def write_script(query: Mapping[str, str], measured: Sequence[str] = ()) -> str:
    """Write the file for a run's query, whose block sizes are numbers; ``measured``: lines that
    say what the run found. A query without a seed is a recorded one."""
    problem = RunRequest.from_query({"n": query["n"], **query}).problem
    random, seed = query.get("data") == "random", problem.seed if "seed" in query else 0
    data = OTHER.format(data=query.get("data"))
    if random:
        data = SAME if "seed" in query else RECORDED
    drawn = random and "seed" in query
    own = {key: getattr(problem, key) for key in ("gain", "seed", "head", "kv_head", "rope")}
    turned = FIRST_TURNED.format(**own) if problem.rope else ""
    inputs = f"q *= {problem.gain}\n" * (problem.gain != 1.0)
    inputs = DRAWN.format(**own, turned=turned) if drawn else inputs
    inputs = TURNED.format(**own) * bool(problem.rope) + inputs
    rules = {**problem.rules, **problem.dropped}
    is_backward = query.get("pass") == "backward"
    place = OF_HEADS if problem.score.by_head or problem.dropout else ""
    judged = BACKWARD if is_backward else FORWARD
    heads = int(query["b"]) * int(query["h"])
    orders = [name for name in query["methods"].split(",") if name in ORDERS]
    tiles = heads * sum(admission.tiles_to_run(problem, name) for name in orders)
    passes = ", forward and backward" if is_backward else ""
    shape = (
        f"N = {query['n']}, d = {query['d']}, {describe_scores(query)}, {query['dtype']}{passes}"
    )
    return SCRIPT.format(
        shape=shape + passes,
        data=data,
        inputs=inputs,
        numpy="import numpy as np\n" * drawn,
        measured="".join(f"\n{_plain(line)}" for line in measured),
        methods=tuple(query["methods"].split(",")),
        rules=rules,
        truth=judged.format(head=problem.head, place=place, seed=seed),
        function="with_backward(function)" if is_backward else "function",
        tiles=tiles,
        most=admission.INTERPRETER_TILES * len(orders or [""]),
        shared=f", kv_heads={problem.kv_heads}" if problem.shares else "",
        dtype=query["dtype"],
        seed=seed,
        **{
            key: int(query[key]) if key in query else None
            for key in ("n", "d", "b", "h", "br", "bc")
        },
    )


def _plain(line: str) -> str:
    """A line that cannot end the docstring it stands in."""
    return line.replace("\\", "/").replace('"', "'")
