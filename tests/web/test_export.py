"""Files made of a Problem: what they hold is the trace, and pages load nothing."""

import base64
import io
import json
import re
from urllib.parse import parse_qsl

import numpy as np
import pytest

from explainer.algorithms.algorithm import CONVENTIONS
from explainer.algorithms.traffic import summed
from explainer.base.texts import stored
from explainer.learn.registry import widgets
from explainer.problem import Problem
from explainer.trace import TRACES
from explainer.web import bundle
from explainer.web.bundle import BundleError
from explainer.web.export import traces
from explainer.web.files import animation, as_json, as_npz
from explainer.web.static_responses import format_number, limited_controls, settings
from explainer.web.wire import KIND
from kernels.spec.fields import PASSES

PROBLEMS = [
    Problem(n=11, d=3, block_q=4, block_k=3, inputs="random"),
    Problem(order="fa1", dtype="bf16"),
    Problem(order="standard", n=6, block_q=2, block_k=3, causal=False),
    Problem(mask="block:4x4,0.0,2.1-2", block_k=5, score="softcap:2&alibi", sink=1.5),
]
# pass → arrays of a trace and of a visit
ARRAYS = {
    "forward": (("Q", "K", "V", "O", "lse", "S"), ("m_new", "l_new", "alpha", "P", "O")),
    "backward": (
        ("Q", "K", "V", "O", "dO", "D", "dQ", "dK", "dV"),
        ("D", "P", "dS", "part_dQ", "dQ", "dK", "dV"),
    ),
}


@pytest.mark.parametrize("pass_", PASSES)
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.order)
def test_json_and_npz_are_the_trace(problem, pass_):
    true = TRACES[pass_](problem)
    found = json.loads(as_json(problem, pass_))
    assert found["problem"] == problem.to_query()
    for way, moved in found["bytes"].items():
        assert {t: tuple(both) for t, both in moved.items()} == summed(problem, way, pass_)
    assert set(found["bytes"]) == set(CONVENTIONS)
    arrays = np.load(io.BytesIO(as_npz(problem, pass_)), allow_pickle=False)
    assert found["kind"] == str(arrays["kind"]) == str(KIND)
    assert found["pass"] == str(arrays["pass"]) == pass_
    assert dict(parse_qsl(str(arrays["problem"]))) == problem.to_query()
    wholes, of_visits = ARRAYS[pass_]
    for name in wholes:
        expected = getattr(true, name)
        np.testing.assert_array_equal(arrays[name], expected)
        assert expected.dtype == np.float32  # so no digit is lost
        listed = np.array(found[name], np.float32)  # null becomes NaN
        np.testing.assert_array_equal(listed, np.where(np.isfinite(expected), expected, np.nan))
    for k, (visit, listed) in enumerate(zip(true.visits, found["visits"], strict=True)):
        for name in ("i", "j", "kind", "stage"):
            assert listed[name] == getattr(visit, name)
        moves = [(t["op"], t["nbytes"]) for t in listed["transfers"]]
        assert moves == [(t.op, t.nbytes) for t in visit.transfers]
        for name in of_visits:
            value = getattr(visit, name)
            if value is None:
                assert listed[name] is None and f"v{k:04d}_{name}" not in arrays
            else:
                np.testing.assert_array_equal(arrays[f"v{k:04d}_{name}"], value)
                assert value.dtype == np.float32
                np.testing.assert_array_equal(np.array(listed[name], np.float32), value)


@pytest.mark.parametrize(
    "option", [{}, {"dropout": 0.5}, {"dtype": "e4m3"}, {"cache": "paged"}], ids=str
)
def test_a_page_holds_the_backward_pass_that_there_is(option):
    page = animation(Problem(n=4, **option), {"pass": "backward", "step": "3"})
    content = json.loads(re.search(r'id="content">(.*?)</script>', page)[1])
    assert content["start"].endswith("pass=backward&step=3")
    passes = [
        re.search(rb'"pass":"(\w+)"', base64.b64decode(packed))[1].decode()
        for packed in content["traces"].values()
    ]
    assert passes == ["forward"] * 3 + ["backward"] * (not option)
    named = [name.endswith("&pass=backward") for name in content["traces"]]
    assert named == [pass_ == "backward" for pass_ in passes]


def test_page_is_whole_and_loads_nothing():
    page = animation(Problem(), {"step": "3"})
    assert "default-src 'none'" in page and "connect-src data:" in page
    assert not re.search(r"<(link|img|iframe)\b|<script[^>]+src=|@import|\bimport ", page)
    assert page.count("<script") == page.count("</script>") == 2
    assert f"<p>{KIND};" in page
    assert len(page) < 595_000


def test_a_site_holds_a_problem_once_in_every_order():
    files, where = traces(["n=2&d=1", "n=2&d=1&order=fa1", "n=3&d=1"])
    assert len(files) == 2 and len(where) == 6
    assert all(name in files[file] for name, file in where.items())


def test_a_site_holds_both_passes_of_a_link_to_the_backward_one():
    files, where = traces(["n=2&d=1&pass=backward&step=1"])
    of_backward = [name for name in where if name.endswith("&pass=backward")]
    assert len(of_backward) == 3 and len(where) == 6
    for name, file in where.items():
        found = base64.b64decode(files[file][name].removeprefix("base64,"))
        assert (b'"pass":"backward"' in found) == (name in of_backward)


@pytest.mark.parametrize("key", ["dot", "safe", "mask", "claim_exact", "overlap"])
def test_a_site_holds_every_place_that_its_controls_reach(key):
    """Each control alone, and all with each other where they are few."""
    widget = widgets()[key]
    covered = {tuple(map(format_number, values)) for values in settings(widget)}
    first = tuple(format_number(control.value) for control in widget.controls)
    assert first in covered
    for k, control in enumerate(limited_controls(widget)):
        own = widget.controls[k]
        if control.kind == "range":
            assert own.low <= control.low <= own.value <= control.high <= own.high
            count = round((control.high - control.low) / control.step)
            places = [round(control.low + j * control.step, 6) for j in range(count + 1)]
        else:
            places = [value for value, _ in control.choices] or ["0", "1"]
        for place in map(format_number, places):
            assert (*first[:k], place, *first[k + 1 :]) in covered


def test_bundle_refuses_what_it_does_not_understand(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "ASSETS", tmp_path)
    (tmp_path / "a.js").write_text('import { b } from "./b.js";\nexport const a = b + 1;\n')
    (tmp_path / "b.js").write_text("export const b = 1;\n")
    assert bundle.bundle("a.js").index("b = 1") < bundle.bundle("a.js").index("a = b + 1")
    (tmp_path / "b.js").write_text('import { a } from "./a.js";\nexport const b = 1;\n')
    with pytest.raises(BundleError, match="import each other"):
        bundle.bundle("a.js")
    (tmp_path / "b.js").write_text("export default 1;\n")
    with pytest.raises(BundleError, match="form"):
        bundle.bundle("a.js")
    (tmp_path / "b.js").write_text('export const b = 1; // "one"\n')
    with pytest.raises(BundleError, match="comment"):
        bundle.bundle("a.js")


def test_each_script_brings_the_texts_of_its_own_page():
    """What every page fetches brings no text of Step's, and what every visitor of Step fetches none
    that only the script of a mode says."""
    text = stored("step")["max.rises"][0]
    assert text not in bundle.online("all") and bundle.online("step").count(text) == 1
    for mode in bundle.OF_STEP:
        text = [*stored(f"step_{mode}").values()][-1]
        assert text in bundle.online(mode) and text not in bundle.online("step"), mode
