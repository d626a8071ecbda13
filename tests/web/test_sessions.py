"""A session notes what its events changed, and no other session sees it."""

from __future__ import annotations

import json
import subprocess
import sys

from explainer.base.paths import ROOT

# In a process of its own: Gradio leaves an event loop open.
TOLD = """
import json
import gradio as gr
from gradio import state_holder
from explainer.web import sessions

with gr.Blocks() as demo:
    box = gr.Textbox("as it was", label="a")
    gr.Textbox("as it was", label="b")
plain = state_holder.SessionState(demo)
sessions.lighten()
holder = state_holder.StateHolder()
holder.set_blocks(demo)
first, second = holder["first"], holder["second"]
before = len(first.config_values)
first._update_value_in_config(box._id, "changed")
second._update_value_in_config(box._id, "otherwise")
props = [s.config_values[box._id]["props"] for s in (first, second)]
print(json.dumps({
    "plain": len(plain.config_values), "before": before, "after": len(first.config_values),
    "values": [p["value"] for p in props], "labels": [p["label"] for p in props],
}))
"""


def test_a_session_notes_only_what_its_own_events_changed():
    run = subprocess.run([sys.executable, "-c", TOLD], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout.splitlines()[-1])
    assert told["plain"] >= 2  # else Gradio has mended it, and ours can go
    assert (told["before"], told["after"]) == (0, 1)
    assert (told["values"], told["labels"]) == (["changed", "otherwise"], ["a", "a"])
