"""Time of a call: on a clock that only the functions move, and on a GPU where there is one."""

from contextlib import contextmanager

import pytest
import torch

from kernels.measure import calls


class Machine:
    """A host and a GPU that know no time but this: seconds."""

    def __init__(self) -> None:
        self.now = self.done = 0.0

    def clock(self) -> float:
        return self.now

    def wait(self) -> None:
        self.now = max(self.now, self.done)

    def function(self, host_us: float, gpu_us: float):
        def call() -> torch.Tensor:
            self.now += host_us / 1e6
            self.done = max(self.done, self.now) + gpu_us / 1e6
            return torch.zeros(1)

        return call


@pytest.fixture
def machine(monkeypatch) -> Machine:
    made = Machine()
    monkeypatch.setattr(calls, "perf_counter", made.clock)
    monkeypatch.setattr(calls.torch.cuda, "synchronize", made.wait)
    return made


def test_a_loop_waits_for_the_slower_and_the_host_for_itself(machine):
    functions = {
        "host": machine.function(40, 7),
        "gpu": machine.function(40, 400),
        "long": machine.function(40, 13_000),
    }
    found = calls.call_times(functions, {"host": 0.007, "gpu": 0.4, "long": 13.0})
    assert found["long"] == {}, "its host is hidden whatever it does"
    for name, gpu_us, slower_us, loops in (("host", 7, 40, 100), ("gpu", 400, 400, 50)):
        row = found[name]
        assert row["loop_calls"] == loops and row["loop_runs"] >= calls.FEWEST_ROUNDS
        faster_us = min(40, gpu_us)
        expected = (slower_us * loops + faster_us) / loops / 1e3
        assert row["loop_ms"] == pytest.approx(expected)
        assert row["loop_p20_ms"] == pytest.approx(row["loop_p80_ms"])
        assert row["host_us"] == pytest.approx(40)
        assert row["host_runs"] == min(calls.HOST_CALLS, int(calls.HOST_MS * 1e3 / max(10, gpu_us)))
    assert all("graph_ms" not in row for row in found.values())


def test_what_surrounds_a_call_is_not_charged_to_it(machine):
    inside = []

    @contextmanager
    def within():
        machine.now += 1.0
        inside.append(True)
        yield
        inside.pop()

    bare = machine.function(5, 1)

    def call():
        assert inside
        return bare()

    function = calls.Call(call, within=within, seen=lambda o: o + 1)
    assert function() == 1
    (row,) = calls.call_times({"it": function}, {"it": 0.001}).values()
    assert row["host_us"] == pytest.approx(5) and row["loop_ms"] == pytest.approx(0.00501)
    assert not inside


@pytest.mark.gpu
def test_a_graph_is_timed_once_it_is_right():
    x = torch.randn(256, 256, device="cuda")
    kept = torch.zeros(1, device="cuda")

    def counts():
        kept.add_(1)
        return x * kept

    functions = {
        "good": lambda: x @ x,
        "waits": lambda: x * x.sum().item(),
        "counts": counts,
    }
    found = calls.call_times(functions, dict.fromkeys(functions, 0.02), graphs=True)
    for row in found.values():
        assert 0 < row["loop_p20_ms"] <= row["loop_ms"] <= row["loop_p80_ms"]
        assert 0 < row["host_p20_us"] <= row["host_us"] <= row["host_p80_us"]
    assert found["good"]["graph_ms"] > 0 and found["good"]["graph_runs"] == calls.ROUNDS
    assert found["waits"]["graph_refused"].startswith("It cannot be captured")
    assert "differs from the eager one" in found["counts"]["graph_refused"]
