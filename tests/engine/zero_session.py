"""What test_zerogpu.py runs in a process of its own: the app on ZeroGPU, with the real ``spaces``.

What is not there is the card: the device API is a stand-in, and the forked process, which would
take the card that it was given, runs the kernels in Triton's interpreter.
"""

import contextvars
import json
import os
import sys
import time
from functools import partial
from multiprocessing import active_children, connection
from types import SimpleNamespace

from tests.engine.device_api import DeviceApi

API = DeviceApi()
os.environ |= {
    "SPACES_ZERO_GPU": "true",
    "SPACES_ZERO_DEVICE_API_URL": API.url,
    "TRITON_INTERPRET": "1",
    "GRADIO_ANALYTICS_ENABLED": "False",
    "HOME": sys.argv[1],
}
import gradio as gr  # noqa: E402  as app.py: before spaces and torch
from gradio.context import LocalContext  # noqa: E402

from explainer.engine import zerogpu  # noqa: E402
from explainer.engine.engine import Engine  # noqa: E402
from explainer.engine.requests import RunRequest  # noqa: E402
from explainer.problem import Problem  # noqa: E402
from tests.tables import table  # noqa: E402
from tests.workers import WAIT_S  # noqa: E402


def breaks() -> None:
    """A Problem's seed can make the forked process die, answer a lock, fault or never end."""
    real = zerogpu.on_gpu

    def on_gpu(request: RunRequest) -> dict:
        seed = request.problem.seed
        if seed == 1:
            os._exit(1)
        if seed == 2:
            return {"result": lambda: 0}  # no pickle takes this
        if seed == 3:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        if seed == 4:
            print("PID", os.getpid(), file=sys.stderr, flush=True)
            time.sleep(WAIT_S)
        return real(request)

    zerogpu.on_gpu = on_gpu


def main() -> None:
    """Prints one JSON line: what ZeroGPU was asked, and what each job ended as."""
    breaks()
    torch_before = "torch" in sys.modules
    sys.modules["torch"] = None  # spaces patches a build for CUDA, or none: here there is no card
    call = zerogpu.decorated()
    del sys.modules["torch"]
    engine = Engine(partial(zerogpu.ZeroChild, call))
    with gr.Blocks() as demo:
        gr.Markdown("a page")
    engine.start()
    demo.launch(prevent_thread_lock=True, quiet=True)
    found = {"torch before": torch_before, "started": [name for name, _ in API.asked]}
    found["jobs"] = {}

    def run(name: str, token: str | None = None, answer=None, n: int = 8, **more):
        API.asked.clear()
        API.answers[:] = [answer] if answer else []
        headers = type("Headers", (dict,), {})({"x-ip-token": token} if token else {})
        context = contextvars.copy_context()
        context.run(LocalContext.request.set, SimpleNamespace(headers=headers))
        request = RunRequest(Problem(n=n, **more))
        job = context.run(engine.submit, request, name)
        assert job.finished.wait(WAIT_S), name
        found["jobs"][name] = {
            "state": job.state,
            "why": job.why,
            "error": job.error,
            "right": job.result and [row["right"] for row in job.result["rows"]],
            "asked": [name for name, _ in API.asked],
            "token": [given.get("token") for given in API.of("schedule")],
            "seconds": [given["durationSeconds"] for given in API.of("schedule")],
            "failed": [given["fail"] for given in API.of("release")],
            "faults": engine.state()["faults"],
            "device": engine.machine()["device"],
        }

    for name, how in table(__file__).items():
        if name == "hangs":
            engine._deadline_s = 1.0
        run(name, **how)
    forks = active_children()
    found["left"] = len(forks) - len(connection.wait([p.sentinel for p in forks], 0))
    print(json.dumps(found))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
