"""Prepared calls: what is cached and what is not; on a GPU that a cached launch is right again."""

import threading
import weakref
from functools import partial

import pytest
import torch
from triton.runtime.errors import OutOfResources

import kernels
from kernels import fa2, hopper, launching, orders
from tests.kernels.attention_checks import DEVICE, assert_attention, full_and_causal, make_qkv
from tests.tables import table

on_gpu = pytest.mark.gpu
EMPTY, RULES = table(__file__).values()
FAST = [
    *(
        pytest.param(partial(kernels.flash_attention, order=order), id=order)
        for order in ("fa2", "fa1", "standard")
    ),
    pytest.param(partial(hopper.flash_attention), id="hopper"),
    pytest.param(partial(kernels.attention), id="attention"),
]
of_each_kernel = pytest.mark.parametrize("attend", FAST)


@pytest.fixture(autouse=True)
def only_where_it_runs(request):
    named = request.node.callspec.id if hasattr(request.node, "callspec") else ""
    if "hopper" in named.split("-"):
        q = torch.zeros(1, 1, 1, 64, dtype=torch.bfloat16, device=DEVICE)
        if reason := hopper.why_not(q, q, q):
            pytest.skip(reason)


class Prepared:
    """Counts how often something is prepared, and hands back what it was prepared for."""

    def __init__(self):
        self.count = 0

    def __call__(self, q, k, v, *options):
        if "bad" in options:
            raise ValueError("bad")
        self.count += 1
        made = self.count
        return lambda *tensors: (made, options)


def test_a_call_is_prepared_once_a_key():
    prepare = Prepared()
    calls = launching.Calls(prepare)
    q, k, v = make_qkv(8, 16, dtype="fp16")
    assert calls(q, k, v, None)[0] == calls(q.clone(), k.clone(), v.clone(), None)[0] == 1
    wide = torch.zeros(*q.shape[:-1], 32, dtype=q.dtype, device=DEVICE)
    others = [
        (q, k, v, 0.5),
        (q.bfloat16(), k.bfloat16(), v.bfloat16(), None),
        (q[:, :, :5], k, v, None),
        (wide[..., :16], k, v, None),
        (wide[..., 1:17], k, v, None),
        (q, k, v, None, "causal"),
    ]
    for number, one in enumerate(others, 2):
        assert calls(*one)[0] == calls(*one)[0] == number


def test_a_refusal_is_not_kept_and_too_many_keys_are_dropped(monkeypatch):
    prepare = Prepared()
    calls = launching.Calls(prepare)
    q, k, v = make_qkv(8, 16)
    for _ in range(2):
        with pytest.raises(ValueError, match="bad"):
            calls(q, k, v, "bad")
    assert not calls.cache
    monkeypatch.setattr(launching, "MAX_CALLS", 3)
    for scale in range(10):
        assert calls(q, k, v, scale)[1] == (scale,)
        assert len(calls.cache) <= 3


@pytest.mark.parametrize("call", [kernels.flash_attention, kernels.tile_states])
def test_a_tile_that_does_not_fit_is_one_sentence_and_is_not_kept(call, monkeypatch):
    """Triton says so when it has compiled, in the first launch."""

    class TooLarge:
        def __getitem__(self, grid):
            raise OutOfResources(262_144, 232_448, "shared memory")

    q, k, v = make_qkv(8, 16)
    with monkeypatch.context() as planted:
        planted.setattr(fa2, "fa2_kernel", TooLarge())
        planted.setattr(orders, "_calls", launching.Calls(orders.prepare))
        with pytest.raises(RuntimeError, match=r"do not fit this GPU at d = 16: shared memory"):
            call(q, k, v, block_m=64, block_n=32)
    call(q, k, v, block_m=64, block_n=32)


@of_each_kernel
@pytest.mark.parametrize(("batch", "heads", "n_q", "n_k"), EMPTY)
def test_empty_input(attend, batch, heads, n_q, n_k):
    """As PyTorch's: nothing for no row, 0 (and lse −∞) where no key exists."""
    q, k, v = (
        torch.ones(batch, heads, n, 64, dtype=torch.float16, device=DEVICE) for n in (n_q, n_k, n_k)
    )
    o, lse = attend(q, k, v, return_lse=True)
    assert o.shape == q.shape and o.dtype == q.dtype and not o.any()
    assert lse.shape == q.shape[:-1] and lse.isneginf().all()


