"""Run a learner's file in a process of its own: fresh, scrubbed, bounded in time and memory."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from explainer.base.amounts import amount, listed
from explainer.base.texts import Texts, fill
from explainer.check import child

t = Texts("check")
MEMORY = 8 << 30
PRINTED = 4 << 20  # bytes after which a file prints without end
REPLY = 256 << 20
PASSED_ON = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CUDA_VISIBLE_DEVICES")
Arrays = dict[str, np.ndarray]


class NotRunnable(Exception):
    """One sentence why the file does not run, where, and what its tiles were until then."""

    def __init__(self, sentence: str, line: int | None = None, about: dict | None = None,
                 arrays: Arrays | None = None, ended: bool = False) -> None:  # fmt: skip
        super().__init__(sentence)
        self.line, self.about, self.arrays, self.ended = line, about or {}, arrays or {}, ended


class Runner:
    """A child with the file at ``path``: ``about`` is what it says of its function.

    ``arrays`` "numpy", "torch" or None for what the file imports; ``layout`` bhnd, bnd or nd. Each
    call may take ``seconds``. A child that broke is replaced at the next call.
    """

    def __init__(self, path: Path, *, function: str | None = None, arrays: str | None = None,
                 layout: str = "bhnd", seconds: float = 20.0) -> None:  # fmt: skip
        self.path, self.seconds, self.child = path.resolve(), seconds, None
        self.deadline = seconds
        if not self.path.is_file() or self.path.suffix == ".ipynb":
            kinds = {self.path.is_dir(): "folder", self.path.suffix == ".ipynb": "notebook"}
            refused = t.named("no_file")[kinds.get(True, "missing")]
            raise NotRunnable(fill(refused, {"file": self.path.name}))
        self.home = tempfile.mkdtemp(prefix="check-")
        self.options = {"function": function, "arrays": arrays, "layout": layout}
        self.options |= {"memory": MEMORY, "home": self.home}
        self.printed = b""
        self.about: dict[str, Any] = {}

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        shutil.rmtree(self.home, ignore_errors=True)

    def _start(self) -> None:
        (theirs, self.requests), (self.replies, answers) = os.pipe(), os.pipe()
        environment = {key: os.environ[key] for key in PASSED_ON if key in os.environ}
        environment |= {"HOME": self.home, "TMPDIR": self.home, "PYTHONDONTWRITEBYTECODE": "1"}
        environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        command = [sys.executable, "-u", child.__file__, str(self.path), str(theirs), str(answers)]
        self.child = subprocess.Popen(
            [*command, json.dumps(self.options)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(theirs, answers),
            env=environment,
            cwd=self.path.parent,
            start_new_session=True,
        )
        os.close(theirs)
        os.close(answers)
        self.too_much = False
        self.drain = threading.Thread(target=self._drain, args=(self.child,), daemon=True)
        self.drain.start()
        loading = 0.0 if self.options["arrays"] == "numpy" else 60.0  # torch's import can be slow
        self.about, _ = self._receive(max(self.seconds, loading))

    def _drain(self, process: subprocess.Popen) -> None:
        """Read what the file prints, keep the end of it, and end a child that does not stop."""
        assert process.stdout
        total = 0
        while piece := process.stdout.read1(1 << 16):  # type: ignore[attr-defined]
            total += len(piece)
            self.printed = (self.printed + piece)[-4_000:]
            if total > PRINTED and not self.too_much:
                self.too_much = True
                os.killpg(process.pid, signal.SIGKILL)

    def _end(self) -> None:
        """End the child and every process that it started."""
        if self.child is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        self.drain.join(1.0)
        if self.child.stdout and not self.drain.is_alive():
            self.child.stdout.close()
        os.close(self.requests)
        os.close(self.replies)
        self.child = None

    def _broken(self, key: str, **values: object) -> NotRunnable:
        self._end()
        return NotRunnable(
            fill(t.named("ended")[key], {"file": self.path.name, **values}), ended=True
        )

    def _read(self, size: int, until: float) -> bytes:
        content = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self.replies, selectors.EVENT_READ)
            while len(content) < size:
                left = until - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise self._broken("hangs", seconds=self.deadline)
                piece = os.read(self.replies, min(size - len(content), 1 << 20))
                if not piece:
                    time.sleep(0.05)  # the thread that counts what is printed may still say why
                    raise self._broken("prints" if self.too_much else "dies")
                content += piece
        return content

    def _receive(self, seconds: float) -> tuple[dict, Arrays]:
        self.deadline = seconds
        until = time.monotonic() + seconds
        size = struct.unpack("<Q", self._read(8, until))[0]
        try:
            if size > REPLY:
                raise ValueError("too long")
            about, arrays = child.unpack(self._read(size, until))
        except (ValueError, KeyError, OSError):
            raise self._broken("dies") from None
        if "error" in about:
            raise self._refusal(about, arrays)
        return about, arrays

    def _refusal(self, about: dict, arrays: Arrays) -> NotRunnable:
        """Make the sentence of an error that the child tells."""
        error, file = about["error"], self.path.name
        kind, line, text = error["kind"], error.get("line"), error["text"]
        at = t("at_line", file=file, line=line) if line else file
        word, _, rest = text.partition(" ")
        values = {"file": file, "what": rest, "at": at, "type": error.get("type", "")}
        values |= {"text": text.rstrip("."), "most": amount(MEMORY)}
        if functions := error.get("functions"):
            word, values = "other", values | {"functions": listed(functions)}
        sentence = t.named("junk")[word] if kind == "junk" else t.named("failed")[kind]
        return NotRunnable(fill(sentence, values), line, about, arrays)

    def start(self) -> None:
        """Load the file unless it is. Raises NotRunnable."""
        if self.child is None:
            self._start()

    def call(self, op: str, case_rules: dict, dtype: str, arrays: Arrays) -> tuple[dict, Arrays]:
        """Run one request of child.py. Raises NotRunnable."""
        self.start()
        with contextlib.suppress(BrokenPipeError):  # what a dead child left is read below
            child.send(self.requests, {"op": op, "rules": case_rules, "dtype": dtype}, arrays)
        return self._receive(self.seconds)
