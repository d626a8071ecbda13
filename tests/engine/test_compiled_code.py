"""Code on request: a bad query gives one sentence, marked lines hold matrix instructions."""

import re

import pytest

from explainer.base.fields import ProblemError
from explainer.base.records import rows_where
from explainer.engine import compiled_code
from kernels.measure import compiling
from tests.tables import table

GOOD = {"arch": "sm_80", "d": "64", "br": "32", "bc": "32", "mask": "full", "kind": "ptx"}
TILES = {"sm_80": ("32", "32"), "sm_90": ("64", "64")}  # below 64 rows Hopper has no wgmma
PTX = {"sm_80": "mma.sync.aligned", "sm_90": "wgmma.mma_async.sync.aligned"}
SASS = {"sm_80": "HMMA.", "sm_90": "HGMMA."}


@pytest.fixture(scope="module")
def texts(compiler) -> dict[tuple[str, str], dict]:
    """PTX and SASS of one small tile for two cards, compiled in this machine's Triton."""

    def both(arch: str) -> list[dict]:
        br, bc = TILES[arch]
        asked = GOOD | {"arch": arch, "br": br, "bc": bc}
        return [compiled_code.code(asked | {"kind": kind}) for kind in compiled_code.KINDS]

    with compiler.serving():
        found = [both(arch) for arch in TILES]
    return {(arch, r["kind"]): r for arch, pair in zip(TILES, found, strict=True) for r in pair}


@pytest.mark.parametrize("arch", TILES)
@pytest.mark.parametrize("kind", compiled_code.KINDS)
def test_marked_lines_are_the_matrix_instructions(texts, arch, kind):
    found = texts[arch, kind]
    word = (PTX if kind == "ptx" else SASS)[arch]
    lines = found["text"].splitlines()
    assert found["marked"] and found["kind"] == kind
    for k in found["marked"]:
        assert word in lines[k], lines[k]
    products = [k for k, line in enumerate(lines) if re.search(r"\bH?G?MMA\b|mma[._]\w*sync", line)]
    assert found["marked"] == products  # no product is left out


@pytest.mark.parametrize("arch", TILES)
def test_texts_are_of_this_kernel_for_this_card(texts, arch):
    ptx, sass = texts[arch, "ptx"], texts[arch, "sass"]
    assert f".target {arch}" in ptx["text"] and "fa2_kernel" in ptx["text"]
    assert "EXIT" in sass["text"] and "/* 0x" not in sass["text"]
    other = {"sm_80": "wgmma", "sm_90": "mma.sync.aligned.m16"}[arch]
    assert other not in ptx["text"]
    br, bc = (int(x) for x in TILES[arch])
    tile = {"d": 64, "block_m": br, "block_n": bc, "causal": False, "order": "fa2"}
    (row,) = rows_where("compiled", arch=arch, **tile)
    for report in (ptx, sass):
        assert report["shared_bytes"] == row["shared_bytes"] and report["spill_bytes"] == 0
        assert re.fullmatch(r"\d+\.\d+\.\d+\S*", report["triton"])


@pytest.mark.parametrize(("key", "value"), [*table(__file__), ("kind", "x" * 10_000)])
def test_a_bad_query_gives_one_sentence(key, value, monkeypatch):
    monkeypatch.setattr(compiled_code, "_child", lambda request: pytest.fail("it was compiled"))
    with pytest.raises(ProblemError) as caught:
        compiled_code.code(GOOD | {key: value})
    text = str(caught.value)
    assert text.startswith(f"{key} = ") and "is not allowed: one of " in text
    assert text.endswith(".") and "\n" not in text and len(text) < 160
    with pytest.raises(ProblemError, match=rf"^{key} = \(empty\) is not allowed"):
        compiled_code.code({k: v for k, v in GOOD.items() if k != key})


def test_a_child_that_fails_or_takes_long_is_one_sentence(monkeypatch, tmp_path):
    with monkeypatch.context() as patched:
        patched.setattr(compiling, "ROOT", tmp_path)  # no kernels there
        patched.delenv("PYTHONPATH", raising=False)
        with pytest.raises(ProblemError, match=r"^It could not be compiled here: .*kernels") as why:
            compiled_code._child({})
        assert "\n" not in str(why.value)
    monkeypatch.setattr(compiling, "TIMEOUT_S", 0.01)
    with pytest.raises(ProblemError, match=r"^Compiling took longer than 0\.01 s: .*\.$"):
        compiled_code._child({})
