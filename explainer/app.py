"""FlashAttention, tile by tile: builds the app, wires its pages, serves it."""

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # read at import: no call goes out
# Tiles are small: a second thread only costs, and numbers would hang on how many there are.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import gradio as gr

from explainer.engine import zerogpu
from explainer.engine.child import ProcessChild
from explainer.engine.engine import Engine
from explainer.pages import api, header, learn, memory, parallel, run, step, theme
from explainer.pages.browser import here
from explainer.web import connections, gradio_internals, heap, kernel_file, logs, middleware, routes
from explainer.web.kernel_file import KernelFile


def build(engine: Engine) -> gr.Blocks:
    """Build the whole app, not yet serving."""
    pages: dict[str, Callable[[], Any]] = {
        "Step": step.build,
        "Run": partial(run.build, engine),
        "Memory": memory.build,
        "Parallel": partial(parallel.build, engine),
        "Learn": learn.build,
    }
    with gr.Blocks(
        title="FlashAttention, tile by tile", fill_width=True, analytics_enabled=False
    ) as demo:
        header.build()
        tabs = []
        with gr.Tabs(elem_id="pages", overflow_behavior="wrap"):  # a menu would hide pages
            for name, build_page in pages.items():
                with gr.Tab(name, id=name.lower()) as tab:
                    tabs.append((tab, build_page()))
        step_page = tabs[0][1]
        run.wire(step_page)
        for tab, _ in tabs:
            tab.select(**here("chooseTab", page=str(tab.id)))
        # In the browser: an answer of the server could come after the visitor has chosen another.
        demo.load(**here("openRequestedPage"))
        step.open_address(demo, step_page)
        api.build(engine)
    return demo


# The parts of the page that read their own keys of the address and no more.
OPENED = {"step": step.prefill}


def serve(engine: Engine, host: str = "", port: str = "", kernel: Path | None = None) -> None:
    """Run the app until it is ended; the last line on stdout names its address.

    ``kernel`` is a learner's file to check and to watch. Where host or port is empty,
    GRADIO_SERVER_NAME and GRADIO_SERVER_PORT say it.
    """

    def end(*_: object) -> None:
        """End on SIGTERM; whatever runs kernels ends before this process does."""
        engine.close()
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    connections.use_bounded_protocol()
    heap.return_freed_memory()
    gradio_internals.use_light_sessions()
    host = host or os.environ.get("GRADIO_SERVER_NAME", "")
    port = port or os.environ.get("GRADIO_SERVER_PORT") or "7860"
    with connections.bind_port(host, port) as (host, number):
        engine.start()
        file = KernelFile(kernel)
        file.watch()
        demo = build(engine).queue(status_update_rate=5)
        gradio_internals.slow_queue_polling(demo)
        demo.launch(
            server_name=host,
            server_port=number,
            prevent_thread_lock=True,
            quiet=True,
            **gradio_internals.LAUNCH_OPTIONS,
            theme=theme.theme(),
            head=theme.head(kernel.name if kernel else ""),
            app_kwargs={
                "routes": routes.routes(engine, run.opened(engine) | OPENED, file),
                **middleware.app_kwargs(
                    api.ENDPOINTS,
                    gradio_internals.count_function_inputs(demo),
                    engine.state,
                    host,
                    api.crowded(engine),
                ),
            },
            ssr_mode=False,
            run_history=False,
            footer_links=[],
            max_file_size="1kb",
            state_session_capacity=100,  # 150 kB each, with nothing of ours in it
        )
    print(json.dumps({"serving": demo.local_url}), file=sys.__stdout__, flush=True)
    demo.block_thread()


def main() -> None:
    """Run the command `flashattention-tiles`, which app.py is too."""
    parser = argparse.ArgumentParser(description="Serve FlashAttention, tile by tile.")
    host = "address to listen on (default: GRADIO_SERVER_NAME, else 127.0.0.1)"
    port = "0 takes a free one (default: GRADIO_SERVER_PORT, else 7860)"
    parser.add_argument("--host", default="", help=host)
    parser.add_argument("--port", default="", help=port)
    about = "an attention function: Run shows its first wrong tile, again when it changes"
    parser.add_argument("--kernel", type=Path, metavar="FILE", help=about)
    given = parser.parse_args()
    logs.configure()
    is_space = zerogpu.on_zero_gpu()
    engine = Engine(partial(zerogpu.ZeroChild, zerogpu.decorated())) if is_space else Engine()
    if given.kernel:
        engine = Engine(partial(ProcessChild, kernel_file.worker(given.kernel)))
    serve(engine, given.host, given.port, given.kernel)
