"""Pages and browser talk by name, and each name is on both sides."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from explainer.base.paths import ASSETS, ROOT
from explainer.web import bundle

CALL = re.compile(
    r"async \(\.\.\.given\) => \(window\.fa \?\? await import\(new URL\("
    r'"fa/static/\w+/js/all\.js", document\.baseURI\)\)\)'
    r'\.call\("(\w+)", (\[.*?\]), (\[.*?\]), (\{.*\}), given\)'
)
MOUNT = re.compile(
    r'import\(new URL\("fa/static/\w+/js/all\.js", document\.baseURI\)\)\.then\(\(main\) => '
    r'main\.mount\("(\w+)", \{ element, props, watch, trigger, events: \[.*\](?:, script: '
    r'\(\) => import\(new URL\("fa/static/\w+/js/(\w+)\.js", document\.baseURI\)\))?((?:, \w+: '
    r'\(\) => import\(new URL\("fa/static/\w+/js/\w+\.js", document\.baseURI\)\))*) \}\)\);'
)
LATER = re.compile(r", (\w+): \(\) => import\(new URL\(\"fa/static/\w+/js/(\w+)\.js\"")
CLICK = "element.addEventListener('click', function() { trigger('click') });"  # Gradio's own


def listed(table: str) -> set[str]:
    """The names in an object of main.js."""
    text = (ASSETS / "js" / "main.js").read_text()
    body = re.search(rf"const {table} = \{{(.*?)\n?\}};", text, re.S)[1]
    return set(re.findall(r"(?:^|[,\n]) *(\w+)(?=[,:\n])", f"\n{body.strip()},"))


# In a process of its own: Gradio leaves an event loop open.
TOLD = """
import json
from explainer import app
from explainer.engine.engine import Engine
demo = app.build(Engine())
events = [(f.js, len(f.inputs), len(f.inputs if f.fn else f.outputs)) for f in demo.fns.values()]
loads = [getattr(block, "js_on_load", None) for block in demo.blocks.values()]
print(json.dumps({"events": events, "loads": loads}))
"""


def test_every_event_and_component_calls_a_name_that_the_browser_has():
    run = subprocess.run([sys.executable, "-c", TOLD], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout.splitlines()[-1])
    called, mounts, later = set(), set(), set()
    for js, taken, given in told["events"]:
        if js:
            name, takes, gives, _ = CALL.fullmatch(js).groups()
            called.add(name)
            assert len(set(json.loads(takes))) == taken, js
            assert len(set(json.loads(gives))) == given, js
    for load in told["loads"]:
        if load and (found := MOUNT.fullmatch(load)):
            mounts.add(found[1])
            names = LATER.findall(found[3])
            assert all(name == script for name, script in names)
            later |= {name for name, _ in names}
            assert found[2] == (found[1] if found[1] in bundle.SCRIPTS else None)
        else:
            assert load in (None, CLICK)
    assert called == listed("CALLS")
    assert mounts | later == listed("MOUNTS") | set(bundle.SCRIPTS) - {"all"}
    assert not mounts & later