def test_empty_input_has_no_tile_states():
    q = torch.ones(1, 2, 5, 16, device=DEVICE)
    m, l = kernels.tile_states(q, q[:, :, :0], q[:, :, :0], block_m=4, block_n=4)
    assert m.shape == l.shape == (1, 2, 2, 0, 4)


@on_gpu
@of_each_kernel
@pytest.mark.parametrize("rules", RULES)
def test_kept_launches_are_right_wherever_the_tensors_lie(attend, rules):
    """The second call and all later ones are launched directly; what they leave out is NaN. With
    tables each call has a sink of its own."""
    if rules.get("score") and attend.func is hopper.flash_attention:
        pytest.skip("the Hopper kernel takes no such rules")
    for seed in range(4):
        torch.manual_seed(seed)
        q, k, v = make_qkv(257, 64, batch=2, heads=4, k_heads=2, dtype="bf16")
        torch.full((1 << 22,), float("nan"), device="cuda")  # what torch.empty hands out next
        order = attend.keywords.get("order", "fa2")
        sink = torch.randn(4, device="cuda") if "score" in rules else None
        assert_attention(q, k, v, attend, **rules, sink=sink, order=order)


@on_gpu
@pytest.mark.parametrize("attend", [one for one in FAST if one.id != "hopper"])
def test_an_address_that_is_no_multiple_of_16(attend):
    """Triton compiles two variants; a kept launch of the one must not serve the other."""
    wide = [torch.randn(1, 2, 100, 72, device="cuda").half() for _ in range(3)]
    for start in (0, 1, 8, 3, 0, 1):
        q, k, v = (x[..., start : start + 64] for x in wide)
        assert_attention(q, k, v, attend, order=attend.keywords.get("order", "fa2"))


@on_gpu
@of_each_kernel
def test_launch_hooks_see_every_launch(attend):
    from triton import knobs

    q, k, v = make_qkv(128, 64, dtype="fp16")
    attend(q, k, v)
    want = attend(q, k, v)
    seen = []

    def hook(metadata):
        seen.append(metadata.get()["name"])

    knobs.runtime.launch_enter_hook.add(hook)
    try:
        assert torch.equal(attend(q, k, v), want)
    finally:
        knobs.runtime.launch_enter_hook.remove(hook)
    assert seen
    count = len(seen)
    attend(q, k, v)
    assert len(seen) == count


@on_gpu
@of_each_kernel
def test_threads_and_streams_at_once(attend):
    """Four threads, each on a stream of its own, with shapes of its own and one that all share."""
    problems = [make_qkv(n, 64, heads=8, dtype="bf16") for n in (512, 300, 1024, 700, 512)]
    want = [attend(*one, causal=True) for one in problems]
    torch.cuda.synchronize()
    wrong = []

    def work(turn: int) -> None:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for repeat in range(60):
                which = (turn, 4)[repeat % 2]
                o = attend(*problems[which], causal=True)
                stream.synchronize()
                if not torch.equal(o, want[which]):
                    wrong.append((turn, repeat))

    threads = [threading.Thread(target=work, args=(turn,)) for turn in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@on_gpu
@full_and_causal
@of_each_kernel
def test_graphs_replayed_at_once(attend, causal):
    """Four graphs, captured one after the other, on four streams; outputs are NaN before."""
    made = []
    for n in (512, 2048, 512, 2048):
        q, k, v = make_qkv(n, 64, batch=2, heads=16, dtype="bf16", seed=len(made))
        want = attend(q, k, v, causal=causal)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            o = attend(q, k, v, causal=causal)
        made.append((torch.cuda.Stream(), graph, (q, k, v), o, want))  # inputs live as long
    for _ in range(150):
        for *_, o, _ in made:
            o.fill_(float("nan"))
        torch.cuda.synchronize()
        for stream, graph, *_ in made:
            with torch.cuda.stream(stream):
                graph.replay()
        torch.cuda.synchronize()
        assert all(torch.equal(o, want) for *_, o, want in made)


@on_gpu
def test_another_device_than_the_current_one():
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    for attend in (kernels.flash_attention, kernels.attention):
        for device in ("cuda:1", "cuda:0", "cuda:1"):
            q, k, v = (x.to(device) for x in make_qkv(130, 64, dtype="bf16"))
            assert_attention(q, k, v, attend)


@pytest.mark.parametrize("order", orders.ORDERS)
def test_a_prepared_call_holds_none_of_its_tensors(order):
    q, k, v = make_qkv(12, 16)
    kernels.flash_attention(q, k, v, order=order)
    alive = [weakref.ref(x) for x in (q, k, v)]
    del q, k, v
    assert not any(x() is not None for x in alive)
