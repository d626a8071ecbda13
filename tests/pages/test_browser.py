"""Pages and browser talk by name, and each name is on both sides."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

from explainer.base.paths import ASSETS, ROOT
from explainer.pages.browser import call, here, mounted
from explainer.web import bundle

SCRIPTS = sorted((ASSETS / "js").glob("**/*.js"))
SOURCES = sorted(ROOT.glob("explainer/**/*.py"))
# These calls; one module of many; a table as a module.
WRITERS = {
    ROOT / f"explainer/{name}.py" for name in ("pages/browser", "web/bundle", "algorithms/registry")
}
JAVASCRIPT = re.compile(
    r"=>|\bfunction\s*\w*\(.*\{|\b(const|let|var) \w+ =|\b(document|window)\.\w|\bnew [A-Z]\w+\("
    r"|addEventListener|import\("
)
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


def texts(path: Path) -> list[str]:
    """The strings of a module, without those that only document."""
    tree = ast.parse(path.read_text())
    said = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said
    ]


def test_no_string_of_python_holds_javascript():
    assert all(path in SOURCES for path in WRITERS)
    found = {p: [t for t in texts(p) if JAVASCRIPT.search(t)] for p in {*SOURCES} - WRITERS}
    assert {path: held for path, held in found.items() if held} == {}


def test_such_a_string_is_found(tmp_path):
    for script in ("() => 1", "const x = 1", "window.fa.ask()", "import(new URL('x'))"):
        path = tmp_path / "page.py"
        path.write_text(f'"""What a => b is."""\nJS = f"""{script} {{1}}"""\n')
        assert [bool(JAVASCRIPT.search(text)) for text in texts(path)].count(True) == 1, script


def test_a_call_is_one_line():
    assert CALL.fullmatch(call("ask", ["n"], ["d"], data={"a": [1]}))
    assert MOUNT.fullmatch(mounted("step", "shown"))
    load = MOUNT.fullmatch(mounted("step", "shown", later=["masks", "race"]))
    assert LATER.findall(load[3]) == [("masks", "masks"), ("race", "race")]
    event = here("ask", {"n": "a component"}, {"d": "another"}, x=1)
    assert (event["inputs"], event["outputs"]) == (["a component"], ["another"])
    assert CALL.fullmatch(event["js"]).groups() == ("ask", '["n"]', '["d"]', '{"x": 1}')


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


def test_every_event_of_the_browser_is_documented():
    """Those between pages and player, in the one list of them; no other is told or heard."""
    place = ASSETS / "js" / "lib" / "events.js"
    head = "\n".join(line for line in place.read_text().splitlines() if line.startswith("//"))
    text = "\n".join(path.read_text() for path in SCRIPTS if path != place)
    text += "\n".join(path.read_text() for path in SOURCES)
    used = set(re.findall(r"fa:[a-z-]+", text))
    assert used == set(re.findall(r"fa:[a-z-]+", head)) and len(used) > 10
    triggers = set(re.findall(r'trigger\("(\w+)"\)', text))
    assert triggers == set(re.findall(r'"(\w+)"', head))


def test_nothing_is_dispatched_past_that_list():
    text = "".join(path.read_text() for path in SCRIPTS if path.name != "events.js")
    made = re.findall(r"new (?:Custom|Keyboard|)Event\(([^)]*)", text)
    assert all(re.match(r'"(resize|keypress|input|change)"', what) for what in made), made
