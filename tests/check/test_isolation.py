"""A file that misbehaves gets one sentence and exit status 2, and nothing of it stays."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from explainer.base.paths import ROOT
from explainer.check.verdict import check
from tests.check.planted import NUMPY, plant
from tests.tables import table
from tests.workers import wait_until

HEAD = "import numpy as np\n"
DEFINES = HEAD + "def attention(q, k, v, *, causal=False, scale=None):\n    "

BAD = table(__file__)


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_misbehaves_gets_a_sentence(name, tmp_path):
    bad, path = BAD[name], tmp_path / "mine.py"
    line = bad.get("line")
    path.write_bytes(bad["source"].encode("latin-1" if name == "not UTF-8" else "utf-8"))
    seconds = 3.0 if "hangs" in name else 20.0
    began = time.monotonic()
    found = check(path, seconds=seconds, arrays="numpy")
    assert not found.runs and found.status == 2
    assert bad["sentence"] in found.sentence and "mine.py" in found.sentence
    assert found.line == line and (line is None or f"line {line}" in found.sentence)
    assert found.sentence.count("\n") == 0 and time.monotonic() - began < 60
    assert found.to_json()["right"] is False and found.to_json()["cases"] == []


@pytest.mark.parametrize("closes", [True, False])
def test_a_library_may_start_its_compiler(closes, tmp_path, write):
    """Triton's, with close_fds=False, is started by os.posix_spawn."""
    library = "import subprocess\ndef build():\n    subprocess.run(['/bin/true'], close_fds=%s)\n"
    (tmp_path / "library.py").write_text(library % closes, encoding="utf-8")
    assert check(write("import library\nlibrary.build()\n" + plant(None, NUMPY))).right


def test_a_patched_torch_is_refused(write):
    path = write(
        "import torch\ndef attention(q, k, v, *, causal=False):\n"
        "    torch.allclose = lambda *a, **k: True\n    return q\n"
    )
    assert "replaces torch.allclose" in check(path).sentence


def test_nothing_of_the_environment_reaches_the_file(tmp_path, write, monkeypatch):
    monkeypatch.setenv("A_SECRET", "s3cret")
    inherited = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(inherited, True)
    path = write(
        HEAD + "import os\n"
        "print(sorted(os.environ), [x for x in os.listdir('/proc/self/fd') if int(x) > 2])\n"
        "def attention(q, k, v, *, causal=False):\n    return q\n"
    )
    found = check(path)
    os.close(inherited)
    assert "A_SECRET" not in found.printed and "PATH" in found.printed
    own = json.loads(found.printed[found.printed.index("]") + 2 :].replace("'", '"'))
    assert len(own) == 3, own  # two pipes, and the one that lists them


def test_no_process_and_no_file_is_left(tmp_path, write):
    mark = tmp_path / "pid"
    path = write(
        HEAD + "import ctypes, os, time\n"  # past the hook: the C library's own fork
        "pid = ctypes.CDLL(None).fork()\n"
        "if pid == 0: time.sleep(600)\n"
        f"if pid: open({str(mark)!r}, 'w').write(str(pid))\n"
        "def attention(q, k, v, *, causal=False):\n    return q\n"
    )
    assert check(path).runs
    time.sleep(0.2)
    state = Path(f"/proc/{mark.read_text()}/stat")
    assert not state.exists() or " Z " in state.read_text()


OWNER = """
import sys
from pathlib import Path
import numpy as np
from explainer.check.runner import Runner
runner = Runner(Path(sys.argv[1]), arrays="numpy")
runner.start()
print(runner.child.pid, runner.home, flush=True)
arrays = {name: np.zeros((1, 1, 4, 4)) for name in "qkv"}
runner.call("forward", {"causal": False}, "fp32", arrays)
"""


def test_a_file_that_hangs_ends_with_the_process_that_checks_it(tmp_path, write):
    path = write(DEFINES + "open('begun', 'w').close()\n    while True: pass\n")
    command = [sys.executable, "-c", OWNER, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout
        pid, home = owner.stdout.readline().split()
        wait_until(lambda: (tmp_path / "begun").exists())
        owner.kill()
    wait_until(lambda: not Path(home).exists())
    stat = Path(f"/proc/{pid}/stat")
    wait_until(lambda: not stat.exists() or " Z " in stat.read_text())


def test_numpy_needs_no_torch(write):
    path = write(DEFINES + "return q\n")
    code = (
        "import sys; from explainer.check.__main__ import main\n"
        f"main([{str(path)!r}, '--json'])\n"
        "print([m for m in ('torch', 'gradio') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    *_, verdict, modules = done.stdout.splitlines()
    assert modules == "[]" and json.loads(verdict)["first_wrong"]["what"] == "O"
