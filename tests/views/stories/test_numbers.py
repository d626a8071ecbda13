"""Numbers on Memory and Parallel, worked out anew from the records' own files with plain
arithmetic: nothing here calls what the pages call."""

import json
from pathlib import Path
from typing import Any

import pytest

from explainer.views.stories.pages import make_chapter

RECORDED = Path(__file__).parents[3] / "assets" / "recorded"
PLACES = {
    "ports": ("l2_to_sm", "sm_to_l2"),
    "slices": ("l2_total",),
    "dram": ("dram_read", "dram_write"),
}


def rows(name: str) -> list[dict]:
    return json.loads((RECORDED / f"{name}_nvidia_h200.json").read_text())["rows"]


def chapter(page: str, name: str, **query: str) -> Any:
    return make_chapter(page, {"chapter": name, **query})


def test_the_bytes_of_standard_attention_and_fa2_and_how_many_times_fewer():
    """Of RP 7: only the SMs' ports were shown, and called L2."""
    found = chapter("memory", "traffic")
    beats = {beat["label"]: beat for beat in found["beats"]}
    panels = {panel["place"]: panel["series"] for panel in found["picture"]["panels"]}
    by_order: dict = {}
    for row in rows("traffic"):
        if row["d"] == row["side"] == 64:
            kernels = row["measured_bytes"].values()
            sums = {p: sum(k[c] for k in kernels for c in names) for p, names in PLACES.items()}
            by_order[row["n"], row["order"]] = sums
    lengths = {n for n, _ in by_order}
    assert len(lengths) >= 7
    for n in lengths:
        for place in PLACES:
            standard, fused = by_order[n, "standard"][place], by_order[n, "fa2"][place]
            circles = [x["circles"][found["picture"]["sizes"].index(n)] for x in panels[place]]
            assert (circles[0], circles[-1]) == (standard, fused)
            gap = beats[f"N = {n:,}"]["gaps"][place]
            said = float(gap["figure"].split()[0])
            assert said == pytest.approx(max(standard / fused, fused / standard), rel=0.05)
            assert ("fewer" in gap["figure"]) == (standard > fused)


