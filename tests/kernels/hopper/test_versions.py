"""The Triton that the Hopper kernel is trusted with: run on a card, or checked on the spot."""

import threading
from itertools import product

import pytest
import torch

from kernels import hopper, reference
from kernels.hopper import versions
from tests.kernels.attention_checks import hopper_only
from tests.kernels.hopper.conftest import PROBLEMS

HERE = torch.device("cpu")


@pytest.fixture(autouse=True)
def unknown(monkeypatch):
    """A version that nobody has run, nothing checked yet, few heads."""
    monkeypatch.setattr(versions, "installed", lambda: "9.8.7")
    monkeypatch.setattr(versions, "_answers", {})
    monkeypatch.setattr(versions, "HEADS", 2)


def rounded(q, k, v, causal):
    """Attention as exact as a kernel's: computed in float64, rounded once."""
    return reference.reference_attention(q, k, v, causal=causal)[0].to(q.dtype)


class Counted:
    def __init__(self, run):
        self.run, self.calls, self.seen = run, 0, set()

    def __call__(self, q, k, v, causal):
        self.calls += 1
        self.seen.add((q.shape[3], causal, q.dtype))
        return self.run(q, k, v, causal)


def test_a_version_in_the_table_is_trusted_unseen(monkeypatch):
    for release in versions.RUN_ON_A_CARD:
        monkeypatch.setattr(versions, "installed", lambda release=release: f"{release}.1")
        versions._answers.clear()
        assert versions.trusted(HERE, None) == ""


@pytest.mark.parametrize(("version", "release"), PROBLEMS["triton, releases"])
def test_only_releases_share_an_entry(version, release):
    assert versions.release(version) == release


def test_an_exact_kernel_is_trusted_after_one_check_in_a_process():
    run = Counted(rounded)
    threads = [threading.Thread(target=versions.trusted, args=(HERE, run)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert versions.trusted(HERE, run) == ""
    assert run.calls == len(versions.CASES)
    assert versions.trusted(torch.device("cpu", 0), run) == "", "another device is asked for itself"
    assert run.calls == 2 * len(versions.CASES)
    assert {x[:2] for x in run.seen} == {*product((64, 128), (False, True))}
    assert {x[::2] for x in run.seen} == {*product((64, 128), (torch.float16, torch.bfloat16))}


def forgets_the_mask(q, k, v, causal):
    return rounded(q, k, v, False)


def loses_the_last_key(q, k, v, causal):
    if causal:
        return rounded(q, k, v, True)
    return rounded(q, k[:, :, :-1], v[:, :, :-1], False)


def leaves_a_row_out(q, k, v, causal):
    o = rounded(q, k, v, causal)
    o[0, -1, -1] = float("nan")
    return o


def rounds_too_often(q, k, v, causal):
    return rounded(q, k, v, causal) * (1 + 8 * torch.finfo(q.dtype).eps)


WRONG = [forgets_the_mask, loses_the_last_key, leaves_a_row_out, rounds_too_often]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda run: run.__name__)
def test_a_wrong_kernel_is_refused_with_the_error_found(wrong):
    run = Counted(wrong)
    said = versions.trusted(HERE, run)
    assert said.startswith("Triton 9.8.7 makes the Hopper kernel compute wrong values (d = 64, ")
    assert "an error of " in said and said.endswith(" is allowed.")
    calls = run.calls
    assert versions.trusted(HERE, run) == said and run.calls == calls, "asked once"


def test_a_kernel_that_does_not_compile_is_refused_with_the_cause():
    def run(q, k, v, causal):
        try:
            raise RuntimeError("async_load has been removed.")
        except RuntimeError as cause:
            raise ValueError("at 60:12:\n  many lines of the kernel") from cause

    assert versions.trusted(HERE, run) == (
        "Triton 9.8.7 does not run the Hopper kernel (d = 64, full, bfloat16): "
        "RuntimeError: async_load has been removed."
    )


def test_no_room_for_the_check_is_no_judgment():
    def run(q, k, v, causal):
        raise torch.cuda.OutOfMemoryError("no room")

    with pytest.raises(torch.cuda.OutOfMemoryError):
        versions.trusted(HERE, run)
    assert versions.trusted(HERE, rounded) == ""


def test_nothing_is_checked_while_a_graph_is_captured(monkeypatch):
    with monkeypatch.context() as capturing:
        capturing.setattr(versions, "_capturing", lambda device: True)
        said = versions.trusted(HERE, None)
    assert "9.8.7 is not yet checked" in said and "once before" in said
    assert versions.trusted(HERE, rounded) == "", "the answer was for the capture only"


def test_the_check_leaves_the_random_state_alone():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    assert versions.trusted(HERE, rounded) == ""
    assert torch.equal(torch.get_rng_state(), before)


@hopper_only
def test_the_installed_version_passes_the_check(monkeypatch):
    monkeypatch.undo()  # all heads, the real version
    device = torch.device("cuda", torch.cuda.current_device())
    run = Counted(lambda q, k, v, causal: hopper.flash_attention(q, k, v, causal=causal))
    assert versions.check(device, run) == ""
    assert run.calls == len(versions.CASES)
    assert versions.check(device, forgets_the_mask) != ""
