"""The process in which a learner's file runs: a script of its own that imports nothing of the app.

It reads requests from one descriptor and answers on another, each an npz whose ``about`` is JSON.
Nothing that it sends is unpickled, and all numbers are judged by the process that started it.
"""

import ast
import importlib
import importlib.util
import inspect
import io
import json
import math
import os
import resource
import select
import shutil
import struct
import sys
import threading
import traceback
import tracemalloc
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

CS336 = "get_flashattention_autograd_function_{}"
RULES = {"causal", "scale", "block_q", "block_k"}  # keywords that a function may take
MOST_SIZES = 4  # numbers of a file that are tried as sizes of its tiles
ROOM = 1 << 14  # NaN before and after a tensor, which loads beyond its ends bring into the sums
FORKS = ("os.fork", "os.forkpty", "os.system", "os.exec", "os.posix_spawn", "os.spawn")


class Junk(Exception):
    """What a function returned is no O, it changed its inputs, or none of the ``functions`` is the
    one asked for."""

    def __init__(self, text: str, functions: list[str] | None = None) -> None:
        super().__init__(text)
        self.functions = functions or []


def send(descriptor: int, about: dict, arrays: dict[str, np.ndarray] | None = None) -> None:
    """Write one message: its length, then an npz."""
    text = np.frombuffer(json.dumps(about).encode(), np.uint8)
    packed = io.BytesIO()
    named: dict[str, Any] = {"about": text, **(arrays or {})}
    np.savez(packed, **named)
    content = struct.pack("<Q", packed.tell()) + packed.getvalue()
    while content:
        content = content[os.write(descriptor, content) :]


