"""Each private part of Gradio that the app uses, by its name: what fails here has changed there."""

import json
import re
import subprocess
import sys
from importlib.metadata import version

import pytest

from explainer.base.paths import ROOT

# In a process of its own, because Gradio leaves an event loop open.
PROBE = """
import inspect, json, re
from pathlib import Path
import gradio as gr
from gradio import http_server, state_holder
from gradio.context import Context, LocalContext
from gradio.queueing import Event
from explainer.web import gradio_internals as ours

def run(n: int) -> dict:
    return n

with gr.Blocks() as demo:
    box = gr.Textbox("as it was", label="a")
    other = gr.Textbox("as it was", label="b")
    event = gr.api(run, api_name="run")
    box.change(lambda text: text, box, other)
    box.change(None, box, None, js="() => 1")
    ours.describe_function(event["id"], [("n", {"type": "integer"})], {"type": "number"})
function = demo.fns[event["id"]]
demo.queue()
queue, plain = demo._queue, state_holder.SessionState(demo)
slept = [queue.sleep_when_free, queue.progress_update_sleep_when_free]
ours.slow_queue_polling(demo)
ours.use_light_sessions()
holder = state_holder.StateHolder()
holder.set_blocks(demo)
first, second = holder["first"], holder["second"]
light = len(first.config_values)
first._update_value_in_config(box._id, "changed")
second._update_value_in_config(box._id, "otherwise")
properties = [s.config_values[box._id]["props"] for s in (first, second)]
running = inspect.getsource(Event)
app = gr.routes.App.create_app(demo)
FRONTEND = Path(gr.__file__).parent / "templates" / "frontend"
html = (FRONTEND / "index.html").read_text()
print(json.dumps({
    "state_holder.SessionState.config_values": len(plain.config_values) >= 2 and not light,
    "state_holder.StateHolder makes our sessions": isinstance(first, ours.LightSession)
        and [len(first.config_values), [p["value"] for p in properties]]
        == [1, ["changed", "otherwise"]] and [p["label"] for p in properties] == ["a", "a"],
    "Queue.sleep_when_free": max(slept) < queue.sleep_when_free == ours.QUEUE_POLL_S,
    "Queue.active_jobs": isinstance(queue.active_jobs, list) and not ours.is_event_abandoned(),
    "queueing.Event.alive and ._id": "self.alive" in running and "self._id" in running,
    "LocalContext.blocks and .event_id": LocalContext.blocks.get(None) is None
        and LocalContext.event_id.get(None) is None,
    "Context.root_block.fns": (len(function.inputs), len(function.outputs)) == (1, 1),
    "Component._api_info": function.inputs[0].api_info() == {"type": "integer", "default": None}
        and function.outputs[0].api_info() == {"type": "number"},
    "Blocks.fns": sorted(ours.count_function_inputs(demo).values()) == [1, 1] != len(demo.fns),
    "http_server.LOCALHOST_NAME": hasattr(http_server, "LOCALHOST_NAME"),
    "route_utils.FnIndexInferError": issubclass(ours.UnknownFunction, Exception),
    "Blocks.launch(_frontend=…)": ours.LAUNCH_OPTIONS.keys()
        <= inspect.signature(gr.Blocks.launch).parameters.keys(),
    "templates/frontend/index.html: ./assets/ and one <style>": html.count('"./assets/') == 2
        and html.count("<style>") == html.count("</style>") == 1,
    "templates/frontend/assets/*.js: one ./assets/": sum(
        len(re.findall('["`][./]*assets/', path.read_text()))
        for path in FRONTEND.glob("assets/*.js")) == 1,
    "templates/frontend/assets/*.css: no @import": not any(
        "@import" in path.read_text() or "@charset" in path.read_text()
        for path in FRONTEND.glob("assets/*.css")),
    "routing: /gradio_api/call/{api_name}": "/gradio_api/call/{api_name}"
        in {getattr(route, "path", "") for route in ours.list_routes(app.routes)},
    "Starlette.middleware_stack": app.middleware_stack is None,
}))
"""
NAMES = re.findall(r'^    "([^"]+)": ', PROBE, re.M)


@pytest.fixture(scope="module")
def parts() -> dict[str, bool]:
    """{private part of Gradio: whether it is as the app needs it}."""
    run = subprocess.run([sys.executable, "-c", PROBE], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", NAMES)
def test_gradio_still_has(parts, name):
    assert parts[name], f"gradio {version('gradio')}: {name} has changed"


@pytest.mark.parametrize("library", ["gradio", "uvicorn"])
def test_the_pin_admits_one_minor_version_which_is_installed(library):
    (line,) = re.findall(rf"^{library}>=.*", (ROOT / "requirements.txt").read_text(), re.M)
    low, high = (tuple(map(int, x.split("."))) for x in re.findall(r"[\d.]*\d", line)[:2])
    here = tuple(map(int, version(library).split(".")[:2]))
    assert low[:2] == here and high == (here[0], here[1] + 1), line
