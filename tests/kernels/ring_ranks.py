"""Four processes that are the ranks of a ring: started once, each given calls by name."""

import multiprocessing
import os
import random
import time
import traceback
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from unittest import mock

import torch
import torch.distributed as dist

import kernels
from kernels import gradients, ring
from kernels.spec import layouts, masks
from tests.by_hand import draw_mask
from tests.kernels.attention_checks import assert_attention, make_qkv
from tests.kernels.gradient_checks import assert_gradients, like

ON_GPU = torch.cuda.is_available()
RANKS = torch.cuda.device_count() if ON_GPU else 4
SECONDS = 240  # for a call, on a busy machine
MASKS = ("full", "causal", "causal&window:{},0", "window:{},{}")


@dataclass(frozen=True)
class Call:
    """A problem that P ranks share; everything but the ranks' own rows is drawn from it."""

    ranks: int
    n: int
    d: int
    mask: str
    layout: str
    dtype: str = "fp32"
    k_heads: int = 1
    group: int = 1
    seed: int = 0
    fault: str = ""
    options: dict = field(default_factory=dict)

    def tensors(self) -> list[torch.Tensor]:
        """q, k, v and dO of the whole problem."""
        heads = self.k_heads * self.group
        sizes = {"heads": heads, "k_heads": self.k_heads, "dtype": self.dtype, "seed": self.seed}
        q, k, v = (x.cpu() for x in make_qkv(self.n, self.d, **sizes))
        return [q, k, v, like(q)]

    def rows(self, rank: int) -> torch.Tensor:
        """Where this rank's rows lie, by the definition of the layouts in PyTorch's words."""
        if self.layout == "contiguous":
            return torch.arange(self.n).tensor_split(self.ranks)[rank]
        chunks = torch.arange(self.n).tensor_split(2 * self.ranks)
        return torch.cat((chunks[rank], chunks[2 * self.ranks - 1 - rank]))