def unpack(content: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    """Read one message. Raises ValueError for what is none."""
    with np.load(io.BytesIO(content), allow_pickle=False) as packed:
        arrays = {name: packed[name] for name in packed.files}
    return json.loads(arrays.pop("about").tobytes()), arrays


def receive(descriptor: int) -> tuple[dict, dict[str, np.ndarray]] | None:
    """Wait for a message; None at the end."""
    with open(descriptor, "rb", closefd=False, buffering=0) as stream:
        size = stream.read(8)
        if not size:
            return None
        content, left = b"", struct.unpack("<Q", size)[0]
        while len(content) < left:
            content += stream.read(left - len(content))
    return unpack(content)


def imports_of(source: str, path: Path) -> set[str]:
    """Return the packages that a file names in its imports."""
    found = set()
    for node in ast.walk(ast.parse(source, str(path))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


def numbers_of(source: str) -> list[int]:
    """Return the whole numbers in a source that may be sizes of tiles, multiples of 8 first."""
    constants = (x.value for x in ast.walk(ast.parse(source)) if isinstance(x, ast.Constant))
    found = {x for x in constants if type(x) is int and 4 <= x <= 256}
    return sorted(found, key=lambda x: (x % 8 > 0, x))[:MOST_SIZES]


class File:
    """A learner's file, loaded: its function, how it is called, and what it must not do."""

    def __init__(self, path: Path, options: dict) -> None:
        self.path, self.options, self.torch = path, options, None
        self.refused: list[str] = []
        try:
            source = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise SyntaxError(str(error), (str(path), None, None, None)) from None
        names = imports_of(source, path)
        is_numpy = "numpy" in names and not names & {"torch", "triton"}
        self.device, self.interprets = "cpu", False
        self.arrays = options["arrays"] or ("numpy" if is_numpy else "torch")
        if self.arrays == "torch":
            self._import_torch("triton" in source)
        self.own_gradient = "autograd.Function" in source or "Function" in names
        before = self._patchable()
        self.written = numbers_of(source)
        sys.addaudithook(self._watch)
        self.module = self._load()
        self.before, self.layout = before, options["layout"]
        self.function = self._find(options["function"])
        self.keywords = self.accepted(self.function, RULES | {"report"})
        backward = getattr(self.module, "backward", None)
        self.backward = backward if callable(backward) and self.layout != "cs336" else None
        self.backward_keywords = (
            self.accepted(self.backward, RULES) if self.backward else self.keywords
        )

    def _import_torch(self, needs_triton: bool) -> None:
        self.torch = torch = importlib.import_module("torch")
        torch.set_num_threads(1)
        if not needs_triton:
            return  # what it makes of torch alone stays on the CPU
        if torch.cuda.is_available():
            self.device = "cuda"
        else:
            os.environ["TRITON_INTERPRET"] = "1"  # read when a kernel is decorated
            self.interprets = True
        importlib.import_module("triton")

    def _watch(self, event: str, details: tuple) -> None:
        """Refuse to start other programs; Triton and torch may, for a compiler."""
        if event not in ("subprocess.Popen", *FORKS):
            return
        frame = sys._getframe(1)
        while frame and "subprocess" in frame.f_code.co_filename:
            frame = frame.f_back  # type: ignore[assignment]
        is_of_a_library = not frame or frame.f_code.co_filename != str(self.path)
        if event in ("subprocess.Popen", "os.posix_spawn") and is_of_a_library:
            return
        self.refused.append(event)
        raise PermissionError(event)

    def _patchable(self) -> dict[tuple[str, str], object]:
        """The functions of the libraries, by module and name."""
        named = {"math": math, "numpy": np, "numpy.linalg": np.linalg}
        if self.torch:
            torch = self.torch
            named |= {"torch": torch, "torch.Tensor": torch.Tensor}
            named |= {"torch.nn.functional": torch.nn.functional, "torch.autograd": torch.autograd}
        return {
            (module, name): value
            for module, owner in named.items()
            for name, value in vars(owner).items()
            if callable(value) and (not name.startswith("_") or name.startswith("__"))
        }

    def _load(self) -> ModuleType:
        roots = (x for x in self.path.parents if (x / "pyproject.toml").is_file())
        sys.path[:1] = [str(self.path.parent), *(str(x) for x in [*roots][:1])]
        sys.argv = [str(self.path)]
        spec = importlib.util.spec_from_file_location(self.path.stem, self.path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[self.path.stem] = module
        spec.loader.exec_module(module)
        return module

    def _find(self, name: str | None) -> Any:
        """Return the function: the one named, ``attention``, or CS336's class behind its getter."""
        kinds = ("triton", "pytorch") if self.device == "cuda" else ("pytorch", "triton")
        getters = [CS336.format(kind) for kind in kinds]
        wanted = [name] if name else ["attention", *getters]
        for key in wanted:
            found = getattr(self.module, key, None)
            if key in getters and callable(found):
                self.layout = "cs336"
                self.own_gradient = True
                return found()
            if callable(found):
                return found
        own = (x for x in vars(self.module).values() if inspect.isfunction(x))
        names = [x.__name__ for x in own if x.__module__ == self.module.__name__]
        raise Junk(f"missing {wanted[0]}", names)

    def check_rules(self) -> None:
        """Raise PermissionError for another program, Junk for a library that was changed."""
        if self.refused:
            raise PermissionError(self.refused[0])
        now = self._patchable()
        for at, value in self.before.items():
            if now.get(at, value) is not value:
                raise Junk("patched " + ".".join(at))

    def about(self) -> dict[str, Any]:
        return {
            "arrays": self.arrays,
            "device": self.device,
            "layout": self.layout,
            "accepts": sorted(self.keywords),
            "backward_accepts": sorted(self.backward_keywords),
            "interprets": self.interprets,
            "written": self.written,
        }

    def accepted(self, function, names: set[str]) -> set[str]:
        if self.layout == "cs336":
            return {"causal"}
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            return set()
        if any(p.kind is p.VAR_KEYWORD for p in parameters):
            return names
        return names & {p.name for p in parameters}

    def native(self, x: np.ndarray, dtype: str) -> Any:
        """Return a (B, H, N, …) array as the function takes it."""
        x = x.reshape(self._shape(x.shape))
        if self.torch is None:
            return x.astype({"fp16": np.float16}.get(dtype, np.float32))
        torch = self.torch
        kind = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[dtype]
        room = torch.full((x.size + 2 * ROOM,), math.nan, device=self.device, dtype=kind)
        inside = room[ROOM : ROOM + x.size].view(x.shape)
        return inside.copy_(torch.from_numpy(x.copy()))

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        batch, heads, *rest = shape
        if self.layout == "bhnd":
            return shape
        return tuple(rest) if self.layout == "nd" else (batch * heads, *rest)

    def numbers(self, x: Any, shape: tuple[int, ...] | None, name: str) -> np.ndarray:
        """Return a result as float64 (B, H, N, …). Raises Junk."""
        try:
            if self.torch is not None and isinstance(x, self.torch.Tensor):
                x = x.detach().double().cpu().numpy()
            found = np.asarray(x if x is not None else "", np.float64)
        except (TypeError, ValueError):
            raise Junk(f"returned {name}: {type(x).__name__}") from None
        if shape is None:
            return found
        if found.size != math.prod(shape) or (name == "O" and found.shape != self._shape(shape)):
            raise Junk(f"returned {name}: {tuple(found.shape)}, not {self._shape(shape)}")
        return found.reshape(shape)

    def call(self, inputs: list, about: dict, report=None) -> tuple[Any, Any]:
        """Call the function; return its O and lse (or None)."""
        if self.layout == "cs336":
            o = self.function.apply(*inputs, about["rules"]["causal"])
            rows = inputs[0].shape[:2]
            saved = getattr(getattr(o, "grad_fn", None), "saved_tensors", ())
            return o, next((x for x in saved if x.shape == rows), None)
        rules = {k: v for k, v in about["rules"].items() if k in self.keywords}
        if report and "report" in self.keywords:
            rules["report"] = report
        found = self.function(*inputs, **rules)
        return found if isinstance(found, tuple) and len(found) == 2 else (found, None)


def answer(file: File, about: dict, arrays: dict[str, np.ndarray], reply: dict, out: dict) -> None:
    """Run one request; what is found so far stays in ``reply`` and ``out`` where it raises."""
    names = ("q", "k", "v")
    inputs = [file.native(arrays[name], about["dtype"]) for name in names]
    reports: list[tuple[int, int]] = reply.setdefault("reports", [])

    def report(i, j, m=None, l=None, o=None) -> None:
        for name, x in (("m", m), ("l", l), ("o", o)):
            if x is not None:
                out[f"{name}{len(reports)}"] = file.numbers(x, None, name).copy()
        reports.append((int(i), int(j)))

    if about["op"] == "measure":
        reply |= measure(file, about, inputs)
    elif about["op"] == "forward":
        if file.layout == "cs336":
            inputs = [x.requires_grad_() for x in inputs]
        before = [x + 0 for x in inputs]
        o, lse = file.call(inputs, about, report)
        for name, x, given in zip(names, inputs, before, strict=True):
            if x.shape != given.shape or not (x == given).all():
                raise Junk(f"changed {name}")
        out["O"] = file.numbers(o, arrays["q"].shape, "O")
        if lse is not None:
            out["lse"] = file.numbers(lse, arrays["q"].shape[:3], "lse")
    else:
        gradients(file, about, arrays, inputs, reply, out)


def measure(file: File, about: dict, inputs: list) -> dict[str, Any]:
    """Return the ``peak`` of the bytes that a call takes, where something counts them, and of a GPU
    the times ``ms`` of several calls, L2 flushed before each."""
    if file.torch is None:
        tracemalloc.start()
        file.call(inputs, about)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return {"peak": peak}
    if file.device != "cuda":
        return {}
    cuda = file.torch.cuda
    file.call(inputs, about)  # compiles
    cuda.synchronize()
    before = cuda.memory_allocated()
    cuda.reset_peak_memory_stats()
    file.call(inputs, about)
    cuda.synchronize()
    peak = cuda.max_memory_allocated() - before
    do_bench = importlib.import_module("triton.testing").do_bench
    return {"peak": peak, "ms": do_bench(lambda: file.call(inputs, about), return_mode="all")}


def gradients(file: File, about: dict, arrays, inputs: list, reply: dict, out: dict) -> None:
    """Put dQ0, dK0, dV0 for the first dO, and so on, into ``out``; ``none`` where the file has no
    backward pass."""
    dos = [file.native(x, "fp32") for x in arrays["do"]]
    if file.backward:
        rules = {k: v for k, v in about["rules"].items() if k in file.backward_keywords}
        o, lse = (file.native(arrays[x], "fp32") for x in ("o", "lse"))
        found = [file.backward(*inputs, o, lse, do, **rules) for do in dos]
    elif file.torch is None:
        reply["none"] = True
        return
    else:
        leaves = [x.requires_grad_() for x in inputs]
        try:
            o, _ = file.call(leaves, about)
            if not o.requires_grad:
                reply["none"] = True
                return
            grad = file.torch.autograd.grad
            how = {"retain_graph": True, "allow_unused": True}
            found = [grad(o, leaves, do, **how) for do in dos]
        except RuntimeError as error:  # NotImplementedError, which is one: still to be written
            if file.own_gradient and type(error) is not NotImplementedError:
                raise
            reply["none"] = True  # a loop that changes its tensors in place: no backward was meant
            return
    for n, three in enumerate(found):
        if not isinstance(three, (tuple, list)) or len(three) != 3:
            raise Junk(f"returned gradients: {type(three).__name__}")
        for name, x, like in zip(("dQ", "dK", "dV"), three, "qkv", strict=True):
            x = np.zeros(arrays[like].shape) if x is None else x
            out[f"{name}{n}"] = file.numbers(x, arrays[like].shape, name)
    is_finite = all(np.isfinite(out[name]).all() for name in ("dQ0", "dK0", "dV0"))
    if not is_finite and not file.own_gradient and not file.backward:
        reply["none"] = True  # 0 · ∞ in autograd's own formulas, not the learner's


def failure(error: BaseException, path: Path) -> dict:
    """Describe an exception: its kind, line in the file, type and text."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return {"kind": "syntax", "line": error.lineno, "text": error.msg}
    kinds = {SystemExit: "exits", MemoryError: "memory", PermissionError: "forks", Junk: "junk"}
    line, chain = None, error
    while chain is not None:
        for frame in traceback.extract_tb(chain.__traceback__):
            if frame.filename == str(path):
                line = frame.lineno
        chain = chain.__cause__
    if isinstance(error, PermissionError) and not str(error).startswith(("os.", "subprocess.")):
        kinds.pop(PermissionError)
    lines = str(error).strip().splitlines() or ["no message"]
    if type(error).__name__ == "CompilationError":  # Triton's says where, shows the code, then why
        lines = lines[-1:]
    kind = next((kinds[x] for x in kinds if isinstance(error, x)), "exception")
    about = {"kind": kind, "line": line, "type": type(error).__name__}
    return {**about, "text": lines[0][:300], "functions": getattr(error, "functions", [])}


def limit(bytes_: int) -> None:
    """Bound what this process may take. A GPU's driver maps more addresses than there is memory, so
    there what can be written to counts, not what is mapped."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))
    has_gpu = Path("/dev/nvidiactl").exists()
    counted = resource.RLIMIT_DATA if has_gpu else resource.RLIMIT_AS
    resource.setrlimit(counted, (bytes_, bytes_))


def end_with_parent(requests: int, home: str) -> None:
    """End this process, whatever it does, when the one that started it is gone, and remove its
    folder, which that one can remove no more."""
    gone = select.poll()
    gone.register(requests, 0)  # reports a closed pipe alone
    gone.poll()
    shutil.rmtree(home, ignore_errors=True)
    os._exit(0)


def main() -> None:
    path, requests, replies = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    options = json.loads(sys.argv[4])
    limit(options["memory"])
    watch = threading.Thread(target=end_with_parent, args=(requests, options["home"]), daemon=True)
    watch.start()
    try:
        file = File(path, options)
        file.check_rules()
        send(replies, file.about())
    except BaseException as error:
        send(replies, {"error": failure(error, path)})
        return
    while (request := receive(requests)) is not None:
        reply: dict[str, Any] = {}
        out: dict[str, np.ndarray] = {}
        try:
            answer(file, *request, reply, out)
            file.check_rules()
        except BaseException as error:
            if file.refused and not isinstance(error, PermissionError):
                error = PermissionError(file.refused[0])
            reply["error"] = failure(error, path)
        send(replies, reply, out)
    watch.join()


if __name__ == "__main__":
    main()