@pytest.mark.parametrize("d", [64, 128, 256])
@pytest.mark.parametrize("causal", [False, True])
def test_the_speed_of_every_tile(d, causal):
    mask = "causal" if causal else "full"
    picture = chapter("memory", "tiles", d=str(d), mask=mask)["picture"]
    (drawn,) = (x for x in picture["maps"] if x["d"] == d)
    timed = {
        (r["block_m"], r["block_n"]): 4 * r["batch"] * r["heads"] * r["n"] ** 2 * d
        / (2 if causal else 1) / r["median_ms"] / 1e9
        for r in rows("tiles")
        if (r["d"], r["causal"]) == (d, causal) and "median_ms" in r
    }  # fmt: skip
    sides = picture["sides"]
    for k, cell in enumerate(drawn["cells"]):
        tile = sides[k // len(sides)], sides[k % len(sides)]
        assert cell["text"] == (f"{timed[tile]:.0f}" if tile in timed else "–"), tile
    best = max(timed, key=lambda tile: timed[tile])
    assert drawn["name"] == f"{best[0]}\u00a0×\u00a0{best[1]}"


@pytest.mark.parametrize("heads", [1, 16])
def test_the_times_of_decoding_in_so_many_parts(heads):
    chart = chapter("parallel", "decoding", h=str(heads), n="65536")["picture"]["chart"]
    timed = {
        (r["n_k"], r["splits"]): 1e3 * r["median_ms"]
        for r in rows("decode")
        if r["method"] == "decode" and r["heads"] == heads and r["d"] == 64
    }
    assert len(timed) >= 15
    for line in chart["lines"]:
        for n, us, ratio, tip in zip(
            chart["n"], line["us"], line["ratios"], line["tips"], strict=True
        ):
            parts = int(tip.split()[0])  # the kernel's rule takes fewer of few keys
            assert us == pytest.approx(timed[n, parts], abs=0.01)
            assert float(ratio) == pytest.approx(timed[n, 1] / timed[n, parts], abs=0.051)


def test_decoding_says_what_it_shows_in_place_of_what_was_asked():
    """Of RP 4: 5,000 keys and 7 heads were the headline over the times of 4,096 × 16."""
    found = chapter("parallel", "decoding", n="5000", h="7")
    assert "4,096 keys" in found["headline"] and "5,000" not in found["headline"]
    assert found["sentence"].startswith("Nearest recorded to 5,000 keys and 7 heads")


@pytest.mark.parametrize("layout, marks", [("contiguous", (15, 40)), ("head-tail", (9, 36))])
def test_the_devices_of_the_storyboard(layout, marks):
    """Ticks and headline; the bars of row 25 end at its m and ℓ, those of no row at row 25's."""
    found = chapter("parallel", "devices", layout=layout, row="99")
    picture = found["picture"]
    assert len(found["beats"]) - 1 == picture["starts"][-1] == marks[0]
    assert f"{marks[1]}" in found["headline"] and picture["hop"] == 512
    last = picture["merge"][-1]["states"][-1]
    assert (picture["row"], round(last["m"], 2), round(last["l"], 2)) == (25, 1.77, 7.57)
    ticks = [state["tick"] for bar in picture["merge"] for state in bar["states"]]
    assert ticks == sorted(ticks) and len(ticks) == 7  # row block 6 sees so many key blocks
    assert (picture["other"] is None) == (layout == "contiguous")


def test_the_times_of_two_gpus_beside_one():
    found = chapter("parallel", "devices", layout="compared")
    for beat in found["beats"]:
        n = int(beat["label"].removeprefix("N = ").replace(",", ""))
        timed = {
            r["method"]: r["forward"]["median_ms"]
            for r in rows("devices")
            if (r["n"], r["mask"]) == (n, "causal")
        }
        names = ("one GPU ours", "ring contiguous", "ring head-tail")
        one, contiguous, even = (timed[name] for name in names)
        peer = min(timed[f"context_parallel cudnn {kind}"] for kind in ("allgather", "alltoall"))
        assert beat["ms"] == [one, contiguous, even, peer]
        shares = [f"{100 * one / 2 / ms:.0f} %" for ms in (contiguous, even, peer)]
        assert beat["shares"] == ["", *shares] and f"{n:,} tokens" in beat["problem"]
        said = [x.replace(" ", "\u00a0") for x in shares]
        assert beat["headline"].endswith(f"head–tail {said[1]}, contiguous {said[0]}")
    assert n == 65_536 and "= 67\u00a0%" in found["sentence"]
    assert [one["starts"][-1] for one in found["picture"]["both"]] == [15, 9]


def test_capacity_says_how_many_recorded_peaks_equal_the_formula():
    """Of RP 12: peaks of other heads were scaled to the shown ones, said on hover only."""
    record = json.loads((RECORDED / "nvidia_h200.json").read_text())["rows"]
    equal, count = 0, 0
    for r in record:
        if (r["d"], r["dtype"]) == (64, "fp16") and "peak_bytes" in r:
            n, heads = r["n"], r["batch"] * r["heads"]
            o, s, lse = heads * n * 64 * 2, heads * n * n * 2, heads * n * 4
            needed = {"naive": s + max(s, o), "fa2": o + lse}.get(r["method"])
            equal, count = equal + (r["peak_bytes"] == needed), count + (needed is not None)
    said = chapter("memory", "capacity", dtype="fp16")["provenance"]
    assert count and f"{equal} of {count} peaks recorded" in said, (equal, count, said)


def test_the_tiles_of_a_card_without_times_are_numbers_and_a_slow_tile_says_why():
    """Of RP 12: dashes on an RTX 4090, and no reason why 64 × 128 is slow."""
    (drawn,) = (
        x for x in chapter("memory", "tiles", card="rtx4090")["picture"]["maps"] if x["d"] == 64
    )
    assert {cell["text"] for cell in drawn["cells"] if cell["fits"]} >= {"1", "2", "4"}
    assert all((cell["text"] == "–") == (not cell["fits"]) for cell in drawn["cells"])
    (slow,) = (b for b in chapter("memory", "tiles")["beats"] if b["label"] == "64\u00a0×\u00a0128")
    assert "each computes all scores" in slow["sentence"]