def random_call(number: int) -> Call:
    """The call of this number, from it alone."""
    r = random.Random(number)
    ranks = min(r.choice([2, 3, 4]), RANKS)
    n = r.randint(2 * ranks, 72)
    window = r.choice(MASKS).format(r.randint(0, n // 2), r.randint(0, n // 2))
    return Call(
        ranks, n, r.choice([4, 8, 16, 20]), draw_mask(r, n) if r.random() < 0.25 else window,
        r.choice(layouts.LAYOUTS), ("fp32", "fp16", "bf16")[number % 3],
        r.choice([1, 2]), r.choice([1, 2]), number,
    )  # fmt: skip


def _rank(rank: int, store: str, pipe) -> None:
    """Serve calls until the pipe closes."""
    torch.set_num_threads(1)
    if ON_GPU:
        torch.cuda.set_device(rank)
    backend = "nccl" if ON_GPU else "gloo"
    dist.init_process_group(backend, init_method=f"file://{store}", rank=rank, world_size=RANKS)
    groups = {p: dist.new_group(range(p)) for p in range(1, RANKS + 1)}
    while (request := pipe.recv()) is not None:
        name, *arguments = request
        try:
            pipe.send(globals()[name](rank, groups, *arguments))
        except Exception as error:
            pipe.send(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
    dist.destroy_process_group()


def _device(rank: int) -> str:
    return f"cuda:{rank}" if ON_GPU else "cpu"


def attend(rank: int, groups: dict, call: Call):
    """O, lse, dQ, dK and dV of this rank's rows; None of a rank that has no part in it."""
    if rank >= call.ranks:
        return None
    own = (x[:, :, call.rows(rank)] for x in call.tensors())
    q, k, v, grad_o = (x.to(_device(rank)) for x in own)
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    how = {"group": groups[call.ranks], "mask": call.mask, "layout": call.layout, **call.options}
    with planted(call.fault):
        o, lse = kernels.ring_attention(*leaves, **how, return_lse=True)
        grads = torch.autograd.grad(o, leaves, grad_o)
    return [x.detach().float().cpu().numpy() for x in (o, lse, *grads)]


def copies(rank: int, groups: dict):
    """Whether K and V of the largest group go by copies."""
    return ring.direct._inboxes.get(groups[RANKS]) is not None


def cross(rank: int, groups: dict, n_q: int, n_k: int, mask: str, layout: str):
    """O and lse of this rank's rows where queries and keys differ in number."""
    q, k, v = make_qkv(n_q, 8, n_k=n_k)
    q, k, v = (x.tensor_split(RANKS, 2)[rank] for x in (q, k, v))
    how = {"group": groups[RANKS], "mask": mask, "layout": layout}
    return [x.numpy() for x in kernels.ring_attention(q, k, v, **how, return_lse=True)]


def differ(rank: int, groups: dict):
    """What rank 3's other d is answered with."""
    x = torch.zeros(1, 1, 4, 16 if rank == 3 else 8)
    try:
        kernels.ring_attention(x, x, x, group=groups[RANKS])
    except ValueError as error:
        return str(error)


def hang(rank: int, groups: dict, who: int, how: str):
    """Call with 2 s of patience while rank `who` ends, or sleeps for longer."""
    if rank == who and how == "killed":
        os._exit(9)
    if rank == who:
        time.sleep(8)
        return "slept"
    started = time.monotonic()
    x = torch.randn(1, 1, 4, 8, device=_device(rank))
    try:
        kernels.ring_attention(x, x, x, group=groups[RANKS], timeout=2.0)
    except kernels.PeerError as error:
        return str(error), time.monotonic() - started


class Ranks:
    """The processes, and what one asks of them."""

    def __init__(self, folder) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipes, self.processes = [], []
        for rank in range(RANKS):
            mine, its = context.Pipe()
            process = context.Process(target=_rank, args=(rank, f"{folder}/store", its))
            process.start()
            its.close()
            self.pipes.append(mine)
            self.processes.append(process)

    def ask(self, *request, but=None) -> list:
        """What each rank answers, `but` one that cannot. Fails after SECONDS."""
        found = []
        for pipe in self.pipes:
            pipe.send(request)
        for rank in {*range(RANKS)} - {but}:
            assert self.pipes[rank].poll(SECONDS), f"rank {rank} does not answer"
            found.append(self.pipes[rank].recv())
        errors = [one for one in found if isinstance(one, str) and "Traceback" in one]
        assert not errors, errors[0]
        return found

    def close(self) -> None:
        """End all; none may be left."""
        for pipe in self.pipes:
            try:
                pipe.send(None)
            except (BrokenPipeError, ConnectionResetError):
                continue
        for process in self.processes:
            process.join(120)
            alive = process.is_alive()
            process.kill()
            assert not alive, "a rank is left over"

    def whole(self, call: Call) -> list[torch.Tensor]:
        """O, lse, dQ, dK and dV of the whole problem, put together from the ranks' rows."""
        found = self.ask("attend", call)
        q, k, *_ = call.tensors()
        whole = [torch.zeros_like(x, dtype=torch.float32) for x in (q, q[..., 0], q, k, k)]
        for rank in range(call.ranks):
            for all_rows, one in zip(whole, found[rank], strict=True):
                all_rows[:, :, call.rows(rank)] = torch.from_numpy(one)
        return [x if i == 1 else x.to(q.dtype) for i, x in enumerate(whole)]

    def judge(self, call: Call) -> None:
        """Judge all five by the rules of one device, against float64."""
        o, lse, *grads = self.whole(call)
        q, k, v, grad_o = call.tensors()
        assert_attention(q, k, v, lambda *_, **__: (o, lse), mask=call.mask)
        assert_gradients(grads, q, k, v, grad_o, mask=call.mask)


EXCHANGE, AT, BACKWARD = ring._Group.exchange, masks.Mask.at, gradients.backward


def other_way_round(group, tensors, rows, hops, what):
    """K and V travel the other way round."""
    return EXCHANGE(group, tensors, rows, -hops if what == "K and V" else hops, what)


def merged_alike(o, lse, part, part_lse):
    """Each part weighs the same as what was before it, however large its lse."""
    o.copy_((o + part) / 2)
    lse.copy_(torch.logaddexp(lse, part_lse))


def shifted(mask, rows, keys):
    """A mask is shifted by one row too many."""
    return AT(mask, rows + 1, keys)


def of_its_own_lse(grad_o, grad_lse, q, k, v, o, lse, **how):
    """Each part's backward gets the lse of its own scores, not the merged one."""
    _, own = kernels.dispatch._run(q, k, v, mask=how["mask"], scale=how["scale"])
    return BACKWARD(grad_o, grad_lse, q, k, v, o, own, **how)


# K and V of GPUs go by NCCL: no fault, but another way.
NO_COPIES = (ring.direct, "inboxes", lambda *_: None)
FAULTS = {
    "": [],
    "no copies": [NO_COPIES],
    "rotation": [NO_COPIES, (ring._Group, "exchange", other_way_round)],
    "merge": [(ring, "merge", merged_alike)],
    "offset": [(masks.Mask, "at", shifted)],
    "backward": [(gradients, "backward", of_its_own_lse)],
}


@contextmanager
def planted(fault: str):
    """Within the block the ranks' code has this fault."""
    with ExitStack() as stack:
        for one in FAULTS[fault]:
            stack.enter_context(mock.patch.object(*one))
        layouts.plan.cache_clear()
        yield
    layouts.plan.cache_clear()
